"""Runs with all that an objective may ask of them, and the table of a curve's levels."""

import numpy as np
import pandas as pd

from loadcurve.analysis.objective import quantile_column
from loadcurve.stats import find_mean
from loadcurve.tables.schemas.derived import digit_of
from loadcurve.tables.schemas.failures import error_ratio


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


def summarise_load_levels(runs: pd.DataFrame, load: str = "connections", level: float = 0.95) -> pd.DataFrame:
    """Throughput, response time and errors at each load of one curve, over the repeats.

    ``latency_digit_s`` is the last digit of its response times as they are printed: where it is 1 ms, a time of 0
    is one below 0.5 ms.

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
    times = ["latency_mean_s", *quantiles]
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
                "latency_digit_s": max(digit_of(repeats, name).max() for name in times),
                "error_ratio": repeats["error_ratio"].max(),
            }
        )
    columns = [load, "runs", "throughput_rps", "throughput_lo", "throughput_hi", "latency_mean_s"]
    table = pd.DataFrame(rows, columns=[*columns, *quantiles, "latency_digit_s", "error_ratio"])
    before = table["throughput_rps"].shift()
    table.insert(5, "gain_ratio", table["throughput_rps"] / before.where(before > 0, np.nan) - 1)
    return table
