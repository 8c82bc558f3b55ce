"""How many repeats: a rule when to stop, and a plan made beforehand.

A rule that checks the interval after every repeat tends to stop when the scatter happens to look small.  So the final
interval covers less than its level.  A minimum of repeats or a plan in two stages avoids this.

F. J. Anscombe, "Sequential Estimation", Journal of the Royal Statistical Society B 15, 1953; Y. S. Chow, H. Robbins,
"On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean", Annals of Mathematical
Statistics 36, 1965 (the rule); C. Stein, "A Two-Sample Test for a Linear Hypothesis Whose Power is Independent of the
Variance", Annals of Mathematical Statistics 16, 1945 (the plan).
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import between_0_and_1, positive, series
from loadcurve.stats.estimate import Estimate

# From 10 repeats on the simulated loss of coverage stayed below 3 points of 95 % (notebook 48, its table).
MINIMUM = 10


def summarise_stopping(
    values: ArrayLike, half_width_ratio: float, minimum: int = MINIMUM, level: float = 0.95
) -> pd.DataFrame:
    """After which repeat the interval of the mean was narrow enough to stop.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One value for each repeat, in the order in which they ran, any unit, n >= 1.
    half_width_ratio : float
        Wanted half width of the interval as a part of the mean, > 0: 0.05 for ± 5 %.
    minimum : int
        Repeats that are always made, >= 2.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row after each repeat: ``repeats, mean, lo, hi, half_width_ratio, stop``.  ``stop`` is True from the first
        repeat on after which the rule says so; the interval to report is that of this row.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    Stop at the first n >= minimum with t s/√n <= ratio · mean (Chow and Robbins 1965, with t for the normal quantile).
    The rule is exact only in the limit of narrow intervals.  For others it stops too early a little too often, so that
    its interval covers less than `level`; never stop on the result of a comparison.  Repeats must be independent.

    Examples
    --------
    >>> table = summarise_stopping([100, 104, 98, 101, 99, 102], half_width_ratio=0.03, minimum=4)
    >>> table[["repeats", "half_width_ratio", "stop"]].round(3).values.tolist()[3:]
    [[4, 0.039, False], [5, 0.028, True], [6, 0.023, True]]
    """
    known, ratio = series("values", values, 1), positive("half_width_ratio", half_width_ratio)
    if minimum < 2:
        raise ValueRuleError("minimum", ">= 2", minimum)
    repeats = np.arange(1, known.size + 1)
    centred = known - known.mean()  # so that the difference of squares below stays exact
    total, squares = np.cumsum(centred), np.cumsum(centred**2)
    mean = known.mean() + total / repeats
    with np.errstate(divide="ignore", invalid="ignore"):  # one repeat has no variance, a mean of 0 no relative width
        deviation = np.sqrt(np.maximum(squares - total**2 / repeats, 0.0) / (repeats - 1))
        quantile = scipy.special.stdtrit(repeats - 1, (1 + between_0_and_1("level", level)) / 2)
        half = quantile * deviation / np.sqrt(repeats)
        reached = half / np.abs(mean)
    stop = np.logical_or.accumulate((repeats >= minimum) & (reached <= ratio))
    columns = {"repeats": repeats, "mean": mean, "lo": mean - half, "hi": mean + half}
    return pd.DataFrame({**columns, "half_width_ratio": reached, "stop": stop})


def find_repeats(pilot: ArrayLike, half_width_ratio: float, level: float = 0.95) -> Estimate:
    r"""Repeats needed for a target interval width, planned from a few pilot repeats.

    .. math:: n = \max\left(n_0,\ \left\lceil \left(\frac{t_{n_0-1}\, s_0}{d}\right)^2 \right\rceil\right)

    with d the target half width: `half_width_ratio` times the pilot's mean.

    Parameters
    ----------
    pilot : array_like of float, shape (n0,)
        One value for each pilot repeat, any unit, n0 >= 2.
    half_width_ratio : float
        Wanted half width of the interval as a part of the mean, > 0.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        All repeats, those of the pilot included.  The interval is what the same formula gives at both ends of the
        chi-square interval of the variance: how little a small pilot determines.

    Raises
    ------
    ValueRuleError
        When a rule is broken, or the pilot's mean is 0.

    Notes
    -----
    Stein (1945) proves the level for a width that is fixed beforehand, and for mean ± t_{n0−1} s0/√n with the pilot's
    own s0.  Here the width depends on the pilot's mean, which matters only when the pilot determines its mean poorly.

    Examples
    --------
    >>> print(find_repeats([100, 104, 98, 101, 99], half_width_ratio=0.02))
    11 [5, 84]
    """
    known, ratio = series("pilot", pilot, 2), positive("half_width_ratio", half_width_ratio)
    level = between_0_and_1("level", level)
    if known.mean() == 0:
        raise ValueRuleError("pilot", "of a mean other than 0", "mean 0")
    free = known.size - 1
    target = ratio * abs(known.mean())
    # Degrees of freedom over the chi-square quantiles: the lowest variance in question, the pilot's own, the highest.
    factors = np.append(free / scipy.special.chdtri(free, [(1 - level) / 2, (1 + level) / 2]), 1.0)[[0, 2, 1]]
    quantile = scipy.special.stdtrit(free, (1 + level) / 2)
    counts = np.ceil(factors * (quantile * known.std(ddof=1) / target) ** 2)
    lo, value, hi = np.maximum(counts, known.size)
    few = known.size < MINIMUM
    warnings = (f"{known.size} pilot repeats, fewer than {MINIMUM}: the plan is coarse",) if few else ()
    return Estimate(value, lo, hi, level, "Stein's two stages, chi-square interval of the variance", warnings)
