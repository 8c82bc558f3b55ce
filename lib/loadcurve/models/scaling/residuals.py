"""What a fit leaves over: its corrected information criterion, and how well it tells a level it has not seen."""

import numpy as np

from loadcurve.models.scaling.law import Law


def corrected_aic(squares: float, points: int, count: int) -> float:
    r"""Akaike's information criterion for least squares, corrected for few points; lower is better.

    .. math:: n \ln(S/n) + 2K + \frac{2K(K+1)}{n-K-1},\qquad K = p + 1

    K. P. Burnham, D. R. Anderson, "Model Selection and Multimodel Inference", 2nd edition, 2002, section 2.4; the
    variance of the residuals is a parameter too.  Infinite where n <= K + 1: then no criterion tells laws apart.

    Examples
    --------
    >>> round(corrected_aic(27453.72, 7, 3), 2), corrected_aic(1.0, 5, 3)
    (85.92, inf)
    """
    k = count + 1
    if points <= k + 1:
        return np.inf
    if squares == 0:
        return -np.inf
    return float(points * np.log(squares / points) + 2 * k + 2 * k * (k + 1) / (points - k - 1))


def leave_one_out(law: Law, number: np.ndarray, throughput: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Relative error X̂/X − 1 at each level, told by the law fitted to all the others; NaN where too few are left."""
    errors = np.full(number.size, np.nan)
    if number.size <= len(law.parameters):
        return errors
    for i in range(number.size):
        rest = np.arange(number.size) != i
        values = law.solve(number[rest], throughput[None, rest], weights[rest])[0]
        with np.errstate(all="ignore"):
            errors[i] = law.function(number[i : i + 1], *values)[0] / throughput[i] - 1
    return errors
