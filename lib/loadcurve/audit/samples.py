"""Samples of monitors within the load of each run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.of_runs import key_of

EDGE_S = 1.0
"""Part of the load at its start and at its end that a sample may cover only partly.

sar prints the second in which it sampled, and a sample covers the second before (sysstat, sar(1)).
"""


ADVISED_S = 10.0
"""Least duration of a load that findings advise: wrk2 calibrates for 10 s, and monitors sample each second."""
_RESPONSES_EACH = 10  # of each connection: one of ten is cut off at the end


def advised_seconds(run: Any) -> float:
    """Return how long to measure a run: at least 10 s, and ten responses for each connection.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> advised_seconds(SimpleNamespace(requests=200, connections=100, duration_s=4.0))
    20.0
    """
    requests, connections, duration = (getattr(run, name) for name in ("requests", "connections", "duration_s"))
    if pd.isna(requests) or pd.isna(connections) or pd.isna(duration) or not requests:
        return ADVISED_S
    return max(ADVISED_S, float(np.ceil(_RESPONSES_EACH * duration * connections / requests)))


def samples_within(
    table: pd.DataFrame | None, runs: pd.DataFrame, columns: Sequence[str] | None = None, *, edges: bool = False
) -> pd.DataFrame:
    """Return the samples that lie wholly within their run's load, with the column ``key`` of the run.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": ["s"], "run_id": ["a"], "duration_s": [10.0]})
    >>> cpu = pd.DataFrame({"study": "s", "run_id": "a", "elapsed_s": [0.5, 5.0, 9.5], "cpu_idle_ratio": [1, 0.2, 1]})
    >>> samples_within(cpu, runs)["cpu_idle_ratio"].tolist()
    [0.2]
    """
    if table is None or table.empty:
        return (pd.DataFrame(columns=columns) if table is None else table).assign(key=pd.Series(dtype=object))
    keys = key_of(table)
    duration = runs.assign(key=key_of(runs)).drop_duplicates("key").set_index("key")
    within = keys.isin(duration.index)
    if "elapsed_s" in table and "duration_s" in duration:
        lasts = keys.map(duration["duration_s"].astype(float))
        elapsed = table["elapsed_s"].astype(float)
        edge_s = -EDGE_S if edges else EDGE_S
        within &= (elapsed >= max(0.0, edge_s)) & (elapsed <= lasts - edge_s) | elapsed.isna() | lasts.isna()
    kept = table if columns is None else table[list(columns)]
    return (kept if within.all() else kept[within]).assign(key=keys[within])
