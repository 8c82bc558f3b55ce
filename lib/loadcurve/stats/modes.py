"""Test whether values are bimodal: two code paths, two processors, two states of the machine.

J. A. Hartigan, P. M. Hartigan, "The Dip Test of Unimodality", Annals of Statistics 13(1), 1985, pp. 70–84; the
algorithm in P. M. Hartigan, "Algorithm AS 217", Applied Statistics 34(3), 1985.
"""

from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.stats._hypothesis_test import result_row
from loadcurve.stats.arrays import Array, between_0_and_1, series
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.merging import merge_size

TEST = "Hartigan's dip"
MIN_VALUES = 8  # below, even two separate modes hardly reach p = 0.05
MAX_SIMULATED = 100  # sqrt(n) · dip hardly changes its distribution beyond (Hartigan and Hartigan 1985, table 1)
SAMPLES = 999  # uniform samples: p to a thousandth
MAX_TIES = 0.5  # share of values that repeat an earlier value; above it, rounding may create modes


def dip(values: ArrayLike) -> float:
    """Hartigan's dip: the greatest distance between the empirical distribution and the nearest unimodal one.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Any order, any unit, n >= 2.

    Returns
    -------
    float
        Between 1/(2n) and 1/4.

    Raises
    ------
    ValueRuleError
        When `values` is not one-dimensional, too short or has gaps.

    Examples
    --------
    >>> dip([1, 1, 1, 1, 9, 9, 9, 9])
    0.25
    """
    return _dip(np.sort(series("values", values, 2)))


def summarise_modes(values: ArrayLike, seed: int = 0, level: float = 0.95) -> pd.DataFrame:
    """Test whether values have more than one mode: the dip test against the uniform distribution.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Repeats, or samples of one run in time order, any unit, n >= 8.
    seed : int
        Of the uniform samples that give the p value.
    level : float
        Confidence level of the verdict, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``question, test, statistic`` (the dip), ``p_value, value, lo, hi`` (all NaN: the test does not
        locate the modes), ``verdict, warnings``.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Notes
    -----
    Samples that resemble their neighbours count too often: only every m-th is tested, with Ferrari's m (see
    `find_mean_of_series`).  Do not pass averages: they hide modes.  Beyond 100 values the square root of n times the
    dip is compared with that of 100 uniform ones.  A small p says "more than one mode", neither how many nor where.
    For one mode that is not flat the test seldom errs, and it misses modes that overlap.

    Examples
    --------
    >>> fast, slow = np.random.default_rng(1).normal([[10], [20]], 1, (2, 20))
    >>> summarise_modes(np.ravel([fast, slow], order="F"))["verdict"].item()
    'more than one mode: dip 0.148 of 40 values, p = 0.001'
    """
    known, level = series("values", values, MIN_VALUES), between_0_and_1("level", level)
    thinned, warnings = _thin(known)
    if thinned.size < MIN_VALUES:
        warnings.append(f"only {thinned.size} independent values remain after thinning, fewer than {MIN_VALUES}")
        nothing = Estimate(np.nan, np.nan, np.nan, level, TEST, tuple(warnings))
        return result_row("modes", TEST, np.nan, np.nan, nothing, "not tested")
    tied = 1 - np.unique(thinned).size / thinned.size
    if tied > MAX_TIES:
        warnings.append(f"{100 * tied:.0f} % of the values repeat another one: rounding creates modes")
    statistic = dip(thinned)
    null = _dips_of_uniform(min(thinned.size, MAX_SIMULATED), seed)
    scaled = statistic * np.sqrt(max(thinned.size / MAX_SIMULATED, 1.0))
    p_value = (1 + np.sum(null >= scaled - 1e-12)) / (1 + null.size)
    verdict = (
        f"{'more than one mode' if p_value < 1 - level else 'one mode is enough'}: dip {statistic:.3g} of "
        f"{thinned.size} values, p = {p_value:.2g}"
    )
    return result_row(
        "modes", TEST, statistic, p_value, Estimate(np.nan, np.nan, np.nan, level, TEST, tuple(warnings)), verdict
    )


def _thin(values: Array) -> tuple[Array, list[str]]:
    size = merge_size(values)
    if size == 0:
        return values[:0], ["autocorrelation does not vanish: a drift, or too short a run"]
    if size == 1:
        return values, []
    return values[::size], [f"1 in {size} of {values.size} values taken, because neighbours resemble each other"]


@lru_cache(maxsize=64)
def _dips_of_uniform(size: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.array([_dip(sample) for sample in np.sort(rng.random((SAMPLES, size)), axis=1)])


def _dip(ordered: Array) -> float:
    """Close in on the modal interval, where the hulls of the empirical distribution lie farthest apart."""
    places, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    below, above = first.astype(float), (first + counts).astype(float)  # values < x and <= x
    lo, hi, worst = 0, places.size - 1, 1.0  # distances in counts; the least dip is 1/(2n)
    while hi > lo:
        inside = slice(lo, hi + 1)
        convex = lo + np.array(_knots(places[inside], below[inside]))
        concave = lo + np.array(_knots(places[inside], -above[inside]))
        minorant = np.interp(places[inside], places[convex], below[convex])
        majorant = np.interp(places[inside], places[concave], above[concave])
        knots = np.union1d(convex, concave)  # between them the distance is linear
        apart = (majorant - minorant)[knots - lo]
        if apart.max() <= worst:
            break
        at = knots[np.argmax(apart)]
        # From the last knot of the minorant up to the place, to the first knot of the majorant from it on.
        left, right = convex[convex <= at][-1], concave[concave >= at][0]
        # Outside both knots the hulls are the unimodal distribution; a step on a knot itself may be its mode.
        rise, fall = (above[inside] - minorant)[: left - lo], (majorant - below[inside])[right - lo + 1 :]
        worst = max(worst, rise.max(initial=0.0), fall.max(initial=0.0))
        lo, hi = int(left), int(right)
    return float(worst / (2 * ordered.size))


def _knots(x: Array, y: Array) -> list[int]:
    """Return the indices of the lower convex hull of points sorted by x (A. M. Andrew's monotone chain, 1979)."""
    across, up = x.tolist(), y.tolist()
    knots: list[int] = []
    for i in range(len(across)):
        while len(knots) > 1:
            a, b = knots[-2], knots[-1]
            if (up[b] - up[a]) * (across[i] - across[a]) < (up[i] - up[a]) * (across[b] - across[a]):
                break
            knots.pop()
        knots.append(i)
    return knots
