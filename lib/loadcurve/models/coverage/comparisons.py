"""Coverage of the intervals of a comparison of two servers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.models.coverage.count import COLUMNS, counted, holds, summarise_hits
from loadcurve.stats.equivalence import summarise_equivalence
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.rank import find_shift
from loadcurve.stats.ratio import find_paired_ratio
from loadcurve.stats.ratios import summarise_coverage

_RATIO = 1.1
_SCATTER = 0.05
# What the runs of a pair share, as a standard deviation of the logarithm: twice their own scatter.
_SHARED = 0.10


def summarise_comparison_coverage(
    repeats: Sequence[int] = (3, 5, 10), *, runs: int = 1000, seed: int = 4, resamples: int = 500
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of A against B, for each method and number of runs of each server.

    Parameters
    ----------
    repeats : sequence of int
        Runs of each server.
    runs, seed
        As for `summarise_mean_coverage`.
    resamples : int
        Resamples of each bootstrap, >= 100.

    Returns
    -------
    pandas.DataFrame
        As `summarise_hits`.  Ratios by `stats.summarise_coverage`, for normal runs (5 %) and lognormal ones (σ 0.5);
        then the ratio of pairs, the shift by ranks, and the interval behind the verdict "equivalent", all for normal
        runs of 5 %.

    Examples
    --------
    >>> summarise_comparison_coverage([5], runs=2, resamples=100)["method"].nunique()
    9
    """
    found = summarise_coverage(repeats, seed=seed, simulations=runs, resamples=resamples)
    rows = [
        (one.method, "ratio", one.shape, one.runs, np.nan, *_counted(one.coverage_ratio, runs))
        for one in found.itertuples()
    ]
    ratios = pd.DataFrame(rows, columns=list(COLUMNS)).sort_values("method", kind="stable")
    others = [
        summarise_hits(lambda rng, n=n: _others(rng, n), runs=runs, seed=seed, n=n, setting="normal") for n in repeats
    ]
    return pd.concat([ratios, *others], ignore_index=True)


def _others(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
    a, b = _RATIO * (1 + _SCATTER * rng.standard_normal(n)), 1 + _SCATTER * rng.standard_normal(n)
    shared = np.exp(_SHARED * rng.standard_normal(n))
    # The two one-sided tests at 97.5 % are those of a 95 % interval.
    row = summarise_equivalence(a, b, level=0.975).iloc[0]
    behind = Estimate(row["ratio"], row["equivalence_lo"], row["equivalence_hi"], 0.95, "equivalence")
    # Two servers whose runs have the same shape differ by a shift only where they scatter alike.
    shifted = b + _RATIO - 1, 1 + _SCATTER * rng.standard_normal(n)
    return {
        ("pairs, t on logarithms", "ratio"): holds(find_paired_ratio(shared * a, shared * b), _RATIO),
        ("ranks, shift", "shift"): holds(find_shift(*shifted), _RATIO - 1),
        ("equivalence, t on logarithms", "ratio"): holds(behind, _RATIO),
    }


def _counted(share: float, runs: int) -> tuple:
    """A share that is NaN where the method has no interval for so few runs."""
    return counted(0, 0, runs) if np.isnan(share) else counted(round(share * runs), runs, runs)
