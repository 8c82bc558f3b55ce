"""Coverage of the intervals of a comparison of two servers."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from loadcurve.stats.arrays import Array
from loadcurve.stats.bootstrap import find_bootstrap_ratio
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.rank import find_rank_ratio, find_shift
from loadcurve.stats.ratio import find_geometric_ratio, find_paired_ratio, find_ratio
from validation.coverage.count import COLUMNS, counted, holds, summarise_hits
from validation.coverage.ratios import summarise_coverage

_RATIO = 1.1
_SCATTER = 0.05
# What the runs of a pair share, as a standard deviation of the logarithm: twice their own scatter.
_SHARED = 0.10


def summarise_ratio_coverage(
    repeats: Sequence[int] = (3, 5, 10), *, runs: int = 1000, seed: int = 4, resamples: int = 500
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of a ratio: that of `summarise_coverage`, in the form of `summarise_hits`.

    `repeats` are the runs of each server, which scatter normally (5 %) or lognormally (σ 0.5); each bootstrap has at
    least 100 `resamples`.

    Examples
    --------
    >>> len(summarise_ratio_coverage([5], runs=2, resamples=100))  # six methods, two shapes
    12
    """
    found = summarise_coverage(repeats, seed=seed, simulations=runs, resamples=resamples)
    rows = [
        (one.method, "ratio", one.shape, one.runs, np.nan, *_counted(one.coverage_ratio, runs))
        for one in found.itertuples()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).sort_values("method", kind="stable", ignore_index=True)


def summarise_comparison_coverage(
    repeats: Sequence[int] = (3, 5, 10), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the other 95 % intervals of A against B: the ratio of pairs, and the shift by ranks.

    The interval behind the verdict "equivalent" is `find_geometric_ratio`'s, "t on logarithms" of the ratios.
    Arguments and result as for `summarise_ratio_coverage`, without resamples; runs scatter normally by 5 %.

    Examples
    --------
    >>> summarise_comparison_coverage([3], runs=2)["verdict"].tolist()[1]  # three runs have no interval by ranks
    'no interval'
    """
    tables = [summarise_hits(partial(_others, n=n), runs=runs, seed=seed, n=n, setting="normal") for n in repeats]
    return pd.concat(tables, ignore_index=True)


def summarise_unequal_coverage(
    runs_of: Sequence[tuple[int, int]] = ((3, 10), (5, 20), (10, 30)),
    *,
    times: float = 4.0,
    runs: int = 1000,
    seed: int = 4,
    resamples: int = 500,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of a ratio where few runs of A scatter more than many of B.

    `runs_of` has the runs of A and of B, and `times` is the standard deviation of a run of A (5 %) over that of B.  The
    table is that of `summarise_hits`; ``n`` counts the runs of A, ``setting`` names those of B.

    Examples
    --------
    >>> summarise_unequal_coverage([(3, 10)], runs=2, resamples=100)["method"].tolist()
    ['Fieller', 't on logarithms', 'ranks', 'bootstrap, expanded']
    """
    methods: dict[str, Callable[[Array, Array, np.random.Generator], Estimate]] = {
        "Fieller": lambda a, b, rng: find_ratio(a, b),
        "t on logarithms": lambda a, b, rng: find_geometric_ratio(a, b),
        "ranks": lambda a, b, rng: find_rank_ratio(a, b),
        "bootstrap, expanded": lambda a, b, rng: find_bootstrap_ratio(a, b, seed=rng, resamples=resamples),
    }

    def simulate(rng: np.random.Generator, few: int, many: int) -> dict[tuple[str, str], float]:
        a = _RATIO * (1 + _SCATTER * rng.standard_normal(few))
        b = 1 + _SCATTER / times * rng.standard_normal(many)
        return {(name, "ratio"): holds(find(a, b, rng), _RATIO) for name, find in methods.items()}

    tables = [
        summarise_hits(
            partial(simulate, few=few, many=many),
            runs=runs, seed=seed, n=few, setting=f"beside {many}, {times:g} × the scatter",
        )
        for few, many in runs_of
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def _others(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
    a, b = _RATIO * (1 + _SCATTER * rng.standard_normal(n)), 1 + _SCATTER * rng.standard_normal(n)
    shared = np.exp(_SHARED * rng.standard_normal(n))
    # Two servers whose runs have the same shape differ by a shift only where they scatter alike.
    shifted = b + _RATIO - 1, 1 + _SCATTER * rng.standard_normal(n)
    return {
        ("pairs, t on logarithms", "ratio"): holds(find_paired_ratio(shared * a, shared * b), _RATIO),
        ("ranks, shift", "shift"): holds(find_shift(*shifted), _RATIO - 1),
    }


def _counted(share: float, runs: int) -> tuple:
    """A share that is NaN where the method has no interval for so few runs."""
    return counted(0, 0, runs) if np.isnan(share) else counted(round(share * runs), runs, runs)
