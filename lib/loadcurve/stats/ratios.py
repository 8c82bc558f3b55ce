"""Every interval for A against B side by side, and how often each holds the truth when the truth is known."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.arrays import Array
from loadcurve.errors import ValueRuleError
from loadcurve.stats.bootstrap import find_bootstrap_ratio
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.rank import find_rank_ratio
from loadcurve.stats.ratio import find_geometric_ratio, find_ratio

# The ratio that a simulated A has to B; the coverage of an interval does not depend on it.
_TRUE_RATIO = 1.1
# a, b, level, seed, resamples.
_Method = Callable[[ArrayLike, ArrayLike, float, int | np.random.Generator, int], Estimate]


def _bootstrap(interval: str) -> _Method:
    return lambda a, b, level, seed, resamples: find_bootstrap_ratio(
        a, b, seed=seed, level=level, resamples=resamples, interval=interval
    )


_METHODS: dict[str, _Method] = {
    "Fieller": lambda a, b, level, seed, resamples: find_ratio(a, b, level),
    "t on logarithms": lambda a, b, level, seed, resamples: find_geometric_ratio(a, b, level),
    "ranks": lambda a, b, level, seed, resamples: find_rank_ratio(a, b, level),
    "bootstrap, expanded": _bootstrap("expanded percentile"),
    "bootstrap, percentile": _bootstrap("percentile"),
    "bootstrap, BCa": _bootstrap("BCa"),
}
# How runs scatter: as the throughput of a busy server does, by 5 %, and as a quantity does that is off by factors.
_SHAPES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, size: 1 + 0.05 * rng.standard_normal(size),
    "lognormal": lambda rng, size: np.exp(0.5 * rng.standard_normal(size)),
}


def summarise_ratios(
    a: ArrayLike, b: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 10_000
) -> pd.DataFrame:
    """Ratio of A to B with its interval, by every method.

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit.
    seed, level, resamples
        As for `find_bootstrap_ratio`.

    Returns
    -------
    pandas.DataFrame
        A row for each method: ``method``, ``ratio``, ``lo``, ``hi`` (NaN where the method has no interval) and
        ``warnings``.  Choose the method before the numbers are known, not after.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> summarise_ratios([110, 112, 108], [100, 101, 99], seed=1)[["method", "ratio", "lo", "hi"]].round(3).head(3)
                method  ratio     lo     hi
    0          Fieller    1.1  1.059  1.141
    1  t on logarithms    1.1  1.060  1.142
    2            ranks    1.1    NaN    NaN
    """
    found = {name: find(a, b, level, seed, resamples) for name, find in _METHODS.items()}
    rows = [(name, one.value, one.lo, one.hi, "; ".join(one.warnings)) for name, one in found.items()]
    return pd.DataFrame(rows, columns=["method", "ratio", "lo", "hi", "warnings"])


def summarise_coverage(
    runs: Sequence[int] = (3, 5, 10, 30),
    *,
    seed: int,
    level: float = 0.95,
    simulations: int = 1000,
    resamples: int = 500,
) -> pd.DataFrame:
    """How often each method's interval holds the true ratio, in simulated comparisons.

    Parameters
    ----------
    runs : sequence of int
        Runs of each server, >= 2.
    seed : int
        Where the random numbers come from.
    level : float
        Confidence level that the intervals claim, 0 < level < 1.
    simulations : int
        Comparisons for each row; the standard error of a coverage c is √(c (1 − c) / simulations).
    resamples : int
        Resamples of each bootstrap, >= 100.

    Returns
    -------
    pandas.DataFrame
        A row for each shape of the scatter, number of runs and method: ``shape`` (normal with 5 % of scatter, or
        lognormal with σ 0.5), ``runs``, ``method``, ``level_ratio`` (what is claimed), ``coverage_ratio`` (NaN where
        the method has no interval), ``error_ratio`` (its standard error) and ``width_ratio`` (median of hi / lo − 1).

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> summarise_coverage([5], seed=1, simulations=2, resamples=100).columns.tolist()
    ['shape', 'runs', 'method', 'level_ratio', 'coverage_ratio', 'error_ratio', 'width_ratio']
    """
    if min(runs) < 2:
        raise ValueRuleError("runs", ">= 2", min(runs))
    if simulations < 1:
        raise ValueRuleError("simulations", ">= 1", simulations)
    rng = np.random.default_rng(seed)
    rows = []
    for shape, draw in _SHAPES.items():
        for number in runs:
            pairs = [(_TRUE_RATIO * draw(rng, number), draw(rng, number)) for _ in range(simulations)]
            for name, find in _METHODS.items():
                found = [find(a, b, level, rng, resamples) for a, b in pairs]
                ends = np.array([(one.lo, one.hi) for one in found])
                rows.append((shape, number, name, level, *_coverage(ends)))
    columns = ["shape", "runs", "method", "level_ratio", "coverage_ratio", "error_ratio", "width_ratio"]
    return pd.DataFrame(rows, columns=columns)


def _coverage(ends: Array) -> tuple[float, float, float]:
    if np.isnan(ends).any():  # whether there is an interval is a matter of the number of runs
        return np.nan, np.nan, np.nan
    share = np.mean((ends[:, 0] <= _TRUE_RATIO) & (ends[:, 1] >= _TRUE_RATIO))
    with np.errstate(divide="ignore"):  # Fieller's interval may begin at 0
        width = np.median(ends[:, 1] / ends[:, 0]) - 1
    return float(share), float(np.sqrt(share * (1 - share) / len(ends))), float(width)
