"""Tables of raw files on disk until all files of a folder are read.

Whoever parses a file stores its tables, so a worker returns only what the others must know: the reports, the hosts, how
many rows each table has, and the first and last time.  The tables are read again where they are written.
"""

import contextlib
import os
import pickle
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from loadcurve.ingest.parsed import Parsed, Rows, Tables
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    import pyarrow as pa

    from loadcurve.ingest.merge import Table


def span_of(tables: Tables) -> tuple[float, float] | None:
    """Return the first and the last time of all rows of a file, in s since 1970 UTC; None if none has a time.

    Examples
    --------
    >>> span_of(Tables({"tcp": [{"time": pd.Timestamp(60, unit="s", tz="UTC")}, {"time": None}]}))
    (60.0, 60.0)
    """
    times = times_of(tables)
    return (float(np.nanmin(times)), float(np.nanmax(times))) if np.isfinite(times).any() else None


def times_of(tables: Tables) -> np.ndarray:
    """Return times of the rows of a file in s since 1970 UTC, one table after the other; NaN for rows without one."""
    pieces = (_seconds_of(rows) for name in tables for rows in tables.pieces(name, "time"))
    return np.concatenate([np.empty(0), *pieces])


def _seconds_of(rows: "Table") -> np.ndarray:
    """Times of rows in s since 1970 UTC; NaN for rows without a time."""
    if isinstance(rows, Sequence):
        times = [row.get("time") for row in rows]
        known = [time for time in times if isinstance(time, datetime) and time.tzinfo]
        if len(known) == len(times):
            return np.array([time.timestamp() for time in known], float)
        stamps = pd.Series(pd.to_datetime(times, utc=True)) if any(time is not None for time in times) else None
    else:
        stamps = _instants(rows)
    if stamps is None:
        return np.full(len(rows), np.nan)
    return _in_seconds(stamps - pd.Timestamp(0, tz="UTC"))


def _instants(table: "pd.DataFrame | pa.Table") -> pd.Series | None:
    """Column `time` of a table in UTC; None if it has none."""
    if not isinstance(table, pd.DataFrame):
        table = table.select([name for name in ("time",) if name in table.column_names]).to_pandas()
    if "time" not in table or not len(table):
        return None
    times = table["time"]
    is_utc = isinstance(times.dtype, pd.DatetimeTZDtype) and str(times.dtype.tz) == "UTC"
    return times if is_utc else pd.to_datetime(times, utc=True)


def _in_seconds(durations: pd.Series) -> np.ndarray:
    """Durations in s, NaN where missing, as `Series.dt.total_seconds` returns them in thirty times the time."""
    seconds: np.ndarray = durations.to_numpy() / np.timedelta64(1, "s")
    return seconds


def elapsed(name: str, table: "Table", began: np.ndarray) -> dict[str, pd.Series]:
    """Return the column `elapsed_s` if the table has it and knows times, from the start of each row's run in s."""
    if isinstance(table, Sequence):
        return {}
    times = _instants(table) if "elapsed_s" in SCHEMAS[name].columns else None
    if times is None:
        return {}
    run, starts = pd.factorize(began)  # a run has many rows, and converting a time takes longer than copying it
    start = pd.to_datetime(starts, unit="s", utc=True).take(run, allow_fill=True, fill_value=pd.NaT)
    return {"elapsed_s": pd.Series(_in_seconds(times - pd.Series(start, times.index)), times.index)}


# A table of more rows is checked and stored as Arrow, of which a part can be read.
_SMALL = 1000
_SLICE = 100_000
_APPENDING = threading.Lock()  # a worker of Dask may have several threads
_KEPT = ("runs", "hosts")
"""Tables that decide about all other files, so they stay in memory; they have a row for each run or heading."""


def stored(parsed: Parsed, folder: Path, *, small: bool = False) -> Parsed:
    """Write the large tables of a file into a folder; return the same, with tables that are read from there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tables = stored(Parsed("sar", {"cpu": [{"cpu": "all"}] * 2000}), Path(folder)).tables
    ...     tables.rows("cpu").num_rows, tables["cpu"]["cpu"].unique().tolist()
    (2000, ['all'])
    """
    tables = parsed.tables
    movable = [name for name in tables if name not in _KEPT and tables.count(name)]
    large = [name for name in movable if tables.count(name) > _SMALL]
    moved = movable if small else large
    if not moved:
        return parsed

    files = {name: _write(name, tables[name], folder) for name in large}
    pickled = _pickle({name: tables.rows(name) for name in moved if name not in files}, folder)
    kept = {name: () if name in moved else tables.rows(name) for name in tables}
    counts = {name: tables.count(name) for name in moved}
    hosted = frozenset(name for name in tables if names_host(tables.rows(name)))
    span = None if "runs" in tables and tables.count("runs") else span_of(tables)
    return Parsed(parsed.tool, OnDisk(kept, files, pickled, counts, hosted, span), parsed.warnings, parsed.version)


