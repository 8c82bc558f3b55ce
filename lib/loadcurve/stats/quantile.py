r"""Quantile of one sample, with an interval that assumes no distribution.

Of n independent values, the number B below the true quantile is binomial with probability q.  So the order statistics
:math:`x_{(l)}` and :math:`x_{(u)}` hold the quantile with probability :math:`P(l \le B < u)` at least.  Classes of a
histogram say in which class each order statistic is.

W. J. Conover, "Practical Nonparametric Statistics", 3rd edition, 1999, section 3.2; H. A. David, H. N. Nagaraja,
"Order Statistics", 3rd edition, 2003, section 7.1.
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import check_columns
from loadcurve.stats.arrays import between_0_and_1, series
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.histogram import at_rank, class_arrays

_CLASSES = ("lower_s", "upper_s", "responses")


def find_quantile(values: ArrayLike, quantile: float, level: float = 0.95) -> Estimate:
    """Quantile of independent values with its interval by order statistics.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Independent values in any order, any unit: a run's own percentile for each run, or response times that do not
        depend on each other.
    quantile : float
        q, 0 < q < 1; 0.5 is the median.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        The smallest value that at least the part q of the values does not exceed.  The interval holds at least `level`
        (the method names the level it really has).  An end that so few values cannot give is infinite, with a warning
        that names how many values it takes.

    Raises
    ------
    ValueRuleError
        When there is no value, one is not finite, or `quantile` or `level` breaks its rule.

    Notes
    -----
    Successive response times of one run depend on each other: the interval of their quantile is too narrow, as that of
    their mean is.  Then take the quantile of each run, and the median of these.

    Examples
    --------
    >>> print(find_quantile(range(1, 101), 0.9))
    90 [84, 96]
    >>> find_quantile(range(1, 101), 0.99).warnings
    ('100 values: the 0.99 quantile has no upper end at level 95 %, it takes 368 values',)
    """
    known = np.sort(series("values", values, 1))
    rank, lower, upper, real = _ranks(known.size, quantile, level)
    lo = known[lower - 1] if lower > 0 else -np.inf
    hi = known[upper - 1] if upper <= known.size else np.inf
    return Estimate(
        known[rank - 1], lo, hi, level,
        f"order statistics {lower} and {upper} of {known.size}, interval of {real:.1%}",
        _missing_ends(known.size, "values", quantile, level, lower, upper),
    )  # fmt: skip


def find_histogram_quantile(histogram: pd.DataFrame, quantile: float, level: float = 0.95) -> Estimate:
    """Quantile of the responses of one histogram, with an interval for both their number and the width of classes.

    Parameters
    ----------
    histogram : pandas.DataFrame
        Rows of the table ``histogram`` of one point: ``lower_s, upper_s, responses``.  A missing lower end counts as 0,
        a missing upper end as infinite.
    quantile, level
        As for `find_quantile`.

    Returns
    -------
    Estimate
        In seconds: the middle of the class in which the quantile of these responses lies; the interval goes from the
        lower end of the class of one order statistic to the upper end of the class of the other.

    Raises
    ------
    ValueRuleError
        When a column is missing, a class has no number of responses or its ends are in disorder, or `quantile` or
        `level` breaks its rule.

    Notes
    -----
    As for `find_quantile`; the ends of the classes are taken as exact.  The classes of several runs may be given
    together if the runs are of one point; scatter between runs is then not in the interval.

    Examples
    --------
    >>> classes = pd.DataFrame({"lower_s": [0.0, 0.1, 0.2], "upper_s": [0.1, 0.2, 0.4], "responses": [900, 60, 40]})
    >>> print(find_histogram_quantile(classes, 0.95))
    0.15 [0.1, 0.4]
    """
    check_columns(histogram, _CLASSES)
    below, above, counts = class_arrays(histogram)
    total = int(counts.sum())
    rank, lower, upper, real = _ranks(total, quantile, level)
    ends = at_rank(below, counts, rank), at_rank(above, counts, rank)
    warnings = _missing_ends(total, "responses", quantile, level, lower, upper)
    if np.isinf(ends[1]):
        warnings += ("the quantile lies in a class without an upper end: its lower end is given",)
    return Estimate(
        ends[0] if np.isinf(ends[1]) else sum(ends) / 2,
        at_rank(below, counts, lower) if lower > 0 else 0.0,
        at_rank(above, counts, upper) if upper <= total else np.inf,
        level,
        f"classes of order statistics {lower} and {upper} of {total}, interval of {real:.1%}",
        warnings,
    )


def _ranks(count: int, quantile: float, level: float) -> tuple[int, int, int, float]:
    """Return the ranks of the quantile and of both ends, from 1 on, and the level that the ends really have."""
    q, level = between_0_and_1("quantile", quantile), between_0_and_1("level", level)
    below = scipy.stats.binom(count, q)
    # P(B < l) and P(B >= u) are at most half of 1 − level each.
    lower, upper = int(below.ppf((1 - level) / 2)), int(below.ppf((1 + level) / 2)) + 1
    rank = max(1, int(np.ceil(q * count * (1 - 1e-12))))  # a whole number stays one in spite of rounding
    return rank, lower, upper, float(below.cdf(upper - 1) - below.cdf(lower - 1))


def _missing_ends(count: int, what: str, quantile: float, level: float, lower: int, upper: int) -> tuple[str, ...]:
    tail, found = np.log((1 - level) / 2), []
    for end, missing, chance in (("lower", lower == 0, 1 - quantile), ("upper", upper > count, quantile)):
        if missing:
            enough = int(np.ceil(tail / np.log(chance)))
            found.append(
                f"{count} {what}: the {quantile:g} quantile has no {end} end at level {100 * level:g} %, it takes "
                f"{enough} {what}"
            )
    return tuple(found)
