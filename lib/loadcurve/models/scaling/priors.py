"""Priors of a law's parameters: a wide range for each, in units of the data.

Each parameter lies somewhere in its range, evenly on a logarithmic scale.  The ranges say nothing of the law; they
only leave out values that these levels cannot distinguish from others, or that they exclude.

In every law the unit throughput γ is a factor: X(N) = γ s(N).  The parameters of the shape s are the law's others, a
capacity C as the number of connections C / γ that would fill it.
"""

import numpy as np

from loadcurve.models.scaling.law import Law
from loadcurve.stats.arrays import Array

# The unit throughput lies within a factor of two of the best efficiency seen.
_UNIT = 2.0
# A capacity lies between a little below the highest throughput, which scatters, and thirty times it.
_CAPACITY = (0.9, 30.0)
# Contention below a thousandth of 1/N, and coherency below a thousandth of 1/N², cost less than scatter at the last N.
_COST = 1e-3
# Coherency of ten over N² has its peak at a third of the last level.
_MAX_COHERENCY = 10.0
_SHARPNESS = (0.7, 20.0)

WITH_CAPACITY = ("roofline", "saturating", "finite_source")
"""Laws whose second parameter is a capacity."""


def ranges(name: str, number: Array, throughput: Array) -> tuple[Array, Array]:
    """Lower and upper ends of a law's parameters, each (p,), > 0; the unit throughput is the first."""
    last, highest = number.max(), throughput.max()
    best = (throughput / number).max()
    unit = (best / _UNIT, best * _UNIT)
    contention = (_COST / last, 1.0)
    coherency = (_COST / last**2, _MAX_COHERENCY / last**2)
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


def log_shape(law: Law, number: Array, shape: Array) -> Array:
    """Logarithm of s(N) at loads (m,) for logarithms of shape parameters (b, p − 1): (b, m)."""
    values = np.column_stack([np.ones(len(shape)), np.exp(shape)])
    if law.name == "finite_source":  # D = 1/C and Z = 1/γ − 1/C: one connection makes γ, endlessly many make C
        capacity = values[:, 1]
        values = np.column_stack([1 / capacity, np.maximum(1 - 1 / capacity, 0.0)])
    with np.errstate(all="ignore"):
        return np.log(np.broadcast_to(law.function(number, *values.T[:, :, None]), (len(shape), number.size)))
