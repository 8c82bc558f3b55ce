"""What is known of a law's parameters before the curve is seen: a range for each, wide, and in units of the data.

Each parameter lies somewhere in its range, evenly on a logarithmic scale.  The ranges say nothing of the law; they
only leave out what no measurement of these levels could tell from another value, or what it already excludes.
"""

from collections.abc import Callable

import numpy as np

# The unit throughput lies within a factor of two of the best efficiency seen.
_UNIT = 2.0
# A capacity lies between a little below the highest throughput, which scatters, and thirty times it.
_CAPACITY = (0.9, 30.0)
# Contention below a thousandth of 1/N, and coherency below a thousandth of 1/N², cost less than scatter at the last N.
_COST = 1e-3
# Coherency of ten over N² has its peak at a third of the last level.
_MOST_COHERENCY = 10.0
_SHARPNESS = (0.7, 20.0)


def ranges(name: str, number: np.ndarray, throughput: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of a law's prior parameters, each (p,), > 0."""
    last, highest = number.max(), throughput.max()
    best = (throughput / number).max()
    unit = (best / _UNIT, best * _UNIT)
    contention = (_COST / last, 1.0)
    coherency = (_COST / last**2, _MOST_COHERENCY / last**2)
    capacity = (_CAPACITY[0] * highest, _CAPACITY[1] * highest)
    by_law = {
        "linear": [unit],
        "amdahl": [unit, contention],
        "usl": [unit, contention, coherency],
        "roofline": [unit, capacity],
        "saturating": [unit, capacity, _SHARPNESS],
        "finite_source": [unit, capacity],
    }
    lower, upper = np.array(by_law[name]).T
    return lower, upper


def parameters_of(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that turns prior parameters (b, p) into the law's own."""
    return _demand_and_delay if name == "finite_source" else lambda values: values


def _demand_and_delay(values: np.ndarray) -> np.ndarray:
    """D = 1/C and Z = 1/γ − 1/C: one connection makes γ, endlessly many make C."""
    unit, capacity = values.T
    return np.column_stack([1 / capacity, np.maximum(1 / unit - 1 / capacity, 0.0)])
