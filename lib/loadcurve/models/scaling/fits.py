"""One function for each law: `fit_law` of that law."""

from numpy.typing import ArrayLike

from loadcurve.models.fit import Fit
from loadcurve.models.scaling.finite_source import FINITE_SOURCE
from loadcurve.models.scaling.least_squares import Weights, fit_law
from loadcurve.models.scaling.roofline import ROOFLINE
from loadcurve.models.scaling.saturating import SATURATING
from loadcurve.models.scaling.usl import AMDAHL, FREE_USL, LINEAR, USL


def fit_usl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    r"""Fit the Universal Scalability Law by weighted least squares in X, with γ > 0, 0 <= α <= 1 and β >= 0.

    Pass one point for each level of connections: the mean over its repeats, as `summarise_points` gives it.  This
    function averages nothing.  Repeats of a level are not independent points of the curve: they share what makes the
    law miss at that level, so counting each of them would narrow the intervals by a misfit that repeats cannot
    average away.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, > 0, each once, n >= 3.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.  A point without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.
    weights : {"relative", "equal"} or array_like, shape (n,)
        How much each point counts.  ``relative``: 1 / X̂², one over the square of the
        fitted throughput, as throughput mostly scatters in proportion.  ``equal``:
        all alike, as most published fits were made; where throughput scatters in proportion, their intervals hold the
        true value too rarely.  An array, > 0: one over the variance of each mean, in any unit, as `summarise_points`
        gives it from repeats.

    Returns
    -------
    Fit
        Parameters ``unit_throughput_rps`` γ, ``contention`` α, ``coherency`` β.  Intervals are symmetric t intervals
        with n − 3 degrees of freedom from the Jacobian; an end below 0 says that the data do not exclude 0.  A
        parameter that the data push against its bound takes that value exactly, with the interval from there to where
        the profiled sum of squares exceeds the F limit.  Where the data do not bound γ (every level far past the
        peak), it is set to a ceiling, a thousand times the highest throughput, and its interval has no upper end.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, a level comes twice, fewer than 3 points have a value, or a value breaks its
        rule.

    Notes
    -----
    .. math:: C = s^2 (J^T J)^{-1}, \qquad s^2 = \frac{\sum (X_i - \hat X_i)^2}{n - 3}

    G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapters 2 and 5.  R's ``usl`` takes a one-sided quantile
    with n − 1 degrees of freedom in `confint`; its intervals are too narrow.

    Examples
    --------
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> print(fit.parameters["contention"])
    0.02773 [0.002402, 0.05305]
    """
    return fit_law(USL, connections, throughput_rps, level, weights)


def fit_amdahl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit Amdahl's law, the Universal Scalability Law without coherency; arguments as for `fit_usl`.

    Examples
    --------
    >>> fit = fit_amdahl([1, 2, 5], [100, 100 * 2 / 1.25, 100 * 5 / 2])  # α = 0.25
    >>> print(round(fit.parameters["contention"].value, 3))
    0.25
    """
    return fit_law(AMDAHL, connections, throughput_rps, level, weights)


def fit_linear(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit X = γ N, the law of a system that shares nothing; arguments as for `fit_usl`.

    Examples
    --------
    >>> print(round(fit_linear([1, 2, 4], [100, 200, 400]).parameters["unit_throughput_rps"].value))
    100
    """
    return fit_law(LINEAR, connections, throughput_rps, level, weights)


def fit_free_usl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit the Universal Scalability Law with the signs of α and β free, as a super-linear start needs.

    Arguments as for `fit_usl`.  Beyond the data it may rise without limit or have a pole, so do not
    extrapolate with it.

    Examples
    --------
    >>> fit = fit_free_usl([1, 2, 4, 8], [100, 220, 400, 500])  # two connections more than double the throughput
    >>> fit.parameters["contention"].value < 0 < fit.parameters["coherency"].value
    True
    """
    return fit_law(FREE_USL, connections, throughput_rps, level, weights)


def fit_roofline(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit min(γ N, C); arguments as for `fit_usl`.  C is infinite where the data only rise in proportion.

    Examples
    --------
    >>> print(round(fit_roofline([1, 2, 4, 8, 16], [10, 20, 40, 55, 55]).parameters["capacity_rps"].value))
    55
    """
    return fit_law(ROOFLINE, connections, throughput_rps, level, weights)


def fit_saturating(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit a smooth transition from the slope γ to the capacity C with a sharpness k; arguments as for `fit_usl`.

    Examples
    --------
    >>> number = [1, 2, 4, 8, 16, 32]
    >>> fit = fit_saturating(number, [1 / (1 / (100 * n) + 1 / 800) for n in number])  # k = 1
    >>> print([round(value) for value in fit.values()])
    [100, 800, 1]
    """
    return fit_law(SATURATING, connections, throughput_rps, level, weights)


def fit_finite_source(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit a closed system of one queue (demand D) behind a delay Z; arguments as for `fit_usl`, N whole numbers.

    Examples
    --------
    >>> from loadcurve.models.queueing import solve_network
    >>> solved = solve_network(8, [0.01], think_time_s=0.03)
    >>> print([round(value, 4) for value in fit_finite_source(range(1, 9), solved.throughput_rps).values()])
    [0.01, 0.03]
    """
    return fit_law(FINITE_SOURCE, connections, throughput_rps, level, weights)
