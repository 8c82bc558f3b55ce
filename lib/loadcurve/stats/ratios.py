"""Every interval for the ratio of A to B, side by side."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.stats.bootstrap import find_bootstrap_ratio
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.rank import find_rank_ratio
from loadcurve.stats.ratio import find_geometric_ratio, find_ratio

# a, b, level, seed, resamples.
_Method = Callable[[ArrayLike, ArrayLike, float, int | np.random.Generator, int], Estimate]


def _bootstrap(interval: str) -> _Method:
    return lambda a, b, level, seed, resamples: find_bootstrap_ratio(
        a, b, seed=seed, level=level, resamples=resamples, interval=interval
    )


METHODS: dict[str, _Method] = {
    "Fieller": lambda a, b, level, seed, resamples: find_ratio(a, b, level),
    "t on logarithms": lambda a, b, level, seed, resamples: find_geometric_ratio(a, b, level),
    "ranks": lambda a, b, level, seed, resamples: find_rank_ratio(a, b, level),
    "bootstrap, expanded": _bootstrap("expanded percentile"),
    "bootstrap, percentile": _bootstrap("percentile"),
    "bootstrap, BCa": _bootstrap("BCa"),
}


def summarise_ratios(
    a: ArrayLike, b: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 10_000
) -> pd.DataFrame:
    """Ratio of A to B with its interval, by every method.

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit.
    seed, level, resamples
        As for `find_bootstrap_ratio`.

    Returns
    -------
    pandas.DataFrame
        A row for each method: ``method``, ``ratio``, ``lo``, ``hi`` (NaN where the method has no interval) and
        ``warnings``.  Choose the method before the numbers are known, not after.

    Examples
    --------
    >>> summarise_ratios([110, 112, 108], [100, 101, 99], seed=1)[["method", "ratio", "lo", "hi"]].round(3).head(3)
                method  ratio     lo     hi
    0          Fieller    1.1  1.059  1.141
    1  t on logarithms    1.1  1.060  1.142
    2            ranks    1.1    NaN    NaN
    """
    found = {name: find(a, b, level, seed, resamples) for name, find in METHODS.items()}
    rows = [(name, one.value, one.lo, one.hi, "; ".join(one.warnings)) for name, one in found.items()]
    return pd.DataFrame(rows, columns=["method", "ratio", "lo", "hi", "warnings"])
