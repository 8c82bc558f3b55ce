r"""sadf: read what ``sadf -d`` and ``sadf -dh`` print into the same tables as the text of sar; see `sadf_p` for ``-p``.

Seen: sysstat 12.6.1 on Debian 12 (``sadf -d FILE -- -A``, with -h, -T, -U) in the tests' samples; 9 to 12.7 in public
repositories.

Output of sysstat (12.6, ``rndr_stats.c``, ``sadf_misc.c``):

- ``-d``: a line ``# hostname;interval;timestamp;…`` with the columns before each section, and again after a restart;
  processor ``-1`` and interrupt ``-1`` are ``all`` and ``sum``.
- ``-dh``: one line for each instant; ``[...]`` in the header follows a section that is repeated for each item.
- ``-p``: host, interval, time, item or ``-``, printed column, value.
- Times are marked as UTC; with ``-T`` (or ``-t``) local without a zone; with ``-U`` seconds since 1970.
- The interval of a restart or a comment is ``-1``: ``LINUX-RESTART\t(9 CPU)``, ``COM …``.
- From 12.5.6 on interrupts have a value for each chosen processor (``INTR;CPU*``); the processors are not named.
- sadf calls ``setlocale``, so some languages have a decimal comma.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.sadf_rows import Rows, number_of
from loadcurve.ingest.sysstat.sadf_wide import groups_of, in_order, sections_of
from loadcurve.ingest.sysstat.sections import ITEMS, section_of
from loadcurve.ingest.sysstat.text_report import is_chatter

HEADER = ("hostname", "interval", "timestamp")
_RESTART = re.compile(r"LINUX-RESTART(?:\s+\(([0-9]{1,6}) CPU\))?")
_ALL = {"CPU": "all", "INTR": "sum"}  # meaning of -1
_ROW = re.compile(r"[^;]+;-?[0-9]+;[^;]+;.+")
_TWO_DECIMALS = re.compile(r"-?[0-9]+[.,][0-9]{2}")


def parse_sadf(text: str, timezone: str = "UTC") -> Parsed:
    r"""Tables of what ``sadf -d`` or ``sadf -dh`` printed.

    The tables that sar's text of the same recording gives; restarts and comments in `events`.  `timezone` is the IANA
    name of the zone of times without ``UTC`` (``-T``, ``-t``).  Raises ParseError if a row does not fit its header, or
    if there is neither header nor row.

    Examples
    --------
    >>> text = '''# hostname;interval;timestamp;IFACE;rxpck/s;rxkB/s
    ... vm;1;2026-11-20 22:33:26 UTC;eth0;127374.00;1.50
    ... '''
    >>> parse_sadf(text).tables["network"][["interface", "received_pps", "received_bytes_per_s"]].values.tolist()
    [['eth0', 127374.0, 1536.0]]
    """
    lines = text.split("\n")
    warnings: list[str] = []
    rows, instants = Rows(warnings), Instants(zone_named(timezone), warnings)
    columns: list[str] = []
    cpus: dict[str, list[str]] = {}  # host → processors of the section -u, in the order of its rows
    headers = 0
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        cells = line.lstrip("# ").split(";")
        if tuple(cells[:3]) == HEADER:
            columns, headers = in_order([cell.strip() for cell in cells[3:]]), headers + 1
        elif _ROW.fullmatch(line) and number == len(lines) and not _is_whole(line, lines[number - 2]):
            warnings.append(f"line {number}: the text ends inside a row, which is left out")
        elif _ROW.fullmatch(line):
            host, _, stamp, *cells = line.split(";", 3)[:3] + line.split(";")[3:]
            time = instants.read(stamp, number)
            if not add_event(rows, host, time, ";".join(cells)):
                _row(rows, host, time, columns, [cell.strip() for cell in cells], cpus, number)
        elif not is_chatter(line):
            raise ParseError(number, "a row such as 'host;1;2026-11-20 22:33:26 UTC;…'", line)
    if not rows and not headers:
        raise nothing_in(text, "rows of sadf -d")
    if not rows:
        warnings.append("line 1: the header has no rows")
    return Parsed("sadf", rows.tables(), tuple(warnings))


def _is_whole(line: str, above: str) -> bool:
    """Whether a last line without a newline is complete: as many values as the line above, and both last decimals."""
    return line.count(";") == above.count(";") and _TWO_DECIMALS.fullmatch(line.rpartition(";")[2]) is not None


def _row(
    rows: Rows, host: str, time: datetime, columns: list[str], cells: list[str], cpus: dict[str, list[str]], number: int
) -> None:
    if not columns:
        raise ParseError(number, "a header such as '# hostname;interval;timestamp;CPU;…' before this row", cells[0])
    for printed, values in groups_of(sections_of(columns), cells, number):
        if printed == ["INTR", "CPU*"]:
            _interrupts(rows, host, time, values, cpus.get(host, []), number)
            continue
        section = section_of(printed)
        item, numbers = split_item(printed, values, section.texts, number)
        if section.option == "-I":
            for rate in numbers.values():
                rows.interrupt(host, time, item, "all", rate)
            continue
        if section.option == "-u" and item not in cpus.setdefault(host, []):
            cpus[host].append(item)
        rows.put(section, host, time, item, numbers, number)


def split_item(
    printed: Sequence[str], cells: Sequence[str], texts: Sequence[str], number: int
) -> tuple[str, dict[str, float]]:
    """Return the item of a row, and its numbers by printed column; columns of words are left out.

    Raises ParseError if a value is no number.
    """
    item, numbers = "", {}
    for name, cell in zip(printed, cells, strict=True):
        if name in ITEMS and not item:
            item = _ALL.get(name, cell) if cell == "-1" else cell
            continue
        value = None if name in texts else number_of(cell)
        if value is not None:
            numbers[name] = value
        elif name not in texts and cell:
            raise ParseError(number, f"a number for {name}", cell)
    return item, numbers


def _interrupts(rows: Rows, host: str, time: datetime, cells: list[str], cpus: list[str], number: int) -> None:
    """Return values of one interrupt for each chosen processor; only the section -u of the same choice names these."""
    interrupt, *rates = cells
    values = [value for rate in rates if (value := number_of(rate)) is not None]
    if len(values) < len(rates):
        raise ParseError(number, f"numbers after {interrupt}", ";".join(rates))
    if len(values) == 1:
        names = ["all"]
    elif len(cpus) == len(values):
        names = cpus
    elif abs(sum(values[1:]) - values[0]) <= 0.005 * len(values) + 1e-6 * values[0]:
        names = ["all", *map(str, range(len(values) - 1))]  # every processor was chosen, and none is offline
    else:
        rows.warnings.append(f"line {number}: only the first value of {interrupt}: the processors are not named")
        names = ["all"]
    for name, value in zip(names, values, strict=False):
        rows.interrupt(host, time, interrupt if interrupt != "-1" else "sum", name, value)


def add_event(rows: Rows, host: str, time: datetime, text: str) -> bool:
    """Add a restart or a comment; return whether the text is one."""
    if match := _RESTART.fullmatch(text.strip()):
        fields: dict = {"event": "restart", "cpus": int(match[1])} if match[1] else {"event": "restart"}
    elif text.startswith("COM "):
        fields = {"event": "comment", "text": text[4:].strip()}
    else:
        return False
    rows.add("events", {"host": host, "time": time, "tool": "sadf", **fields})
    return True
