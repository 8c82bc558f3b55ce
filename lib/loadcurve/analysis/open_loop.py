"""Response times of an open loop: percentiles by rate, and what overload predicts."""

import pandas as pd

from loadcurve.errors import NotMeasuredError
from loadcurve.models.capacity.objective import overload_latency_s
from loadcurve.stats import Estimate, find_mean

QUANTILES = {0.5: "latency_p50_s", 0.99: "latency_p99_s"}
"""Quantiles of the figures and tables, and their columns."""


def split_loops(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the runs of closed loops, of open loops timed from when requests were due, and from when they were sent.

    Examples
    --------
    >>> runs = pd.DataFrame({"target_rate_rps": [None, 100.0, 100.0], "latency_corrected": [False, True, False]})
    >>> [len(rows) for rows in split_loops(runs)]
    [1, 1, 1]
    """
    is_open = runs["target_rate_rps"].astype(float) > 0
    corrected = runs["latency_corrected"].astype("boolean").fillna(False).astype(bool)
    return runs[~is_open], runs[is_open & corrected], runs[is_open & ~corrected]


def find_closed_capacity(closed: pd.DataFrame, level: float = 0.95) -> Estimate:
    """Return the mean throughput of a closed loop at its most connections, in requests/s.

    The level is not chosen by its throughput, so the mean is not biased upwards.  Raises NotMeasuredError when no run
    has connections and throughput.

    Examples
    --------
    >>> closed = pd.DataFrame({"connections": [1, 8, 8], "throughput_rps": [50.0, 399.0, 401.0]})
    >>> find_closed_capacity(closed).value
    400.0
    """
    known = closed.dropna(subset=["connections", "throughput_rps"])
    if known.empty:
        raise NotMeasuredError("No run of a closed loop has connections and throughput", "measure one beside the rates")
    return find_mean(known.loc[known["connections"] == known["connections"].max(), "throughput_rps"], level)


def summarise_rates(runs: pd.DataFrame, load: str = "target_rate_rps", level: float = 0.95) -> pd.DataFrame:
    """Return throughput and percentiles at each load: means over the repeats, with the interval of the 99th percentile.

    `runs` are of one loop, with the columns that `add_quantiles` adds.  Raises NotMeasuredError when no run has the
    load, a throughput and the percentiles.

    Examples
    --------
    >>> runs = pd.DataFrame({"target_rate_rps": 100.0, "throughput_rps": [99.0, 101.0], "latency_p50_s": 0.02,
    ...                      "latency_p99_s": [0.03, 0.05]})
    >>> summarise_rates(runs)[["runs", "throughput_rps", "latency_p99_s"]].values.tolist()
    [[2.0, 100.0, 0.04]]
    """
    needed = [load, "throughput_rps", *QUANTILES.values()]
    known = runs.reindex(columns=needed).astype(float).dropna()
    if known.empty:
        raise NotMeasuredError("No run has its load, throughput, median and 99th percentile", "use oha, wrk2 or vegeta")
    rows = []
    for at, of_load in known.groupby(load):
        p99 = find_mean(of_load["latency_p99_s"], level)
        means = of_load[needed[1:]].mean().to_dict()
        rows.append({load: at, "runs": len(of_load), **means, "from_s": p99.lo, "to_s": p99.hi})
    return pd.DataFrame(rows)


def summarise_overload(runs: pd.DataFrame, capacity: Estimate, unloaded_s: float, level: float = 0.95) -> pd.DataFrame:
    """Compare percentiles at rates above the capacity with those that the length of the run predicts.

    - `runs`: of an open loop that counts response times from when requests were due, with the columns that
      `add_quantiles` adds.
    - `capacity`: in requests/s; its interval gives that of the predictions.
    - `unloaded_s`: response time without waiting, in s.
    - `level`: confidence level of the measured means.

    The table has a row for each rate above the interval of the capacity and each quantile: ``target_rate_rps quantile
    measured_s from_s to_s predicted_s predicted_from_s predicted_to_s``.  Raises NotMeasuredError when no rate is
    above the capacity.

    Examples
    --------
    >>> runs = pd.DataFrame({"target_rate_rps": 200.0, "duration_s": 4.0, "latency_p50_s": [1.0, 1.1],
    ...                      "latency_p99_s": [2.0, 2.1]})
    >>> summarise_overload(runs, Estimate(100, 95, 105, 0.95, "mean"), 0.0)["predicted_s"].tolist()
    [1.0, 1.98]
    """
    above = runs[runs["target_rate_rps"].astype(float) > capacity.hi]
    rows = []
    for rate, of_rate in above.groupby(above["target_rate_rps"].astype(float)):
        duration = float(of_rate["duration_s"].astype(float).mean())
        for quantile, column in QUANTILES.items():
            measured = find_mean(of_rate[column], level)
            predicted = [
                float(overload_latency_s(rate, at, duration, quantile, unloaded_s))
                for at in (capacity.value, capacity.hi, capacity.lo)
            ]
            names = ("predicted_s", "predicted_from_s", "predicted_to_s")
            ends = {"measured_s": measured.value, "from_s": measured.lo, "to_s": measured.hi}
            rows.append(
                {"target_rate_rps": rate, "quantile": quantile, **ends, **dict(zip(names, predicted, strict=True))}
            )
    if not rows:
        raise NotMeasuredError("No offered rate is above the capacity", "offer up to 120 % of it")
    return pd.DataFrame(rows)
