"""The runs of two servers, A and B, checked for every comparison; nothing is removed, weaknesses become warnings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, floats

# Modified z-score that B. Iglewicz and D. C. Hoaglin ("How to Detect and Handle Outliers", 1993) label an outlier,
# and the factor that makes the median absolute deviation a standard deviation for a normal distribution.
_OUTLIER, _NORMAL = 3.5, 0.6745
# Below five runs the median absolute deviation is a coin toss: two of three runs are often close by chance.
_ENOUGH_FOR_OUTLIERS = 5


def two_groups(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, list[str]]:
    """One number for each run of A and of B, all > 0, and a warning for each weakness; only NaN is left out."""
    first, warned_first = _group("a", a)
    second, warned_second = _group("b", b)
    alone = [f"1 run of {name}" for name, runs in (("A", first), ("B", second)) if runs.size == 1]
    few = [f"{' and '.join(alone)}: nothing can be concluded about repeats"] if alone else []
    return first, second, warned_first + warned_second + few


def _group(name: str, values: ArrayLike) -> tuple[Array, list[str]]:
    every = floats(values)
    if every.ndim != 1:
        raise ValueRuleError(name, "one-dimensional, one number for each run", f"{every.ndim} dimensions")
    wrong = every[(every <= 0) | np.isinf(every)]
    if wrong.size:
        raise ValueRuleError(name, "> 0 and finite", wrong[0])
    known = every[~np.isnan(every)]
    if not known.size:
        raise ValueRuleError(name, "known for at least one run", "none")
    missing = [f"{every.size - known.size} of {every.size} runs of {name.upper()} have no value and are left out"]
    return known, (missing if known.size < every.size else []) + _outliers(name.upper(), every)


def _outliers(name: str, every: Array) -> list[str]:
    """Name the runs that lie far off, by their place from 1 on; they are kept."""
    known = every[~np.isnan(every)]
    if known.size < _ENOUGH_FOR_OUTLIERS:
        return []
    middle = _median(known)
    spread = _median(np.abs(known - middle))
    with np.errstate(divide="ignore", invalid="ignore"):  # more than half the runs alike: any other run is far off
        score = _NORMAL * np.abs(every - middle) / spread
    return [
        f"run {place + 1} of {name} ({every[place]:.6g}) lies {score[place]:.1f} robust standard deviations from the "
        "median; it is kept: find its cause"
        for place in np.flatnonzero(score > _OUTLIER)
    ]


def _median(values: Array) -> float:
    ordered = np.sort(values)  # np.median takes ten times as long for a handful of runs
    return float(ordered[(values.size - 1) // 2] + ordered[values.size // 2]) / 2


def relative_variances(groups: Sequence[Array]) -> Array:
    """Variance of each group's mean relative to that mean: (s / mean)² / n, NaN for one run."""
    return np.array(
        [g.var(ddof=1) / g.size / g.mean() ** 2 if g.size > 1 else np.nan for g in groups],
    )


def welch_degrees(variances: ArrayLike, runs: ArrayLike) -> float:
    """Welch–Satterthwaite degrees of freedom of a sum of independent variances; infinite when all are 0.

    B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
    Biometrika 34 (1947).
    """
    variance, degrees = np.asarray(variances, dtype=float), np.asarray(runs, dtype=float) - 1
    below = np.sum(variance**2 / degrees)
    return float(variance.sum() ** 2 / below) if below > 0 else np.inf
