"""Columns of sysstat with their table, name and unit, and sections: the columns that one option prints.

Units, from ``man sar`` and ``pr_stats.c``: a percentage is a ratio; kB and MB are 1024-based; sectors and the
blocks of ``-b`` have 512 bytes; ``pgpgin/s`` and ``pgpgout/s`` are kB; times are milliseconds; ``cap/min`` is percent
of the capacity per minute.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from loadcurve.units import unit_of_column

KB = 1024.0
SECTOR = 512.0  # bytes
PER_INTERRUPT = re.compile(r"i[0-9]+/s")
PER_PROCESSOR = re.compile(rf"CPU[0-9]+|{PER_INTERRUPT.pattern}")
_SCALE = {
    "await": (1.0, 1000.0), "svctm": (1.0, 1000.0),
    "rd_sec/s": (SECTOR, 1.0), "wr_sec/s": (SECTOR, 1.0), "sect/s": (SECTOR, 1.0), "blks/s": (SECTOR, 1.0),
    "avgrq-sz": (SECTOR, 1.0),
    "areq-sz": (KB, 1.0),
    "pgpgin/s": (KB, 1.0), "pgpgout/s": (KB, 1.0),
    "bread/s": (SECTOR, 1.0), "bwrtn/s": (SECTOR, 1.0), "bdscd/s": (SECTOR, 1.0),
    "rpm": (1.0, 60.0), "drpm": (1.0, 60.0), "cap/min": (1.0, 6000.0), "maxpower": (1.0, 1000.0),
}  # fmt: skip
_UNIT = {
    "pgpgin/s": "bytes_per_s", "pgpgout/s": "bytes_per_s", "sect/s": "bytes_per_s", "blks/s": "bytes_per_s",
    "bread/s": "bytes_per_s", "bwrtn/s": "bytes_per_s", "bdscd/s": "bytes_per_s",
    "tps": "per_s", "rtps": "per_s", "wtps": "per_s", "dtps": "per_s",
    "rpm": "per_s", "drpm": "per_s", "cap/min": "per_s", "degC": "degC", "inV": "V", "maxpower": "A",
}  # fmt: skip


class Column(NamedTuple):
    """Table, name and unit of a printed column: SI value = printed value · `times` / `per`."""

    # `table` and `name`: our table and column; in the table `counters` the name as printed.
    table: str
    name: str
    # `times` and `per`: two numbers, so that 20.62 % is exactly the nearest number to 0.2062.
    times: float
    per: float
    unit: str  # SI unit; empty for a count

    @property
    def whole(self) -> bool:
        """Whether the table holds whole numbers in it."""
        return self.table == "sockets" or self.name in ("run_queue", "tasks", "blocked")

    def si(self, printed: float) -> float:
        """Value in SI units.

        Examples
        --------
        >>> Column("network", "received_bytes_per_s", 1024.0, 1.0, "bytes_per_s").si(1.5)
        1536.0
        """
        return printed * self.times / self.per


@dataclass(frozen=True, eq=False)  # compared by identity
class Section:
    """What one option of sar prints."""

    option: str  # The option, which is the `group` in `counters` and `averages`: `-n DEV`; empty for an unknown section
    table: str = "counters"  # Our table; columns that the table does not have go into `counters`
    # Printed columns that name the item of a row (a processor, a disk); a header has at most one besides `texts`.
    items: tuple[str, ...] = ()
    item: str = "item"  # Column of our table for it
    columns: dict[str, Column] = field(default_factory=dict)  # Printed column → `Column`
    texts: tuple[str, ...] = ()  # Printed columns that hold words

    def column(self, printed: str) -> Column:
        """Return the `Column` of a printed column; an unknown one goes to `counters`, in an unknown unit.

        Examples
        --------
        >>> Section("-w", columns=counters_of("proc/s cswch/s")).column("cswch/s")
        Column(table='counters', name='cswch/s', times=1.0, per=1.0, unit='per_s')
        """
        if self.table == "interrupts" and re.fullmatch(rf"all|CPU[0-9]+|{PER_INTERRUPT.pattern}", printed):
            return self.columns["intr/s"]
        return self.columns.get(printed) or Column("counters", printed, 1.0, 1.0, "")

    def group(self, tool: str) -> str:
        """`group` of the section's rows in `counters` and `averages`: ``sar -B``.

        Examples
        --------
        >>> Section("-B").group("sar")
        'sar -B'
        """
        return f"{tool} {self.option}".strip()


def columns_of(table: str, text: str) -> dict[str, Column]:
    """Columns from ``printed=ours`` words."""
    return {
        printed: Column(table, ours, *_SCALE.get(printed, _scale(printed)), unit_of_column(ours))
        for printed, ours in (word.split("=") for word in text.split())
    }


def counters_of(text: str) -> dict[str, Column]:
    """Columns for the table `counters`; the printed name decides the unit."""
    return {name: Column("counters", name, *_SCALE.get(name, _scale(name)), _unit(name)) for name in text.split()}


def _scale(printed: str) -> tuple[float, float]:
    if printed.startswith("%"):
        return 1.0, 100.0
    if printed.startswith("kb") or printed.endswith("kB/s"):
        return KB, 1.0
    if printed.startswith("MB"):
        return KB * KB, 1.0
    return (1e6, 1.0) if printed.endswith("MHz") else (1.0, 1.0)


def _unit(printed: str) -> str:
    if printed in _UNIT:
        return _UNIT[printed]
    if printed.startswith("%"):
        return "ratio"
    if printed.startswith(("kb", "MB")):
        return "bytes"
    if printed.endswith("MHz"):
        return "Hz"
    return ("bytes_per_s" if printed.endswith("kB/s") else "per_s") if printed.endswith("/s") else ""
