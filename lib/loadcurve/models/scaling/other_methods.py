"""Two older ways to the parameters of the Universal Scalability Law, kept to reproduce what was published with them.

Both take the first point for exact: γ = X(1).  An error there moves the whole curve.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.usl import usl


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
    """Contention and coherency by least squares in X, with γ held at X(1); arguments as for `usl_by_parabola`."""
    number, throughput = _from_one(connections, throughput_rps)

    def residuals(costs: np.ndarray) -> np.ndarray:
        return usl(number, throughput[0], *costs) - throughput

    found = optimize.least_squares(
        residuals, [0.01, 1e-4], bounds=(0, np.inf), x_scale=[0.01, 1e-4], xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    return float(found.x[0]), float(found.x[1])


def _from_one(connections: ArrayLike, throughput_rps: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    number, throughput, _, _ = known_points(connections, throughput_rps, None, 3)
    if number[0] != 1:
        raise ValueRuleError("connections", "1 at the first level", number[0])
    return number, throughput
