"""Check, describe and label tables by their declarations in `schemas`.

One declaration has four uses: validation (`check`), axis labels (`axis_label`), the columns page of the
handbook (`columns`), and the tests.  A table is a plain DataFrame in long form with SI units; a missing value is NaN or
NA, never 0 or −1.
"""

import re
from functools import cache
from math import isinf

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.tables.by_pandera import validated
from loadcurve.tables.schemas import SCHEMAS, Column, Table
from loadcurve.tables.schemas.derived import DERIVED
from loadcurve.units import unit_of_column

_QUANTITY = {
    "rps": "requests/s",
    "pps": "packets/s",
    "per_s": "1/s",
    "bytes_per_s": "bytes/s",
    "bps": "bits/s",
}
_LABEL = {
    "throughput_rps": "Throughput",
    "goodput_rps": "Goodput",
    "latency_mean_s": "Mean response time",
    "latency_by_little_s": "Response time N/X",
    "latency_p99_worst_s": "Worst p99",
    "latency_s": "Response time",
    "throughput_change_ratio": "Change of throughput",
    "latency_change_ratio": "Change of N/X",
    "elapsed_s": "Time since the load started",
}
_END_OF_INTERVAL = re.compile(r"(^| )(lo|hi)$")
_ENDS = {"lo": "lower end", "hi": "upper end"}

ARROW_TEXT = pd.StringDtype("pyarrow", np.nan)
"""Type of text columns for tables that are written: Python strings take three times as long and need more memory."""

_TYPE = {"str": "text", "Int64": "integer", "boolean": "yes/no", "float64": "number", "datetime64": "time"}


def columns(table: str) -> pd.DataFrame:
    """Return the columns of a declared table, as `loadcurve.tables.columns` does for any table."""
    return pd.DataFrame(
        [
            {
                "column": name,
                "type": _TYPE[re.split(r"\[", str(c.dtype))[0]],
                "unit": shown_unit(c.unit or unit_of_column(name)),
                "meaning": c.meaning,
            }
            for name, c in _schema(table).columns.items()
        ]
    )


def check(table: str, frame: pd.DataFrame, *, extra: bool = False, text: pd.StringDtype | None = None) -> pd.DataFrame:
    """Return `frame` as the declared table: all columns, in order, each with its type.

    Columns that are not in `frame` are added: derived from the other columns (`schemas.derived`), or else with missing
    values.

    Parameters
    ----------
    table : str
        Its name.
    frame : pandas.DataFrame
        Some or all of its columns.
    extra : bool
        Whether further columns, such as factors of one's own, are kept after the declared ones; by default they are an
        error.
    text : pandas.StringDtype, optional
        Type of the text columns, such as `ARROW_TEXT`; by default the declared one, Python strings.

    Raises
    ------
    LoadcurveError
        With one line that names every fault: unknown columns, and each column with values that break its rule.

    Examples
    --------
    >>> frame = pd.DataFrame({"study": ["s"], "run_id": ["r1"], "connections": [8], "throughput_rps": [410.0]})
    >>> runs = check("runs", frame)
    >>> runs["connections"].dtype, runs["latency_mean_s"].isna().all()
    (Int64Dtype(), np.True_)
    """
    unknown = [name for name in frame.columns if name not in _schema(table).columns]
    if unknown and not extra:
        raise LoadcurveError(f"table {table}: expected columns of its schema, got {', '.join(map(repr, unknown))}")
    if not len(frame):
        return _without_rows(table, text).copy()
    checked = _typed(table, frame, text)
    if checked is None:
        checked = _with_text(table, validated(table, frame), text)
    if unknown:
        checked = pd.concat([checked, frame[unknown].reset_index(drop=True)], axis=1)
    for column, function in DERIVED.get(table, {}).items():
        checked[column] = checked[column].fillna(function(checked))
    return checked


def check_given(table: str, frame: pd.DataFrame, *, text: pd.StringDtype | None = None) -> pd.DataFrame:
    """Return the columns of `frame`, in the order of the declared table and each with its type.

    As `check`, without the columns that are not in `frame`: adding them takes longer than checking the others.

    Examples
    --------
    >>> check_given("latency", pd.DataFrame({"latency_s": [0.1], "generator": [0]})).columns.tolist()
    ['generator', 'latency_s']
    """
    is_declared = set(frame.columns) <= _schema(table).columns.keys()
    if len(frame) and is_declared and (given := _typed_given(table, frame, text)) is not None:
        return given
    checked = check(table, frame, text=text)
    return checked[[name for name in checked if name in frame]]


def _typed(table: str, frame: pd.DataFrame, text: pd.StringDtype | None) -> pd.DataFrame | None:
    """Return all columns of a table with their types; None if a value may break a rule.

    Most columns of a table are not in a frame: they have no values.
    """
    given = _typed_given(table, frame, text)
    columns = _schema(table).columns
    if given is None or not (absent := [name for name in columns if name not in given]):
        return given
    missing = _without_rows(table, text)[absent].reindex(given.index)
    return pd.concat([given, missing], axis=1)[list(columns)]


