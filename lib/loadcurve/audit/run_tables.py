"""Tables by run: which rows belong to which run, and one row for each sample of a monitor.

Several files of a folder may hold parts of the same sample.  ``sar -o`` records once, and people print it several
times: ``sar -u``, ``sar -P ALL`` and ``sar -n EDEV`` into a file each, beside the binary.  Counted twice, a sample
doubles what interfaces carried and halves the width of an interval.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from loadcurve.stats.arrays import Mask

_ITEM = {"cpu": ["cpu"], "network": ["interface"], "disks": ["device"], "tcp": [], "memory": [], "load": []}
"""Tables with one row for each run, host, time and item, and the column of the item."""


def merge_samples(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with one row for each sample; tables of other kinds, and samples without a time, unchanged.

    Each column has its first known value, that of the row with most known values first.  Rows of one file are never
    merged: it may hold several samples of one second.

    Examples
    --------
    >>> rows = pd.DataFrame({"run_id": "a", "host": "h", "source": ["tcp.txt", "etcp.txt"], "elapsed_s": 1.0,
    ...                      "segments_sent_pps": [9.0, None], "retransmits_pps": [None, 0.5]})
    >>> merge_samples("tcp", rows)[["segments_sent_pps", "retransmits_pps"]].values.tolist()
    [[9.0, 0.5]]
    """
    if name not in _ITEM or not {"run_id", "elapsed_s", "source"} <= set(table):
        return table
    keys = [key for key in ("study", "run_id", "host", "elapsed_s", *_ITEM[name]) if key in table]
    dated = table["elapsed_s"].notna() & table["run_id"].notna()
    again = dated & table.duplicated(keys, keep=False)
    again &= ~table.duplicated([*keys, "source"], keep=False)
    if not again.any():
        return table
    rows = table[again]
    fullest = rows.notna().sum(axis=1).sort_values(ascending=False, kind="stable").index
    merged = rows.loc[fullest].groupby(keys, dropna=False, sort=False, observed=True).first().reset_index()
    kept = pd.concat([table[~again], merged[list(table.columns)].astype(table.dtypes)])
    return kept.sort_values("elapsed_s", kind="stable", ignore_index=True)


Tables = Mapping[str, pd.DataFrame]
T = TypeVar("T")


_KEY = "study/run_id"
"""Column of the tables of `RunTables` with the texts of `key_of`: making them takes longer than most rules."""


def key_of(frame: pd.DataFrame) -> pd.Series:
    """Return a text for each row that identifies its run: study and run, either of which may be missing."""
    if _KEY in frame:
        return frame[_KEY]
    study = frame["study"].fillna("") if "study" in frame else ""
    return (study + "/" + frame["run_id"].fillna("")).astype(object)


def report_key_of(frame: pd.DataFrame) -> pd.Series:
    """Return a text for each row that identifies its run, and of several load generators its own."""
    return key_of(frame) + frame["generator"].astype("string").radd("#").fillna("").astype(object)


def count_runs(frame: pd.DataFrame) -> int:
    """Return of how many runs a table has rows; a row without a run is one of its own."""
    named = frame["run_id"].notna()
    return int(key_of(frame[named]).nunique() + (~named).sum())


