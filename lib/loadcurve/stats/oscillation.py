"""Test whether a series oscillates with one period: a timer, a garbage collector, a log rotation.

R. A. Fisher, "Tests of Significance in Harmonic Analysis", Proceedings of the Royal Society A 125, 1929, pp. 54–59;
P. J. Brockwell, R. A. Davis, "Time Series: Theory and Methods", 2nd edition 1991, section 10.2.
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.stats._hypothesis_test import result_row
from loadcurve.stats.arrays import between_0_and_1, positive, series
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.merging import autocorrelation

TEST = "Fisher's g on the prewhitened periodogram"
MIN_SAMPLES = 20  # nine frequencies
CERTAIN = 20.0  # expected number of ordinates as high as the peak: beyond it p is 1 to eight digits


def summarise_oscillation(values: ArrayLike, interval_s: float = 1.0, level: float = 0.95) -> pd.DataFrame:
    """Test for one dominant period of a series: Fisher's test of the highest peak of the periodogram.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run at equal distances, in time order, warm-up cut, any unit, n >= 20.
    interval_s : float
        Time between samples, > 0.
    level : float
        Confidence level of the verdict, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``question, test, statistic`` (g, the peak's share of the whole), ``p_value, value`` (period in
        seconds), ``lo, hi`` (the periods half a frequency step aside: the resolution of the run; no confidence
        interval), ``verdict, warnings``.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    A straight line is taken off first, and then an AR(1) part: x_t − r x_{t−1}.  Without that, every autocorrelated
    series would show a long "period".  A negative r stays: it is a swing of two samples itself.  Periods beyond half
    the run are not found, two periods at once may hide each other, and a period below 2 intervals shows up as a longer
    one (aliasing).

    Examples
    --------
    >>> wave = 100 + 10 * np.sin(2 * np.pi * np.arange(60) / 12) + np.random.default_rng(1).normal(0, 5, 60)
    >>> summarise_oscillation(wave)["verdict"].item()
    'oscillates with a period of 11.8 s (10.7 s to 13.1 s), g = 0.33, p = 0.0004'
    """
    known, level = series("values", values, MIN_SAMPLES), between_0_and_1("level", level)
    step = positive("interval_s", interval_s)
    flat = scipy.signal.detrend(known)
    if np.abs(flat).max() <= 1e-12 * np.abs(known).max():  # a straight line but for rounding
        nothing = Estimate(np.nan, np.nan, np.nan, level, TEST)
        return result_row("oscillation", TEST, np.nan, 1.0, nothing, "no oscillation: a straight line")
    white = flat[1:] - max(autocorrelation(flat), 0.0) * flat[:-1]
    white = white[(white.size + 1) % 2 :]  # an odd number has no frequency 1/2, whose ordinate is of another kind
    ordinates = np.abs(np.fft.rfft(white - white.mean()))[1:] ** 2
    peak = int(np.argmax(ordinates))
    g = ordinates[peak] / ordinates.sum()
    p_value = fisher_g_p_value(g, ordinates.size)
    length = white.size * step
    period = Estimate(length / (peak + 1), length / (peak + 1.5), length / (peak + 0.5), level, TEST)
    verdict = (
        f"{'oscillates' if p_value < 1 - level else 'no oscillation seen; the highest peak is'} with a period of "
        f"{period.value:.3g} s ({period.lo:.3g} s to {period.hi:.3g} s), g = {g:.2g}, p = {p_value:.1g}"
    )
    return result_row("oscillation", TEST, g, p_value, period, verdict.replace("is with a period", "is at a period"))


def fisher_g_p_value(g: float, ordinates: int) -> float:
    r"""Probability that the highest of m periodogram ordinates of white noise has at least the share g of their sum.

    .. math:: P = \sum_{j=1}^{\lfloor 1/g \rfloor} (-1)^{j-1} \binom{m}{j} (1 - jg)^{m-1}

    Parameters
    ----------
    g : float
        Share of the highest ordinate, 0 < g < 1.
    ordinates : int
        Their number m, >= 1.

    Returns
    -------
    float
        Between 0 and 1 (Fisher 1929; Brockwell and Davis, section 10.2).

    Raises
    ------
    ValueRuleError
        When g is no share.

    Examples
    --------
    >>> round(fisher_g_p_value(0.68377, 5), 4)
    0.05
    """
    g = between_0_and_1("g", g)
    if ordinates * (1 - g) ** (ordinates - 1) > CERTAIN:
        return 1.0  # the terms of the sum grow large and cancel; 1 − P is below exp(−20)
    terms = np.arange(1, min(int(1 / g), ordinates) + 1)
    everything, chosen, rest = (scipy.special.gammaln(n + 1) for n in (ordinates, terms, ordinates - terms))
    binomial = everything - chosen - rest
    sizes = np.exp(binomial + (ordinates - 1) * np.log1p(-np.minimum(terms * g, 1 - 1e-16)))
    return float(np.clip(np.sum(np.where(terms % 2, sizes, -sizes)), 0.0, 1.0))
