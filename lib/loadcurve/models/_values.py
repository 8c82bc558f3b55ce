"""What the laws ask of their arguments; NaN (missing) passes every rule."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError


def above_0(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as floats, all of them > 0 or NaN; `name` is the argument that a ValueRuleError names."""
    return _array(name, values, "> 0", lambda array: array <= 0)


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