def first_rows(runs: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield the key of each run with its first row: of several load generators, the first."""
    keys = key_of(runs)
    first = ~keys.duplicated()
    yield from zip(keys[first], runs[first].itertuples(index=False), strict=True)


def runs_by_key(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the first row of each run, with its key as the index."""
    return runs.assign(key=key_of(runs)).drop_duplicates("key").set_index("key")


def rows_by_key(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the rows of a table as named tuples, by their column ``key``."""
    found: dict[str, list[Any]] = {}
    for row in frame.itertuples(index=False):
        found.setdefault(str(row.key), []).append(row)
    return found


def once(function: Callable[[Tables], T]) -> Callable[[Tables], T]:
    """Return a function of tables whose result the rules share that examine the same runs; none may change it."""

    @wraps(function)
    def shared(tables: Tables) -> T:
        if not isinstance(tables, RunTables):
            return function(tables)
        if function not in tables.results:
            tables.results[function] = function(tables)
        found: T = tables.results[function]
        return found

    return shared


@once
def rows_of(tables: Tables) -> list[tuple[Any, str]]:
    """Return each row of ``runs`` as a named tuple, with its key; rules that examine the same runs share the list."""
    return list(zip(tables["runs"].itertuples(index=False), key_of(tables["runs"]), strict=True))


def tables_of(runs: pd.DataFrame, tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the rows of all tables that belong to some runs, as they were read; tables without runs are kept whole."""
    own = {"runs": runs}
    wanted = pd.Index(key_of(runs).unique())
    every = "runs" in tables and len(runs) == len(tables["runs"])
    for name, frame in tables.items():
        if name != "runs":
            own[name] = frame if every or "run_id" not in frame else frame[key_of(frame).isin(wanted)]
    return own


def by_run(tables: Tables) -> Callable[[pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return a function that selects the rows of all tables that belong to some runs, after one pass over them."""
    places = {name: frame.groupby(key_of(frame), sort=False).indices for name, frame in tables.items()}

    def select(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
        keys = key_of(runs).unique()
        found = {name: [np.array([], int), *(at[key] for key in keys if key in at)] for name, at in places.items()}
        return {name: tables[name].take(np.sort(np.concatenate(rows))) for name, rows in found.items()}

    return select


class RunTables(Mapping[str, pd.DataFrame]):
    """The rows of tables that belong to some runs; the rows of a table are selected when a rule first asks for it."""

    def __init__(self, tables: Tables, runs: pd.DataFrame | None = None) -> None:
        self._tables = tables
        self._runs = tables["runs"] if runs is None else runs
        self._selected: dict[str, pd.DataFrame] = {"runs": self._runs}
        self._parts: dict[bytes, RunTables] = {}
        self.results: dict[Callable[..., Any], Any] = {}
        self._having: dict[tuple[str, tuple[str, ...]], Mask] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._selected:
            table = self._tables[name]
            whole = table if isinstance(self._tables, RunTables) else merge_samples(name, table)
            self._selected[name] = self._select(whole)
        return self._selected[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    @cached_property
    def keys_of_runs(self) -> pd.Series:
        """The key of each row of ``runs``."""
        return key_of(self._runs)

    @cached_property
    def names(self) -> list[Any]:
        """What names each row of ``runs`` in a finding: ``study``, ``run_id`` and ``source``."""
        return list(self._runs[["study", "run_id", "source"]].itertuples(index=False))

    def part(self, rows: Mask) -> "RunTables":
        """Return the tables of some rows of ``runs``; rules that examine the same runs share them."""
        if rows.all():
            return self
        if rows.tobytes() not in self._parts:
            self._parts[rows.tobytes()] = RunTables(self, self._runs[rows])
        return self._parts[rows.tobytes()]

    def having(self, table: str, columns: tuple[str, ...]) -> Mask:
        """Return for each row of ``runs`` whether its run has a row of a table with values in all of some columns."""
        if (table, columns) not in self._having:
            self._having[table, columns] = self._find(table, list(columns))
        return self._having[table, columns]

    def _find(self, table: str, columns: list[str]) -> Mask:
        frame = self.get(table)
        if frame is None or frame.empty:
            return np.zeros(len(self._runs), dtype=bool)
        filled = frame[columns].notna().all(axis=1)
        found = filled if table == "runs" else self.keys_of_runs.isin(key_of(frame)[filled].unique())
        return np.asarray(found, dtype=bool)

    def _select(self, frame: pd.DataFrame) -> pd.DataFrame:
        if "run_id" not in frame:
            return frame
        if _KEY not in frame:
            codes, keys = pd.factorize(key_of(frame))  # one text for each run, not for each row
            frame = frame.assign(**{_KEY: keys.take(codes)})
        if len(self._runs) == len(self._tables["runs"]):
            return frame
        return frame[frame[_KEY].isin(self.keys_of_runs)]


def all_runs(runs: pd.DataFrame) -> SimpleNamespace:
    """Return what names all runs together in a finding: their study if they have one, and no run."""
    studies = runs["study"].dropna().unique() if "study" in runs else []
    return SimpleNamespace(study=studies[0] if len(studies) == 1 else None, run_id=None, source=None)
