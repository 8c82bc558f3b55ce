"""Where a series becomes steady, and where it ceases to be: the warm-up and the cool-down to cut.

MSER-5 cuts where the mean of the rest is known best: cutting a transient lowers the variance of the rest, cutting
good samples makes the rest fewer.

K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997,
pp. 323–334 (MSER); K. P. White, M. J. Cobb, S. C. Spratt, "A Comparison of Five Steady-State Truncation Heuristics
for Simulation", Winter Simulation Conference 2000 (MSER-5, batches of 5).  As usual, a cut in the second half of the
series counts as none.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.stats._series import series
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.merging import merge_samples

BATCH = 5  # White, Cobb and Spratt 2000: the 5 in MSER-5
LEAST_BATCHES = 10  # fewer leave no room for a cut in the first half and a rest that has a variance
LEAST_KEPT = 5  # the variance of fewer batches can be near 0 by chance, and would win


def find_warm_up(values: ArrayLike) -> Estimate:
    r"""Samples to drop at the beginning of a series, by MSER-5.

    .. math:: d^* = \arg\min_d \; \frac{1}{(k-d)^2} \sum_{j=d+1}^{k} (z_j - \bar z_{k,d})^2

    z are the k means of 5 successive samples.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run in time order, any unit, at least 5.

    Returns
    -------
    Estimate
        5 d* samples, without an interval.  NaN, with a warning, when d* lies in the second half (the series has not
        become steady) or when n < 50.

    Raises
    ------
    ValueRuleError
        When `values` has gaps or is too short.

    Notes
    -----
    It finds a transient whose size stands out from the noise.  A series without a transient may lose a few samples.
    It is no test: a drift to the end gives a cut in the second half, but so can chance.  A single great spike draws
    the cut behind it.

    Examples
    --------
    >>> find_warm_up([10, 12, 11, 9, 10] * 4 + [20, 22, 21, 19, 20] * 16).value
    20.0
    """
    known = series("values", values, BATCH)
    return _cut(known, "beginning")


def find_cool_down(values: ArrayLike) -> Estimate:
    """Samples to drop at the end of a series: MSER-5 on the series read backwards.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run in time order, any unit, at least 5.

    Returns
    -------
    Estimate
        Samples, as `find_warm_up` gives them for the beginning.

    Raises
    ------
    ValueRuleError
        When `values` has gaps or is too short.

    Notes
    -----
    Reading backwards is this library's use of the method; White's papers know no cool-down.

    Examples
    --------
    >>> find_cool_down([20, 22, 21, 19, 20] * 18 + [5, 4, 3, 2, 1] * 2).value
    10.0
    """
    known = series("values", values, BATCH)
    return _cut(known[::-1], "end")


def _cut(values: np.ndarray, where: str) -> Estimate:
    method = f"MSER-5 from the {where}"
    batches = values.size // BATCH
    if batches < LEAST_BATCHES:
        warning = f"{values.size} samples, fewer than {LEAST_BATCHES * BATCH}: no cut can be found"
        return Estimate(np.nan, np.nan, np.nan, 0.95, method, (warning,))
    cut = int(np.argmin(_standard_errors(merge_samples(values, BATCH))))
    if cut > batches / 2:
        warning = f"the cut would fall on sample {cut * BATCH} of {values.size}, in the second half: not steady"
        return Estimate(np.nan, np.nan, np.nan, 0.95, method, (warning,))
    return Estimate(cut * BATCH, np.nan, np.nan, 0.95, method)


def _standard_errors(batches: np.ndarray) -> np.ndarray:
    """MSER of the rest for every cut d that leaves at least LEAST_KEPT batches."""
    centred = batches - batches[-LEAST_KEPT:].mean()  # near the steady mean: the difference of squares stays exact
    rest = np.arange(batches.size, 0, -1)
    total, squares = np.cumsum(centred[::-1])[::-1], np.cumsum(centred[::-1] ** 2)[::-1]
    errors = np.maximum(squares - total**2 / rest, 0.0) / rest**2  # Σ(z − z̄)² / (k − d)²
    return errors[: batches.size - LEAST_KEPT + 1]
