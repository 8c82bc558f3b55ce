"""Mean of rates: whether the arithmetic or the harmonic mean applies depends on what every repeat held fixed.

Equal time (wrk -d 30): the total rate is the arithmetic mean, `find_mean`.  Equal work (ab -n 100000): the total rate
is the harmonic mean, because a slow repeat takes longer and so weighs more.

J. E. Smith, "Characterizing Computer Performance with a Single Number", Communications of the ACM 31(10), 1988,
pp. 1202–1206.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean


def find_harmonic_mean(rates: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Mean rate of repeats that each did the same work: all work divided by all time.

    .. math:: \bar x_h = n \Big/ \sum_{i=1}^{n} \frac{1}{x_i}

    Parameters
    ----------
    rates : array_like of float, shape (n,)
        One rate for each repeat, > 0, such as requests per second of ``ab -n``.  NaN is a repeat without a value: it
        is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        In the unit of `rates`.  The interval is the t interval of the mean time per unit of work, turned over; its
        upper end is infinite when that time may be 0.

    Raises
    ------
    ValueRuleError
        When a rate is not above 0 (work that never ends has no mean rate), or another rule is broken.

    Notes
    -----
    Not for repeats of equal duration: there the harmonic mean is too low.  Not for response times, and not for
    unequal work: there divide the sum of the work by the sum of the times.

    Examples
    --------
    >>> print(find_harmonic_mean([90.0, 110.0, 100.0]))
    99.33 [79.49, 132.4]
    """
    every = np.asarray(rates, dtype=float)
    wrong = every[(every <= 0) | np.isinf(every)]
    if wrong.size:
        raise ValueRuleError("rates", "> 0 and finite", wrong.flat[0])
    time = find_mean(1 / every, level)
    lo = 1 / time.hi
    hi = np.inf if time.lo <= 0 else 1 / time.lo
    method = time.method.replace("mean", "harmonic mean").replace("t interval", "reciprocal t interval")
    return Estimate(1 / time.value, lo, hi, level, method, time.warnings, time.repeats)
