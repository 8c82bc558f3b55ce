"""Coverage of the bootstrap of a fitted law, with plain and with expanded percentiles."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.models.scaling.bootstrap import bootstrap_law, find_interval, level_weights, quantities
from loadcurve.models.scaling.intervals import FEW_DEGREES, influence_degrees
from loadcurve.models.scaling.usl import USL
from loadcurve.stats.arrays import Array
from validation.coverage.count import holds
from validation.coverage.curves import WHERE, Hits, over_studies, truth_of


def summarise_bootstrap_coverage(
    levels: Sequence[int] = (5, 8, 12, 20),
    repeats: Sequence[int] = (1, 3),
    scatters: Sequence[float] = (0.02, 0.05),
    where: Sequence[str] = tuple(WHERE),
    *,
    runs: int = 1000,
    draws: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of the Universal Scalability Law by bootstrap, over runs or over residuals.

    The arguments are those of `summarise_usl_coverage`; with one run of each level residuals are drawn.  `draws` is the
    number of draws of each bootstrap; some 400 are the fewest for the expanded percentiles of three repeats.

    The table is that of `summarise_hits`.  Methods: plain percentiles, and those of `summarise_bootstrap`, expanded to
    the degrees of freedom of the repeats.

    Examples
    --------
    >>> table = summarise_bootstrap_coverage([6], [3], [0.01], [""], runs=2, draws=50)
    >>> table["method"].unique().tolist()
    ['bootstrap, percentiles', 'bootstrap, expanded']
    """

    def hits(number: Array, drawn: Array, true: tuple[float, float, float]) -> Hits:
        study, truth = (np.tile(number, len(drawn)), drawn.ravel()), truth_of(true)
        # The study is random, so its draws may share a seed.
        found = bootstrap_law(USL, *study, draws=draws, seed=seed)
        value = quantities(USL, USL.solve(number, drawn.mean(axis=0)[None], level_weights(USL, *study))).iloc[0]
        degrees = influence_degrees(USL, *study, lambda parameters: quantities(USL, parameters))
        plain = {("bootstrap, percentiles", q): holds(find_interval(found[q], value[q]), truth[q]) for q in found}
        refused = len(drawn) == 1 and number.size - len(USL.parameters) < FEW_DEGREES
        expanded = {
            ("bootstrap, expanded", q): np.nan
            if refused
            else holds(find_interval(found[q], value[q], 0.95, own), truth[q])
            for q, own in zip(found, degrees, strict=True)
        }
        return plain | expanded

    return over_studies(levels, repeats, scatters, where, hits, runs, seed)
