"""`Law`: the formula of throughput over connections, its derivatives, and how its parameters are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from loadcurve.stats.arrays import Array

NO_SCATTER = 1e-20
"""Part of the sum of squares of the throughput that rounding alone leaves."""

# The first removes the pull downwards, the second most of what the first weights left of it.
_REWEIGHTINGS = 2
_TRUSTED = 2.0


@dataclass(frozen=True, eq=False)
class Law:
    """A law X(N) with parameters, in the order of their names, that least squares can find.

    `function` is ``(connections, *parameters) -> X`` and broadcasts; `gradient` is ``(connections, *parameters) ->
    (n, p)`` for one data set; `solve` is ``(connections (n,), X (b, n), weights (n,)) -> (b, p)``, the least squares of
    b data sets.  A parameter takes one of its `bounds` exactly when the data push it there; above its `ceiling`,
    ``(connections (n,), X (b, n)) -> (b, p)``, they say nothing of it.
    """

    name: str
    parameters: tuple[str, ...]
    function: Callable[..., Array]
    gradient: Callable[..., Array]
    solve: Callable[[Array, Array, Array], Array]
    bounds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    ceiling: Callable[[Array, Array], Array] | None = None

    def upper_bound(self, name: str) -> float:
        """Return the highest value that a parameter may take; infinite where nothing bounds it from above."""
        return max((bound for bound in self.bounds.get(name, ()) if bound > 0), default=np.inf)

    def squares(self, number: Array, observed: Array, weights: Array, values: Array) -> Array:
        """Weighted sums of squares (b,) of data sets (b, n) with their parameters (b, p)."""
        fitted = self.function(number, *values.T[:, :, None])
        return (fitted - observed) ** 2 @ weights

    def relative_weights(self, number: Array, throughput: Array) -> Array:
        """Return weights (n,), mean 1, of one over the square of the fitted throughput.

        Squares of the measured throughput would give points that scatter downwards the greater weight and pull the law
        down.  They only begin the reweighting (R. J. Carroll, D. Ruppert, "Transformation and Weighting in Regression",
        1988, section 2.1), and bound it where the law misses a point by more than a factor of two.
        """
        scale = throughput.max()
        at = throughput / scale
        for _ in range(_REWEIGHTINGS):
            values = self.solve(number, throughput[None], at**-2.0 / np.mean(at**-2.0))[0]
            fitted = self.function(number, *values) / scale
            at = np.clip(fitted, throughput / scale / _TRUSTED, throughput / scale * _TRUSTED)
        result: Array = at**-2.0 / np.mean(at**-2.0)
        return result

    def free(self, number: Array, observed: Array, values: Array) -> list[int]:
        """Indexes of the parameters (p,) that are at none of their bounds, of one data set (n,)."""
        ceiling = self.ceiling(number, observed[None])[0] if self.ceiling else np.full(len(values), np.inf)
        return [
            i
            for i, name in enumerate(self.parameters)
            if values[i] not in self.bounds.get(name, ()) and not ceiling[i] <= values[i] < np.inf
        ]
