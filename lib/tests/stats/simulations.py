"""Series and counts that the tests of this folder share; the simulations are `validation.coverage`.

Not collected by pytest.  Everything is seeded.
"""

from collections.abc import Callable

import numpy as np

from loadcurve.stats.estimate import Estimate
from validation.coverage import holds, summarise_hits
from validation.coverage.means import TRUE_MEAN, nested, planned_mean, stopped_mean
from validation.coverage.series import ar1, drift_of

__all__ = ["TRUE_MEAN", "ar1", "coverage", "drift_of", "nested", "planned_mean", "stopped_mean"]


def coverage(make: Callable[[np.random.Generator], Estimate], runs: int, seed: int) -> dict[str, float]:
    """Part of intervals that hold TRUE_MEAN among those that were given, and the part refused (NaN)."""
    table = summarise_hits(lambda rng: {("", ""): holds(make(rng), TRUE_MEAN)}, runs=runs, seed=seed, n=0, setting="")
    return table.iloc[0].to_dict()
