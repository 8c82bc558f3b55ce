"""Runs grouped by load, checked, for every definition of the knee; missing values are left out with a warning."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._runs import group_runs, known_runs
from loadcurve.stats.arrays import Array, Integers


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


def grouped_runs(connections: ArrayLike, throughput_rps: ArrayLike, least: int, name: str = "connections") -> Runs:
    """Return the runs that have both numbers; fewer than `least` levels are refused.  Errors call the load `name`."""
    number, throughput, warnings = known_runs(connections, throughput_rps, name)
    levels = group_runs(number, throughput)
    if levels.loads.size < least:
        raise ValueRuleError(f"levels of {name}", f">= {least}", levels.loads.size)
    return Runs(number, throughput, levels.loads, levels.of_run, levels.means, levels.repeats, tuple(warnings))
