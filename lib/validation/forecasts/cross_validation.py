"""Constants chosen on published curves, and forecasts of each author's curves with constants chosen without them."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

from loadcurve.models.scaling.model_selection import DEPARTURE, Departure, Outlook
from loadcurve.stats.arrays import Array, Mask

PARTS = np.arange(11) / 10
"""Candidates for the part of the laws' growth, and for that of the damped trend."""
WIDTHS = tuple(product((0.5, 0.75, 1.0), (0.05, 0.1, 0.2), (1.0, 2.0, 3.0), (0.5, 0.75, 1.0)))
"""Candidates for the parts of the scatter and of the slope, for the width below, and for the power of the doublings."""
HORIZON = 1.1
"""Doublings up to which a point is near; loads such as 10 and 21 count as one doubling."""
# A forecast that misses by a quarter is of no use, however much more it misses.
_USELESS = 0.25
# The part of an even mix: of parts that the curves do not distinguish it forecasts new ones best, as it was not fitted
# (J. Smith, K. F. Wallis, "A simple explanation of the forecast combination puzzle", Oxford Bulletin of Economics and
# Statistics 71(3), 2009).
_EVEN = 0.5
# To choose widths, every fourth of the laws' curves will do.
_THINNED = 4
# Coverage this little below the level is as good as the level: a hundred curves know it no better than to three points.
_CALIBRATED = 0.015
# Half-widths of a baseline's band after one doubling, relative: from narrower to wider than any published curve asks.
_HALF_WIDTHS = np.geomspace(0.01, 3.0, 40)
# Some bands go below 0, where there is no logarithm: an end below a twentieth of the last throughput counts as that.
_MIN_RATIO = 0.05


def interval_score(lo: Array, hi: Array, observed: Array, level: float) -> Array:
    """Interval score of log X: the width of the interval, and 2 / α times by how much it misses; lower is better.

    α = 1 − level.  T. Gneiting, A. E. Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation", Journal of
    the American Statistical Association 102(477), 2007, equation 43.  Of the logarithm, as a factor of two too much is
    as wrong as a factor of two too little, and no curve that rises far outweighs the others.

    The ends and the observed value are in units of the last throughput that was seen.
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
    """Every candidate's error and band at every point, so that any subset of the curves can choose.

    Of m points: the `outlook`; what was `observed`, in units of the last throughput that was seen; how much each
    counts; whether its curve is on a plateau; and its author.  `level` is that of the bands.
    """

    def __init__(
        self, outlook: Outlook, observed: Array, weights: Array, plateau: Mask, authors: Array, level: float
    ) -> None:
        self._outlook, self._weights, self._plateau, self._level = outlook, weights, plateau, level
        self._observed, self._falls = observed, outlook.slope < 0
        self._author = np.unique(authors, return_inverse=True)[1]
        thinned = replace(outlook, centre=outlook.centre[:, _THINNED // 2 :: _THINNED])
        ends = [(1 - level) / 2, (1 + level) / 2]
        losses = []
        for part in PARTS:
            # Either part matters where the other does not: on a rise, or on a fall.
            middle = np.median(thinned.stacked(replace(DEPARTURE, laws=part, trend=part)), axis=1)
            losses.append(np.minimum(np.abs(middle - np.log(observed)), _USELESS))
        self._losses = np.array(losses)

        @cache
        def bands(laws: float, trend: float) -> tuple[Array, Array]:
            """Whether each width's band holds each point, and its score there: each (widths, points)."""
            every = [thinned.quantiles(ends, Departure(laws, trend, *width), further_run=True) for width in WIDTHS]
            inside = [(lo <= observed) & (observed <= hi) for lo, hi in every]
            return np.array(inside), np.array([interval_score(lo, hi, observed, level) for lo, hi in every])

        self._bands = bands

    def choose(self, chosen_on: Mask) -> Departure:
        """Choose on a subset (m,) of the points: each part by the errors, then the widths by the bands.

        Of the bands that cover enough on plateaus and on rising curves, near and far, those with the best interval
        score win.
        """
        laws, trend = self._part(chosen_on & ~self._falls), self._part(chosen_on & self._falls)
        inside, every = self._bands(laws, trend)
        far = self._outlook.doublings > HORIZON
        kinds = [chosen_on & (self._plateau == flat) & (far == away) for flat, away in product((True, False), repeat=2)]
        covered = [np.average(inside[:, kind], axis=1, weights=self._weights[kind]) for kind in kinds if kind.any()]
        miss = self._level - np.min(covered, axis=0)
        scores = every[:, chosen_on] @ self._weights[chosen_on]
        scores[miss > max(_CALIBRATED, miss.min())] = np.inf
        return Departure(laws, trend, *WIDTHS[int(np.argmin(scores))])

    def _part(self, rows: Mask) -> float:
        """Of the parts whose loss is at most one standard error above the least, the one nearest to an even mix.

        The standard error is of the difference to the best part, by the jackknife over authors (L. Breiman and others,
        "Classification and Regression Trees", 1984, section 3.4.3; B. Efron, "The Jackknife", 1982).
        """
        if not rows.any():
            return _EVEN
        weights, author = self._weights[rows], self._author[rows]
        own = np.array([np.bincount(author, loss) for loss in self._losses[:, rows] * weights]).T
        share = np.bincount(author, weights)
        own, share = own[share > 0], share[share > 0]
        loss = own.sum(axis=0) / share.sum()
        best = int(np.argmin(loss))
        if share.size == 1:
            return float(PARTS[best])
        without = (own.sum(axis=0) - own) / (share.sum() - share)[:, None]
        apart = without - without[:, [best]]
        error = np.sqrt((share.size - 1) * apart.var(axis=0))
        alike = PARTS[loss - loss[best] <= error]
        return float(alike[np.argmin(np.abs(alike - _EVEN))])

    def predict(self, groups: Array, may_choose: Mask, ends: list[float]) -> Array:
        """Quantiles (len(ends), m) of each group's points, with constants chosen without it.

        Only the points `may_choose` choose; where no other group has one, the published constants are taken.
        """
        found = np.empty((len(ends), groups.size))
        for group in np.unique(groups):
            own = groups == group
            others = may_choose & ~own
            departure = self.choose(others) if others.any() else DEPARTURE
            found[:, own] = self._outlook.rows(own).quantiles(ends, departure, further_run=True)
        return found


def baseline_bands(
    middle: Array,
    observed: Array,
    doublings: Array,
    weights: Array,
    kinds: Array,
    groups: Array,
    may_choose: Mask,
    level: float,
) -> Array:
    """Bands (2, m) of forecasts (m,) that have none: relative, as the square root of the doublings.

    The width is the one with the best interval score on the other groups that may choose, on each kind of curve apart;
    NaN where there is no other.
    """
    half = _HALF_WIDTHS[:, None] * np.sqrt(doublings)
    ends = np.array([middle * np.exp(-half), middle * np.exp(half)])
    scores = interval_score(ends[0], ends[1], observed, level) * weights
    found = np.full((2, middle.size), np.nan)
    for group, kind in set(zip(groups, kinds, strict=True)):
        own, others = (groups == group) & (kinds == kind), (groups != group) & (kinds == kind) & may_choose
        if others.any():
            found[:, own] = ends[:, int(np.argmin(scores[:, others].sum(axis=1))), own]
    return found
