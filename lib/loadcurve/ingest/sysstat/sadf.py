r"""sadf: read what ``sadf -d``, ``-dh`` and ``-p`` print into the same tables as the text of sar.

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

``-p``, seen: sysstat 12.6.1 on Debian 12 (``sadf -p FILE -- -A``, ``-T``, ``-U``) in the tests' samples; 9 to 12.7 in
public repositories.

Output of sysstat (12.6, ``rndr_stats.c``): no line names its section.  Consecutive lines of one instant and
one item form a section as long as one section of sar has all their columns.  Items: ``-`` for none,
``all``, ``cpu0``, ``sum``, ``i019`` (old) or ``19`` for an interrupt, ``ttyS0``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.columns import Section
from loadcurve.ingest.sysstat.sadf_rows import Rows, number_of
from loadcurve.ingest.sysstat.sections import INTERRUPTS, ITEMS, SECTIONS, section_of
from loadcurve.ingest.sysstat.text_report import is_shell_noise

HEADER = ("hostname", "interval", "timestamp")
_RESTART = re.compile(r"LINUX-RESTART(?:\s+\(([0-9]{1,6}) CPU\))?")
_ALL = {"CPU": "all", "INTR": "sum"}  # meaning of -1
_ROW = re.compile(r"[^;]+;-?[0-9]+;[^;]+;.+")
_TWO_DECIMALS = re.compile(r"-?[0-9]+[.,][0-9]{2}")
_WHOLE = re.compile(r"-?[0-9]+")
_NAMED = frozenset({"CPU", "TTY", "INTR", "FAN", "TEMP", "IN", "BAT", "BUS"})  # items that may look like numbers
_TEXTS = frozenset(name for section in SECTIONS for name in section.texts)
_SHAPES = {
    "DEV": re.compile(r"(?:[hsv]d[a-z]|xvd|nvme|mmcblk|dm-|dev[0-9]|loop[0-9]|sr[0-9]|md[0-9]|z?ram[0-9])"),
    "IFACE": re.compile(r"(?:lo$|eth|en[opsx]|wl|br-?|vir|veth|docker|bond|team|tun|tap|vlan|ib[0-9]|cali|flannel)"),
    "CPU": re.compile(r"-1$"),
    "FILESYSTEM": re.compile(r"/"),
    "MOUNTPOINT": re.compile(r"/"),
}
_MOST = 1000  # ways to divide a wide row among its sections
MANY = "[...]"
_USB = ("BUS", "idvendor", "idprod", "maxpower", "manufact", "product")


def parse_sadf(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sadf -d`` or ``sadf -dh`` printed.

    The tables that sar's text of the same recording gives; restarts and comments in `events`.  `timezone` is the IANA
    name of the zone of times without ``UTC`` (``-T``, ``-t``).  Raises ParseError if a row does not fit its header, or
    if there is neither header nor row.
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
            columns, headers = _in_order([cell.strip() for cell in cells[3:]]), headers + 1
        elif _ROW.fullmatch(line) and number == len(lines) and not _is_whole(line, lines[number - 2]):
            warnings.append(f"line {number}: the text ends inside a row, which is left out")
        elif _ROW.fullmatch(line):
            host, _, stamp, *cells = line.split(";", 3)[:3] + line.split(";")[3:]
            time = instants.read(stamp, number)
            if not add_event(rows, host, time, ";".join(cells)):
                _row(rows, host, time, columns, [cell.strip() for cell in cells], cpus, number)
        elif not is_shell_noise(line):
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
    for printed, values in _groups_of(_sections_of(columns), cells, number):
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
    """Return the item of a row, and its numbers by printed column; columns of words are left out."""
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
        fields: dict[str, Any] = {"event": "restart", "cpus": int(match[1])} if match[1] else {"event": "restart"}
    elif text.startswith("COM "):
        fields = {"event": "comment", "text": text[4:].strip()}
    else:
        return False
    rows.add("events", {"host": host, "time": time, "tool": "sadf", **fields})
    return True


def _in_order(columns: list[str]) -> list[str]:
    """Return the columns of a header in the order of its values: from 12.6 on that of USB devices names them first.

    Examples
    --------
    >>> _in_order(["%idle", "manufact", "product", "BUS", "idvendor", "idprod", "maxpower[...]"])[1:4]
    ['BUS', 'idvendor', 'idprod']
    """
    bare = [column.removesuffix(MANY) for column in columns]
    for i in range(len(bare) - len(_USB) + 1):
        part = bare[i : i + len(_USB)]
        if set(part) == set(_USB):
            many = MANY if columns[i + len(_USB) - 1].endswith(MANY) else ""
            return [*columns[:i], *_USB[:-1], _USB[-1] + many, *columns[i + len(_USB) :]]
    return columns


def _sections_of(columns: list[str]) -> list[list[str]]:
    """Return the columns of each section of a header, the last of a repeated one with its ``[...]``.

    Examples
    --------
    >>> _sections_of(["CPU", "%user", "%idle[...]", "proc/s", "cswch/s", "INTR", "CPU*[...]"])
    [['CPU', '%user', '%idle[...]'], ['proc/s', 'cswch/s'], ['INTR', 'CPU*[...]']]
    """
    return [list(section) for section in _cached_sections_of(tuple(columns))]


@lru_cache(512)
def _cached_sections_of(columns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if not any(column.endswith(MANY) for column in columns):
        return (columns,)
    found: list[list[str]] = [[]]
    for column in columns:
        before = found[-1]
        ended = before and before[-1].endswith(MANY)
        begun = before and column.removesuffix(MANY) in ITEMS
        if ended or begun or (before and before[0] not in ITEMS and not _together(before, column)):
            found.append([])
        found[-1].append(column)
    return tuple(tuple(section) for section in found)


def _together(before: list[str], column: str) -> bool:
    """Whether one section without items has all these columns."""
    names = {*before, column}
    return any(not section.items and names <= section.columns.keys() for section in SECTIONS)


def _groups_of(sections: list[list[str]], cells: list[str], number: int) -> list[tuple[list[str], list[str]]]:
    """Return each section's columns and values, once for each item."""
    if len(sections) == 1 and not sections[0][-1].endswith(MANY):
        columns = sections[0]
        if columns == ["INTR", "CPU*"]:
            if len(cells) < 2:
                raise ParseError(number, "an interrupt and a value for each processor", ";".join(cells))
        elif len(cells) != len(columns):
            raise ParseError(number, f"{len(columns)} values ({' '.join(columns)})", ";".join(cells))
        return [(columns, cells)]
    counts = _likeliest(list(islice(_counts(sections, cells), _MOST)), sections, cells, number)
    groups, at = [], 0
    for section, (repeats, width) in zip(sections, counts, strict=True):
        columns = [column.removesuffix(MANY) for column in section]
        for _ in range(repeats):
            groups.append((columns, cells[at : at + width]))
            at += width
    return groups


