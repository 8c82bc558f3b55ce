"""Least mean response time when wrk recorded no time for responses after its timeout.

wrk 4 counts a response that took longer than its timeout as a request and as a timeout, and records no time for it
(wrk 4.1.0, ``src/wrk.c``, ``response_complete``; ``src/stats.c``, ``stats_record``).  Its mean is then that of the fast
ones, and X R by that mean is too small.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.arrays import Array, above_0, at_least_0
from loadcurve.errors import ValueRuleError

# The mean of equal times may come out some units in the last place above them.
_ROUNDING = 1e-12


def least_mean_latency_s(
    latency_mean_s: ArrayLike, requests: ArrayLike, late: ArrayLike, timeout_s: ArrayLike
) -> Array:
    """Least mean response time of all requests, if late ones took no longer than the timeout: R >= R' + (T - R') L / n.

    Parameters
    ----------
    latency_mean_s : array_like
        Mean R' of those in time, >= 0.
    requests : array_like
        Requests n, late ones included, > 0.
    late : array_like
        Requests L that came after the timeout, 0 <= L <= n.
    timeout_s : array_like
        Timeout T, >= R'.

    Returns
    -------
    numpy.ndarray
        Seconds.  wrk does not report how late they were, so there is no upper bound.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(least_mean_latency_s(0.5, requests=1000, late=100, timeout_s=2).round(3))
    0.65
    """
    mean, number = at_least_0("latency_mean_s", latency_mean_s), above_0("requests", requests)
    share, timeout = at_least_0("late", late) / number, at_least_0("timeout_s", timeout_s)
    if np.any(share > 1):
        raise ValueRuleError("late", "<= requests", late)
    if np.any(timeout < mean * (1 - _ROUNDING)):
        raise ValueRuleError("timeout_s", ">= latency_mean_s", timeout_s)
    return mean + (timeout - mean) * share  # every late one takes at least T
