r"""The roofline, where throughput rises in proportion up to a capacity, and the same with a smooth bend.

.. math:: X(N) = \min(\gamma N,\ C)

It is the asymptotic bound of a closed system taken for the law itself (E. D. Lazowska, J. Zahorjan, G. S. Graham,
K. C. Sevcik, "Quantitative System Performance", 1984, section 5.2), and right where nothing queues before the limit:
a link that is full, processors that are all busy.

The saturating law bends smoothly, with a sharpness that is fitted:

.. math:: X(N) = \frac{\gamma N}{\left(1 + (\gamma N / C)^k\right)^{1/k}}

With k = 1 it is the hyperbola of a law with contention alone, with k → ∞ the roofline.  It never falls, so it has no
peak.  The form is that of S. W. Churchill, R. Usagi, "A general expression for the correlation of rates of transfer
and other phenomena", AIChE Journal 18(6), 1972.
"""

from typing import Any

import numpy as np

from loadcurve.models.scaling.law import NO_SCATTER, Law
from loadcurve.models.scaling.marquardt import minimise
from loadcurve.stats.arrays import Array


def _roofline(number: Array, unit: Any, capacity: Any) -> Any:
    return np.minimum(unit * number, capacity)


def _roofline_gradient(number: Array, unit: float, capacity: float) -> Array:
    rising = unit * number <= capacity
    return np.column_stack([np.where(rising, number, 0.0), np.where(rising, 0.0, 1.0)])


def _solve_roofline(number: Array, observed: Array, weights: Array) -> Array:
    # The sum of squares is smooth while the kink stays between two levels, and has a kink of its own where it crosses
    # one.  So the minimum is either that of one such piece, or at a level where the kink lies: all are tried.
    levels = np.unique(number)
    tried = []
    for level in levels[::-1]:  # where two fit alike, the one without a capacity
        rising = number <= level
        unit = observed @ (weights * number * rising) / (weights * number**2 * rising).sum()
        rest = (weights * ~rising).sum()
        capacity = observed @ (weights * ~rising) / rest if rest else np.full(len(observed), np.inf)
        tried.append(np.column_stack([unit, capacity]))
        cut = np.minimum(number, level)
        unit = observed @ (weights * cut) / (weights * cut**2).sum()
        tried.append(np.column_stack([unit, unit * level if level < levels[-1] else np.full(len(unit), np.inf)]))
    every = np.stack(tried)
    squares = np.stack([ROOFLINE.squares(number, observed, weights, values) for values in every])
    alike = squares <= squares.min(axis=0) + NO_SCATTER * (observed**2 @ weights)
    result: Array = every[alike.argmax(axis=0), np.arange(len(observed))]
    return result


ROOFLINE = Law(
    "roofline",
    ("unit_throughput_rps", "capacity_rps"),
    _roofline,
    _roofline_gradient,
    _solve_roofline,
    {"capacity_rps": (np.inf,)},
)


# From here on no measurement distinguishes the curve from the roofline: at the kink it misses it by 1 % (2^(−1/64)).
_SHARPEST = 64.0
# Round and sharp: scattered data can have a least of each kind.
_STARTS = (1.5, 12.0)
# Where a search ends rounder than `_ROUND`, it may have stopped in a long valley, in which all three parameters change
# together; begun at `_VALLEY_START`, in that valley, a search gets further, and steps along it are many and small.
_ROUND = 0.5
_VALLEY_START = 0.3
_VALLEY_ROUNDS = 400
# The data do not bound a capacity this many times the highest throughput.
_CEILING_FACTOR = 1e3


def _function(number: Array, unit: Any, capacity: Any, sharpness: Any) -> Any:
    with np.errstate(divide="ignore"):  # without a capacity, a straight line
        power = sharpness * np.log(unit * number / capacity)
    return unit * number * np.exp(-np.logaddexp(0, power) / sharpness)


def _gradient(number: Array, unit: float, capacity: float, sharpness: float) -> Array:
    if np.isinf(capacity):
        return np.column_stack([number, np.zeros_like(number), np.zeros_like(number)])
    ratio = np.log(unit * number / capacity)
    power = sharpness * ratio
    fitted = _function(number, unit, capacity, sharpness)
    share = np.exp(-np.logaddexp(0, -power))  # of the capacity: 0 on the slope, 1 on the plateau
    by_sharpness = fitted * (np.logaddexp(0, power) / sharpness**2 - share * ratio / sharpness)
    return np.column_stack([fitted * (1 - share) / unit, fitted * share / capacity, by_sharpness])


def _solve(number: Array, observed: Array, weights: Array) -> Array:
    highest = observed.max(axis=1)
    start = ROOFLINE.solve(number, observed, weights)
    capacity = np.where(np.isfinite(start[:, 1]), start[:, 1], 3 * highest)
    scale = highest[:, None]  # in units of the highest throughput, so that the capacity has a bound
    upper, observed = np.array([np.inf, _CEILING_FACTOR, _SHARPEST]), observed / scale
    # First the straight line: where it fits as well as a bend beyond the levels, no capacity was seen.
    slope = observed @ (weights * number) / (weights @ number**2)
    tried = [np.column_stack([slope, np.full_like(slope, np.inf), np.full_like(slope, _STARTS[0])])]
    begin = np.column_stack([start[:, 0] / highest, capacity / highest, slope])
    for sharpness in _STARTS:
        begin[:, 2] = sharpness
        tried.append(minimise(_function, number, observed, weights, begin, upper))
    long = np.flatnonzero(np.minimum(tried[1][:, 2], tried[2][:, 2]) < _ROUND)
    if long.size:
        begin[:, 2] = _VALLEY_START
        tried.append(tried[1].copy())
        tried[3][long] = minimise(_function, number, observed[long], weights, begin[long], upper, _VALLEY_ROUNDS)
    every = np.stack(tried)
    # A capacity at its bound was not seen.  Set before the comparison, since a round bend far beyond the levels can fit
    # well where the straight line with its slope does not.
    every[every[:, :, 1] >= _CEILING_FACTOR * (1 - 1e-9), 1] = np.inf
    squares = np.stack([SATURATING.squares(number, observed, weights, values) for values in every])
    alike = squares <= squares.min(axis=0) + NO_SCATTER * (observed**2 @ weights)
    found = every[alike.argmax(axis=0), np.arange(len(observed))]
    found[:, :2] *= scale
    result: Array = found
    return result


SATURATING = Law(
    "saturating", ("unit_throughput_rps", "capacity_rps", "sharpness"), _function, _gradient, _solve,
    {"capacity_rps": (np.inf,), "sharpness": (_SHARPEST,)},
)  # fmt: skip
