"""Build tables from sar's rows: join the sections of one instant, convert units, keep the order of the text."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.ingest.sysstat.columns import Column
from loadcurve.ingest.sysstat.sar_instants import LineTimes, as_words
from loadcurve.ingest.sysstat.sar_rows import Rows, read_cells
from loadcurve.ingest.sysstat.sar_scan import Average, Header, WarningCollector
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


def average_rows(averages: Sequence[Average], warnings: WarningCollector) -> list[dict]:
    """Return rows of the table `averages`."""
    found = []
    for average in averages:
        header, line = average.header, average.line + 1
        item, values = read_cells(header, average.text, line, average=True)
        if len(values) < len(header.places):
            warnings.add("short", line, "the row ends before its last columns")
        for place, value in zip(header.places, values, strict=False):
            column = header.section.column(header.columns[place])
            row = {
                "statistic": average.statistic,
                "tool": "sar",
                "group": header.section.group("sar"),
                "counter": header.columns[place],
                "value": float(_si(np.array([value]), _target(header, place))[0]),
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
