"""Large tables as Arrow files on disk, checked, until all files of a folder are read.

Whoever parses a file stores its tables, so a worker returns only the names of files, and the checks and conversions of
large tables are done where they were parsed.
"""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loadcurve.ingest.parsed import Parsed, Rows, Tables

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# Rows of small tables, and of `runs`, which the reader of a folder uses several times, stay in memory.
_SMALL = 1000
_SLICE = 100_000


def stored(parsed: Parsed, folder: Path) -> Parsed:
    """Write the large tables of a file into a folder; return the same, with these tables as Arrow.

    Raises
    ------
    LoadcurveError
        If a value breaks the rule of its column.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tables = stored(Parsed("sar", {"cpu": [{"cpu": "all"}] * 2000}), Path(folder)).tables
    ...     tables.rows("cpu").num_rows, tables["cpu"]["cpu"].unique().tolist()
    (2000, ['all'])
    """
    tables = parsed.tables
    large = [name for name in tables if name != "runs" and len(tables.rows(name)) > _SMALL]
    if not large:
        return parsed
    small = {name: () if name in large else tables.rows(name) for name in tables}
    on_disk = _OnDisk(small, {name: _write(name, tables[name], folder) for name in large})
    return Parsed(parsed.tool, on_disk, parsed.warnings, parsed.version)


def _write(name: str, frame: "pd.DataFrame", folder: Path) -> Path:
    import pyarrow as pa

    from loadcurve import tables
    from loadcurve.schemas import SCHEMAS
    from loadcurve.tables.declared import ARROW_TEXT
    from loadcurve.tables.stored import to_arrow

    known = [column for column in SCHEMAS[name].columns if column in frame]  # few of them: others have no values
    number, path = tempfile.mkstemp(suffix=".arrow", dir=folder)
    with os.fdopen(number, "wb") as file, contextlib.ExitStack() as open_writer:
        writer = None
        for start in range(0, len(frame), _SLICE):  # because a check copies the rows that it gets
            checked = tables.check(name, frame.iloc[start : start + _SLICE], text=ARROW_TEXT)
            table = to_arrow(name, checked).select(known)
            writer = writer or open_writer.enter_context(pa.ipc.new_file(file, table.schema))
            writer.write_table(table)
    return Path(path)


class _OnDisk(Tables):
    """Tables of which some are Arrow files; their pages are read when a column is used."""

    def __init__(self, small: "Mapping[str, pd.DataFrame | Rows]", large: dict[str, Path]) -> None:
        super().__init__(small)
        self._large = large

    def __getitem__(self, name: str) -> "pd.DataFrame":
        return self._arrow(name).to_pandas() if name in self._large else super().__getitem__(name)

    def rows(self, name: str) -> "pd.DataFrame | pa.Table | Rows":
        return self._arrow(name) if name in self._large else super().rows(name)

    def _arrow(self, name: str) -> "pa.Table":
        import pyarrow as pa

        from loadcurve.tables.stored import with_all_columns

        return with_all_columns(name, pa.ipc.open_file(pa.memory_map(str(self._large[name]))).read_all())
