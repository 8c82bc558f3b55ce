"""Arguments of the statistics of a series: samples in time order, one after another, without gaps."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, floats


def series(name: str, values: ArrayLike, least: int) -> Array:
    """Return `values` as floats: one-dimensional, finite, at least `least` of them; `name` is what an error names."""
    array = floats(values)
    if array.ndim != 1:
        raise ValueRuleError(name, "one-dimensional", f"{array.ndim} dimensions")
    if array.size < least:
        raise ValueRuleError(name, f"at least {least} samples", f"{array.size}")
    if not np.isfinite(array).all():
        # A gap would shift what comes after it: lags and periods would no longer be those of the clock.
        raise ValueRuleError(name, "without gaps", array[~np.isfinite(array)][0])
    return array


def positive(name: str, value: float) -> float:
    """Return `value` as a finite float > 0."""
    if not 0 < value < np.inf:
        raise ValueRuleError(name, "> 0", value)
    return float(value)
