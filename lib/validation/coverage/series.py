"""Coverage of the interval of the mean of one series, whose samples depend on each other."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import signal

from loadcurve.stats.arrays import Array
from loadcurve.stats.drift import summarise_drift
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean
from loadcurve.stats.merging import find_mean_of_series
from validation.coverage.count import holds, summarise_hits
from validation.coverage.means import SCATTER, TRUE_MEAN


def ar1(samples: int, rho: float, rng: np.random.Generator) -> Array:
    """A stationary AR(1) series of mean TRUE_MEAN and standard deviation SCATTER."""
    shocks = rng.standard_normal(samples)
    shocks[0] /= np.sqrt(1 - rho**2)
    return TRUE_MEAN + SCATTER * np.sqrt(1 - rho**2) * signal.lfilter([1.0], [1.0, -rho], shocks)


# A slow component under white noise: its part of the variance, and its autocorrelation from sample to sample.
_SLOW_PART, _SLOW = 0.1, 0.95


def slow_drift(samples: int, rng: np.random.Generator) -> Array:
    """White noise of mean TRUE_MEAN, a tenth of whose variance is a slow AR(1) component of autocorrelation 0.95."""
    fast, slow = (ar1(samples, rho, rng) - TRUE_MEAN for rho in (0.0, _SLOW))
    return TRUE_MEAN + np.sqrt(1 - _SLOW_PART) * fast + np.sqrt(_SLOW_PART) * slow


def drift_of(values: Array) -> Estimate:
    """Sen's slope of the series plus a drift of TRUE_MEAN from its first sample to its last."""
    row = summarise_drift(values + np.linspace(0, TRUE_MEAN, values.size)).iloc[0]
    return Estimate(row["value"], row["lo"], row["hi"], 0.95, "Sen")


_METHODS = {
    ("t interval, neighbours taken for repeats", "mean"): find_mean,
    ("subsession merging", "mean"): find_mean_of_series,
}


def summarise_series_coverage(
    samples: Sequence[int] = (30, 60, 120, 300, 1200),
    rhos: Sequence[float] = (0.0, 0.5, 0.9),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of the mean of one AR(1) series, for each method, autocorrelation and length.

    `samples` are the samples of a series, and `rhos` the autocorrelation of neighbours, 0 <= ρ < 1.  The table is that
    of `summarise_hits`; ``setting`` names ρ.

    Examples
    --------
    >>> summarise_series_coverage([60], [0.5], runs=3)[["setting", "n", "runs"]].drop_duplicates()
       setting   n  runs
    0  ρ = 0.5  60     3
    """
    return _over_series(samples, rhos, _METHODS, runs, seed)


def summarise_slow_coverage(
    samples: Sequence[int] = (60, 300, 1200), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the same intervals for a series of `slow_drift`, whose neighbours hardly resemble each other.

    Examples
    --------
    >>> summarise_slow_coverage([60], runs=3)["setting"].unique().tolist()
    ['a tenth slow']
    """

    def simulate(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
        values = slow_drift(n, rng)
        return {name: holds(find(values), TRUE_MEAN) for name, find in _METHODS.items()}

    tables = [
        summarise_hits(partial(simulate, n=n), runs=runs, seed=seed, n=n, setting="a tenth slow") for n in samples
    ]
    return pd.concat(tables, ignore_index=True)


def summarise_drift_coverage(
    samples: Sequence[int] = (30, 60, 120, 300, 1200),
    rhos: Sequence[float] = (0.0, 0.5, 0.9),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % interval of `summarise_drift`; arguments and result as for `summarise_series_coverage`.

    Examples
    --------
    >>> summarise_drift_coverage([60], [0.5], runs=3)["quantity"].tolist()
    ['drift']
    """
    return _over_series(samples, rhos, {("Sen's slope of merged samples", "drift"): drift_of}, runs, seed)


def _over_series(
    samples: Sequence[int],
    rhos: Sequence[float],
    methods: Mapping[tuple[str, str], Callable[[Array], Estimate]],
    runs: int,
    seed: int,
) -> pd.DataFrame:
    def simulate(rng: np.random.Generator, n: int, rho: float) -> dict[tuple[str, str], float]:
        values = ar1(n, rho, rng)
        return {name: holds(find(values), TRUE_MEAN) for name, find in methods.items()}

    tables = [
        summarise_hits(partial(simulate, n=n, rho=rho), runs=runs, seed=seed, n=n, setting=f"ρ = {rho:g}")
        for rho in rhos
        for n in samples
    ]
    return pd.concat(tables, ignore_index=True)