def _likeliest(
    found: list[list[tuple[int, int]]], sections: list[list[str]], cells: list[str], number: int
) -> list[Any]:
    """Return the most plausible of all ways in which the cells fit: each section has items of the expected names.

    A disk and an interface have rows of the same width: vda, lo and eth0 could be three disks.  Raises ParseError if
    the cells fit in no way, or in several equally plausible ways.
    """
    scored = sorted(((_score(counts, sections, cells), i) for i, counts in enumerate(found)), reverse=True)
    if not scored or len(found) == _MOST or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        expected = "that can be distinguished" if scored else "that fit the header"
        raise ParseError(number, f"values of sadf -dh {expected} (sadf -d prints them apart)", ";".join(cells))
    return found[scored[0][1]]


def _score(counts: list[tuple[int, int]], sections: list[list[str]], cells: list[str]) -> int:
    """Return the numbers of non-empty sections, of items with a known name, and of sections with the same items."""
    score, at = 0, 0
    items: dict[str, list[str]] = {}
    for section, (repeats, width) in zip(sections, counts, strict=True):
        named = cells[at : at + repeats * width : width]
        at += repeats * width
        if section[0] in ITEMS:
            shape = _SHAPES.get(section[0])
            score += (repeats > 0) + sum(shape is not None and shape.match(name) is not None for name in named)
            score += section[0] in items and items[section[0]] == named
            items[section[0]] = named
    return score


