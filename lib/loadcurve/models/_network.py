"""Arguments of closed networks.  A network with an unknown part has no solution, so NaN is refused."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, Integers, at_least_0


def demands(demand_s: ArrayLike, dimensions: int = 1) -> Array:
    """Return service demands, shape (K,) for one class or (C, K) for classes: known, finite, >= 0.

    A demand of 0 is a centre that requests skip.  One class needs a demand above 0; of several, a class may have none.
    """
    demand = known("demand_s", at_least_0("demand_s", demand_s))
    if demand.ndim != dimensions or demand.size == 0:
        rule = "a list of at least one centre" if dimensions == 1 else "a row of centres for each class"
        raise ValueRuleError("demand_s", rule, f"shape {demand.shape}")
    if dimensions == 1 and not demand.any():
        raise ValueRuleError("demand_s", "> 0 at one centre at least", "only 0")
    return demand


def think_time(think_time_s: float) -> float:
    """Return one think time: known, finite, >= 0."""
    think = known("think_time_s", at_least_0("think_time_s", think_time_s))
    if think.ndim:
        raise ValueRuleError("think_time_s", "one number", f"shape {think.shape}")
    return float(think)


def server_numbers(servers: ArrayLike, centres: int) -> Array:
    """Return the servers of each of the centres, shape (K,): whole and >= 1, or infinite for a delay centre."""
    number = np.asarray(servers, dtype=float)
    wrong = np.isnan(number) | (number < 1) | (np.isfinite(number) & (number != np.floor(number)))
    if wrong.any():
        raise ValueRuleError("servers", "a whole number >= 1, or inf for a delay centre", number[wrong].flat[0])
    if number.ndim > 1 or (number.ndim and number.size != centres):
        raise ValueRuleError(
            "servers", f"one number, or one for each of the {centres} centres", f"shape {number.shape}"
        )
    return np.broadcast_to(number, centres)


def whole(name: str, values: ArrayLike, least: int) -> Integers:
    """Return `values` as integers, all of them >= `least`."""
    array = np.asarray(values, dtype=float)
    wrong = ~np.isfinite(array) | (array < least) | (array != np.floor(array))
    if wrong.any():
        raise ValueRuleError(name, f"a whole number >= {least}", array[wrong].flat[0])
    return array.astype(int)


def known(name: str, array: Array) -> Array:
    """Return `array` as it is, none of it missing or infinite."""
    if not np.isfinite(array).all():
        raise ValueRuleError(name, "known and finite", array[~np.isfinite(array)].flat[0])
    return array