def names_host(rows: "pd.DataFrame | Rows") -> bool:
    """Return whether any row names a host.

    Examples
    --------
    >>> names_host([{"host": None}, {"host": "web1"}]), names_host([{"cpu": "all"}])
    (True, False)
    """
    if isinstance(rows, Sequence):
        return any(row.get("host") for row in rows)
    return bool("host" in rows and rows["host"].notna().any())


def _write(name: str, frame: "pd.DataFrame", folder: Path) -> Path:
    import pyarrow as pa

    from loadcurve.tables.declared import ARROW_TEXT, check_given
    from loadcurve.tables.stored import to_arrow

    number, path = tempfile.mkstemp(suffix=".arrow", dir=folder)
    with os.fdopen(number, "wb") as file, contextlib.ExitStack() as open_writer:
        writer = None
        for start in range(0, len(frame), _SLICE):  # because a check copies the rows that it gets
            table = to_arrow(name, check_given(name, frame.iloc[start : start + _SLICE], text=ARROW_TEXT))
            writer = writer or open_writer.enter_context(pa.ipc.new_file(file, table.schema))
            writer.write_table(table)
    return Path(path)


def _pickle(tables: "Mapping[str, pd.DataFrame | Rows]", folder: Path) -> tuple[Path, int] | None:
    """Append tables to a file of this process; return the file and where they begin in it."""
    if not tables:
        return None
    pickled = pickle.dumps(tables, pickle.HIGHEST_PROTOCOL)
    with _APPENDING, _file_of_process(folder).open("ab") as file:
        start = file.tell()
        file.write(pickled)
    return Path(file.name), start


@lru_cache(1)
def _file_of_process(folder: Path) -> Path:
    """Create a file for small tables: creating one for each raw file would take longer than writing it."""
    number, path = tempfile.mkstemp(suffix=".tables", dir=folder)
    os.close(number)
    return Path(path)


class OnDisk(Tables):
    """Tables of which the large ones are Arrow files, and some or all others are pickled in a file."""

    def __init__(
        self,
        kept: "Mapping[str, pd.DataFrame | Rows]",
        large: Mapping[str, Path],
        pickled: tuple[Path, int] | None,
        counts: Mapping[str, int],
        hosted: frozenset[str],
        span: tuple[float, float] | None,
    ) -> None:
        super().__init__(kept)
        self.hosted = hosted  # Tables whose rows name hosts
        self.span = span  # First and last time of all rows in s since 1970 UTC; None for a report, and without times
        self._large, self._pickled, self._counts = large, pickled, counts
        self._loaded: dict[str, pd.DataFrame | Rows] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": {}}

    def __getitem__(self, name: str) -> "pd.DataFrame":
        if name in self._large:
            return self._arrow(name).to_pandas()
        return Tables({name: self.rows(name)})[name]

    def count(self, name: str) -> int:
        """Return the number of rows of a table, without reading it."""
        return self._counts.get(name) or super().count(name)

    def rows(self, name: str) -> "pd.DataFrame | pa.Table | Rows":
        """Return a table as the parser gave it, or a large one as an Arrow table."""
        if name in self._large:
            return self._arrow(name)
        if name in self._counts and not self._loaded and self._pickled:
            path, start = self._pickled
            with path.open("rb") as file:
                file.seek(start)
                self._loaded = pickle.load(file)
        return self._loaded[name] if name in self._loaded else super().rows(name)

    def _arrow(self, name: str) -> "pa.Table":
        import pyarrow as pa

        return pa.concat_tables(self.pieces(name))

    def pieces(self, name: str, column: str = "") -> "Iterator[pd.DataFrame | pa.Table | Rows]":
        """Yield a table in pieces; a large one with at most 100,000 rows in memory at a time, or one column of it."""
        if name not in self._large:
            yield self.rows(name)
            return
        import pyarrow as pa

        from loadcurve.tables.stored import with_all_columns

        with pa.memory_map(str(self._large[name])) as file:
            reader = pa.ipc.open_file(file)
            for i in range(reader.num_record_batches):
                batch = pa.Table.from_batches([reader.get_batch(i)])
                if not column:
                    yield with_all_columns(name, batch)
                elif column in batch.column_names:
                    yield batch.select([column])
                else:
                    yield pa.table({"": pa.nulls(batch.num_rows)})
