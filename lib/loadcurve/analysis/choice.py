"""Choose curves and loads by what was measured, where the reader names none."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import NotMeasuredError
from loadcurve.tables.curves import curves

_ENOUGH_LEVELS = 4  # levels from which a curve has a shape
_ENOUGH = 0.9  # share of the highest mean throughput at which a curve counts as saturated


def choose_curves(runs: pd.DataFrame, saturating: str = "", waiting: str = "") -> tuple[str, str]:
    """Return the curve that saturates first and the one that saturates last, unless they are named.

    A curve saturates at the fewest connections with 90 % of its highest mean throughput, relative to its most
    connections.  Curves with fewer than 4 levels count only where there are no others.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``, with its variants.
    saturating, waiting : str
        Names that the user chose; empty to choose by the runs.

    Raises
    ------
    NotMeasuredError
        When no run has both connections and throughput.

    Examples
    --------
    >>> rates = [10.0, 11.0, 11.0, 11.0, 10.0, 20.0, 30.0, 40.0]
    >>> runs = pd.DataFrame({"variant": [*"aaaabbbb"], "connections": [1, 2, 4, 8] * 2, "throughput_rps": rates})
    >>> choose_curves(runs), choose_curves(runs, waiting="c")
    (('a', 'b'), ('a', 'c'))
    """
    known = runs.dropna(subset=["connections", "throughput_rps"])
    if known.empty:
        remedy = "name connections in factors.csv, or read open loops in notebook 01_your_own_files"
        raise NotMeasuredError(f"None of {len(runs)} runs has connections and throughput", remedy)
    means = {
        name: rows["throughput_rps"].astype(float).groupby(rows["connections"].astype(float)).mean()
        for name, rows in curves(known)
    }
    full = {name: levels for name, levels in means.items() if len(levels) >= _ENOUGH_LEVELS} or means
    order = sorted(full, key=lambda name: _saturates(full[name]))
    return saturating or order[0], waiting or order[-1]


def choose_levels(connections: ArrayLike, few: float, many: float) -> tuple[int, int]:
    """Return two different measured loads: the one nearest to `many`, and below it the one nearest to `few`.

    Parameters
    ----------
    connections : array_like of float, shape (n,)
        Connections of each run, >= 1.
    few, many : float
        Connections that the user asked for, >= 1.  Distances are ratios.

    Raises
    ------
    NotMeasuredError
        When there is only one load.

    Examples
    --------
    >>> choose_levels([1, 2, 4, 8, 8], 16, 512), choose_levels([1, 16, 64, 512], 16, 512)
    ((4, 8), (16, 512))
    """
    levels = np.unique(np.asarray(connections, dtype=float))
    if levels.size < 2:
        raise NotMeasuredError("Only one load was measured", "measure at least two numbers of connections")
    above = levels[1:]
    most = above[np.abs(np.log(above / many)).argmin()]
    below = levels[levels < most]
    return int(below[np.abs(np.log(below / few)).argmin()]), int(most)


def _saturates(means: pd.Series) -> tuple[float, float]:
    first = float(means.index[means >= _ENOUGH * means.max()][0])
    return first / float(means.index[-1]), first
