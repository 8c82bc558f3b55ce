"""Older and simpler ways to the parameters of the Universal Scalability Law than its fit.

Two older ones are kept to reproduce what was published with them.  Both take the first point for exact: γ = X(1).  An
error there moves the whole curve.  The third is for reports that give no more than two points.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.usl import usl
from loadcurve.stats.arrays import Array, above_0, at_least_0


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
