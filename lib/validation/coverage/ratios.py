"""How often each method's interval holds the true ratio of A to B, in simulated comparisons."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array
from loadcurve.stats.ratios import METHODS

# The ratio that a simulated A has to B; the coverage of an interval does not depend on it.
_TRUE_RATIO = 1.1
# How runs scatter: as the throughput of a busy server does, by 5 %, and as a quantity does that is off by factors.
_SHAPES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, size: 1 + 0.05 * rng.standard_normal(size),
    "lognormal": lambda rng, size: np.exp(0.5 * rng.standard_normal(size)),
}


def summarise_coverage(
    runs: Sequence[int] = (3, 5, 10, 30),
    *,
    seed: int,
    level: float = 0.95,
    simulations: int = 1000,
    resamples: int = 500,
) -> pd.DataFrame:
    """How often each method's interval holds the true ratio, in simulated comparisons.

    `runs` are the runs of each server, at least 2, and `level` is the confidence that the intervals claim.  Each row
    has `simulations` comparisons; the standard error of a coverage c is √(c (1 − c) / simulations).  Each bootstrap has
    at least 100 `resamples`.

    The table has a row for each shape of the scatter, number of runs and method: ``shape`` (normal with 5 % of scatter,
    or lognormal with σ 0.5), ``runs``, ``method``, ``level_ratio`` (what is claimed), ``coverage_ratio`` (NaN where the
    method has no interval), ``error_ratio`` (its standard error) and ``width_ratio`` (median of hi / lo − 1).

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
            for name, find in METHODS.items():
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
