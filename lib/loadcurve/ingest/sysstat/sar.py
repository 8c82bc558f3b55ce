"""sar: read every output of ``sar``, in any language, into tables.

Seen: sysstat 12.6.1 on Debian 12 in the tests' samples (``LC_ALL=C sar -A``, ``-u ALL -P ALL``, ``-n …``, ``-f FILE``,
``--human``, ``--pretty``, in English, German and Chinese, with 12 and 24 hours, S_TIME_FORMAT=ISO); versions 5 to
12.7 in public repositories.

The steps, in order: `sar_lines` joins lines that SIGINT or a mail program broke, splits the text and reads the time of
each line; `sar_scan` finds headings, header rows, averages, restarts; `sar_rows` converts the rows below
each header to numbers; `sar_instants` computes the instant of each line; this module builds the tables.  `sections`
lists the table and the unit of each column.

sar ends every line with a newline: a last line without one may have been cut, and is left out unless its last number
has two decimals like all others.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import zone_named
from loadcurve.ingest.sysstat.columns import Column
from loadcurve.ingest.sysstat.sar_instants import LineTimes, as_words, line_times
from loadcurve.ingest.sysstat.sar_lines import Lines, plain, rejoin_lines, unwrap_rows
from loadcurve.ingest.sysstat.sar_rows import Rows, read_cells, read_rows
from loadcurve.ingest.sysstat.sar_scan import KNOWN, Average, Header, Scan, WarningCollector, looks_like_header
from loadcurve.ingest.sysstat.sections import SECTIONS

_MOST = 1e18  # no machine counts this far: a kernel counter ran backwards


def make_tables(parts: list[Rows], instants: LineTimes, warnings: WarningCollector) -> dict[str, pd.DataFrame]:
    """Return the tables of these rows; the rows are removed from `parts`, so that each number is held only once."""
    tables: dict[str, pd.DataFrame] = {}
    interrupts, counters = _interrupts(parts), _counters(parts)
    sections = dict.fromkeys(section.table for section in SECTIONS)
    for table in sections:
        mine = [rows for rows in parts if rows.header.section.table == table]
        parts[:] = [rows for rows in parts if rows.header.section.table != table]
        if mine and table not in ("counters", "interrupts"):
            tables[table] = _wide(table, mine, instants, warnings)
    if interrupts:
        tables["interrupts"] = _long(interrupts, instants, ("kind", "interrupt", "cpu"), "interrupts_per_s", warnings)
    if counters:
        tables["counters"] = _long(counters, instants, ("group", "item", "counter", "unit"), "value", warnings)
    return tables


def average_rows(averages: Sequence[Average], warnings: WarningCollector) -> list[dict[str, Any]]:
    """Return rows of the table `averages`."""
    found = []
    for average in averages:
        header, line = average.header, average.line + 1
        item, values = read_cells(header, average.text, line, average=True)
        if len(values) < len(header.places):
            warnings.add("short", line, "the row ends before its last columns")
        for place, value in zip(header.places, values, strict=False):
            column = _target(header, place)
            row = {
                "statistic": average.statistic,
                "tool": "sar",
                "group": header.section.group("sar"),
                "counter": header.columns[place],
                "value": float(_si(np.array([value]), column)[0]),
                "unit": column.unit,
            }
            found.append(row | ({"item": item} if item else {}))
    return found


def _target(header: Header, place: int) -> Column:
    return header.section.column(header.columns[place])


def _si(printed: np.ndarray, column: Column) -> np.ndarray:
    if column.per == 100.0:
        # Hundredths are exact, so that 20.62 % is the nearest number to 0.2062.
        hundredths = np.rint(printed * 100)
        return np.where(hundredths / 100 == printed, hundredths / 1e4, printed / 100)
    return printed if column.times == column.per == 1 else printed * column.times / column.per


def _checked(values: np.ndarray, lines: np.ndarray, column: Column, warnings: WarningCollector) -> np.ndarray:
    """Return values that are possible in the table; an impossible one becomes missing, with a doubt."""
    wrong = np.abs(values) >= _MOST
    if column.table != "counters":
        wrong |= values < 0
    if column.table == "cpu":
        wrong |= values > 1
    if wrong.any():
        first = int(np.argmax(wrong))
        warnings.add(
            f"impossible {column.name}",
            int(lines[first]) + 1,
            f"{column.name} {values[first]:g} cannot be, and is missing",
            int(wrong.sum()),
        )
        values = np.where(wrong, np.nan, values)
    return np.where(values == 0, 0.0, values)  # not -0


def _wide(table: str, parts: list[Rows], instants: LineTimes, warnings: WarningCollector) -> pd.DataFrame:
    item = parts[0].header.section.item if parts[0].header.section.items else ""
    names: dict[str, int] = {}
    order = [c for s in SECTIONS if s.table == table for c in dict.fromkeys(k.name for k in s.columns.values())]
    frames = []
    for option in dict.fromkeys(rows.header.section.option for rows in parts):
        mine = [rows for rows in parts if rows.header.section.option == option]
        frames.append(_section(mine, names, [*dict.fromkeys(order)], warnings))
    whole = frames[0] if len(frames) == 1 else _joined(frames, instants)
    lines, items = whole.pop("line"), whole.pop("item")
    columns = {**instants.columns(lines), "tool": as_words(np.zeros(len(lines), np.int64), ["sar"])}
    if item:
        columns[item] = as_words(items, list(names))
    for name in dict.fromkeys(order):
        if name in whole:
            columns[name] = whole.pop(name)
            if Column(table, name, 1, 1, "").whole:
                columns[name] = pd.array(columns[name], dtype="Float64").astype("Int64")
    return pd.DataFrame(columns, copy=False)


def _section(
    parts: list[Rows], names: dict[str, int], order: list[str], warnings: WarningCollector
) -> dict[str, np.ndarray]:
    """Rows of one section in the order of the text: `line`, `item` and our columns."""
    lines = np.concatenate([rows.lines for rows in parts])
    items = np.concatenate([_codes(rows.names, names)[rows.items] for rows in parts])
    for rows in parts:
        if rows.header.section.table == "cpu":
            _check_sum(rows, warnings)
    columns = {"line": lines, "item": items}
    for name in order:
        found = [_column(rows, name, warnings) for rows in parts]
        if any(column is not None for column in found):
            filled = (np.full(len(r.lines), np.nan) if c is None else c for r, c in zip(parts, found, strict=True))
            columns[name] = np.concatenate([*filled])
    return _sorted(columns)


def _sorted(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    if (np.diff(columns["line"]) > 0).all():
        return columns
    order = np.argsort(columns["line"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _column(rows: Rows, name: str, warnings: WarningCollector) -> np.ndarray | None:
    """Values of one of our columns; None where these rows do not have it."""
    for i, place in enumerate(rows.header.places):
        column = _target(rows.header, place)
        if column.name == name and column.table != "counters":
            return _checked(_si(rows.numbers[i], column), rows.lines, column, warnings)
    return None


def _check_sum(rows: Rows, warnings: WarningCollector) -> None:
    """Doubt percentages that do not add up to 100: a counter of the kernel ran backwards."""
    if "%idle" not in rows.header.columns:
        return
    total = np.sum(rows.numbers, axis=0)
    wrong = ~(np.abs(total - 100) <= 0.01 * len(rows.numbers) + 0.5)
    # --dec=0 rounds to whole numbers.
    if wrong.any() and all((values == np.rint(values)).all() for values in rows.numbers):
        wrong &= np.abs(total - 100) > 0.5 * len(rows.numbers) + 0.5
    if wrong.any():
        first = int(np.argmax(wrong))
        sentence = f"the percentages add up to {total[first]:.2f}, not 100"
        warnings.add("sum", int(rows.lines[first]) + 1, sentence, int(wrong.sum()))


def _joined(sections: list[dict[str, np.ndarray]], instants: LineTimes) -> dict[str, np.ndarray]:
    """Join sections of one table by instant and item; an instant that a clock set back shows twice keeps two rows."""
    first, keys = sections[0], [instants.keys[section["line"]] for section in sections]
    alike = all(
        np.array_equal(key, keys[0]) and np.array_equal(section["item"], first["item"])
        for key, section in zip(keys, sections, strict=True)
    )
    if alike and sum(len(section) - 2 for section in sections) == len(set().union(*sections)) - 2:
        line = np.min([section["line"] for section in sections], axis=0)
        return _sorted({name: column for section in sections for name, column in section.items()} | {"line": line})
    frames = [pd.DataFrame(section).assign(key=key) for section, key in zip(sections, keys, strict=True)]
    for frame in frames:
        frame["again"] = frame.groupby(["key", "item"]).cumcount()
    whole = pd.concat(frames, ignore_index=True).sort_values("line", kind="stable")
    whole = whole.groupby(["key", "item", "again"], sort=False).first().reset_index().drop(columns=["key", "again"])
    return _sorted({name: whole[name].to_numpy() for name in whole})


class _Long:
    """Numbers of one part for a long table: `values` has a column of the text in each row.

    Of the table's columns of words, one is named by row, as names and the code of each row; the others by column.
    """

    def __init__(self, rows: Rows, mine: list[int], item: str, words: dict[str, list[str]]) -> None:
        self.lines, self.values = rows.lines, [rows.numbers[i] for i in mine]
        self.columns = [_target(rows.header, rows.header.places[i]) for i in mine]
        self.by_row, self.by_column = {item: (rows.names, rows.items)}, words


def _counters(parts: Sequence[Rows]) -> list[_Long]:
    found = []
    for rows in parts:
        header = rows.header
        targets = [_target(header, place) for place in header.places]
        mine = [i for i, column in enumerate(targets) if column.table == "counters"]
        if mine:
            words = {
                "group": [header.section.group("sar")] * len(mine),
                "counter": [targets[i].name for i in mine],
                "unit": [targets[i].unit for i in mine],
            }
            found.append(_Long(rows, mine, "item", words))
    return found


def _interrupts(parts: Sequence[Rows]) -> list[_Long]:
    found = []
    for rows in parts:
        header = rows.header
        mine = [i for i, place in enumerate(header.places) if _target(header, place).table == "interrupts"]
        if header.section.table != "interrupts" or not mine:
            continue
        names = [header.columns[header.places[i]] for i in mine]
        kinds = {"kind": ["hard"] * len(mine)}
        if header.columns[header.item] == "CPU":  # RHEL 5: one column for each interrupt
            words = kinds | {"interrupt": [str(int(name[1:-2])) for name in names]}
            found.append(_Long(rows, mine, "cpu", words))
        else:
            words = kinds | {
                "cpu": ["all" if name in ("intr/s", "all") else name.removeprefix("CPU") for name in names]
            }
            found.append(_Long(rows, mine, "interrupt", words))
    return found


def _long(
    parts: list[_Long], instants: LineTimes, words: tuple[str, ...], value: str, warnings: WarningCollector
) -> pd.DataFrame:
    """One row for each number, line by line."""
    lines = np.concatenate([part.lines for part in parts])
    widths = np.concatenate([np.full(len(part.lines), len(part.values)) for part in parts])
    order = np.argsort(lines, kind="stable")
    ends = np.cumsum(widths[order])
    starts = np.empty(len(lines), np.int64)
    starts[order] = ends - widths[order]
    size = int(ends[-1]) if len(ends) else 0
    numbers, line_of = np.full(size, np.nan), np.zeros(size, np.int32)
    codes = {name: np.full(size, -1, np.int32) for name in words}
    known: dict[str, dict[str, int]] = {name: {} for name in words}
    begin = 0
    for part in parts:
        at = starts[begin : begin + len(part.lines)]
        begin += len(part.lines)
        by_row = {name: _codes(names, known[name])[items] for name, (names, items) in part.by_row.items()}
        by_column = {name: _codes(names, known[name]) for name, names in part.by_column.items()}
        for i, values in enumerate(part.values):
            numbers[at + i] = _checked(_si(values, part.columns[i]), part.lines, part.columns[i], warnings)
            line_of[at + i] = part.lines
            for name in words:
                codes[name][at + i] = by_row[name] if name in by_row else by_column[name][i]
    if value != "value" and np.isnan(numbers).any():  # a row shorter than its header: those processors are offline
        kept = ~np.isnan(numbers)
        numbers, line_of = numbers[kept], line_of[kept]
        codes = {name: code[kept] for name, code in codes.items()}
    columns = {**instants.columns(line_of), "tool": as_words(np.zeros(len(numbers), np.int64), ["sar"])}
    for name in words:
        if name == "unit":
            columns[value] = numbers
        columns[name] = as_words(codes.pop(name), list(known[name]))
    return pd.DataFrame(columns | {value: numbers}, copy=False)


def _codes(names: Sequence[str], known: dict[str, int]) -> np.ndarray:
    # One more at the end: -1, no name, stays -1.
    return np.array([*(known.setdefault(name, len(known)) for name in names), -1], np.int32)


_OURS = re.compile(r"[0-9]|\S.{0,30}[:：]|Linux ")
_TWO_DECIMALS = re.compile(r"[0-9]+[.,][0-9]{2}")


def parse_sar(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sar`` printed.

    `cpu`, `load`, `memory`, `disks`, `network`, `tcp`, `sockets` and `interrupts`, and `counters` for every section
    without a table of its own; `averages` for the averages that sar prints, `events` for restarts and comments, `hosts`
    for headings.

    The tables that have rows.  `time` is UTC, missing if no heading has the date; percentages are ratios; kB are
    multiplied by 1024.  `timezone` is the IANA name of the zone whose local time sar printed; sar does not print it.
    Raises ParseError if a heading, a header row, a time or a number is not what sysstat prints, if sar printed an error
    and nothing else, or if the text is that of another system's sar.  Raises ValueRuleError if there is no such time
    zone.
    """
    zone = zone_named(timezone)
    text, broken = rejoin_lines(text.removeprefix("\ufeff"))
    text = plain(text)
    try:
        return _parse(text, broken, "an interrupt broke this line; its parts were joined", zone)
    except ParseError:
        whole, wrapped = unwrap_rows(text, KNOWN.__contains__)
        if not wrapped:
            raise
        with suppress(ParseError):
            return _parse(whole, wrapped, "broken in parts, which were joined", zone)
        raise


