"""Runs with all that an objective may ask of them, levels of a curve, and the choice of curve and load."""

import re

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_integer_dtype

from loadcurve.analysis.objective import quantile_column
from loadcurve.errors import NotMeasuredError
from loadcurve.stats import find_mean
from loadcurve.tables.curves import curves
from loadcurve.tables.schemas.derived import digit_of
from loadcurve.tables.schemas.failures import FEW_ERRORS, error_ratio


def add_quantiles(runs: pd.DataFrame, latency: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with a column for each quantile of the response time that a report of theirs prints.

    A quantile of a run with several generators is the largest of theirs, which no quantile of all requests exceeds;
    corrected response times come before uncorrected ones.

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


_QUANTILE = re.compile(r"latency_p[0-9_]+_s")


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
    # Arrays, not frames: a folder may have thousands of curves, and its runs a hundred columns.
    quantiles = [name for name in runs if _QUANTILE.fullmatch(name)]
    columns = (load, "throughput_rps", "latency_mean_s", *quantiles)
    numbers = {name: runs[name].to_numpy(float, na_value=np.nan) for name in columns}
    failed = runs["error_ratio"] if "error_ratio" in runs else error_ratio(runs)
    numbers["error_ratio"] = failed.to_numpy(float, na_value=np.nan)
    known = ~np.isnan(numbers[load]) & ~np.isnan(numbers["throughput_rps"])
    quantiles = [name for name in quantiles if not np.isnan(numbers[name][known]).all()]
    digits = [digit_of(runs, name) for name in ("latency_mean_s", *quantiles)]
    numbers["latency_digit_s"] = np.max(digits, axis=0)
    rows: list[dict[str, float]] = []
    for at in np.unique(numbers[load][known]):
        repeats = {name: values[known & (numbers[load] == at)] for name, values in numbers.items()}
        mean = find_mean(repeats["throughput_rps"], level)
        before = rows[-1]["throughput_rps"] if rows else np.nan
        rows.append(
            {
                load: int(at) if is_integer_dtype(runs[load]) else at,
                "runs": len(repeats[load]),
                "throughput_rps": mean.value,
                "throughput_lo": np.maximum(mean.lo, 0.0),  # the interval of few runs may reach below
                "throughput_hi": mean.hi,
                "gain_ratio": mean.value / before - 1 if before > 0 else np.nan,
                "latency_mean_s": pd.Series(repeats["latency_mean_s"]).mean(),
                **{name: np.fmax.reduce(repeats[name]) for name in (*quantiles, "latency_digit_s", "error_ratio")},
            }
        )
    first = [load, "runs", "throughput_rps", "throughput_lo", "throughput_hi", "gain_ratio", "latency_mean_s"]
    return pd.DataFrame(rows, columns=[*first, *quantiles, "latency_digit_s", "error_ratio"])


def still_rises(levels: pd.DataFrame) -> bool:
    """Whether the last level is the fastest, by more than the scatter between runs of a quiet or of this machine."""
    last, before = levels.iloc[-1], levels["throughput_rps"].iloc[:-1].max()
    above = last["throughput_rps"] if np.isnan(last["throughput_lo"]) else last["throughput_lo"]
    return bool(last["throughput_rps"] > 1.05 * before and above > before)


def without_failures(levels: pd.DataFrame) -> pd.DataFrame:
    """Return the levels at which few requests failed, or all where they failed at each: error pages are fast."""
    good = levels[~(levels["error_ratio"].astype(float) > FEW_ERRORS)]
    return good if len(good) else levels


_ENOUGH_LEVELS = 4  # levels from which a curve has a shape
_ENOUGH = 0.9  # share of the highest mean throughput at which a curve counts as saturated


def choose_curves(runs: pd.DataFrame, saturating: str = "", waiting: str = "") -> tuple[str, str]:
    """Return the curve that saturates first and the one that saturates last, unless they are named.

    A curve saturates at the fewest connections with 90 % of its highest mean throughput, relative to its most
    connections.  Curves with fewer than 4 levels count only where there are no others.  `saturating` and `waiting` are
    names that the user chose.  Raises NotMeasuredError when no run has both connections and throughput.

    Examples
    --------
    >>> rates = [10.0, 11.0, 11.0, 11.0, 10.0, 20.0, 30.0, 40.0]
    >>> runs = pd.DataFrame({"variant": [*"aaaabbbb"], "connections": [1, 2, 4, 8] * 2, "throughput_rps": rates})
    >>> choose_curves(runs), choose_curves(runs, waiting="c")
    (('a', 'b'), ('a', 'c'))
    """
    known = runs.dropna(subset=["connections", "throughput_rps"])
    if known.empty:
        remedy = "name connections in factors.csv, or read open loops in notebook 01_your_own_files"
        raise NotMeasuredError(f"None of {len(runs)} runs has connections and throughput", remedy)
    means = {
        name: rows["throughput_rps"].astype(float).groupby(rows["connections"].astype(float)).mean()
        for name, rows in curves(known)
    }
    full = {name: levels for name, levels in means.items() if len(levels) >= _ENOUGH_LEVELS} or means
    order = sorted(full, key=lambda name: _saturates(full[name]))
    return saturating or order[0], waiting or order[-1]


def choose_levels(connections: ArrayLike, few: float, many: float) -> tuple[int, int]:
    """Return two different measured loads: the one nearest to `many`, and below it the one nearest to `few`.

    `connections` are those of each run; distances are ratios.  Raises NotMeasuredError when there is only one load.

    Examples
    --------
    >>> choose_levels([1, 2, 4, 8, 8], 16, 512), choose_levels([1, 16, 64, 512], 16, 512)
    ((4, 8), (16, 512))
    """
    levels = np.unique(np.asarray(connections, dtype=float))
    if levels.size < 2:
        raise NotMeasuredError("Only one load was measured", "measure at least two numbers of connections")
    above = levels[1:]
    most = above[np.abs(np.log(above / many)).argmin()]
    below = levels[levels < most]
    return int(below[np.abs(np.log(below / few)).argmin()]), int(most)


def _saturates(means: pd.Series) -> tuple[float, float]:
    first = float(means.index[means >= _ENOUGH * means.max()][0])
    return first / float(means.index[-1]), first
