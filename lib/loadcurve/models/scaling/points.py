"""Points of a curve, checked: sorted, each level once, missing values left out with a warning; and runs by level."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.arrays import Array, Integers, above_0, measured
from loadcurve.errors import ValueRuleError


class Levels(NamedTuple):
    """Runs grouped by load: each load once, which one each run (m,) belongs to, and facts about each load (n,)."""

    loads: Array
    of_run: Integers
    means: Array
    repeats: Integers
    squares: Array
    """Sum of squares of the runs around the mean of their load."""


def group_runs(connections: Array, throughput_rps: Array) -> Levels:
    """Group runs, all of them known, by their load.

    Examples
    --------
    >>> group_runs(np.array([1.0, 8.0, 1.0]), np.array([9.0, 80.0, 11.0])).means
    array([10., 80.])
    """
    loads, of_run, repeats = np.unique(connections, return_inverse=True, return_counts=True)
    means = np.bincount(of_run, throughput_rps) / repeats
    squares = np.bincount(of_run, (throughput_rps - means[of_run]) ** 2)
    return Levels(loads, of_run, means, repeats, squares.astype(float))


def known_points(
    connections: ArrayLike, throughput_rps: ArrayLike, weights: ArrayLike | None, least: int
) -> tuple[Array, Array, Array, list[str]]:
    """Connections, throughput and weights of the points that have a value, sorted by connections; and warnings.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, a level comes twice, fewer than `least` points have a value, or a value
        breaks its rule.
    """
    number = np.atleast_1d(measured("connections", connections))
    throughput = np.atleast_1d(measured("throughput_rps", throughput_rps))
    weight = np.ones_like(number) if weights is None else np.atleast_1d(above_0("weights", weights))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    if weight.shape != number.shape:
        raise ValueRuleError("weights", f"of the shape of connections, {number.shape}", weight.shape)
    known = np.isfinite(number) & np.isfinite(throughput) & np.isfinite(weight)
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} points have no value and are left out"]
    number, throughput, weight = number[known], throughput[known], weight[known]
    if number.size < least:
        raise ValueRuleError("points", f">= {least} (the law has {least} parameters)", number.size)
    order = np.argsort(number)
    number, throughput, weight = number[order], throughput[order], weight[order]
    twice = number[1:][np.diff(number) == 0]
    if twice.size:
        raise ValueRuleError("connections", "each level once (pass the mean over its repeats)", f"{twice[0]:g} twice")
    return number, throughput, weight / weight.mean(), warnings
