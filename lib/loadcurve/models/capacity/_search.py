"""Search the load between two levels at which a law scores highest, for many sets of parameters at once."""

from collections.abc import Callable

import numpy as np

from loadcurve.models.scaling.law import Law
from loadcurve.stats.arrays import Array

# Points even in log N on which a law is searched: first between the outer levels, then around the best of them.
_COARSE, _FINE = 400, 201
# A curvature below this, on axes of 0…1, is a straight line: the curve leaves its chord by κ/8, a part in 8000.
_STRAIGHT = 1e-3


def search(law: Law, values: Array, levels: Array, score: Callable[[Array, Array, Array], Array]) -> Array:
    """Connections with the highest score of the law, for each row (b, p) of its parameters."""
    first, last = float(np.log(levels[0])), float(np.log(levels[-1]))
    parameters = values.T[:, :, None]
    logs = np.linspace(first, last, _COARSE)[None]
    highest = law.function(np.exp(logs), *parameters).max(axis=1, keepdims=True)

    def scores(grid: Array) -> Array:
        """Scores of points even in log N; the differences need one more point at either end."""
        step = grid[:, [1]] - grid[:, [0]]
        number = np.exp(np.concatenate([grid[:, [0]] - step, grid, grid[:, [-1]] + step], axis=1))
        with np.errstate(all="ignore"):
            found = score(number / levels[-1], law.function(number, *parameters) / highest, step)
        return np.nan_to_num(found, nan=-np.inf)

    step = logs[0, 1] - logs[0, 0]
    middle = logs[0, scores(logs).argmax(axis=1)]
    near = np.linspace(np.maximum(middle - step, first), np.minimum(middle + step, last), _FINE, axis=1)
    found = scores(near)
    best, rows = found.argmax(axis=1), np.arange(len(values))
    return np.where(found[rows, best] > _STRAIGHT, np.exp(near[rows, best]), np.nan)


def curvature(x: Array, y: Array, step: Array) -> Array:
    """Curvature (b, g) at the inner points of the grid (b, g + 2), from differences in log x."""
    by_log = (y[:, 2:] - y[:, :-2]) / (2 * step)
    twice_by_log = (y[:, 2:] - 2 * y[:, 1:-1] + y[:, :-2]) / step**2
    slope, bend = by_log / x[:, 1:-1], (twice_by_log - by_log) / x[:, 1:-1] ** 2
    return -bend / (1 + slope**2) ** 1.5


def power(x: Array, y: Array, step: Array) -> Array:
    """Power (b, g) at the inner points of the grid, on the same axes."""
    return y[:, 1:-1] ** 2 / x[:, 1:-1]  # X / R with R = N / X
