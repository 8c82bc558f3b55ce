"""Times of the rows of raw files."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loadcurve.ingest.parsed import Tables
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
