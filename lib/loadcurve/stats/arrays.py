"""Arrays of numbers and the rules for them; NaN (missing) passes every rule, except that for a series."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loadcurve.errors import ValueRuleError

Array = NDArray[np.float64]
Integers = NDArray[np.int_]
Mask = NDArray[np.bool_]

# Least squares need fourth powers of the ratios of values, which must neither overflow nor become 0.  No number of
# connections or requests per second is near these bounds in any unit.
_MIN, _MAX = 1e-30, 1e30


def floats(values: ArrayLike) -> Array:
    """Return `values` as floats; NA in a pandas column of a nullable type becomes NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> floats(pd.Series([1, None], dtype="Int64"))
    array([ 1., nan])
    """
    if hasattr(values, "to_numpy"):
        values = values.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(values, dtype=float)


def above_0(name: str, values: ArrayLike) -> Array:
    """Return `values` as floats, all of them > 0 or NaN; `name` is the argument that a ValueRuleError names."""
    return _checked(name, values, "> 0", lambda array: array <= 0)


def measured(name: str, values: ArrayLike) -> Array:
    """Return measured `values` as floats, all of them > 0, of a size whose powers can be computed, or not finite."""
    rule = f"{_MIN:g} to {_MAX:g}, as measured values are"
    return _checked(
        name, above_0(name, values), rule, lambda array: np.isfinite(array) & ((array < _MIN) | (array > _MAX))
    )


def at_least_0(name: str, values: ArrayLike) -> Array:
    """Return `values` as floats, all of them >= 0 or NaN; `name` is the argument that a ValueRuleError names."""
    return _checked(name, values, ">= 0", lambda array: array < 0)


def at_least_1(name: str, values: ArrayLike) -> Array:
    """Return `values` as floats, all of them >= 1 or NaN; `name` is the argument that a ValueRuleError names."""
    return _checked(name, values, ">= 1", lambda array: array < 1)


def between_0_and_1(name: str, value: float) -> float:
    """Return `value` as a float, 0 < value < 1."""
    if not 0 < value < 1:
        raise ValueRuleError(name, f"0 < {name} < 1", value)
    return float(value)


def positive(name: str, value: float) -> float:
    """Return `value` as a finite float > 0."""
    if not 0 < value < np.inf:
        raise ValueRuleError(name, "> 0", value)
    return float(value)


def series(name: str, values: ArrayLike, least: int) -> Array:
    """Return samples in time order as floats: one-dimensional, finite, at least `least` of them."""
    array = floats(values)
    if array.ndim != 1:
        raise ValueRuleError(name, "one-dimensional", f"{array.ndim} dimensions")
    if array.size < least:
        raise ValueRuleError(name, f"at least {least} samples", f"{array.size}")
    if not np.isfinite(array).all():
        # A gap would shift what comes after it: lags and periods would no longer be those of the clock.
        raise ValueRuleError(name, "without gaps", array[~np.isfinite(array)][0])
    return array


def _checked(name: str, values: ArrayLike, rule: str, broken: Callable[[Array], Mask]) -> Array:
    array = floats(values)
    wrong = broken(array)
    if wrong.any():
        raise ValueRuleError(name, rule, array[wrong].flat[0])
    return array
