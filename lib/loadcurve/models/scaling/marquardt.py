"""Marquardt's method for laws with positive parameters, for many data sets at once.

Marquardt's method (SIAM Journal 11(2), 1963) in the logarithms of the parameters: a step can neither make one negative
nor depend on its unit.  Slopes are differences, since a law may be a recursion.
"""

from collections.abc import Callable

import numpy as np

from loadcurve.stats.arrays import Array, Integers

_ROUNDS = 100
_GAIN = 1e-12
# Of a logarithm: the cube root of double precision, where rounding and curvature of a central difference are equal.
_DIFFERENCE = 6e-6
_DAMPING = 1e-3
_MAX_DAMPING = 1e9
# Below this ratio of the actual to the predicted reduction the damping grows: R. Fletcher, "A modified Marquardt
# subroutine for non-linear least squares", AERE-R 6799, 1971.  Without it, steps across a curved valley alternate.
_LEAST_GAIN_RATIO = 0.25
# Slopes this small against the law's values are rounding of the differences, 2e-16 / 6e-6, and say nothing.
_NO_INFLUENCE = 1e-9
# No step changes a parameter by more than this factor, e²: beyond, the slopes say nothing.
_LONGEST = 2.0


def minimise(
    function: Callable[..., Array],
    number: Array,
    observed: Array,
    weights: Array,
    start: Array,
    upper: Array,
    rounds: int = _ROUNDS,
) -> Array:
    """Return the parameters with the least weighted sum of squares that a search from `start` finds, for each data set.

    Shapes as in `Law.solve`; `start` (b, p) is positive, and a parameter that is pushed against `upper`, (p,) or
    (b, p), takes that value exactly; at most `rounds` steps.  `function` is ``(N (n,), *parameters (b, 1)) -> (b, n)``.

    Examples
    --------
    >>> number = np.array([1.0, 2.0, 3.0])
    >>> observed, start, upper = 2 * number[None] ** 0.5, np.ones((1, 2)), np.full(2, 9.0)
    >>> minimise(lambda n, a, b: a * n**b, number, observed, np.ones(3), start, upper)
    array([[2. , 0.5]])
    """
    limit = np.broadcast_to(np.log(upper), start.shape)
    logs = np.minimum(np.log(start), limit)

    def fitted(values: Array) -> Array:
        return function(number, *np.exp(values).T[:, :, None])

    def squares_of(values: Array, rows: Integers) -> Array:
        with np.errstate(all="ignore"):
            squares = (fitted(values) - observed[rows]) ** 2 @ weights
        return np.where(np.isfinite(squares), squares, np.inf)

    live = np.arange(len(observed))
    squares = squares_of(logs, live)
    damping = np.full(len(observed), _DAMPING)
    for _ in range(rounds):
        here = logs[live]
        slopes, reached = _slopes(fitted, here), fitted(here)
        gradient = np.einsum("bnp,n,bn->bp", slopes, weights, reached - observed[live])
        influence = np.einsum("bnp,n->bp", slopes**2, weights)
        held = (here >= limit[live]) & (gradient < 0)  # pushed against its bound
        held |= influence <= _NO_INFLUENCE**2 * (reached**2 @ weights)[:, None]
        gradient[held] = 0.0
        slopes *= ~held[:, None, :]
        normal = np.einsum("bnp,n,bnq->bpq", slopes, weights, slopes)
        step = np.clip(damped_step(normal, gradient, damping[live]), -_LONGEST, _LONGEST)
        trial = np.minimum(here - step, limit[live])
        step = here - trial
        found = squares_of(trial, live)
        good = found <= squares[live]
        gain = squares[live] - found
        small = gain <= _GAIN * squares[live]
        predicted = 2 * (gradient * step).sum(axis=1) - np.einsum("bp,bpq,bq->b", step, normal, step)
        done = np.where(good, small & (damping[live] <= _DAMPING), damping[live] > _MAX_DAMPING)
        to = live[good]
        logs[to], squares[to] = trial[good], found[good]
        damping[live] *= np.where(good & (small | (gain >= _LEAST_GAIN_RATIO * predicted)), 0.1, 10.0)
        live = live[~done]
        if not len(live):
            break
    return np.where(logs >= limit, upper, np.exp(logs))  # exp(log(64)) is not 64


def _slopes(fitted: Callable[[Array], Array], values: Array) -> Array:
    """Slopes (b, n, p) by each of the logarithms (b, p); all differences in one call of the law."""
    count = values.shape[1]
    steps = _DIFFERENCE * np.eye(count)[:, None, :]
    around = np.stack([values + steps, values - steps])  # (2, p, b, p)
    above, below = fitted(around.reshape(-1, count)).reshape(2, count, len(values), -1)
    return np.ascontiguousarray(((above - below) / (2 * _DIFFERENCE)).transpose(1, 2, 0))


def damped_step(normal: Array, gradient: Array, damping: Array) -> Array:
    """Solve (JᵀJ, its diagonal stretched by 1 + damping) · step = gradient for each data set.

    Shapes (b, p, p), (b, p) and (b,).  A row of zeros belongs to a parameter without influence, whose step is 0.

    Examples
    --------
    >>> damped_step(np.array([[[2.0, 0.0], [0.0, 0.0]]]), np.array([[4.0, 0.0]]), np.zeros(1))
    array([[2., 0.]])
    """
    # Scaled so that its diagonal is 1: parameters differ by ten orders of magnitude.
    scale = np.sqrt(np.einsum("bii->bi", normal))
    scale[scale == 0] = 1.0
    scaled = normal / (scale[:, :, None] * scale[:, None, :])
    diagonal = np.arange(gradient.shape[1])
    scaled[:, diagonal, diagonal] = 1 + damping[:, None]
    try:
        solved = np.linalg.solve(scaled, (gradient / scale)[..., None])[..., 0]
    except np.linalg.LinAlgError:  # one of them is singular: the least of its solutions
        solved = np.einsum("bij,bj->bi", np.linalg.pinv(scaled), gradient / scale)
    result: Array = solved / scale
    return result
