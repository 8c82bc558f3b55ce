r"""The Universal Scalability Law: throughput of N connections with contention and coherency.

.. math:: X(N) = \frac{\gamma N}{1 + \alpha (N-1) + \beta N (N-1)}

N. J. Gunther, "Guerrilla Capacity Planning", 2007, eq. (4.31), p. 57, there without γ.  R's ``usl`` writes α, β, γ as
here; Gunther's newer texts and usl4j write σ, κ, λ.

| field               | letter | meaning |
|---------------------|--------|---|
| unit_throughput_rps | γ, λ   | throughput of one connection |
| contention          | α, σ   | part of the work that only one can do at a time |
| coherency           | β, κ   | cost of each pair's agreement; with it, throughput falls again after a peak |

Without coherency it is Amdahl's law (G. M. Amdahl, AFIPS 1967), without contention too a straight line.

Its inverses give connections, response time and throughput from each other.  With R = N / X (a closed loop, Z = 0)
the law is

.. math:: \beta R^2 X^2 + (\alpha - \beta) R X + (1 - \alpha) - \gamma R = 0

Below its peak a throughput belongs to two numbers of connections: one on the rising branch, and one on the falling.
The argument `branch` selects one of them.  Above the peak there is none, and the result is NaN.

Both inverses that usl4j ships (``LatencyAtThroughput``, ``ThroughputAtLatency``) disagree with its own forward model,
and sca_tools' X(R) breaks Little's law; the tests hold these against ours.

Older and simpler ways to the parameters than the fit: two are kept to reproduce what was published with them.  Both
take the first point for exact: γ = X(1).  An error there moves the whole curve.  The third is for reports that give no
more than two points.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.rational import solve
from loadcurve.stats.arrays import Array, above_0, at_least_0


def usl(connections: ArrayLike, unit_throughput_rps: ArrayLike, contention: ArrayLike, coherency: ArrayLike) -> Array:
    """Throughput by the Universal Scalability Law.

    Parameters
    ----------
    connections : array_like
        Connections N, > 0; the law counts both costs from N = 1.
    unit_throughput_rps : array_like
        Throughput γ at N = 1, > 0.
    contention, coherency : array_like
        α and β, >= 0.

    Returns
    -------
    numpy.ndarray
        X in requests per second; the arguments broadcast, NaN passes through.

    Examples
    --------
    >>> print(usl([1, 21], 90, 0.03, 1e-4).round(4))
    [  90.     1151.0353]
    """
    number = above_0("connections", connections)
    unit = above_0("unit_throughput_rps", unit_throughput_rps)
    result: Array = _function(number, unit, at_least_0("contention", contention), at_least_0("coherency", coherency))
    return result


def usl_peak_connections(contention: ArrayLike, coherency: ArrayLike) -> Array:
    """Connections at which the law's throughput is highest: N = sqrt((1 − α) / β), Gunther 2007, eq. (4.33).

    Parameters
    ----------
    contention, coherency : array_like
        α and β, >= 0.

    Returns
    -------
    numpy.ndarray
        Infinite without coherency (it rises without limit), NaN where α > 1 (it falls from the first connection on).

    Examples
    --------
    >>> print(usl_peak_connections(0.001, 1e-5).round(4))
    316.0696
    """
    alpha, beta = at_least_0("contention", contention), at_least_0("coherency", coherency)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((1 - alpha) / beta)  # eq. (4.33)


def usl_limit_rps(unit_throughput_rps: ArrayLike, contention: ArrayLike) -> Array:
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


def _function(number: Array, unit: Any, contention: Any = 0.0, coherency: Any = 0.0) -> Any:
    return unit * number / (1 + contention * (number - 1) + coherency * number * (number - 1))  # eq. (4.31), times γ


def _gradient(number: Array, unit: Any, contention: Any = 0.0, coherency: Any = 0.0) -> Array:
    cost = 1 + contention * (number - 1) + coherency * number * (number - 1)
    by_cost = -unit * number / cost**2
    return np.column_stack([number / cost, by_cost * (number - 1), by_cost * number * (number - 1)])


# A throughput of one connection this many times all that was measured is one that the data do not bound: the levels lie
# so far past the peak that the law there is N / (β N (N − 1)), whatever γ is.
_CEILING_FACTOR = 1e3


def _ceiling(number: Array, observed: Array) -> Array:
    """Most that γ, α and β may become: α has a fixed bound, β none."""
    ceiling = np.full((len(observed), 3), np.inf)
    ceiling[:, 0] = _CEILING_FACTOR * np.maximum(observed, observed / number).max(axis=1)
    return ceiling


def _columns(number: Array) -> Array:
    """The u of N / X = a₁ + a₂ N + a₃ N (N − 1), as `rational.solve` takes them: a = (1 − α, α, β) / γ."""
    return np.column_stack([np.ones_like(number), number, number * (number - 1)])


def _solve(number: Array, observed: Array, weights: Array, count: int) -> Array:
    """Least squares in the domain: γ > 0 up to its ceiling, 0 <= α <= 1, β >= 0."""
    times = solve(number, observed, weights, _columns(number)[:, :count], bounded=True)
    each = times[:, :2].sum(axis=1, keepdims=True)
    ceiling = _ceiling(number, observed)[:, :1]
    far = np.flatnonzero(~(each * ceiling >= 1))
    with np.errstate(all="ignore"):
        values = np.column_stack([1 / each, times[:, 1:] / each])
    if far.size:
        values[far, :1] = ceiling[far]
        costs = _columns(number)[:, 1:count] - [1.0, 0.0]
        base = 1 / ceiling[far]
        values[far, 1:] = solve(number, observed[far], weights, costs, bounded=True, base=base) / base
        over = far[values[far, 1] > 1]
        base = number / ceiling[over]
        values[over, 1] = 1.0
        values[over, 2:] = solve(number, observed[over], weights, costs[:, 1:], bounded=True, base=base) * ceiling[over]
    return values


def _solve_free(number: Array, observed: Array, weights: Array) -> Array:
    """Least squares with costs of any sign; γ > 0 up to its ceiling."""
    columns = _columns(number) - [0.0, 1.0, 0.0]
    times = solve(number, observed, weights, columns, bounded=False)
    least = 1 / _ceiling(number, observed)[:, 0]
    far = np.flatnonzero(~(times[:, 0] >= least))
    if far.size:
        times[far, 0] = least[far]
        times[far, 1:] = solve(number, observed[far], weights, columns[:, 1:], bounded=False, base=least[far, None])
    return np.column_stack([1 / times[:, 0], times[:, 1:] / times[:, :1]])


def _law(name: str, count: int) -> Law:
    """The law with the first `count` of its parameters, the others 0."""

    def solved(number: Array, observed: Array, weights: Array) -> Array:
        return _solve(number, observed, weights, count)

    def gradient(number: Array, *parameters: Array) -> Array:
        return _gradient(number, *parameters)[:, :count]

    def ceiling(number: Array, observed: Array) -> Array:
        return _ceiling(number, observed)[:, :count]

    bounds = {"unit_throughput_rps": (), "contention": (0.0, 1.0), "coherency": (0.0,)}
    names = tuple(bounds)[:count]
    return Law(name, names, _function, gradient, solved, {name: bounds[name] for name in names}, ceiling)


LINEAR = _law("linear", 1)
AMDAHL = _law("amdahl", 2)
USL = _law("usl", 3)
# With signs free, negative contention follows a super-linear start; it promises nothing beyond the data.
FREE_USL = Law("free_usl", USL.parameters, _function, _gradient, _solve_free, ceiling=_ceiling)


def usl_by_parabola(connections: ArrayLike, throughput_rps: ArrayLike) -> tuple[float, float]:
    """Contention and coherency from a parabola through N/C − 1 over N − 1, with C = X / X(1).

    N. J. Gunther, "Guerrilla Capacity Planning", 2007, section 5.2.3.  Least squares in N/X gives slow points a weight
    that their errors do not deserve.

    Parameters
    ----------
    connections, throughput_rps : array_like, shape (n,)
        As for `fit_usl`; the first level must be 1.

    Raises
    ------
    ValueRuleError
        As `fit_usl`, and where no level is 1.

    Examples
    --------
    >>> alpha, beta = usl_by_parabola([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557])
    >>> round(alpha, 4), round(beta, 4)
    (0.02, 0.02)
    """
    number, throughput = _from_one(connections, throughput_rps)
    over = number - 1
    design = np.column_stack([over**2, over])
    square, slope = np.linalg.lstsq(design, number * throughput[0] / throughput - 1, rcond=None)[0]
    return float(slope - square), float(square)  # α (N−1) + β N (N−1) = (α + β)(N−1) + β (N−1)²


def usl_through_first(connections: ArrayLike, throughput_rps: ArrayLike) -> tuple[float, float]:
    """Contention and coherency by least squares in X, with γ held at X(1); arguments as for `usl_by_parabola`.

    Examples
    --------
    >>> alpha, beta = usl_through_first([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557])
    >>> round(alpha, 4), round(beta, 4)
    (0.02, 0.02)
    """
    number, throughput = _from_one(connections, throughput_rps)

    def residuals(costs: Array) -> Array:
        return usl(number, throughput[0], *costs) - throughput

    found = scipy.optimize.least_squares(
        residuals, [0.01, 1e-4], bounds=(0, np.inf), x_scale=[0.01, 1e-4], xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    return float(found.x[0]), float(found.x[1])


def usl_through_two(
    connections: ArrayLike, throughput_rps: ArrayLike, contention: float = 0.0
) -> tuple[float, float, float]:
    """γ, α and β of the law through two points, for a contention that is given: nothing is left to check it by.

    Both points give γ N / X − β N (N − 1) = 1 + α (N − 1), Gunther's eq. (4.31) multiplied out: two linear equations.

    Parameters
    ----------
    connections, throughput_rps : array_like, shape (2,)
        N, > 0 and different, and X > 0.
    contention : float
        α, >= 0.

    Returns
    -------
    tuple of float
        γ, α and β; NaN for γ and β where no law with γ > 0 and β >= 0 passes both points.

    Raises
    ------
    ValueRuleError
        When there are not two different N, or a value breaks its rule.

    Examples
    --------
    >>> usl_through_two([4, 8], usl([4, 8], 90, 0.03, 0.01), contention=0.03)  # doctest: +ELLIPSIS
    (90.0..., 0.03, 0.01...)
    """
    number, throughput = above_0("connections", connections), above_0("throughput_rps", throughput_rps)
    alpha = float(at_least_0("contention", contention))
    if number.shape != (2,) or throughput.shape != (2,) or number[0] == number[1]:
        raise ValueRuleError("connections", "two different numbers, each with its throughput", connections)
    design = np.column_stack([number / throughput, -number * (number - 1)])
    try:
        unit, beta = np.linalg.solve(design, 1 + alpha * (number - 1))
    except np.linalg.LinAlgError:  # X falls as 1 / (N − 1): β would be infinite
        unit, beta = np.nan, np.nan
    passes = unit > 0 and beta >= 0
    return (float(unit), alpha, float(beta)) if passes else (np.nan, alpha, np.nan)


def _from_one(connections: ArrayLike, throughput_rps: ArrayLike) -> tuple[Array, Array]:
    number, throughput, _, _ = known_points(connections, throughput_rps, None, 3)
    if number[0] != 1:
        raise ValueRuleError("connections", "1 at the first level", number[0])
    return number, throughput
