"""Runs grouped by load, as every knee takes them: checked, what is missing left out with a warning."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import measured


@dataclass(frozen=True, eq=False)
class Runs:
    """Each run's load and throughput, its level's place, and of each level the mean and the repeats."""

    connections: np.ndarray
    throughput_rps: np.ndarray
    levels: np.ndarray
    of_level: np.ndarray
    means: np.ndarray
    repeats: np.ndarray
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
    levels, of_level, repeats = np.unique(number, return_inverse=True, return_counts=True)
    if levels.size < least:
        raise ValueRuleError(f"levels of {name}", f">= {least}", levels.size)
    means = np.bincount(of_level, throughput) / repeats
    return Runs(number, throughput, levels, of_level, means, repeats, warnings)