def _typed_given(table: str, frame: pd.DataFrame, text: pd.StringDtype | None) -> pd.DataFrame | None:
    """Return the columns of a frame with their types, in order; None if a value may break a rule.

    `validated` then decides and names the value.  A frame is checked when it is read and again when it is stored.
    """
    columns, found = _schema(table).columns, {}
    if not frame.columns.is_unique:
        return None
    given = frame.reset_index(drop=True)
    if any(column.required and name not in given for name, column in columns.items()):
        return None
    for name in (name for name in columns if name in given):
        column, values = columns[name], given[name]
        kind = text if text and _is_text(column) else column.dtype
        if values.dtype != kind:
            try:
                values = _converted(values, kind)
            except Exception:  # whatever NumPy, pandas and PyArrow raise for a value of another type
                return None
        if not _holds(column, values):
            return None
        found[name] = values
    return pd.DataFrame(found, index=given.index, copy=False)  # pandas copies a column when one of the two changes


def _is_text(column: Column) -> bool:
    return isinstance(column.dtype, pd.StringDtype)


def _with_text(table: str, frame: pd.DataFrame, text: pd.StringDtype | None) -> pd.DataFrame:
    """Return a checked table with this type in its text columns."""
    columns = _schema(table).columns
    return frame.astype({name: text for name in columns if _is_text(columns[name])}) if text else frame


def _converted(values: pd.Series, kind: np.dtype | ExtensionDtype) -> pd.Series:
    """Return values in another type; where texts are categorical, the categories are converted, not each value."""
    if isinstance(kind, pd.DatetimeTZDtype):
        return pd.to_datetime(values, utc=True).astype(kind)
    if isinstance(kind, pd.StringDtype) and isinstance(values.dtype, pd.CategoricalDtype):
        categories = values.cat.categories.astype(kind).array
        return pd.Series(categories.take(values.cat.codes.to_numpy(), allow_fill=True), values.index)
    return values.astype(kind)


def _holds(column: Column, values: pd.Series) -> bool:
    """Whether values obey the rules of their column; a missing value obeys its range."""
    if column.required and not values.notna().all():
        return False
    if isinf(column.least) and isinf(column.most):
        return True
    return bool(values.isna().all() or (values.min() >= column.least and values.max() <= column.most))


def empty(table: str) -> pd.DataFrame:
    """Return the table without rows.

    Examples
    --------
    >>> list(empty("latency"))[:2], len(empty("latency"))
    (['study', 'run_id'], 0)
    """
    return check(table, pd.DataFrame())


@cache
def _without_rows(table: str, text: pd.StringDtype | None = None) -> pd.DataFrame:
    """Return the empty table, cached: most tables of a run are empty, and checking one takes as long as a full one."""
    columns = _schema(table).columns.items()
    return _with_text(table, pd.DataFrame({name: pd.Series(dtype=column.dtype) for name, column in columns}), text)


def heading(column: str) -> str:
    """Return a column's name in words, without its unit.

    Examples
    --------
    >>> heading("latency_mean_s"), heading("tool_version"), heading("received_bytes_per_s"), heading("RT and QPS")
    ('Mean response time', 'Tool version', 'Received', 'RT and QPS')
    >>> heading("cpu_steal_ratio")
    'CPU steal'
    >>> heading("lo_rps"), heading("efficiency_hi_ratio")
    ('Lower end', 'Efficiency, upper end')
    """
    words = column.removesuffix(f"_{unit_of_column(column)}").replace("_", " ")
    words = _END_OF_INTERVAL.sub(lambda found: (", " if found[1] else "") + _ENDS[found[2]], words)
    return _LABEL.get(column, f"CPU{words[3:]}" if words.startswith("cpu ") else words[:1].upper() + words[1:])


def axis_label(table: str, column: str) -> str:
    """Return the label of an axis: quantity [unit].

    Examples
    --------
    >>> axis_label("runs", "throughput_rps"), axis_label("runs", "connections")
    ('Throughput [requests/s]', 'Connections')
    """
    unit = _schema(table).columns[column].unit or unit_of_column(column)
    label = heading(column)
    return f"{label} [{shown_unit(unit)}]" if unit else label


def shown_unit(unit: str) -> str:
    """Return a unit of the declarations as people write it: ``requests/s`` for ``rps``."""
    return _QUANTITY.get(unit, unit)


def _schema(table: str) -> Table:
    if table not in SCHEMAS:
        raise LoadcurveError(f"table must be one of {', '.join(SCHEMAS)}, got {table!r}")
    return SCHEMAS[table]


def select(frame: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    """Return the rows of `frame` with `value` in `column`.

    Raises
    ------
    ValueRuleError
        When there is no such row; the message lists the existing values.

    Examples
    --------
    >>> select(pd.DataFrame({"variant": ["cpu", "delay"]}), "variant", "slow")
    Traceback (most recent call last):
    loadcurve.errors.ValueRuleError: variant must be one of cpu, delay, got 'slow'
    """
    found = frame[frame[column] == value]
    if found.empty:
        raise ValueRuleError(column, f"one of {', '.join(sorted(frame[column].dropna().unique()))}", value)
    return found
