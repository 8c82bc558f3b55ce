r"""The Universal Scalability Law: throughput of N connections that share something and must agree on something.

.. math:: X(N) = \frac{\gamma N}{1 + \alpha (N-1) + \beta N (N-1)}

N. J. Gunther, "Guerrilla Capacity Planning", 2007, eq. (4.31), p. 57, there without γ.  R's ``usl`` writes α, β, γ as
here; Gunther's newer texts and usl4j write σ, κ, λ.

====================  ====== ============================================================================
field                 letter meaning
====================  ====== ============================================================================
unit_throughput_rps   γ, λ   throughput of one connection
contention            α, σ   part of the work that only one can do at a time
coherency             β, κ   cost of each pair's agreement; with it, throughput falls again after a peak
====================  ====== ============================================================================
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0, at_least_0, at_least_1
from loadcurve.models.fit import Fit
from loadcurve.models.least_squares import solve
from loadcurve.models.weakness import weaknesses
from loadcurve.stats.estimate import Estimate

_NAMES = ("unit_throughput_rps", "contention", "coherency")


def usl(
    connections: ArrayLike, unit_throughput_rps: ArrayLike, contention: ArrayLike, coherency: ArrayLike
) -> np.ndarray:
    """Throughput by the Universal Scalability Law.

    Parameters
    ----------
    connections : array_like
        Connections N, >= 1.
    unit_throughput_rps : array_like
        Throughput γ at N = 1, > 0.
    contention, coherency : array_like
        α and β, >= 0.

    Returns
    -------
    numpy.ndarray
        X in requests per second; the arguments broadcast, NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(usl([1, 21], 90, 0.03, 1e-4).round(4))
    [  90.     1151.0353]
    """
    number = at_least_1("connections", connections)
    unit = above_0("unit_throughput_rps", unit_throughput_rps)
    return _usl(number, unit, at_least_0("contention", contention), at_least_0("coherency", coherency))


def usl_peak_connections(contention: ArrayLike, coherency: ArrayLike) -> np.ndarray:
    """Connections at which the law's throughput is highest: N = sqrt((1 − α) / β), Gunther 2007, eq. (4.33).

    Parameters
    ----------
    contention, coherency : array_like
        α and β, >= 0.

    Returns
    -------
    numpy.ndarray
        Infinite without coherency (it rises for ever), NaN where α > 1 (it falls from the first connection on).

    Examples
    --------
    >>> print(usl_peak_connections(0.001, 1e-5).round(4))
    316.0696
    """
    alpha, beta = at_least_0("contention", contention), at_least_0("coherency", coherency)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((1 - alpha) / beta)  # eq. (4.33)


def usl_limit_rps(unit_throughput_rps: ArrayLike, contention: ArrayLike) -> np.ndarray:
    """Throughput γ / α that contention alone would allow with endless connections; coherency keeps it below.

    Parameters
    ----------
    unit_throughput_rps : array_like
        γ, > 0, in requests per second.
    contention : array_like
        α, >= 0.

    Returns
    -------
    numpy.ndarray
        Requests per second; infinite without contention.

    Examples
    --------
    >>> print(usl_limit_rps(90, 0.03))
    3000.0
    """
    with np.errstate(divide="ignore"):
        return above_0("unit_throughput_rps", unit_throughput_rps) / at_least_0("contention", contention)


def fit_usl(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Fit:
    r"""Fit the Universal Scalability Law: γ, α and β by least squares in X, with α >= 0 and β >= 0.

    Pass one point for each level of connections: the mean over its repeats, as `summarise_repeats` gives it.  This
    function averages nothing.  Repeats of a level are not independent points of the curve: they share whatever makes
    the law miss at that level, so counting each of them would narrow the intervals by a misfit that repeats cannot
    average away.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, >= 1, each once, n >= 3.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.  A point without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Fit
        Parameters ``unit_throughput_rps`` γ, ``contention`` α, ``coherency`` β.  Intervals are symmetric t intervals
        with n − 3 degrees of freedom from the Jacobian; an end below 0 says that the data do not exclude 0.  A
        parameter at its bound is 0, with the interval from 0 to where the profiled sum of squares exceeds the F limit.

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
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> print(fit.parameters["contention"])
    0.02773 [0.002402, 0.05305]
    """
    number, throughput, warnings = _points(connections, throughput_rps)
    unit = throughput.max()  # throughput in units of its largest: the solver sees numbers of order 1
    observed = throughput / unit
    starts = _starts(number, observed)
    best = solve(lambda p: _usl(number, *p) - observed, lambda p: _usl_gradient(number, *p), starts, bounded=(1, 2))
    fitted, degrees = _usl(number, *best), number.size - 3
    squares = float(np.sum((observed - fitted) ** 2))
    residual_sd = np.sqrt(squares / degrees) if degrees else np.nan
    if degrees == 0:
        warnings.append("3 points for 3 parameters: no interval")
    free = [0, *(index for index in (1, 2) if best[index] > 0)]
    slope = _usl_gradient(number, *best)[:, free]
    covariance = np.zeros((3, 3))
    covariance[np.ix_(free, free)] = residual_sd**2 * np.linalg.pinv(slope.T @ slope)
    half = stats.t.ppf((1 + level) / 2, degrees) * np.sqrt(np.diag(covariance)) if degrees else np.full(3, np.nan)

    parameters = {}
    for index, name in enumerate(_NAMES):
        scale = unit if index == 0 else 1.0
        value, ends, method = best[index], (best[index] - half[index], best[index] + half[index]), "t interval"
        if index not in free:
            ends, method = (0.0, _profile_end(index, number, observed, best, squares, level)), "at its bound, profile"
        parameters[name] = Estimate(value * scale, ends[0] * scale, ends[1] * scale, level, f"least squares, {method}")
    scales = np.array([unit, 1.0, 1.0])
    r_squared = 1 - squares / float(np.sum((observed - observed.mean()) ** 2)) if np.ptp(observed) else np.nan
    warnings += weaknesses(number, throughput, fitted * unit, r_squared, parameters)
    return Fit(
        law="usl",
        parameters=parameters,
        covariance=covariance * np.outer(scales, scales),
        residual_sd=float(residual_sd * unit),
        r_squared=r_squared,
        points=number.size,
        degrees_of_freedom=degrees,
        level=level,
        warnings=tuple(warnings),
        connections=number,
        throughput_rps=throughput,
        function=_usl,
        gradient=_usl_gradient,
    )


def _usl(number, unit, contention, coherency):
    return unit * number / (1 + contention * (number - 1) + coherency * number * (number - 1))  # eq. (4.31), times γ


def _usl_gradient(number, unit, contention, coherency):
    cost = 1 + contention * (number - 1) + coherency * number * (number - 1)
    by_cost = -unit * number / cost**2
    return np.column_stack([number / cost, by_cost * (number - 1), by_cost * number * (number - 1)])


def _points(connections, throughput_rps):
    number = np.atleast_1d(at_least_1("connections", connections))
    throughput = np.atleast_1d(above_0("throughput_rps", throughput_rps))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    known = np.isfinite(number) & np.isfinite(throughput)
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} points have no value and are left out"]
    number, throughput = number[known], throughput[known]
    if number.size < 3:
        raise ValueRuleError("points", ">= 3 (the law has 3 parameters)", number.size)
    order = np.argsort(number)
    number, throughput = number[order], throughput[order]
    twice = number[1:][np.diff(number) == 0]
    if twice.size:
        raise ValueRuleError("connections", "each level once (pass the mean over its repeats)", f"{twice[0]:g} twice")
    return number, throughput, warnings


def _starts(number, observed):
    # N/X = (1/γ) (1 + α (N−1) + β N (N−1)) is linear in 1/γ, α/γ, β/γ.  Weights X²/N undo what the reciprocal does to
    # the errors (dX = −X²/N d(N/X)); the unweighted form leans on the other end, and so finds another basin.
    design = np.column_stack([np.ones_like(number), number - 1, number * (number - 1)])
    starts = []
    for weight in (observed**2 / number, np.ones_like(number)):
        inverse, *rest = optimize.nnls(design * weight[:, None], number / observed * weight)[0]
        if inverse > 0:
            starts.append(np.array([1.0, *rest]) / inverse)
    # A plain guess for data that no linear form describes: the best efficiency, a little of both costs.
    starts.append(np.array([np.max(observed / number), 0.01, 0.01 / number.max()]))
    return starts


def _profile_end(index, number, observed, best, squares, level):
    # The largest value whose sum of squares, minimised over the others, stays within the F limit (Seber & Wild).
    degrees = number.size - 3
    if degrees == 0 or squares == 0:
        return np.nan
    limit = squares * (1 + stats.f.ppf(level, 1, degrees) / degrees)

    def excess(value):
        start = best.copy()
        start[index] = value
        point = solve(
            lambda p: _usl(number, *p) - observed,
            lambda p: _usl_gradient(number, *p),
            [start],
            bounded=(1, 2),
            fixed=(index,),
        )
        return float(np.sum((_usl(number, *point) - observed) ** 2)) - limit

    step = 1e-3 / number.max() ** index  # α costs by N, β by N²: a first step of a thousandth at the last level
    while excess(step) < 0:
        step *= 2
        if step > 1:  # the law has no meaning beyond 1
            return np.nan
    return optimize.brentq(excess, 0.0, step, rtol=1e-8)