def _parse(text: str, broken: dict[int, int], why: str, zone: ZoneInfo) -> Parsed:
    """Return the tables of a text whose broken lines were joined for the given reason."""
    warnings = WarningCollector()
    if broken:
        warnings.add("broken", min(broken) + 1, why, len(broken))
    text = _without_cut(text, warnings)
    lines = Lines(text, broken)
    scan, parts = _read(lines, warnings)
    if not parts and not scan.averages and not scan.events:
        if scan.error:
            raise ParseError(scan.error[0], "sar rows", scan.error[1])
        if not scan.headings:
            raise nothing_in(text, "sar rows")
        warnings.add("empty", scan.headings[0].line, "there are no rows below the heading")
    elif not scan.headings:
        warnings.add("no heading", 1, "no heading 'Linux …': the date is not known, so the rows have no time")
    instants, midnights = line_times(scan, parts, lines, zone, warnings)
    del lines, scan.lines, text  # a long text's tables are as large as itself
    tables = make_tables(parts, instants, warnings)
    if averages := average_rows(scan.averages, warnings):
        tables["averages"] = averages
    if scan.events:
        tables["events"] = _events(scan, instants)
    if scan.headings:
        tables["hosts"] = _hosts(scan, midnights)
    return Parsed("sar", tables, tuple(warnings.sentences()))


