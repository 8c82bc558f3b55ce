"""Straight lines of utilisation against throughput, with or without an intercept, and their saturation throughput.

Every quantity is a tuple (value, lo, hi).  Intervals are t intervals for independent runs, except for the saturation of
a line with an intercept.  That is Fieller's interval: all throughputs at which the line's utilisation does not differ
from the target.

E. C. Fieller, "Some Problems in Interval Estimation", J. Royal Statistical Society B 16, 1954.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from loadcurve.stats.arrays import Array

Interval = tuple[float, float, float]
UNKNOWN: Interval = (np.nan, np.nan, np.nan)

# An intercept below a thousandth is negligible, and on runs without scatter it is rounding.
_MIN_INTERCEPT = 1e-3
# Without scatter an interval has no width; a thousandth of a thousandth is far above the error of float64.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Line:
    """U = intercept + slope X, and the throughput at which U reaches the target.

    The intercept of a line through the origin is NaN.
    """

    slope: Interval
    intercept: Interval
    saturation: Interval


def least_squares_line(x: Array, u: Array, target: float, level: float, through_origin: bool) -> Line | None:
    """Return the line with an intercept, or through the origin if too few points determine one; None without points."""
    if not x.size:
        return None
    if through_origin or x.size < 3 or np.unique(x).size < 2:
        return _through_origin(x, u, target, level)
    return _with_intercept(x, u, target, level)


def has_intercept(line: Line | None) -> bool:
    """Return whether the line has an intercept whose interval excludes 0."""
    if line is None or np.isnan(line.intercept[0]):
        return False
    value, lo, hi = line.intercept
    return abs(value) >= _MIN_INTERCEPT and not lo <= 0 <= hi


def overlap(first: Interval, second: Interval) -> bool:
    """Return whether two intervals have a common number, except for rounding."""
    return first[1] <= second[2] * (1 + _ROUNDING) and second[1] <= first[2] * (1 + _ROUNDING)


def reciprocal(numerator: float, of: Interval) -> Interval:
    """Return numerator / (value, lo, hi), its ends in order; infinite for a denominator of 0, NaN for one below 0."""
    with np.errstate(divide="ignore", over="ignore"):
        value, lo, hi = np.where(np.asarray(of) >= 0, numerator / np.asarray(of), np.nan)
    return float(value), float(hi), float(lo)


def _through_origin(x: Array, u: Array, target: float, level: float) -> Line:
    slope = float(u @ x / (x @ x))
    half: float = np.nan
    if x.size > 1:
        squares = np.sum((u - slope * x) ** 2) / (x.size - 1)
        half = scipy.special.stdtrit(x.size - 1, (1 + level) / 2) * np.sqrt(squares / (x @ x))
    lo = max(slope - half, 0.0) if x.size > 1 else np.nan  # no demand is below 0
    ends = (slope, lo, slope + half)
    return Line(ends, UNKNOWN, reciprocal(target, ends))


def _with_intercept(x: Array, u: Array, target: float, level: float) -> Line:
    count, mean = x.size, x.mean()
    spread = np.sum((x - mean) ** 2)
    slope = (x - mean) @ u / spread
    intercept = u.mean() - slope * mean
    squares = np.sum((u - intercept - slope * x) ** 2) / (count - 2)
    t = scipy.special.stdtrit(count - 2, (1 + level) / 2)
    half = t * np.sqrt(squares / spread)
    half_intercept = t * np.sqrt(squares * (1 / count + mean**2 / spread))
    # |U_target − ū − b z| <= t s sqrt(1/n + z²/Sxx) with z = X − x̄: a quadratic in z.
    gap = target - u.mean()
    square, middle, constant = slope**2 - half**2, slope * gap, gap**2 - t**2 * squares / count
    saturation = (mean + gap / slope if slope > 0 else np.inf, 0.0, np.inf)
    inside = middle**2 - square * constant
    root = np.sqrt(max(inside, 0.0))
    if slope > 0 and square > 0:
        lo, hi = mean + (middle - root) / square, mean + (middle + root) / square
        # Without scatter, rounding may place the value outside its interval.
        saturation = (saturation[0], min(lo, saturation[0]), max(hi, saturation[0]))
    elif gap > 0 and inside > 0 and (slope > 0 or square < 0 < constant):
        # The interval of the slope includes 0: the saturation has no upper end, and its lower end is the root for a
        # slope above 0, also where the fitted slope is not.  Without roots, no throughput is excluded.
        saturation = (saturation[0], max(mean + constant / (middle + root), 0.0), np.inf)
    return Line(
        _not_below_0(slope, slope - half, slope + half),  # no demand is below 0
        (intercept, intercept - half_intercept, intercept + half_intercept),
        # Saturation is below 0 where the intercept alone exceeds the target.
        _not_below_0(*saturation),
    )


def _not_below_0(value: float, lo: float, hi: float) -> Interval:
    return max(value, 0.0), max(lo, 0.0), max(hi, 0.0)
