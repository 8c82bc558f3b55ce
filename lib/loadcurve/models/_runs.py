"""Runs as pairs of load and throughput: checked, and grouped by load."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, Integers, measured


class Levels(NamedTuple):
    """Runs grouped by load: each load once, which one each run (m,) belongs to, and facts about each load (n,)."""

    loads: Array
    of_run: Integers
    means: Array
    repeats: Integers
    squares: Array
    """Sum of squares of the runs around the mean of their load."""


def known_runs(
    connections: ArrayLike, throughput_rps: ArrayLike, name: str = "connections"
) -> tuple[Array, Array, list[str]]:
    """Return load and throughput of the runs that have both, at least one, and a warning for the others.

    Errors call the load `name`.
    """
    number = np.atleast_1d(measured(name, connections))
    throughput = np.atleast_1d(measured("throughput_rps", throughput_rps))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of {name}, {number.shape}", throughput.shape)
    known = np.isfinite(number) & np.isfinite(throughput)
    if not known.any():
        raise ValueRuleError("throughput_rps", "known for at least one run", f"{known.size} runs without a value")
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} runs have no value and are left out"]
    return number[known], throughput[known], warnings


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
