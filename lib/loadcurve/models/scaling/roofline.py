r"""The roofline: throughput rises in proportion to the connections up to a capacity.

.. math:: X(N) = \min(\gamma N,\ C)

It is the asymptotic bound of a closed system taken for the law itself (E. D. Lazowska, J. Zahorjan, G. S. Graham,
K. C. Sevcik, "Quantitative System Performance", 1984, section 5.2), and right where nothing queues before the limit:
a link that is full, processors that are all busy.
"""

from typing import Any

import numpy as np

from loadcurve.models.scaling.law import NO_SCATTER, Law
from loadcurve.stats.arrays import Array


def _function(number: Array, unit: Any, capacity: Any) -> Any:
    return np.minimum(unit * number, capacity)


def _gradient(number: Array, unit: float, capacity: float) -> Array:
    rising = unit * number <= capacity
    return np.column_stack([np.where(rising, number, 0.0), np.where(rising, 0.0, 1.0)])


def _solve(number: Array, observed: Array, weights: Array) -> Array:
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
    "roofline", ("unit_throughput_rps", "capacity_rps"), _function, _gradient, _solve, {"capacity_rps": (np.inf,)}
)
