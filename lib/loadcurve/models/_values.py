"""What the laws ask of their arguments; NaN (missing) passes every rule."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError

# Least squares need fourth powers of the ratios of values, which must neither overflow nor become 0.  No number of
# connections or requests per second is near these bounds in any unit.
_LEAST, _MOST = 1e-30, 1e30


def above_0(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as floats, all of them > 0 or NaN; `name` is the argument that a ValueRuleError names."""
    return _array(name, values, "> 0", lambda array: array <= 0)


def measured(name: str, values: ArrayLike) -> np.ndarray:
    """Return measured `values` as floats, all of them > 0, of a size whose powers can be computed, or not finite."""
    array = above_0(name, values)
    wrong = np.isfinite(array) & ((array < _LEAST) | (array > _MOST))
    if wrong.any():
        raise ValueRuleError(name, f"{_LEAST:g} to {_MOST:g}, as measured values are", array[wrong].flat[0])
    return array


def at_least_0(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as floats, all of them >= 0 or NaN; `name` is the argument that a ValueRuleError names."""
    return _array(name, values, ">= 0", lambda array: array < 0)


def at_least_1(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as floats, all of them >= 1 or NaN; `name` is the argument that a ValueRuleError names."""
    return _array(name, values, ">= 1", lambda array: array < 1)


def _array(name, values, rule, broken):
    if hasattr(values, "to_numpy"):  # a pandas column of a nullable type: its NA becomes NaN
        values = values.to_numpy(dtype=float, na_value=np.nan)
    array = np.asarray(values, dtype=float)
    wrong = broken(array)
    if wrong.any():
        raise ValueRuleError(name, rule, array[wrong].flat[0])
    return array
