"""Compare A with B by ranks: no normal distribution is assumed, and a single outlier has little effect.

Use these functions for percentiles: the value of a run is its own percentile, and percentiles are never averaged.
"""

import functools
import math

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.stats._runs import two_groups
from loadcurve.stats.arrays import Array, between_0_and_1
from loadcurve.stats.estimate import Estimate

# Where the smaller group scatters more, intervals of level 95 % covered 80 to 90 % in simulation
# (validation.coverage.comparisons).  A variance of fewer runs than _MIN_RUNS_FOR_VARIANCE is too imprecise to rule that
# out when the other group is _MUCH_LARGER times as large or more.
_MIN_RUNS_FOR_VARIANCE, _MUCH_LARGER = 10, 2
# Largest ratio of variances without a warning: of the smaller group to the larger one; and of two groups of equal size,
# where intervals covered 90 to 94 %.
_MAX_VARIANCE_RATIO, _MAX_VARIANCE_RATIO_OF_EQUAL_SIZES = 1.5, 4.0
# E. Brunner and U. Munzel (2000) show that their t approximation is good for at least ten values in each group.
_BRUNNER_MUNZEL_RUNS = 10


def find_shift(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the Hodges–Lehmann shift of A against B: the median of all differences, a run of A minus a run of B.

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit; a run's own percentile is such a value.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        In the unit of the values.  The interval holds at least `level` (the method names the level it really has);
        NaN, with a warning, where so few runs allow none.

    Raises
    ------
    ValueRuleError
        When a group is not one-dimensional, has no value or one that is not > 0, or `level` is no level.

    Notes
    -----
    Assumes independent runs and two distributions of one shape; ties make the interval wider than it need be.
    Different scatter makes it too narrow, most of all where the smaller group scatters more: a warning says so.
    J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34
    (1963).  The interval is Moses': M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", chapter 4.

    Examples
    --------
    >>> print(find_shift([110, 112, 108, 111], [100, 101, 99, 102]))
    10 [6, 13]
    """
    first, second, warnings = two_groups(a, b)
    return _moses(first, second, level, "Hodges–Lehmann shift", [*warnings, *_unlike(first, second)])


def find_rank_ratio(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the ratio of A to B by ranks: the Hodges–Lehmann shift of the logarithms, as a factor.

    It is about the median of all ratios, a run of A to a run of B.

    Parameters
    ----------
    a, b, level
        As for `find_shift`.

    Returns
    -------
    Estimate
        The ratio with its exact interval; NaN ends where so few runs allow none.

    Raises
    ------
    ValueRuleError
        As for `find_shift`.

    Notes
    -----
    As for `find_shift`, on logarithms: two distributions that differ by a factor.

    Examples
    --------
    >>> print(find_rank_ratio([110, 112, 108, 111], [100, 101, 99, 102]))
    1.099 [1.059, 1.131]
    >>> find_rank_ratio([110, 112, 108], [100, 101, 99]).warnings
    ('3 runs of A and 3 of B: no rank interval has more than 90 % confidence',)
    """
    first, second, warnings = two_groups(a, b)
    first, second = np.log(first), np.log(second)
    warnings += _unlike(first, second)
    logs = _moses(first, second, level, "ratio by ranks (Hodges–Lehmann on logarithms)", warnings)
    value, lo, hi = np.exp([logs.value, logs.lo, logs.hi])
    return Estimate(value, lo, hi, level, logs.method, logs.warnings, logs.repeats)


def _unlike(first: Array, second: Array) -> list[str]:
    """Return a warning if the smaller group scatters more than the larger, or is too small to rule that out."""
    if min(first.size, second.size) < 2:
        return []
    groups = (("A", first, first.var(ddof=1)), ("B", second, second.var(ddof=1)))
    # Of two groups of one size, the one that scatters more.
    (name, few, own), (other, many, others) = sorted(groups, key=lambda group: (group[1].size, -group[2]))
    if few.size == many.size:
        suspect = few.size >= _MIN_RUNS_FOR_VARIANCE and own > _MAX_VARIANCE_RATIO_OF_EQUAL_SIZES * others
    else:
        unknown = few.size < _MIN_RUNS_FOR_VARIANCE and many.size >= _MUCH_LARGER * few.size
        suspect = unknown or own > _MAX_VARIANCE_RATIO * others
    if not suspect:
        return []
    return [
        f"{few.size} runs of {name} beside {many.size} of {other}: ranks take both to scatter alike; if {name} "
        "scatters more, the interval covers less than it says; take the t interval"
    ]


def _moses(first: Array, second: Array, level: float, method: str, warnings: list[str]) -> Estimate:
    """Return the median difference with Moses' exact interval of at least `level`."""
    between_0_and_1("level", level)
    differences = np.sort(np.subtract.outer(first, second), axis=None)
    shift = np.median(differences)
    below = _probability_below(first.size, second.size)
    # The k-th smallest and the k-th largest difference hold the shift with probability 1 − 2 P(U <= k − 1).
    k = int(np.searchsorted(below, (1 - level) / 2 * (1 + 1e-12), side="right"))
    fewer = min(first.size, second.size)
    if k == 0:
        if fewer > 1:
            highest = math.floor(1000 * (1 - 2 * below[0])) / 10  # never rounded up to a level that it has not
            runs = f"{first.size} runs of A and {second.size} of B"
            warnings = [*warnings, f"{runs}: no rank interval has more than {highest:g} % confidence"]
        return Estimate(shift, np.nan, np.nan, level, method, tuple(warnings), fewer)
    method = f"{method}, exact interval of {1 - 2 * below[k - 1]:.1%}"
    return Estimate(shift, differences[k - 1], differences[-k], level, method, tuple(warnings), fewer)


@functools.lru_cache(maxsize=64)
def _probability_below(runs_a: int, runs_b: int) -> Array:
    """Return P(U <= u) of the Mann–Whitney statistic without ties, for u = 0, 1, … n_a n_b // 2; U is symmetric.

    The number of orders with U = u is the coefficient of q^u in the Gaussian binomial coefficient, the product of
    (1 − q^(n_b + i)) / (1 − q^i) over i = 1, … n_a: H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18
    (1947); G. E. Andrews, "The Theory of Partitions", chapter 3.  Whole numbers of any size are exact; the time grows
    with n_a² n_b.
    """
    few, many = sorted((runs_a, runs_b))
    counts = np.zeros(few * many // 2 + 1, dtype=object)
    counts[0] = 1
    for i in range(1, few + 1):
        counts[many + i :] -= counts[: -(many + i)]
        for start in range(i):
            counts[start::i] = np.cumsum(counts[start::i])
    orders = math.comb(few + many, few)
    return np.array([below / orders for below in np.cumsum(counts)])


def summarise_ranks(a: ArrayLike, b: ArrayLike) -> pd.DataFrame:
    """Return two rank tests of "neither server tends to larger values", and the share of pairs in which A is larger.

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit.

    Returns
    -------
    pandas.DataFrame
        A row for each test: ``test``, ``statistic``, ``p_value`` (two-sided), ``a_above_b_ratio`` (the share of pairs
        in which A's run is the larger, ties half: 0.5 is no difference) and ``warnings``.  Mann–Whitney assumes two
        distributions of one shape; Brunner–Munzel does not.

    Raises
    ------
    ValueRuleError
        When a group is not one-dimensional, or has no value or one that is not > 0.

    Notes
    -----
    H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18 (1947); E. Brunner, U. Munzel, "The nonparametric
    Behrens–Fisher problem", Biometrical Journal 42 (2000).  Both by SciPy.

    Examples
    --------
    >>> summarise_ranks([110, 112, 108, 111], [100, 101, 99, 109])[["test", "p_value", "a_above_b_ratio"]].round(4)
                 test  p_value  a_above_b_ratio
    0    Mann–Whitney   0.0571           0.9375
    1  Brunner–Munzel   0.0026           0.9375
    """
    first, second, warnings = two_groups(a, b)
    tied = np.unique([*first, *second]).size < first.size + second.size
    mann = scipy.stats.mannwhitneyu(first, second, method="asymptotic" if tied else "exact")
    above = mann.statistic / (first.size * second.size)
    lowest_p = 2 * _probability_below(first.size, second.size)[0]
    of_mann = [*warnings, "ties: p is approximate"] if tied else list(warnings)
    of_mann += [
        text.replace("the interval covers less than it says", "p is too small") for text in _unlike(first, second)
    ]
    if lowest_p > 0.05:  # the usual level of significance
        of_mann.append(f"{first.size} and {second.size} runs: p is never below {lowest_p:.2g}")
    of_munzel, munzel = list(warnings), (np.nan, np.nan)
    if min(first.size, second.size) < 2 or above in (0, 1):
        of_munzel.append("no value: it needs two runs of each whose ranges overlap")
    elif np.ptp([*first, *second]) == 0:
        of_munzel.append("no value: all runs have the same value")
    else:
        # In this order the statistic is > 0 where A tends to be larger.
        munzel = scipy.stats.brunnermunzel(second, first)
        if min(first.size, second.size) < _BRUNNER_MUNZEL_RUNS:
            of_munzel.append(f"fewer than {_BRUNNER_MUNZEL_RUNS} runs: p is too small too often")
    rows = [
        ("Mann–Whitney", mann.statistic, mann.pvalue, above, "; ".join(of_mann)),
        ("Brunner–Munzel", munzel[0], munzel[1], above, "; ".join(of_munzel)),
    ]
    return pd.DataFrame(rows, columns=["test", "statistic", "p_value", "a_above_b_ratio", "warnings"])
