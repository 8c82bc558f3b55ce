r"""Throughput beyond the measured levels: the prediction of the laws from the last point on, and its error.

Beyond the last level N_n a prediction starts at the throughput measured there, so it carries that level's residual on.
The laws say by how much throughput grows from there.  Their growth is kept between none and a continuation of the last
two levels' slope: of the published curves that fell, as many recovered as fell further.  With each doubling of the
load throughput loses a drift of about one per cent, as published plateaus do.  A departure, normal in log X and wider
below than above, allows for what no law describes; its width is

.. math:: (a\,s + b\,|g|)\,\sqrt{\log_2 (N / N_n)}

with the scatter s of the measured points about the laws and the growth g between the last two levels per doubling: a
random walk, whose step is larger where no law fits well, and on a slope.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from loadcurve.arrays import Array

# Bisections between curves that differ by a factor of a hundred: the last step is less than a hundred-thousandth.
_STEPS = 20


@dataclass(frozen=True)
class Departure:
    """How far throughput departs from the laws beyond the last level.

    Attributes
    ----------
    drift : float
        Part of the throughput lost with each doubling of the load.
    scatter : float
        Part a of the scatter about the laws by which the departure widens after one doubling.
    slope : float
        Part b of the last slope that adds to it.
    below : float
        How many times wider the departure is below the prediction than above.
    """

    drift: float
    scatter: float
    slope: float
    below: float


DEPARTURE = Departure(drift=0.01, scatter=0.75, slope=0.05, below=2.0)
"""Constants chosen on published curves by `validation.forecasts.choose_departure`; notebook 45 chooses them again
without each author's curves."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Predictions of log X at m loads before any departure; those of several curves can be joined.

    Attributes
    ----------
    centre : numpy.ndarray, shape (m, k)
        Equally probable values of the mean of log X.
    doublings : numpy.ndarray, shape (m,)
        log₂(N / N_n), 0 within the levels.
    slope : numpy.ndarray, shape (m,)
        Growth of log X between the last two levels per doubling of the load.
    level_variance : numpy.ndarray, shape (m,)
        Variance with which the level of the curve is known.
    run_variance : numpy.ndarray, shape (m,)
        Variance of one further run about the mean.
    """

    centre: Array
    doublings: Array
    slope: Array
    level_variance: Array
    run_variance: Array

    def quantiles(self, ends: list[float], departure: Departure = DEPARTURE, *, further_run: bool) -> Array:
        """Quantiles of the throughput, shape (len(ends), m): of its mean, or of one further run."""
        variance = self.level_variance + (self.run_variance if further_run else 0.0)
        step = departure.scatter * np.sqrt(self.run_variance) + departure.slope * np.abs(self.slope)
        width = step * np.sqrt(self.doublings)
        above = np.sqrt(variance + width**2)[:, None]
        below = np.sqrt(variance + (departure.below * width) ** 2)[:, None]
        drift = departure.drift * self.doublings
        return np.array([np.exp(_quantile(self.centre, below, above, end) - drift) for end in ends])


def join(outlooks: list[Outlook]) -> Outlook:
    """Join the outlooks of several curves, one after the other."""
    names = ("centre", "doublings", "slope", "level_variance", "run_variance")
    return Outlook(*(np.concatenate([getattr(one, name) for one in outlooks]) for name in names))


def _quantile(centre: Array, below: Array, above: Array, end: float) -> Array:
    """Quantile of an even mixture of normals whose halves have widths of their own, by bisection."""
    # It lies between the least and the largest quantile of the mixed ones.
    away = scipy.special.ndtri(end) * (below if end < 0.5 else above)
    lo, hi = (centre + away).min(axis=1), (centre + away).max(axis=1)
    for _ in range(_STEPS):
        middle = (lo + hi) / 2
        apart = middle[:, None] - centre
        reached = scipy.special.ndtr(apart / np.where(apart < 0, below, above)).mean(axis=1) >= end
        lo, hi = np.where(reached, lo, middle), np.where(reached, middle, hi)
    result: Array = (lo + hi) / 2
    return result