def _read(lines: Lines, warnings: WarningCollector) -> tuple[Scan, list[Rows]]:
    scan = Scan(lines, warnings)
    try:
        return scan, _rows(scan)
    except ParseError:
        # Without empty lines, header rows are among the rows.  The search is slow, so only a failure starts it.
        rows = (i for header in scan.headers.values() for a, b in header.blocks.tolist() for i in range(a, b))
        more = [i for i in rows if looks_like_header(lines.text(i).split()[1:])]
        if not more:
            raise
        scan = Scan(lines, warnings, more)
        return scan, _rows(scan)


def _rows(scan: Scan) -> list[Rows]:
    parts = [rows for header in scan.headers.values() for rows in read_rows(header, scan.lines)]
    return [rows for rows in parts if len(rows.lines)]


def _without_cut(text: str, warnings: WarningCollector) -> str:
    """Drop a last line that may have been cut."""
    start = text.rfind("\n") + 1
    last = text[start : start + 100_000].strip()
    if not last or not _OURS.match(last) or last.endswith(" CPU)"):
        return text
    cells, above = last.split(), text[max(0, start - 100_000) : start].rstrip().rpartition("\n")[2].split()
    # With AM or PM the row above has one cell more than an average.
    if len(cells) in (len(above), len(above) - (not last[0].isdigit())) and _TWO_DECIMALS.fullmatch(cells[-1]):
        return text
    warnings.add("cut", text.count("\n") + 1, f"the text ends inside a line, which is left out: {last[:100]!r}")
    return text[:start]


def _events(scan: Scan, instants: LineTimes) -> list[dict[str, Any]]:
    found = []
    for event in scan.events:
        row: dict[str, object] = {"tool": "sar", "event": event.event}
        if not np.isnat(time := instants.times[event.line]):
            row["time"] = _stamp(time)
        if event.cpus is not None:
            row["cpus"] = event.cpus
        if event.text:
            row["text"] = event.text
        if instants.hosts:
            row["host"] = instants.hosts[instants.place[event.line]]
        found.append(row)
    return found


def _hosts(scan: Scan, midnights: list[np.datetime64]) -> list[dict[str, Any]]:
    """One row for each distinct heading."""
    days = (None if np.isnat(midnight) else _stamp(midnight) for midnight in midnights)
    rows = [heading.row("sar", day) for heading, day in zip(scan.headings, days, strict=True)]
    return list({tuple(row.values()): row for row in rows}.values())


def _stamp(time: np.datetime64) -> Any:
    """UTC instant as pandas has it."""
    return time.astype("datetime64[us]").astype(object).replace(tzinfo=UTC)
