"""Coverage of the intervals over runs: the bootstrap of a fitted law, with plain and with expanded percentiles."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.models.coverage.count import holds
from loadcurve.models.coverage.curves import TRUTH, levels_of, over_studies, simulate_runs
from loadcurve.models.scaling.bootstrap import bootstrap_law, find_interval, quantities
from loadcurve.models.scaling.run_intervals import influence_degrees
from loadcurve.models.scaling.usl import USL


def summarise_bootstrap_coverage(
    levels: Sequence[int] = (6, 8, 10, 15),
    repeats: Sequence[int] = (3, 5, 10),
    scatters: Sequence[float] = (0.01, 0.05),
    *,
    runs: int = 1000,
    draws: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of the Universal Scalability Law by bootstrap over runs.

    Parameters
    ----------
    levels, repeats, scatters, runs, seed
        As for `summarise_usl_coverage`.
    draws : int
        Draws of each bootstrap; some 400 are the fewest for the expanded percentiles of three repeats.

    Returns
    -------
    pandas.DataFrame
        As `summarise_hits`.  Methods: plain percentiles, and those of `summarise_bootstrap`, expanded to the degrees of
        freedom of the repeats.

    Examples
    --------
    >>> table = summarise_bootstrap_coverage([6], [3], [0.01], runs=2, draws=50)
    >>> table["method"].unique().tolist()
    ['bootstrap over runs, percentiles', 'bootstrap over runs, expanded']
    """

    def simulate(rng: np.random.Generator, n: int, count: int, scatter: float) -> dict[tuple[str, str], float]:
        number, drawn_runs = levels_of(n), simulate_runs(rng, n, count, scatter)
        study = np.tile(number, count), drawn_runs.ravel()
        drawn = bootstrap_law(USL, *study, draws=draws, seed=int(rng.integers(2**32)))
        value = quantities(USL, USL.solve(number, drawn_runs.mean(axis=0)[None], np.ones(n))).iloc[0]
        degrees = influence_degrees(USL, *study, lambda parameters: quantities(USL, parameters))
        plain = {
            ("bootstrap over runs, percentiles", q): holds(find_interval(drawn[q], value[q]), TRUTH[q]) for q in drawn
        }
        expanded = {
            ("bootstrap over runs, expanded", q): holds(find_interval(drawn[q], value[q], 0.95, own), TRUTH[q])
            for q, own in zip(drawn, degrees, strict=True)
        }
        return plain | expanded

    return over_studies(levels, repeats, scatters, simulate, runs, seed)
