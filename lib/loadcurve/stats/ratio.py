r"""Ratio of A to B, with an interval that needs only a few runs.

A run is one number: its throughput, its mean response time, its own 99th percentile.  Its samples depend on each
other, so the scatter between runs is the only scatter that counts.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats._runs import two_groups, welch_degrees
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate

_ALIKE = "all runs of A and of B are alike: no scatter was measured, the interval has no width"


def find_ratio(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Ratio of two means over runs, with Fieller's interval for unequal variances.

    The interval holds every :math:`\rho` that a t test of :math:`\mu_a - \rho\,\mu_b = 0` does not reject:

    .. math:: |\bar a - \rho\,\bar b| \le t_\nu \sqrt{s_a^2/n_a + \rho^2 s_b^2/n_b}

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit.  NaN is a run without a value: left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        Mean of A / mean of B.  With one run of either the interval is NaN; ``hi`` is infinite where B scatters so
        much that its mean could be 0.  Outliers are named in a warning and kept.

    Raises
    ------
    ValueRuleError
        When a group is not one-dimensional, has no value or one that is not > 0, or `level` is no level.

    Notes
    -----
    Assumes independent runs whose means are about normal.  :math:`\nu` is Welch's, at the estimated ratio.
    E. C. Fieller, "Some problems in interval estimation", J. Royal Statistical Society B 16 (1954).  Its form for
    unequal variances: A. C. Tamhane, B. R. Logan, "Finding the maximum safe dose level for heteroscedastic data",
    J. Biopharmaceutical Statistics 14 (2004).  T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time",
    ISMM 2013, recommend the ratio of means with an interval as the result of a comparison.

    Examples
    --------
    >>> print(find_ratio([110, 112, 108], [100, 101, 99]))
    1.1 [1.059, 1.141]
    >>> find_ratio([9040.98], [8948.49]).warnings
    ('1 run of A and 1 run of B: nothing can be concluded about repeats',)
    """
    first, second, warnings = two_groups(a, b)
    ratio = first.mean() / second.mean()
    if min(first.size, second.size) == 1:
        return Estimate(ratio, np.nan, np.nan, level, "ratio of means", tuple(warnings), 1)
    of_a, of_b = first.var(ddof=1) / first.size, second.var(ddof=1) / second.size
    if of_a == of_b == 0:
        warnings.append(_ALIKE)
    degrees = welch_degrees([of_a, ratio**2 * of_b], [first.size, second.size])
    lo, hi = _fieller(first.mean(), second.mean(), of_a, of_b, scipy.special.stdtrit(degrees, (1 + level) / 2))
    if np.isinf(hi):
        warnings.append("B scatters so much that its mean could be 0: the ratio has no upper end")
    method = f"ratio of means, Fieller's interval, t with {degrees:.3g} degrees of freedom"
    return Estimate(ratio, min(lo, ratio), max(hi, ratio), level, method, tuple(warnings), min(first.size, second.size))


def _fieller(mean_a: float, mean_b: float, of_a: float, of_b: float, t: float) -> tuple[float, float]:
    """Roots of (a − ρ b)² = t² (v_a + ρ² v_b) on ρ >= 0, the half line on which quantities > 0 have their ratio."""
    square, half, constant = mean_b**2 - t**2 * of_b, mean_a * mean_b, mean_a**2 - t**2 * of_a
    root = np.sqrt(max(half**2 - square * constant, 0.0))
    lo = max(constant / (half + root), 0.0)  # the smaller root in the form that does not cancel
    # square <= 0: the parabola opens downwards, and every ratio above its only positive root is accepted.
    return lo, ((half + root) / square if square > 0 else np.inf)


