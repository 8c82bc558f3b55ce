"""Runs grouped by load, checked, for every definition of the knee; missing values are left out with a warning."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.arrays import Array, Integers, measured
from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.points import group_runs


@dataclass(frozen=True, eq=False)
class Runs:
    """Each run's load and throughput, its level's place, and of each level the mean and the repeats."""

    connections: Array
    throughput_rps: Array
    levels: Array
    of_level: Integers
    means: Array
    repeats: Integers
    warnings: tuple[str, ...]


def known_runs(connections: ArrayLike, throughput_rps: ArrayLike, least: int, name: str = "connections") -> Runs:
    """Return the runs that have both numbers; fewer than `least` levels are refused.  Errors call the load `name`."""
    number = np.atleast_1d(measured(name, connections))
    throughput = np.atleast_1d(measured("throughput_rps", throughput_rps))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of {name}, {number.shape}", throughput.shape)
    known = np.isfinite(number) & np.isfinite(throughput)
    warnings = () if known.all() else (f"{(~known).sum()} of {known.size} runs have no value and are left out",)
    number, throughput = number[known], throughput[known]
    levels = group_runs(number, throughput)
    if levels.loads.size < least:
        raise ValueRuleError(f"levels of {name}", f">= {least}", levels.loads.size)
    return Runs(number, throughput, levels.loads, levels.of_run, levels.means, levels.repeats, warnings)
