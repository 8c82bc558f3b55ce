"""Closed and open loops: the column along which the load of runs varies, and curves that never mix the two."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from loadcurve.tables.curves import UNNAMED, name_curves

LOOPS = {"connections": "closed loop", "target_rate_rps": "open loop"}
"""Column of the load -> name of the loop."""


OPEN_LOOP_TOOLS = ("vegeta", "wrk2")
"""Tools that always send at a rate: without it, their connections are no load."""


def load_column(runs: pd.DataFrame) -> str:
    """Column along which the load of the runs varies: the offered rate of an open loop, else the connections.

    Examples
    --------
    >>> load_column(pd.DataFrame({"connections": [8, 8], "target_rate_rps": [100.0, 200.0]}))
    'target_rate_rps'
    """
    rates = runs["target_rate_rps"].dropna() if "target_rate_rps" in runs else pd.Series(dtype=float)
    open_loop = len(rates.unique()) > 1 or (len(rates) and runs["connections"].isna().all())
    return "target_rate_rps" if open_loop else "connections"


def split_by_load(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Runs of closed and of open loops, which have no load in common: column of the load -> its runs.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 16, 8], "target_rate_rps": [None, 100.0, 200.0]})
    >>> {load: len(rows) for load, rows in split_by_load(runs).items()}
    {'connections': 1, 'target_rate_rps': 2}
    """
    is_open = runs["target_rate_rps"].notna() if "target_rate_rps" in runs else pd.Series(False, runs.index)
    if "tool" in runs and (unknown := runs["tool"].isin(OPEN_LOOP_TOOLS) & ~is_open).any():
        runs = runs.assign(connections=runs["connections"].mask(unknown))
    if (load := load_column(runs)) == "connections":
        return {load: runs}
    parts = {"connections": runs[~is_open], load: runs[is_open]}
    return {load: rows for load, rows in parts.items() if len(rows)}


SAME_RATE = 0.01
"""Largest relative difference of offered rates that count as one level.

vegeta prints the rate at which it sent, not the rate that was asked for: n / (n - 1) of it after n requests, and less
where its machine is busy.
"""


def group_offered_rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with one level for measured offered rates that differ by less than `SAME_RATE`.

    A whole number is taken as the rate that was asked for.  Measured rates, which have decimals, and what lies close to
    them, become the shortest decimal number that is as close to all of them.

    Examples
    --------
    >>> runs = pd.DataFrame({"target_rate_rps": [250.201, 250.333, 1000.17, 3987.2, 3979.9, 1001.0, 1005.0]})
    >>> group_offered_rates(runs)["target_rate_rps"].tolist()
    [250.0, 250.0, 1000.0, 4000.0, 4000.0, 1000.0, 1000.0]
    >>> group_offered_rates(pd.DataFrame({"target_rate_rps": [1001.0, 1005.0, None]}))["target_rate_rps"].tolist()
    [1001.0, 1005.0, nan]
    """
    rates = np.sort(runs["target_rate_rps"].dropna().astype(float).unique())
    rates = rates[rates > 0]
    groups = np.split(rates, np.flatnonzero(rates[1:] > rates[:-1] * (1 + SAME_RATE)) + 1)
    levels: dict[float, float] = {}
    for group in groups:
        if len(group) and (group % 1).any():
            levels |= dict.fromkeys(group, _shortest(group.max() / (1 + SAME_RATE), group.min() * (1 + SAME_RATE)))
    return runs.assign(target_rate_rps=runs["target_rate_rps"].astype(float).replace(levels))


def _shortest(lo: float, hi: float) -> float:
    """Return the number with the fewest decimal digits from `lo` to `hi`, the closest to their middle."""
    lo, hi = min(lo, hi), max(lo, hi)
    middle = math.sqrt(lo * hi)
    for decimals in range(-math.floor(math.log10(hi)) - 1, 12):
        if lo <= (found := round(middle, decimals)) <= hi:
            return found
    return middle


def name_loops(runs: pd.DataFrame, factors: pd.DataFrame | None = None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each column of load and its runs, with a `variant` that names all that differs at one load (`name_curves`).

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c"], "connections": [8, None, None],
    ...                      "target_rate_rps": [None, 100.0, 200.0]})
    >>> [(load, named["variant"].to_list()) for load, named in name_loops(runs)]
    [('connections', ['closed loop']), ('target_rate_rps', ['open loop', 'open loop'])]
    """
    parts = split_by_load(runs)
    for load, rows in parts.items():
        rows = group_offered_rates(rows) if load == "target_rate_rps" else rows
        named = name_curves(rows, factors, over=load)
        if len(parts) > 1:
            own = named["variant"].map(lambda name: "" if name == UNNAMED else f", {name}").astype("string")
            named = named.assign(variant=LOOPS[load] + own)
        yield load, named
