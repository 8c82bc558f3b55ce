"""ip: ``ip -s link`` and ``ip -s -j link`` into the table `counters`.

Seen: iproute2 6.1 on Debian 12 (``ip -s link``, ``ip -s -j link``), versions from 2.6 on in public repositories, also
``ip -s addr``, ``-s -s``, ``-d`` and ``-h``.

Output of ip (iproute2, ``ip/ipaddress.c``, ``print_link_stats64``): a line with the names, a line with the
numbers, since the interface was made.  The names differ by version (``overrun``, later ``missed``; ``collsns`` is
collisions); a counter's name here has the heading in front: ``RX packets``, ``RX errors length``.  ``-h`` cuts numbers
to k, M, G, T in steps of 1000 (with ``-iec``: Ki, Mi in steps of 1024) with three digits; each such line is a warning.
Numbers of a virtual function have ``vf N`` in their item.
"""

import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import each_json
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_INTERFACE = re.compile(r"[0-9]{1,9}: (\S{1,80}?)(?:@\S{1,80})?: <[^>]*>(?: .*)?")
_HEAD = re.compile(r"(RX|TX)(?: (errors))?:((?:[ \t]+[a-z_]+)+)")
_VF = re.compile(r"vf ([0-9]{1,5})\b.*")
_SHORT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,3})?)([kKMGTPE])(i?)")
_POWER = {letter: i for i, letter in enumerate("kMGTPE", 1)} | {"K": 1}


def parse_ip_link(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several ``ip -s link``.

    A row for each number; `item` is the interface.
    """
    lines = Lines(text, "ip", timezone)
    rows: list[dict[str, Any]] = []
    interface = ""
    at = 0
    while at < len(lines):
        line = lines.all[at]
        if match := _INTERFACE.fullmatch(line):
            interface = match[1]
        elif interface and (match := _VF.fullmatch(line)):
            interface = f"{interface.split(' vf ')[0]} vf {match[1]}"
        elif match := _HEAD.fullmatch(line):
            at += 1
            names = [f"{match[1]} {match[2]} {name}" if match[2] else f"{match[1]} {name}" for name in match[3].split()]
            rows += _numbers(lines, at, interface, names)
        elif not lines.is_time(at) and not interface:
            lines.stray(at)
        at += 1
    if not rows:
        raise nothing_in(text, "interfaces with counters, as ip -s link prints them")
    return Parsed("ip", {"counters": rows}, lines.warnings)


def _numbers(lines: Lines, at: int, interface: str, names: list[str]) -> list[dict[str, Any]]:
    """Rows of the numbers at an index; there must be a number for each name."""
    if not any(lines.all[at:]):
        lines.warn(at, "the text ends before the numbers that belong to these names")
        return []
    tokens = lines.all[at].split()
    if len(tokens) != len(names) and not lines.is_open(at):
        raise ParseError(at + 1, f"{len(names)} numbers: {', '.join(names)}", lines.all[at])
    values = []
    for token in lines.without_cut_token(at, tokens):
        if short := _SHORT.fullmatch(token):
            values.append(float(short[1]) * (1024.0 if short[3] else 1000.0) ** _POWER[short[2]])
        else:
            values.append(counter(token, at + 1))
    if any(_SHORT.fullmatch(token) for token in tokens):
        short_numbers = "numbers are abbreviated with k, M, G or T, so only their first digits are known"
        lines.warn(at + 1, f"{short_numbers}; run ip without -h")
    return counter_rows(lines, "ip", "link", interface, list(zip(names, values, strict=False)))


def parse_ip_link_json(text: str) -> Parsed:
    """Table `counters` of ``ip -s -j link``."""
    documents, warnings = each_json(text, "JSON of ip -s -j link")
    lines = Lines("", "ip")
    rows: list[dict[str, Any]] = []
    for document, number in documents:
        for link in document if isinstance(document, list) else [document]:
            if not isinstance(link, dict) or not isinstance(link.get("ifname", ""), str):
                raise ParseError(number, "an interface with its name", str(link)[:80])
            named = [(link.get("ifname", ""), link.get("stats64") or link.get("stats"))]
            functions = link.get("vfinfo_list")
            named += [
                (f"{link.get('ifname', '')} vf {function.get('vf')}", function.get("stats"))
                for function in (functions if isinstance(functions, list) else [])
                if isinstance(function, dict)
            ]
            for item, stats in named:
                rows += counter_rows(lines, "ip", "link", item, _stats(stats, number))
    if not rows:
        raise nothing_in(text, "interfaces with counters, as ip -s -j link prints them")
    return Parsed("ip", {"counters": rows}, tuple(warnings))


def _stats(stats: object, number: int) -> list[tuple[str, float]]:
    """Names and values of ``{"rx":{"bytes":7},"tx":{"bytes":8}}``."""
    values = []
    for direction, counts in stats.items() if isinstance(stats, dict) else ():
        for name, value in counts.items() if isinstance(counts, dict) else ():
            if type(value) is not int or not 0 <= value < 2**64:
                raise ParseError(number, f"a counter for {name!r}", str(value)[:80])
            values.append((f"{direction.upper()} {name}", float(value)))
    return values
