"""Least squares with parameters that may not be negative, and with a bound that is really 0.

A solver that walks inside the bounds ends near 0 but never on it, and 1e-12 looks like a measured coherency.  So the
bound is tried outright: the best point of the region lies either inside, or on a face where some parameters are 0.
Each face is solved without bounds, and the best solution that is not negative is taken.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from scipy import optimize

# The solver stops when a step changes nothing within double precision (2.2e-16): reference values have 5 digits.
_TOLERANCE = 1e-14
# A face with more free parameters must lower the sum of squares by more than this part of Σy²: less is rounding.
_GAIN = 1e-20


def solve(
    residual: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray], np.ndarray],
    starts: Sequence[np.ndarray],
    bounded: Sequence[int],
    fixed: Sequence[int] = (),
) -> np.ndarray:
    """Return the parameters with the least sum of squared residuals and ``parameters[bounded] >= 0``.

    Parameters
    ----------
    residual, jacobian : callable
        Of the parameters (p,): residuals (n,), of order 1, and their derivatives (n, p).
    starts : sequence of numpy.ndarray, shape (p,)
        Starting values; several, because the sum of squares can have more than one minimum.
    bounded : sequence of int
        Indices of the parameters that may not be negative.
    fixed : sequence of int
        Indices of the parameters that stay as the starts have them.

    Returns
    -------
    numpy.ndarray, shape (p,)
        A parameter at its bound is exactly 0.  There is always one: with all of `bounded` at 0 nothing can be negative.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0])  # y = b x + c, where the best c is negative
    >>> design = np.column_stack([x, np.ones(3)])
    >>> y = np.array([0.8, 1.9, 3.0])
    >>> solve(lambda p: design @ p - y, lambda p: design, [np.array([1.0, 1.0])], bounded=[1]).round(4)
    array([0.9714, 0.    ])
    """
    movable = [index for index in bounded if index not in fixed]
    best, least = None, np.inf
    for free in range(len(movable) + 1):
        for face in combinations(movable, len(movable) - free):
            held = [*fixed, *face]
            moving = [index for index in range(len(starts[0])) if index not in held]
            for start in starts:
                point = start.astype(float)
                point[list(face)] = 0.0
                point[moving] = _walk(residual, jacobian, point, moving)
                squares = float(np.sum(residual(point) ** 2))
                if (point[list(bounded)] >= 0).all() and squares < least - _GAIN:
                    best, least = point, squares
    return best


def _walk(residual, jacobian, point, moving):
    def whole(part):
        full = point.copy()
        full[moving] = part
        return full

    return optimize.least_squares(
        lambda part: residual(whole(part)),
        point[moving],
        jac=lambda part: jacobian(whole(part))[:, moving],
        method="lm",
        x_scale="jac",
        ftol=_TOLERANCE,
        xtol=_TOLERANCE,
        gtol=_TOLERANCE,
    ).x
