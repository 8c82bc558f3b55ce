r"""Rates of several generators that were added: the share of the sum that they made at the same time.

Each generator prints its requests over its own time, T_i = n_i / X_i.  Their sum is what all of them make together only
if they ran together.  Let r be the throughput while all run, and T the time in which any of them runs:

.. math:: \frac{\sum_i n_i}{T} \le r \le \sum_i X_i

The lower end holds if some of the generators make no more than all of them: then the sum of all requests is at most
r T.  It is met where they share one limit.  The upper end holds if no generator is faster beside the others than
without them.  It is met where they share nothing.

Throughput is the count of completions over the time in which they were counted: P. J. Denning, J. P. Buzen, "The
Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978.  The two bounds follow from that.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import above_0, at_least_0


def summarise_overlap(requests: ArrayLike, throughput_rps: ArrayLike, delay_s: ArrayLike = 0) -> pd.DataFrame:
    """Throughput that generators made together, as an interval, for each delay between their starts.

    Parameters
    ----------
    requests : array_like, shape (k,)
        Requests n of each generator in the order of their starts, > 0.
    throughput_rps : array_like, shape (k,)
        Throughput X that each printed for its own run, > 0.
    delay_s : array_like, shape (m,)
        Time by which each generator starts after the one before it, >= 0: one row of the table each.

    Returns
    -------
    pandas.DataFrame
        ``delay_s``; ``any_s, all_s``, the time in which any and in which all of them ran; ``lo_rps, hi_rps``, the
        bounds above; and ``overstated_ratio``, by which part the sum of rates may be too large: hi / lo − 1.

    Raises
    ------
    ValueRuleError
        When a value breaks its rule or is missing, or the two lists are not of one length of 2 and more.

    Examples
    --------
    >>> summarise_overlap([3000, 3000], [300, 300], [0, 1, 10])[["delay_s", "any_s", "all_s", "lo_rps", "hi_rps"]]
       delay_s  any_s  all_s      lo_rps  hi_rps
    0      0.0   10.0   10.0  600.000000   600.0
    1      1.0   11.0    9.0  545.454545   600.0
    2     10.0   20.0    0.0  300.000000   600.0
    """
    number = np.atleast_1d(above_0("requests", requests))
    rate = np.atleast_1d(above_0("throughput_rps", throughput_rps))
    if number.ndim != 1 or number.size < 2 or number.shape != rate.shape:
        raise ValueRuleError("throughput_rps", f"of the shape of requests, {number.shape}, 2 at least", rate.shape)
    delay = np.atleast_1d(at_least_0("delay_s", delay_s))
    for name, values in (("requests", number), ("throughput_rps", rate), ("delay_s", delay)):
        if not np.isfinite(values).all():
            raise ValueRuleError(name, "known and finite", values)
    start = np.arange(number.size)[:, None] * delay
    end = start + (number / rate)[:, None]
    # What each generator adds to the time in which any ran: from its start, or from the end of those before it, on.
    before = np.vstack([start[:1], np.maximum.accumulate(end)[:-1]])
    any_s = np.maximum(end - np.maximum(start, before), 0).sum(axis=0)
    lo, hi = number.sum() / any_s, rate.sum()  # Σn / T <= r <= ΣX
    return pd.DataFrame(
        {
            "delay_s": delay, "any_s": any_s, "all_s": np.maximum(end.min(axis=0) - start.max(axis=0), 0),
            "lo_rps": lo, "hi_rps": hi, "overstated_ratio": hi / lo - 1,
        }
    )  # fmt: skip
