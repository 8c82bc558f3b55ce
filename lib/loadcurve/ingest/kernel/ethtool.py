"""ethtool: ``ethtool -S INTERFACE`` into the table `counters`.

Seen: ethtool 6.1 on Debian 12 with veth (``ethtool -S eth0``), drivers such as ixgbe, i40e, ice, mlx5, bnx2x, bnxt,
virtio_net, ena, vmxnet3 in public repositories.

Output of ethtool (``ethtool.c``, ``do_gstats``): ``NIC statistics:`` and a line for each number of the driver,
with the driver's own name; two drivers mean different things by one name.  vmxnet3 gives headings among them (``Tx
Queue#: 0``), which precede the names below them.  The interface is not printed: it is known only if the text
contains the command.
"""

import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_COMMAND = re.compile(
    r"(?:.*[^\w-])?ethtool\s+(?:(?:-I|--include-statistics)\s+)?(?:-S|--statistics)\s+([\w.@:-]{1,64})(?:\s.*)?"
)
_STANDARD = re.compile(r"Standard stats for (\S{1,64}):")
_ROW = re.compile(r"(\S.{0,120}?)[ \t]?:[ \t]+(-?[0-9]+)(?:[ \t]+(?:<-|//|#|\().*)?")
_ROW_LIKE = re.compile(r"[^\s$#>][^$#>]{0,120}?:[ \t]+\S*[0-9]\S*$")
_QUEUE = re.compile(r"[TR]x Queue#")
_NOT_OF_QUEUE = re.compile(r"tx timeout count")
_NONE = re.compile(r"no stats available|Cannot get stats strings information: .*|Cannot get stats: .*")


def parse_ethtool(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several ``ethtool -S``.

    A row for each number; `item` is the interface where the text names it.  None, with a warning, where the driver has
    no statistics.
    """
    lines = Lines(text, "ethtool", timezone)
    rows: list[dict[str, Any]] = []
    interface = named = queue = ""
    inside = found = False
    for at, line in enumerate(lines.all):
        if command := _COMMAND.fullmatch(line[:400]):
            named, inside = command[1], False
        elif line == "NIC statistics:":
            interface, named, queue, inside, found = named, "", "", True, True
        elif standard := _STANDARD.fullmatch(line):
            interface, queue, inside, found = standard[1], "", True, True
        elif inside and (match := _ROW.fullmatch(line[:400])):
            queue = "" if _NOT_OF_QUEUE.match(match[1]) else queue
            if _QUEUE.fullmatch(match[1]):
                queue = f"{match[1]}: {match[2]}: "
            elif tokens := lines.without_cut_token(at, [match[2]]):
                name = queue + match[1]
                value = counter(tokens[0], at + 1)
                rows += counter_rows(lines, "ethtool", "NIC statistics", interface, [(name, value)])
        elif _NONE.fullmatch(line[:400]):
            lines.warn(at + 1, f"ethtool has no statistics of {named or 'the interface'}: {line}")
            found = True
        elif lines.is_open(at):
            lines.warn(at + 1, f"the text ends inside this line, which is left out: {line[:60]!r}")
        elif inside and _ROW_LIKE.match(line[:400]) and not lines.is_time(at):
            raise ParseError(at + 1, "a name and a number", line)
        elif line:
            inside = inside and line.startswith("...")
            if not lines.is_time(at):
                lines.stray(at)
    if not found:
        raise nothing_in(text, "statistics of ethtool -S")
    return Parsed("ethtool", {"counters": rows}, lines.warnings)
