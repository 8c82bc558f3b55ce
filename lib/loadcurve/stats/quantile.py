r"""Quantile of one sample, with an interval that assumes no distribution.

Of n independent values, the number B below the true quantile is binomial with probability q.  So the order statistics
:math:`x_{(l)}` and :math:`x_{(u)}` hold the quantile with probability :math:`P(l \le B < u)` at least.

W. J. Conover, "Practical Nonparametric Statistics", 3rd edition, 1999, section 3.2; H. A. David, H. N. Nagaraja,
"Order Statistics", 3rd edition, 2003, section 7.1.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.stats.arrays import between_0_and_1, series
from loadcurve.stats.estimate import Estimate

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