def _counts(sections: list[list[str]], cells: list[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield how often each section comes and how many cells it takes, in every way that uses all cells."""
    chosen: list[tuple[int, int]] = []
    starts = [0]
    has_rows = [False]
    open_choices = [_choices(sections[0], cells, 0)]
    dead: set[tuple[int, int]] = set()  # starts from which no assignment reaches the end
    while open_choices:
        if not open_choices[-1]:
            open_choices.pop()
            at, led = starts.pop(), has_rows.pop()
            if not led:
                dead.add((len(open_choices), at))
            if chosen:
                chosen.pop()
                has_rows[-1] |= led
            continue
        repeats, width = open_choices[-1].pop()
        at = starts[-1] + repeats * width
        if len(open_choices) == len(sections):
            if at == len(cells):
                has_rows[-1] = True
                yield [*chosen, (repeats, width)]
        elif (len(open_choices), at) not in dead:
            chosen.append((repeats, width))
            starts.append(at)
            has_rows.append(False)
            open_choices.append(_choices(sections[len(chosen)], cells, at))


def _choices(section: list[str], cells: list[str], at: int) -> list[tuple[int, int]]:
    """Repetitions of a section that its cells allow, the longest last."""
    if section[0] == "INTR" and section[-1].startswith("CPU*"):
        width = next((i for i in range(1, len(cells) - at) if not _is_rate(cells[at + i])), len(cells) - at)
    else:
        width = len(section)
    if not section[-1].endswith(MANY):
        return [(1, width)] if _fits(section, cells[at : at + width], width) else []
    items: set[str] = set()
    group = cells[at : at + width]
    while _fits(section, group, width) and group[0] not in items:
        items.add(group[0])
        group = cells[at + len(items) * width : at + (len(items) + 1) * width]
    return [(repeats, width) for repeats in range(len(items) + 1)]


def _is_rate(cell: str) -> bool:
    return number_of(cell) is not None and not _WHOLE.fullmatch(cell)


def _fits(section: list[str], cells: list[str], width: int) -> bool:
    if len(cells) < width or width < 2 - (len(section) == 1):
        return False
    item = section[0] in ITEMS
    if item and (_is_rate(cells[0]) or (section[0] == "CPU" and not _WHOLE.fullmatch(cells[0]))):
        return False
    if item and section[0] not in _NAMED and number_of(cells[0]) is not None:
        return False
    if section[-1].startswith("CPU*"):
        return all(_is_rate(cell) for cell in cells[1:])
    values = zip(section[item:], cells[item:], strict=True)
    return all(number_of(cell) is not None or name.removesuffix(MANY) in _TEXTS for name, cell in values)


_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]+[0-9]{2}:[0-9]{2}:[0-9]{2}(?: (?:[A-Z]{2,5}|[+-][0-9]{2,4}))?|[0-9]{9,11}"
# Endings of a value that is complete, also without a newline after it.
_P_TWO_DECIMALS = re.compile(r"\s-?[0-9]+[.,][0-9]{2}$")
_P_ROW = re.compile(rf"(\S+)[ \t]+(-?[0-9]{{1,10}})[ \t]+({_TIME})[ \t]+(\S.*)")
_PROCESSOR = re.compile(r"all|cpu[0-9]+")
_NEVER = (INTERRUPTS.option, "-x", "-X", "-x SUM")  # interrupts have their own lines; sadf prints no processes
_OLD_INTERRUPT = re.compile(r"i([0-9]{3,})")


@dataclass
class _Run:
    """Lines that follow each other and belong to one section."""

    key: tuple[str, datetime, str] | None = None
    fitting: tuple[Section, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    number: int = 0


def parse_sadf_p(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sadf -p`` (or sadf without an option) printed.

    The tables that sar's text of the same recording gives; restarts and comments in `events`.  `text` is output of one
    or several runs; spaces may replace tabs if no item contains spaces.  `timezone` is the IANA name of the zone of
    times without ``UTC`` (``-T``, ``-t``).  Raises ParseError if a line is not what sadf prints, or if there is none.
    """
    lines = text.split("\n")
    warnings: list[str] = []
    rows, instants = Rows(warnings), Instants(zone_named(timezone), warnings)
    run = _Run()
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        match, last = _P_ROW.fullmatch(line), number == len(lines)
        if match is None and not last and not is_shell_noise(line):
            raise ParseError(number, "a line such as 'host\\t1\\t2026-11-20 22:33:26 UTC\\tall\\t%user\\t20.83'", line)
        if line and last and not (match and _P_TWO_DECIMALS.search(line)):
            warnings.append(f"line {number}: the text ends inside a line, which is left out")
        elif match:
            host, _, stamp, rest = match.groups()
            _add(rows, run, host, instants.read(stamp.replace("\t", " "), number), rest, number)
    _end(rows, run)
    if not rows:
        raise nothing_in(text, "lines of sadf -p")
    return Parsed("sadf", rows.tables(), tuple(warnings))


def _add(rows: Rows, run: _Run, host: str, time: datetime, rest: str, number: int) -> None:
    """Add what a line says after its time: an event, or an item, a column of sar and its value."""
    if add_event(rows, host, time, rest):
        return
    cells = [cell.strip() for cell in rest.split("\t")] if "\t" in rest else rest.split(None, 2)
    if len(cells) > 1 and cells[1] in _TEXTS:
        return  # words, perhaps none
    value = number_of(cells[-1]) if len(cells) == 3 else None
    if value is None:
        raise ParseError(number, "an item, a column of sar and a number", rest)
    item, column = cells[0], cells[1]
    if _PROCESSOR.fullmatch(column) or column == "intr/s":
        _end(rows, run)
        cpu = "all" if column == "intr/s" else column.removeprefix("cpu")
        old = _OLD_INTERRUPT.fullmatch(item)
        rows.interrupt(host, time, str(int(old[1])) if old else item, cpu, value)
        return
    key = (host, time, "" if item == "-" else item)
    fitting = _fitting(run.fitting if run.key == key else SECTIONS, column, key[2])
    if run.key != key or not fitting or column in run.values:
        _end(rows, run)
        run.key, run.values, run.number = key, {}, number
        fitting = _fitting(SECTIONS, column, key[2])
    run.fitting = fitting
    run.values[column] = value


def _fitting(sections: tuple[Section, ...], column: str, item: str) -> tuple[Section, ...]:
    return tuple(s for s in sections if s.option not in _NEVER and column in s.columns and bool(s.items) == bool(item))


def _end(rows: Rows, run: _Run) -> None:
    """Pass a finished section on."""
    if run.key is None or not run.values:
        return
    host, time, item = run.key
    section = run.fitting[0] if run.fitting else section_of([*run.values])
    if "CPU" in section.items:
        item = item.removeprefix("cpu")
    elif "TTY" in section.items:
        item = item.removeprefix("ttyS")
    rows.put(section, host, time, item, run.values, run.number)
    run.key, run.values = None, {}
