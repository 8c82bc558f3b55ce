"""What makes a law of throughput over connections: its formula, its slopes, and how its parameters are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Law:
    """A law X(N) with parameters that least squares can find.

    Attributes
    ----------
    name : str
        Such as ``usl``.
    parameters : tuple of str
        Names, in the order in which all that follows takes them.
    function : callable
        ``(connections, *parameters) -> X`` in requests per second; the arguments broadcast.
    gradient : callable
        ``(connections, *parameters) -> (n, p)``: derivatives of X by the parameters, for one data set.
    solve : callable
        ``(connections (n,), X (b, n), weights (n,)) -> (b, p)``: the parameters with the least weighted sum of squares,
        for b data sets at once.
    bounds : mapping of str to float
        A parameter that may not pass a value, and stands exactly there when the data push it against it.
    """

    name: str
    parameters: tuple[str, ...]
    function: Callable[..., np.ndarray]
    gradient: Callable[..., np.ndarray]
    solve: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    bounds: Mapping[str, float] = field(default_factory=dict)

    def squares(self, number: np.ndarray, observed: np.ndarray, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Weighted sums of squares (b,) of data sets (b, n) with their parameters (b, p)."""
        fitted = self.function(number, *values.T[:, :, None])
        return (fitted - observed) ** 2 @ weights
