r"""Least squares for laws of the form X = N / (θ₁ u₁(N) + θ₂ u₂(N) + …), for thousands of data sets at once.

The Universal Scalability Law is one: with :math:`\theta = (1, \alpha, \beta) / \gamma` and
:math:`u = (1,\ N-1,\ N(N-1))` the time N / X is linear in θ.  The sum of squares in X is not, but nearly: a weighted
linear fit of N / X is a good start, and Gauss–Newton steps with Marquardt's damping need a handful of rounds.  Each
round is a few products of arrays for all data sets together, so a bootstrap costs little more than one fit.

D. W. Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", SIAM Journal 11(2), 1963.
"""

from itertools import combinations

import numpy as np

from loadcurve.models.scaling.steps import damped_step

# Rounds; reference data end within 10, the worst of a million random curves within 40.
_ROUNDS = 80
# A round that lowers the sum of squares by less than this part of it changes no digit that is shown.
_GAIN = 1e-13
_DAMPING = 1e-3
_MOST_DAMPING = 1e9


def solve(
    number: np.ndarray, observed: np.ndarray, weights: np.ndarray, columns: np.ndarray, *, bounded: bool
) -> np.ndarray:
    """Parameters θ with the least weighted sum of squares for each data set.

    Parameters
    ----------
    number : numpy.ndarray, shape (n,)
        Connections N, > 0.
    observed : numpy.ndarray, shape (b, n)
        Throughput X of each of b data sets, > 0.
    weights : numpy.ndarray, shape (n,)
        Of the squared residuals, >= 0.
    columns : numpy.ndarray, shape (n, p)
        The u of the law at each N; the first is 1.
    bounded : bool
        Whether all parameters but the first must be >= 0; one at its bound is exactly 0.

    Returns
    -------
    numpy.ndarray, shape (b, p)
        The first parameter is > 0 wherever the data are.

    Examples
    --------
    >>> number = np.array([1.0, 2.0, 4.0, 8.0])
    >>> columns = np.column_stack([np.ones(4), number - 1])
    >>> theta = solve(number, (number / (0.5 + 0.1 * (number - 1)))[None], np.ones(4), columns, bounded=True)
    >>> theta.round(6)
    array([[0.5, 0.1]])
    """
    theta = _unbounded(number, observed, weights, columns)
    if not bounded:
        return theta
    # The best point of the region lies inside, or on a face where some parameters are 0; each face is solved outright,
    # as a walk along the bound ends near 0, and 1e-12 looks like a measured coherency.
    wrong = ~(theta[:, 1:] >= 0).all(axis=1)
    if wrong.any():
        theta[wrong] = _on_faces(number, observed[wrong], weights, columns)
    return theta


def _on_faces(number: np.ndarray, observed: np.ndarray, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    count = columns.shape[1]
    best = np.zeros((len(observed), count))
    least = np.full(len(observed), np.inf)
    for size in range(count - 1):
        for kept in combinations(range(1, count), size):
            face = [0, *kept]
            theta = _unbounded(number, observed, weights, columns[:, face])
            squares = _squares(number, observed, weights, columns[:, face], theta)
            better = np.flatnonzero((theta[:, 1:] >= 0).all(axis=1) & (squares < least))
            least[better] = squares[better]
            best[better] = 0.0
            best[better[:, None], face] = theta[better]
    return best


def _unbounded(number: np.ndarray, observed: np.ndarray, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if columns.shape[1] == 1:
        law = number / columns[:, 0]  # X = law / θ: linear in 1 / θ
        return ((weights * law**2).sum() / (observed @ (weights * law)))[:, None]
    products = (columns[:, :, None] * columns[:, None, :]).reshape(len(number), -1)
    theta = _start(number, observed, weights, columns, products)
    squares = _squares(number, observed, weights, columns, theta)
    damping = np.zeros(len(observed))
    live = np.arange(len(observed))
    for _ in range(_ROUNDS):
        fitted = number / (theta[live] @ columns.T)
        slope = -(fitted**2) / number  # dX / d(θ·u)
        normal = ((weights * slope**2) @ products).reshape(-1, *columns.shape[1:] * 2)
        gradient = (weights * slope * (fitted - observed[live])) @ columns
        trial = theta[live] - damped_step(normal, gradient, damping[live])
        found = _squares(number, observed[live], weights, columns, trial)
        good = found <= squares[live]
        done = np.where(good, squares[live] - found <= _GAIN * squares[live], damping[live] > _MOST_DAMPING)
        to = live[good]
        theta[to], squares[to] = trial[good], found[good]
        damping[to] = np.where(damping[to] > _DAMPING, damping[to] / 10, 0.0)
        back = live[~good]
        damping[back] = np.maximum(damping[back] * 10, _DAMPING)
        live = live[~done]
        if not len(live):
            break
    return theta


def _start(
    number: np.ndarray, observed: np.ndarray, weights: np.ndarray, columns: np.ndarray, products: np.ndarray
) -> np.ndarray:
    # Weights X⁴/N² undo what the reciprocal does to the errors: d(N/X) = −N/X² dX.
    each = weights * observed**4 / number**2
    normal = (each @ products).reshape(-1, *columns.shape[1:] * 2)
    theta = damped_step(normal, (each * number / observed) @ columns, np.zeros(len(observed)))
    # Where that law is negative somewhere, begin with the best efficiency and a little of each cost.
    wrong = ~np.isfinite(_squares(number, observed, weights, columns, theta))
    if wrong.any():
        theta[wrong] = 0.01 / columns.max(axis=0) / (observed[wrong] / number).max(axis=1)[:, None]
        theta[wrong, 0] *= 100
    return theta


def _squares(
    number: np.ndarray, observed: np.ndarray, weights: np.ndarray, columns: np.ndarray, theta: np.ndarray
) -> np.ndarray:
    """Weighted sum of squares of each data set; infinite where the law has no throughput at one of its points."""
    times = theta @ columns.T
    with np.errstate(all="ignore"):
        squares = (number / times - observed) ** 2 @ weights
    return np.where((times > 0).all(axis=1) & np.isfinite(squares), squares, np.inf)
