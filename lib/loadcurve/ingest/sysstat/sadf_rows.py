"""Join sadf's sections into rows of the tables, for every output form of sadf."""

import re
from collections.abc import Mapping
from datetime import datetime

from loadcurve.ingest.parsed import Tables
from loadcurve.ingest.sysstat.columns import Section

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(?:[.,][0-9]{1,6})?")


def number_of(text: str) -> float | None:
    """Return the number that sadf printed, NaN for its nan; None if the text is not a number.

    Examples
    --------
    >>> number_of("12.50"), number_of("12,50"), number_of("eth0")
    (12.5, 12.5, None)
    """
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    return float("nan") if text in ("nan", "-nan") else None


class Rows:
    """Rows of every table, one for each host, instant and item, filled section by section."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self._rows: dict[str, dict[tuple, dict]] = {}
        self._seen: dict[tuple, int] = {}
        self._lists: dict[str, list[dict]] = {}
        self._unknown: set[str] = set()

    def put(
        self,
        section: Section,
        host: str,
        time: datetime,
        item: str,
        values: Mapping[str, float],
        number: int,
        where: str = "",
    ) -> None:
        """Add the values of a section for an item at an instant, by printed column; `where` names an unknown section.

        A clock that was set back shows an instant twice, so a repeated section begins a new row.
        """
        if section.table == "cpu" and item != "all" and values and not any(values.values()):
            self.warnings.append(f"line {number}: processor {item} was off at {time}: its zeros are left out")
            return
        key = (section.option, host, time, item)
        again = self._seen[key] = self._seen.get(key, 0) + 1
        sample = {"host": host, "time": time, "tool": "sadf"}
        if unknown := [name for name in values if name not in section.columns and name not in self._unknown]:
            self._unknown.update(unknown)
            what = f"columns of sar {section.option}" if section.option else where or "a section"
            warning = f"{what} not known, its numbers in no known unit: {' '.join(unknown)}"
            self.warnings.append(f"line {number}: {warning}")
        for printed, value in values.items():
            column = section.column(printed)
            if column.table == "counters":
                named = {"item": item} if item else {}
                counter = {"group": section.group("sar"), **named, "counter": printed, "value": column.si(value)}
                self.add("counters", {**sample, **counter, "unit": column.unit})
                continue
            row = self._rows.setdefault(column.table, {}).setdefault((host, time, item, again), dict(sample))
            if item:
                row[section.item] = item
            if value < 0 or (column.table == "cpu" and value > 100):
                self.warnings.append(f"line {number}: {printed} of {value:g} cannot be, so it is missing")
            elif value == value:
                row[column.name] = int(value) if column.whole else column.si(value)

    def interrupt(self, host: str, time: datetime, interrupt: str, cpu: str, rate: float) -> None:
        """Add the rate of one interrupt on one processor."""
        row = {"host": host, "time": time, "tool": "sadf", "kind": "hard", "interrupt": interrupt, "cpu": cpu}
        self.add("interrupts", {**row, "interrupts_per_s": rate})

    def add(self, table: str, row: dict) -> None:
        """Add a row that needs no other section."""
        self._lists.setdefault(table, []).append(row)

    def tables(self) -> Tables:
        """Every table that has rows."""
        return Tables({**{name: list(rows.values()) for name, rows in self._rows.items()}, **self._lists})

    def __bool__(self) -> bool:
        return bool(self._rows or self._lists)
