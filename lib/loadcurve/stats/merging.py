"""Mean of one series of autocorrelated samples, with an interval from merged subsessions.

Successive samples of one run are not repeats: a slow second is followed by a slow second.  The t interval over them
is far too narrow.  Subsession merging replaces m neighbours by their mean, and takes the smallest m at which the
merged samples no longer resemble each other.

D. Ferrari, "Computer Systems Performance Evaluation", 1978 (subsessions, and 0.1 as negligible autocorrelation), as
Pilot applies it: Y. Li et al., "Pilot: A Framework that Understands How to Do Performance Benchmarks the Right Way",
MASCOTS 2016.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, between_0_and_1, series
from loadcurve.stats.estimate import Estimate

NEGLIGIBLE = 0.1  # Ferrari 1978, by way of Pilot's handbook: |r| <= 0.1 counts as none
MIN_MERGED = 5  # fewer merged samples say nothing about their own autocorrelation
# Below this many merged samples simulated intervals of AR(1) series covered less than 93 % at level 95 %
# (validation.coverage.series).
SURE_MERGED = 30
# Below SURE_MERGED, how many of its standard errors 1/√k are added to the autocorrelation that remains.  Without it,
# intervals of AR(1) series of 60 and 120 samples covered 82 to 95 % in simulation, with it 90 to 97 %.
CAUTION = 0.75
# A component with a period near the length of the series is hardly visible, yet moves its mean.  With a tenth of the
# variance in a component of correlation time 20, intervals of shorter series covered 60 to 85 % at level 95 %, those of
# 1200 samples 90 % and more (validation.coverage.series).
SURE_SAMPLES = 1000
# A series worth fewer independent samples than this hardly shows its own autocorrelation: of AR(1) series worth fewer
# than two, the intervals given covered 50 to 90 % in simulation.
MIN_EFFECTIVE = 2.0
# From about this many on they covered 93 to 97 %.
_ENOUGH = 8.0
SLOW = 4  # lowest frequencies of the spectrum that are compared with the others
SUSPECT = 0.05  # p value below which they count as more than noise


def autocorrelation(values: ArrayLike, lag: int = 1) -> float:
    r"""Autocorrelation of a series at a lag.

    .. math:: r_k = \sum_{t=1}^{n-k} (x_t - \bar x)(x_{t+k} - \bar x) \Big/ \sum_{t=1}^{n} (x_t - \bar x)^2

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples in time order, any unit, n >= 2.
    lag : int
        Distance k in samples, 1 <= k < n.

    Returns
    -------
    float
        Between −1 and 1; 0 for a constant series.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    For independent samples the expected value is about −1/n, not 0.  G. E. P. Box, G. M. Jenkins, "Time Series
    Analysis: Forecasting and Control", chapter 2.

    Examples
    --------
    >>> round(autocorrelation([1.0, 2.0, 3.0, 4.0]), 2)
    0.25
    """
    known = series("values", values, 2)
    if not (1 <= lag < known.size and lag == int(lag)):
        raise ValueRuleError("lag", f"a whole number, 1 <= lag < {known.size}", lag)
    return _correlation(known, int(lag))


def merge_samples(values: ArrayLike, size: int) -> Array:
    """Means of every `size` successive samples; the last ones that do not fill a group are left out.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples in time order, any unit.
    size : int
        Samples in a group, 1 <= size <= n.

    Returns
    -------
    numpy.ndarray, shape (n // size,)
        In the unit of `values`.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Examples
    --------
    >>> print(merge_samples([1.0, 3.0, 5.0, 7.0, 100.0], 2))
    [2. 6.]
    """
    known = series("values", values, 1)
    if not (1 <= size <= known.size and size == int(size)):
        raise ValueRuleError("size", f"a whole number, 1 <= size <= {known.size}", size)
    return _merged(known, int(size))


def find_mean_of_series(values: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Mean of one series, with an interval that allows for its autocorrelation.

    .. math:: \bar y \pm t_{\nu}\; \frac{s_y}{\sqrt k}\sqrt{\frac{1+r}{1-r}}, \qquad \nu = (k-1)\frac{1-r}{1+r}

    y are the k means of m neighbours, with the smallest m at which their lag-1 autocorrelation is at most 0.1 and the
    lowest frequencies of their spectrum are no stronger than the others; r is what remains of the autocorrelation,
    freed of its bias, with fewer than 30 merged samples raised by 0.75 of its standard error, and not below 0.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run in time order, warm-up and cool-down cut, any unit, n >= 5.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        In the unit of `values`.  The interval is NaN, with a warning, when even groups of n // 5 samples resemble
        each other, or the samples are worth fewer than 2 independent ones: then the series drifts, or it is too short.
        With fewer than 30 merged samples the interval is at least that of an AR(1) series of the samples'
        autocorrelation.  Warnings name fewer than 30 merged samples, and fewer than 1000 samples, which cannot show a
        drift slower than the run.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    The size follows Ferrari (1978), who requires abs(r) <= 0.1; a negative r is let pass here, because it makes the
    interval too wide, never too narrow.  Ferrari's interval is that without the factor.
    It ignores up to 0.1 that remains, and so covers a little less than its level.  The factor is the variance
    inflation of an AR(1) series (Box and Jenkins, chapter 2).  The bias of r is −(1 + 4r)/k (F. H. C. Marriott, J. A.
    Pope, Biometrika 41, 1954).  In simulations of AR(1) series of autocorrelation 0.5, 0.7 and 0.9, the interval of
    level 95 % covers 93 to 97 % from about 60, 120 and 300 samples on; of shorter series it is refused, or covers less
    (validation.coverage.series).  The last samples, which do not fill a group, are left out.

    The autocorrelation of neighbours does not show a slow component under white noise.  So the mean of the 4 lowest
    ordinates of the periodogram is compared with that of the others, by an F test at 0.05: for white noise the
    ordinates are independent exponential variables (P. Bloomfield, "Fourier Analysis of Time Series", 2000, chapter 8).

    Examples
    --------
    >>> print(find_mean_of_series([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]))
    4.333 [2.242, 6.424]
    """
    known, level = series("values", values, MIN_MERGED), between_0_and_1("level", level)
    size, effective = merge_size(known), _effective_samples(known)
    if size == 0 or effective < MIN_EFFECTIVE:
        large = known.size // MIN_MERGED
        left = _correlation(_merged(known, large), 1)
        warning = f"autocorrelation is still {left:.2f} between means of {large} samples: a drift, or too short a run"
        if size:
            warning = (
                f"{known.size} autocorrelated samples are worth {effective:.1f} independent ones: a drift, or too "
                f"short a run; run at least {np.ceil(_ENOUGH / effective):.0f} times as long, or compare repeats"
            )
        return Estimate(known.mean(), np.nan, np.nan, level, "mean of a series", (warning,))
    merged = _merged(known, size)
    samples, inflation = merged.size, remaining_inflation(merged, fitted=1)
    quantile = scipy.special.stdtrit(max((samples - 1) / inflation, 1.0), (1 + level) / 2)
    half = quantile * np.sqrt(merged.var(ddof=1) / samples * inflation)
    warnings = []
    if samples < SURE_MERGED:
        degrees = max(effective - 1, 1.0)
        half = max(half, scipy.special.stdtrit(degrees, (1 + level) / 2) * known.std(ddof=1) / np.sqrt(degrees))
        warnings.append(f"{samples} merged samples, fewer than {SURE_MERGED}: the interval may cover less than it says")
    if known.size < SURE_SAMPLES and np.ptp(known) > 0:
        warnings.append(
            f"{known.size} samples, fewer than {SURE_SAMPLES}: they cannot show a drift slower than the run, with "
            "which the interval covers far less than it says; compare repeats"
        )
    method = f"mean, t interval over {samples} means of {size} successive samples"
    return Estimate(merged.mean(), merged.mean() - half, merged.mean() + half, level, method, tuple(warnings))


def merge_size(values: Array) -> int:
    """Smallest number of neighbours whose means look independent, next to each other and over the whole series.

    Their lag-1 autocorrelation is at most 0.1, and their lowest frequencies are not above the others.  0 when there
    is no such number.
    """
    for size in range(1, values.size // MIN_MERGED + 1):
        merged = _merged(values, size)
        if _correlation(merged, 1) <= NEGLIGIBLE and _slow_p_value(merged) >= SUSPECT:
            return size
    return 0


def _effective_samples(values: Array) -> float:
    """Independent samples that determine a mean as well: n (1 − r)/(1 + r), r freed of its bias (AR(1))."""
    left = _correlation(values, 1)
    left = min(max(left + (1 + 4 * left) / values.size, 0.0), 1 - 1e-5)
    return values.size * (1 - left) / (1 + left)


def _slow_p_value(merged: Array) -> float:
    """P value of the F test that the lowest frequencies of the periodogram are no stronger than the others."""
    power = np.abs(np.fft.rfft(merged - merged.mean()))[1 : (merged.size - 1) // 2 + 1] ** 2
    slow = min(SLOW, power.size // 3)
    if slow == 0 or not power[slow:].mean() > 0:
        return 1.0
    return float(scipy.special.fdtrc(2 * slow, 2 * (power.size - slow), power[:slow].mean() / power[slow:].mean()))


def remaining_inflation(merged: Array, fitted: int) -> float:
    """Factor (1 + r)/(1 − r) on the variance for the autocorrelation r that merging left, freed of its bias.

    `fitted` parameters were taken off the series: 1 for a mean, 2 for a line.  Few merged samples determine r poorly,
    and a part of its standard error is added.
    """
    left = _correlation(merged, 1)
    left += (fitted + 4 * left) / merged.size
    if merged.size < SURE_MERGED:
        left += CAUTION / np.sqrt(merged.size)
    left = min(max(left, 0.0), 0.9)
    return (1 + left) / (1 - left)


def _merged(values: Array, size: int) -> Array:
    result: Array = values[: values.size // size * size].reshape(-1, size).mean(axis=1)
    return result


def _correlation(values: Array, lag: int) -> float:
    apart = values - values.mean()
    scale = np.abs(apart).max()
    if scale <= 1e-14 * np.abs(values).max():  # constant but for rounding
        return 0.0
    apart = apart / scale
    return float(apart[:-lag] @ apart[lag:] / (apart @ apart))