def find_geometric_ratio(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Ratio of two geometric means over runs, with Welch's t interval on the logarithms.

    .. math:: \exp\left(\overline{\ln a} - \overline{\ln b} \pm t_\nu \sqrt{s_{\ln a}^2/n_a + s_{\ln b}^2/n_b}\right)

    Parameters
    ----------
    a, b, level
        As for `find_ratio`.

    Returns
    -------
    Estimate
        Geometric mean of A / geometric mean of B; A against B is exactly one over B against A, interval included.

    Raises
    ------
    ValueRuleError
        As for `find_ratio`.

    Notes
    -----
    The right scale where a run is off by a factor, as response times are.  It equals the ratio of means where both
    groups scatter alike in relative terms.  B. L. Welch, Biometrika 34 (1947).

    Examples
    --------
    >>> print(find_geometric_ratio([110, 112, 108], [100, 101, 99]))
    1.1 [1.06, 1.142]
    """
    first, second, warnings = two_groups(a, b)
    fewer = min(first.size, second.size)
    log_ratio, error, degrees = log_difference(first, second)
    if np.isnan(error):
        return Estimate(np.exp(log_ratio), np.nan, np.nan, level, "ratio of geometric means", tuple(warnings), fewer)
    if error == 0:
        warnings.append(_ALIKE)
    half = scipy.special.stdtrit(degrees, (1 + level) / 2) * error
    method = f"ratio of geometric means, t interval on logarithms with {degrees:.3g} degrees of freedom"
    ends = np.exp([log_ratio - half, log_ratio, log_ratio + half])
    return Estimate(ends[1], ends[0], ends[2], level, method, tuple(warnings), fewer)


def find_paired_ratio(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Ratio of A to B where the runs were made in pairs, with the t interval of the logarithms of their ratios.

    .. math:: \exp\left(\bar d \pm t_{n-1}\, s_d/\sqrt n\right), \qquad d_i = \ln a_i - \ln b_i

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        One value > 0 for each run; a[i] and b[i] are of one pair, such as one block of a study.  A pair without both
        values is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        Geometric mean of the ratios of the pairs.

    Raises
    ------
    ValueRuleError
        As for `find_ratio`, and when the groups differ in length or no pair is whole.

    Notes
    -----
    What a pair shares, such as the machine's mood at that hour, cancels.  Pairs are made by the plan of the study:
    pairing what merely has the same number is an invention.
    G. E. P. Box, J. S. Hunter, W. G. Hunter, "Statistics for Experimenters" (2nd edition, 2005), chapter 3.

    Examples
    --------
    >>> print(find_paired_ratio([110, 99, 88], [100, 91, 80]))
    1.096 [1.079, 1.113]
    """
    first, second = (np.asarray(group, dtype=float) for group in (a, b))
    if first.shape != second.shape or first.ndim != 1:
        raise ValueRuleError("b", f"of the shape of a, {first.shape}", second.shape)
    whole = ~(np.isnan(first) | np.isnan(second))
    first, second, warnings = two_groups(first[whole], second[whole])
    if not whole.all():
        warnings.append(f"{np.sum(~whole)} of {whole.size} pairs are not whole and are left out")
    log_ratios = np.log(first) - np.log(second)
    value, method = np.exp(log_ratios.mean()), "geometric mean of the ratios of pairs"
    if log_ratios.size == 1:
        return Estimate(value, np.nan, np.nan, level, method, tuple(warnings), 1)
    quantile = scipy.special.stdtrit(log_ratios.size - 1, (1 + level) / 2)
    half = quantile * log_ratios.std(ddof=1) / np.sqrt(log_ratios.size)
    method = f"{method}, t interval over {log_ratios.size} pairs"
    lo, hi = value * np.exp([-half, half])
    return Estimate(value, lo, hi, level, method, tuple(warnings), log_ratios.size)


def log_difference(first: Array, second: Array) -> tuple[float, float, float]:
    """Difference of mean logarithms, its standard error (NaN with one run) and Welch's degrees of freedom."""
    logs = [np.log(first), np.log(second)]
    difference = logs[0].mean() - logs[1].mean()
    if min(first.size, second.size) == 1:
        return difference, np.nan, np.nan
    variances = [group.var(ddof=1) / group.size for group in logs]
    return difference, np.sqrt(sum(variances)), welch_degrees(variances, [first.size, second.size])
