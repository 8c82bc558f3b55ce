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
                "type": _kind(c),
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
    if len(frame) and set(frame.columns) <= _schema(table).columns.keys():
        return _typed_given(table, frame, text)
    checked = check(table, frame, text=text)
    return checked[[name for name in checked if name in frame]]


def _typed(table: str, frame: pd.DataFrame, text: pd.StringDtype | None) -> pd.DataFrame:
    """Return all columns of a table with their types.

    Most columns of a table are not in a frame: they have no values.
    """
    given = _typed_given(table, frame, text)
    columns = _schema(table).columns
    if not (absent := [name for name in columns if name not in given]):
        return given
    missing = _without_rows(table, text)[absent].reindex(given.index)
    return pd.concat([given, missing], axis=1)[list(columns)]


def _typed_given(table: str, frame: pd.DataFrame, text: pd.StringDtype | None) -> pd.DataFrame:
    """Return the columns of a frame with their types, in order; raise one line that names every fault."""
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise LoadcurveError(f"table {table}: expected each column once, got {twice!r} twice")
    found, faults, given = {}, [], frame.reset_index(drop=True)
    for name, column in _schema(table).columns.items():
        if name not in given:
            faults += [f"column {name!r} is required"] * column.required
            continue
        values, kind = given[name], text if text and _is_text(column) else column.dtype
        if values.dtype != kind and (converted := _converted(values, kind)) is None:
            faults.append(f"{name} must be of type {_kind(column)}, got {_unconverted(values, kind)!r}")
            continue
        found[name] = values if values.dtype == kind else converted
        if not _holds(column, found[name]):
            rule, value = _broken(column, found[name])
            faults.append(f"{name} must be {rule}, got {value!r}")
    if faults:
        raise LoadcurveError(f"table {table}: {'; '.join(faults)}")
    return pd.DataFrame(found, index=given.index, copy=False)  # pandas copies a column when one of the two changes


def _kind(column: Column) -> str:
    return _TYPE[re.split(r"\[", str(column.dtype))[0]]


def _is_text(column: Column) -> bool:
    return isinstance(column.dtype, pd.StringDtype)


def _converted(values: pd.Series, kind: np.dtype | ExtensionDtype) -> pd.Series | None:
    """Return values in another type, None if one has none; of categorical texts only the categories are converted."""
    try:
        if isinstance(kind, pd.DatetimeTZDtype):
            return pd.to_datetime(values, utc=True).astype(kind)
        if isinstance(kind, pd.StringDtype) and isinstance(values.dtype, pd.CategoricalDtype):
            categories = values.cat.categories.astype(kind).array
            return pd.Series(categories.take(values.cat.codes.to_numpy(), allow_fill=True), values.index)
        return values.astype(kind)
    except Exception:  # whatever NumPy, pandas and PyArrow raise for a value of another type
        return None


def _unconverted(values: pd.Series, kind: np.dtype | ExtensionDtype) -> object:
    """Return a value that has no equal in another type, the first in most cases."""
    while len(values) > 1:
        half = len(values) // 2
        values = values[:half] if _converted(values[:half], kind) is None else values[half:]
    return values.tolist()[0]


def _holds(column: Column, values: pd.Series) -> bool:
    """Whether values obey the rules of their column; a missing value obeys its range."""
    if column.required and not values.notna().all():
        return False
    if isinf(column.least) and isinf(column.most):
        return True
    return bool(values.isna().all() or (values.min() >= column.least and values.max() <= column.most))


def _broken(column: Column, values: pd.Series) -> tuple[str, object]:
    """Return the rule that values break, and the first one that does."""
    if column.required and values.isna().any():
        return "known", None
    rule = f">= {column.least:g}" if isinf(column.most) else f"from {column.least:g} to {column.most:g}"
    known = values.dropna()
    return rule, known[(known < column.least) | (known > column.most)].tolist()[0]


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
    kinds = {name: text if text and _is_text(column) else column.dtype for name, column in columns}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


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
