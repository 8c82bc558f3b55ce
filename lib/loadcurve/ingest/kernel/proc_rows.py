"""Rows of the files of /proc that were read so far, by table."""

from dataclasses import dataclass, field

import pandas as pd

_COLUMNS = ("time", "kind", "interrupt", "cpu", "interrupts", "description")


class Interrupts:
    """Rows of `interrupts`, gathered by column: a machine can have 300 interrupts on 288 processors."""

    def __init__(self) -> None:
        self._columns: dict[str, list] = {name: [] for name in _COLUMNS}

    def __len__(self) -> int:
        return len(self._columns["cpu"])

    def add(self, row: dict, cpus: list[str], counts: list[int]) -> None:
        """Add the counts of one interrupt on these processors."""
        for name in _COLUMNS:
            self._columns[name] += [row.get(name)] * len(cpus) if name not in ("cpu", "interrupts") else []
        self._columns["cpu"] += cpus
        self._columns["interrupts"] += counts

    def table(self) -> pd.DataFrame:
        """The table, without empty columns."""
        frame = pd.DataFrame(
            {name: values for name, values in self._columns.items() if any(v is not None for v in values)}
        )
        return frame.assign(tool="proc")


@dataclass
class ProcRows:
    """Rows of every table of a text; each reader of a file adds its own."""

    tables: dict[str, list[dict]] = field(default_factory=dict)
    interrupts: Interrupts = field(default_factory=Interrupts)

    def add(self, table: str, rows: list[dict]) -> None:
        """Add rows to a table; without rows the table exists, and is empty."""
        self.tables.setdefault(table, []).extend(rows)
