"""Test whether a series rises or falls from its beginning to its end.

H. B. Mann, "Nonparametric Tests Against Trend", Econometrica 13, 1945; P. K. Sen, "Estimates of the Regression
Coefficient Based on Kendall's Tau", JASA 63, 1968 (the slope and its interval); K. H. Hamed, A. R. Rao, "A modified
Mann-Kendall trend test for autocorrelated data", Journal of Hydrology 204, 1998 (a greater variance of the test).
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.stats._hypothesis_test import result_row
from loadcurve.stats.arrays import between_0_and_1, series
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.merging import SURE_MERGED, merge_samples, merge_size, remaining_inflation

TEST = "Mann-Kendall on merged samples"
MIN_SAMPLES = 20  # four groups of 5; with fewer, no trend can be distinguished from autocorrelation
MAX_MERGED = 500  # Sen's slope takes all pairs: 500 samples are enough, and more are merged


def summarise_drift(values: ArrayLike, level: float = 0.95) -> pd.DataFrame:
    """Drift of a series: the test of Mann and Kendall, and Sen's slope with its interval.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run in time order, warm-up cut, any unit, n >= 20.
    level : float
        Confidence level of the interval and of the verdict, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``question, test, statistic`` (Kendall's tau), ``p_value, value`` (change from the first sample to the
        last, in the unit of `values`), ``lo, hi, verdict, warnings``.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    Neighbours are merged until the residuals around a straight line have a lag-1 autocorrelation of at most 0.1
    (Ferrari's rule, see `find_mean_of_series`); autocorrelated samples would show drifts that are not there.  When no
    merging achieves that, nothing is tested.  What remains of r widens the interval by sqrt((1 + r)/(1 − r)), and
    lowers the test's normal quantile by the same factor.  With fewer than 30 merged samples a strongly autocorrelated
    series shows a drift that is not there more often than `level` says; a warning reports it.

    Examples
    --------
    >>> row = summarise_drift([10, 12, 11, 9, 10, 12, 13, 11, 14, 12, 13, 15, 14, 13, 16, 15, 14, 16, 17, 15]).iloc[0]
    >>> row["verdict"]
    'drifts: 6.33 (48.7 % of the median) from first to last sample, 95 % interval 4.21 to 8.65, p = 3e-05'
    """
    known, level = series("values", values, MIN_SAMPLES), between_0_and_1("level", level)
    time = np.arange(known.size)
    residuals = known - np.polynomial.Polynomial.fit(time, known, 1)(time)
    straight = np.abs(residuals).max() <= 1e-12 * np.abs(known).max()  # what is left is rounding
    size = 1 if straight else merge_size(residuals)
    if size == 0:
        nothing = Estimate(np.nan, np.nan, np.nan, level, TEST, ("residuals stay autocorrelated: too short a run",))
        return result_row("drift", TEST, np.nan, np.nan, nothing, "not tested")
    size = max(size, -(-known.size // MAX_MERGED))
    merged = merge_samples(known, size)
    centres = size * np.arange(merged.size) + (size - 1) / 2
    if np.ptp(merged) == 0:
        return result_row("drift", TEST, 0.0, 1.0, Estimate(0, 0, 0, level, TEST), "no drift: all samples are equal")
    wider = 1.0 if straight else np.sqrt(remaining_inflation(merge_samples(residuals, size), fitted=2))
    kendall = scipy.stats.kendalltau(centres, merged)
    p_value = 2 * scipy.stats.norm.sf(scipy.stats.norm.isf(kendall.pvalue / 2) / wider)
    slope = scipy.stats.theilslopes(merged, centres, alpha=level)
    change, lo, hi = np.array([slope.slope, slope.low_slope, slope.high_slope]) * (known.size - 1)
    lo, hi = change + wider * (lo - change), change + wider * (hi - change)
    few = f"{merged.size} merged samples, fewer than {SURE_MERGED}: autocorrelation may pass for a drift"
    warnings = (few,) if merged.size < SURE_MERGED else ()
    drift = Estimate(change, min(lo, change), max(hi, change), level, TEST, warnings)
    # A part of the median means something for what cannot be negative, such as rates and times.
    verdict = _verdict(drift, p_value, np.median(known) if known.min() >= 0 else 0.0)
    return result_row("drift", TEST, kendall.statistic, p_value, drift, verdict)


def _verdict(drift: Estimate, p_value: float, median: float) -> str:
    ratio = f" ({100 * drift.value / abs(median):.1f} % of the median)" if median else ""
    return (
        f"{'drifts' if p_value < 1 - drift.level else 'no drift seen'}: {drift.value:.3g}{ratio} from first to last "
        f"sample, {100 * drift.level:g} % interval {drift.lo:.3g} to {drift.hi:.3g}, p = {p_value:.1g}"
    )
