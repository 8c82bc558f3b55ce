"""Runs with all that an objective may ask of them, and the table of a curve's levels."""

import math

import numpy as np
import pandas as pd

from loadcurve.analysis.objective import quantile_column
from loadcurve.audit.failures import error_ratio
from loadcurve.stats import find_mean


def add_quantiles(runs: pd.DataFrame, latency: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with a column for each quantile of the response time that a report of theirs prints.

    Parameters
    ----------
    runs, latency : pandas.DataFrame
        The tables of that name.  A quantile of a run with several generators is the largest of theirs, which no
        quantile of all requests exceeds; corrected response times come before uncorrected ones.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "throughput_rps": [10.0, 20.0]})
    >>> latency = pd.DataFrame({"run_id": ["a"], "quantile": [0.99], "latency_s": [0.2], "corrected": [False]})
    >>> add_quantiles(runs, latency)["latency_p99_s"].tolist()
    [0.2, nan]
    """
    if latency.empty:
        return runs
    keys = [name for name in ("study", "run_id") if name in runs and name in latency]
    corrected = latency["corrected"].fillna(False).astype(bool) if "corrected" in latency else False
    best = latency.assign(corrected=corrected).sort_values("corrected", kind="stable")
    among = [*keys, "generator", "quantile"] if "generator" in best else [*keys, "quantile"]
    best = best.drop_duplicates(among, keep="last")
    largest = best.groupby([*keys, "quantile"], dropna=False, as_index=False)["latency_s"].max()
    for quantile, rows in largest.groupby("quantile"):
        if (column := quantile_column(quantile)) not in runs:
            of_runs = rows[[*keys, "latency_s"]].rename(columns={"latency_s": column})
            runs = runs.merge(of_runs, on=keys, how="left")
    return runs.copy()  # 100 merges, as for `ab -e`, leave a DataFrame of 100 blocks, of which pandas warns


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
    if (load := load_column(runs)) == "connections":
        return {load: runs}
    is_open = runs["target_rate_rps"].notna()
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

    Parameters
    ----------
    runs : pandas.DataFrame
        With ``target_rate_rps``.

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


def summarise_load_levels(runs: pd.DataFrame, load: str = "connections", level: float = 0.95) -> pd.DataFrame:
    """Throughput, response time and errors at each load of one curve, over the repeats.

    Parameters
    ----------
    runs : pandas.DataFrame
        Runs of one variant, with the columns that `add_quantiles` adds.
    load : str
        Column of the load.
    level : float
        Confidence level of the throughput's interval, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row for each load, ascending: `load`, ``runs``, ``throughput_rps`` with ``throughput_lo`` and
        ``throughput_hi`` (missing for one run), ``gain_ratio`` (throughput over that of the level before, − 1),
        ``latency_mean_s`` (mean of the runs' means), the worst of each quantile (percentiles have no mean), and
        ``error_ratio`` (largest of the runs).

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [1, 2, 2], "throughput_rps": [100.0, 180.0, 200.0], "requests": 9,
    ...                      "latency_mean_s": 0.01, "errors_status": 0})
    >>> summarise_load_levels(runs)[["connections", "runs", "throughput_rps", "gain_ratio"]].round(2).values.tolist()
    [[1.0, 1.0, 100.0, nan], [2.0, 2.0, 190.0, 0.9]]
    """
    known = runs[runs[load].notna() & runs["throughput_rps"].notna()]
    known = known.assign(error_ratio=error_ratio(known))
    quantiles = [name for name in known.filter(regex=r"^latency_p[0-9_]+_s$") if known[name].notna().any()]
    rows = []
    for at, repeats in known.groupby(load):
        mean = find_mean(repeats["throughput_rps"].astype(float), level)
        rows.append(
            {
                load: at,
                "runs": len(repeats),
                "throughput_rps": mean.value,
                "throughput_lo": np.maximum(mean.lo, 0.0),  # the interval of few runs may reach below
                "throughput_hi": mean.hi,
                "latency_mean_s": repeats["latency_mean_s"].astype(float).mean(),
                **{name: repeats[name].astype(float).max() for name in quantiles},
                "error_ratio": repeats["error_ratio"].max(),
            }
        )
    columns = [load, "runs", "throughput_rps", "throughput_lo", "throughput_hi", "latency_mean_s"]
    table = pd.DataFrame(rows, columns=[*columns, *quantiles, "error_ratio"])
    before = table["throughput_rps"].shift()
    table.insert(5, "gain_ratio", table["throughput_rps"] / before.where(before > 0, np.nan) - 1)
    return table
