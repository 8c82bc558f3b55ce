r"""Least squares for laws of the form X = N / (base + a₁ u₁(N) + a₂ u₂(N) + …), for thousands of data sets at once.

The Universal Scalability Law is one: with :math:`a = (1 - \alpha,\ \alpha,\ \beta) / \gamma` and
:math:`u = (1,\ N,\ N(N-1))` the time N / X is linear in a, and the law's domain, γ > 0, 0 <= α <= 1 and β >= 0, is
:math:`a \ge 0`.  The sum of squares in X is not quadratic in a, but nearly: a weighted linear fit of N / X is a good
start, and Gauss–Newton steps with Marquardt's damping need a handful of rounds.  Each round is a few products of arrays
for all data sets together, so a bootstrap costs little more than one fit.

D. W. Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", SIAM Journal 11(2), 1963.
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.models.scaling.marquardt import damped_step
from loadcurve.stats.arrays import Array

# Rounds; reference data end within 10, the worst of a million random curves within 40.
_ROUNDS = 80
# A round that lowers the sum of squares by less than this part of it changes no digit that is shown.
_GAIN = 1e-13
_DAMPING = 1e-3
_MAX_DAMPING = 1e9


def solve(
    number: Array, observed: Array, weights: Array, columns: Array, *, bounded: bool, base: ArrayLike = 0.0
) -> Array:
    """Coefficients a with the least weighted sum of squares for each data set.

    Shapes (n,), (b, n), (n,), and (n, p) for `columns`, the u of the law at each N.  If `bounded`, all coefficients are
    >= 0, and exactly 0 at the bound.  `base` >= 0, (b, n), is the part of N / X that is held.  The result (b, p) is NaN
    where no coefficients give a positive throughput at every N.

    Examples
    --------
    >>> number = np.array([1.0, 2.0, 4.0, 8.0])
    >>> columns = np.column_stack([np.ones(4), number])
    >>> solve(number, (number / (0.4 + 0.1 * number))[None], np.ones(4), columns, bounded=True).round(6)
    array([[0.4, 0.1]])
    """
    # In units of the highest throughput: its fourth power must not overflow.
    scale = observed.max(axis=1, keepdims=True)
    observed, base = observed / scale, np.broadcast_to(base * scale, observed.shape)
    with np.errstate(all="ignore"):  # a face without throughput somewhere; its sum of squares is infinite
        found = _free(number, observed, weights, columns, base)
        if bounded:
            # The best point of the region lies inside, or on a face where some coefficients are 0; each face is solved
            # outright, as a walk along the bound ends near 0, and 1e-12 looks like a measured coherency.
            wrong = ~(found >= 0).all(axis=1)
            if wrong.any():
                found[wrong] = _on_faces(number, observed[wrong], weights, columns, base[wrong])
    result: Array = found / scale
    return result


def _on_faces(number: Array, observed: Array, weights: Array, columns: Array, base: Array) -> Array:
    count = columns.shape[1]
    best = np.full((len(observed), count), np.nan)
    least = np.full(len(observed), np.inf)
    for size in range(count):
        for kept in combinations(range(count), size):
            face = list(kept)
            found = _free(number, observed, weights, columns[:, face], base)
            squares = _squares(number, observed, weights, columns[:, face], base, found)
            better = np.flatnonzero((found >= 0).all(axis=1) & (squares < least))
            least[better] = squares[better]
            best[better] = 0.0
            best[better[:, None], face] = found[better]
    return best


def _free(number: Array, observed: Array, weights: Array, columns: Array, base: Array) -> Array:
    """Coefficients of any sign."""
    if columns.shape[1] == 0:
        return np.zeros((len(observed), 0))
    if columns.shape[1] == 1 and not base.any():
        law = number / columns[:, 0]  # X = law / a: linear in 1 / a
        result: Array = ((weights * law**2).sum() / (observed @ (weights * law)))[:, None]
        return result
    products = (columns[:, :, None] * columns[:, None, :]).reshape(len(number), -1)
    found = _start(number, observed, weights, columns, base, products)
    squares = _squares(number, observed, weights, columns, base, found)
    damping = np.zeros(len(observed))
    live = np.flatnonzero(np.isfinite(squares))
    found[~np.isfinite(squares)] = np.nan
    for _ in range(_ROUNDS):
        if not len(live):
            break
        fitted = number / (base[live] + found[live] @ columns.T)
        slope = -(fitted**2) / number  # dX / d(a·u)
        normal = ((weights * slope**2) @ products).reshape(-1, *columns.shape[1:] * 2)
        gradient = (weights * slope * (fitted - observed[live])) @ columns
        trial = found[live] - damped_step(normal, gradient, damping[live])
        reached = _squares(number, observed[live], weights, columns, base[live], trial)
        good = reached <= squares[live]
        done = np.where(good, squares[live] - reached <= _GAIN * squares[live], damping[live] > _MAX_DAMPING)
        to = live[good]
        found[to], squares[to] = trial[good], reached[good]
        damping[to] = np.where(damping[to] > _DAMPING, damping[to] / 10, 0.0)
        back = live[~good]
        damping[back] = np.maximum(damping[back] * 10, _DAMPING)
        live = live[~done]
    return found


def _start(number: Array, observed: Array, weights: Array, columns: Array, base: Array, products: Array) -> Array:
    # Weights X⁴/N² undo what the reciprocal does to the errors: d(N/X) = −N/X² dX.
    each = weights * observed**4 / number**2
    normal = (each @ products).reshape(-1, *columns.shape[1:] * 2)
    found = damped_step(normal, (each * (number / observed - base)) @ columns, np.zeros(len(observed)))
    # Where that law is negative somewhere, begin with the best efficiency and a little of each cost.
    wrong = ~np.isfinite(_squares(number, observed, weights, columns, base, found))
    if wrong.any():
        found[wrong] = 0.01 / np.abs(columns).max(axis=0) / (observed[wrong] / number).max(axis=1)[:, None]
        found[wrong, 0] *= 100
    return found


def _squares(number: Array, observed: Array, weights: Array, columns: Array, base: Array, found: Array) -> Array:
    """Weighted sum of squares of each data set; infinite where the law has no throughput at one of its points."""
    times = base + found @ columns.T
    squares = (number / times - observed) ** 2 @ weights
    return np.where((times > 0).all(axis=1) & np.isfinite(squares), squares, np.inf)
