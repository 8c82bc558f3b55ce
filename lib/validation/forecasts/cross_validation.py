"""Constants chosen on published curves, and forecasts of each author's curves with constants chosen without them."""

from dataclasses import replace
from itertools import product

import numpy as np

from loadcurve.arrays import Array, Mask
from loadcurve.models.scaling.outlook import DEPARTURE, Departure, Outlook

DRIFTS = (0.0, 0.005, 0.01, 0.015, 0.02)
"""Candidates for the drift."""
WIDTHS = tuple(product((0.25, 0.5, 0.75, 1.0), (0.0, 0.05, 0.1, 0.2), (1.0, 2.0, 3.0)))
"""Candidates for the parts of the scatter and of the slope, and for the width below."""
# Coverage this close to the level is as good as the level: a hundred curves know it no better than to three points.
_CALIBRATED = 0.015
# Half-widths of a baseline's band after one doubling, relative: from narrower to wider than any published curve asks.
_HALF_WIDTHS = np.geomspace(0.01, 3.0, 40)
# Some bands go below 0, where there is no logarithm: an end below a twentieth of the last throughput counts as that.
_MIN_RATIO = 0.05


def interval_score(lo: Array, hi: Array, observed: Array, level: float) -> Array:
    r"""Interval score of log X: the width of the interval, and 2 / α times by how much it misses; lower is better.

    α = 1 − level.  T. Gneiting, A. E. Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation", Journal of
    the American Statistical Association 102(477), 2007, equation 43.  Of the logarithm, as a factor of two too much is
    as wrong as a factor of two too little, and no curve that rises far outweighs the others.

    Parameters
    ----------
    lo, hi, observed : numpy.ndarray
        In units of the last throughput that was seen.
    level : float
        Of the interval, 0 < level < 1.

    Examples
    --------
    >>> interval_score(np.array([1.0, 1.0]), np.exp([1.0, 1.0]), np.exp([0.5, 1.5]), 0.9).round(6).tolist()
    [1.0, 11.0]
    """
    lo = np.log(np.maximum(lo, _MIN_RATIO))
    hi = np.maximum(np.log(np.maximum(hi, _MIN_RATIO)), lo)
    x = np.log(observed)
    return hi - lo + 2 / (1 - level) * (np.maximum(lo - x, 0.0) + np.maximum(x - hi, 0.0))


def weighted_quantile(values: Array, weights: Array, end: float) -> float:
    """Least value that at least a part of the weight does not exceed; NaN without a value."""
    if not values.size:
        return float("nan")
    order = np.argsort(values)
    along = np.cumsum(weights[order])
    return float(values[order][min(np.searchsorted(along, along[-1] * end), values.size - 1)])


class Constants:
    """Every candidate's band at every point, so that any subset of the curves can choose.

    Parameters
    ----------
    outlook : Outlook
        Of all points, m.
    observed : numpy.ndarray, shape (m,)
        Throughput measured there, in units of the last that was seen.
    weights : numpy.ndarray, shape (m,)
        How much each point counts: each curve as much as any other.
    plateau : numpy.ndarray of bool, shape (m,)
        Whether the point is of a curve on a plateau.
    level : float
        Of the bands.
    """

    def __init__(self, outlook: Outlook, observed: Array, weights: Array, plateau: Mask, level: float) -> None:
        self._outlook, self._weights, self._plateau = outlook, weights, plateau
        self._ends = [(1 - level) / 2, 0.5, (1 + level) / 2]
        [middle] = outlook.quantiles([0.5], replace(DEPARTURE, drift=0.0), further_run=True)
        losses = [np.exp(-drift * outlook.doublings) for drift in DRIFTS]
        self._errors = np.array([np.abs(middle * loss / observed - 1) for loss in losses])
        ends = [outlook.quantiles(self._ends[::2], Departure(0.0, *width), further_run=True) for width in WIDTHS]
        # Widths, drifts, points.
        bands = [[(lo * loss, hi * loss) for loss in losses] for lo, hi in ends]
        self._inside = np.array([[(lo <= observed) & (observed <= hi) for lo, hi in row] for row in bands])
        self._scores = np.array([[interval_score(lo, hi, observed, level) for lo, hi in row] for row in bands])
        self._level = level

    def choose(self, chosen_on: Mask) -> Departure:
        """Choose on a subset (m,) of the points: the drift by the median error of plateaus, the widths by their bands.

        Of the bands whose coverage is calibrated on plateaus and on rising curves, those with the best interval score
        win.
        """
        on_plateaus = chosen_on & self._plateau
        errors = [weighted_quantile(one[on_plateaus], self._weights[on_plateaus], 0.5) for one in self._errors]
        drift = int(np.argmin(errors)) if on_plateaus.any() else DRIFTS.index(DEPARTURE.drift)
        kinds = [kind for kind in (on_plateaus, chosen_on & ~self._plateau) if kind.any()]
        misses = [
            np.abs(np.average(self._inside[:, drift, kind], axis=1, weights=self._weights[kind]) - self._level)
            for kind in kinds
        ]
        miss = np.max(misses, axis=0)
        scores = self._scores[:, drift, chosen_on] @ self._weights[chosen_on]
        scores[miss > max(_CALIBRATED, miss.min())] = np.inf
        return Departure(DRIFTS[drift], *WIDTHS[int(np.argmin(scores))])

    def predict(self, groups: Array) -> Array:
        """Quantiles (3, m): lower end, median, upper end of each group's points, with constants chosen without it."""
        found = np.empty((3, groups.size))
        for group in np.unique(groups):
            own = groups == group
            departure = self.choose(~own) if not own.all() else DEPARTURE
            found[:, own] = self._outlook.quantiles(self._ends, departure, further_run=True)[:, own]
        return found


def baseline_bands(
    middle: Array,
    observed: Array,
    doublings: Array,
    weights: Array,
    plateau: Mask,
    groups: Array,
    level: float,
) -> Array:
    """Bands (2, m) of forecasts (m,) that have none: relative, as the square root of the doublings.

    The width is the one with the best interval score on the other groups, on plateaus and on rising curves apart; NaN
    where there is no other.
    """
    half = _HALF_WIDTHS[:, None] * np.sqrt(doublings)
    ends = np.array([middle * np.exp(-half), middle * np.exp(half)])
    scores = interval_score(ends[0], ends[1], observed, level) * weights
    found = np.full((2, middle.size), np.nan)
    for group in np.unique(groups):
        for kind in (plateau, ~plateau):
            own, others = (groups == group) & kind, (groups != group) & kind
            if others.any():
                found[:, own] = ends[:, int(np.argmin(scores[:, others].sum(axis=1))), own]
    return found
