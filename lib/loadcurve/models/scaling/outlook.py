r"""Throughput beyond the measured levels: a stack of three forecasts from the last point on, and its error.

Beyond the last level N_n every forecast starts at the throughput measured there, so it carries that level's residual
on.  By h doublings further on, the laws add the growth L, kept between none and a continuation of the last two
levels' slope g; a damped trend continues g, each doubling with a part φ of the one before; the last value adds nothing.
The stack (D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992) takes a part of one, by the slope at the
end:

.. math::

    \log X = \log X_n + \begin{cases} w_\text{laws}\,L(h) & g \ge 0 \\
    w_\text{trend}\,g\,(\varphi + \varphi^2 + \dots + \varphi^h) & g < 0 \end{cases}

A departure, normal in log X and wider below than above, allows for what none of them describes; its width is

.. math:: (a\,s + b\,|g|)\,h^{p}

with the scatter s of the measured points about the laws: larger where no law fits well, and on a slope.  A random walk
would widen with p = 1/2, a wrong slope with p = 1.
"""

from dataclasses import dataclass, fields

import numpy as np
import scipy

from loadcurve.stats.arrays import Array, Mask

# Bisections between curves that differ by a factor of a hundred: the last step is less than a hundred-thousandth.
_STEPS = 20


# R. J. Hyndman, G. Athanasopoulos, "Forecasting: Principles and Practice", 3rd edition, 2021, section 8.2: in practice
# 0.8 to 0.98.  Loads double, so the trend ends soon; the strongest damping of that range.
_DAMPING = 0.8


@dataclass(frozen=True)
class Departure:
    """How throughput goes on beyond the last level: parts of the forecasts, and how far it departs from them.

    `laws` and `trend` are the parts of the laws' growth, where throughput rises at the end, and of the damped trend,
    where it falls.  `scatter` is a, `slope` b and `power` p of the width above the prediction; below it is `below`
    times as wide.
    """

    laws: float
    trend: float
    scatter: float
    slope: float
    below: float
    power: float


DEPARTURE = Departure(laws=0.9, trend=0.5, scatter=0.5, slope=0.1, below=3.0, power=1.0)
"""Constants chosen on published curves by `validation.forecasts.forecast_curves`; notebook 45 chooses them again, on
all curves and without each author's."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Predictions of log X at m loads before any departure; those of several curves can be joined.

    `centre` (m, k) holds equally probable values of the mean of log X by the laws, `last` (m,) its value at the last
    level, `doublings` log₂(N / N_n), 0 within the levels, and `slope` the growth of log X between the last two levels
    per doubling.  `level_variance` is how well the level of the curve is known, `run_variance` that of one further run.
    """

    centre: Array
    last: Array
    doublings: Array
    slope: Array
    level_variance: Array
    run_variance: Array

    def rows(self, taken: Mask) -> "Outlook":
        """Those of some of the loads."""
        return Outlook(*(getattr(self, field.name)[taken] for field in fields(self)))

    def stacked(self, departure: Departure = DEPARTURE) -> Array:
        """Equally probable values of the mean of log X (m, k), by the stack beyond the last level."""
        part = np.where((self.slope >= 0) & (self.doublings > 0), departure.laws, 1.0)
        fall = departure.trend * damped_growth(np.minimum(self.slope, 0.0), self.doublings)
        result: Array = part[:, None] * self.centre + ((1 - part) * self.last + fall)[:, None]
        return result

    def quantiles(self, ends: list[float], departure: Departure = DEPARTURE, *, further_run: bool) -> Array:
        """Quantiles of the throughput, shape (len(ends), m): of its mean, or of one further run."""
        variance = self.level_variance + (self.run_variance if further_run else 0.0)
        step = departure.scatter * np.sqrt(self.run_variance) + departure.slope * np.abs(self.slope)
        width = step * self.doublings**departure.power
        above, below = np.sqrt(variance + width**2), np.sqrt(variance + (departure.below * width) ** 2)
        centre = self.stacked(departure)
        middle = np.median(centre, axis=1)  # of the forecasts: their error widens to both sides of it
        lower = [np.minimum(_quantile(centre, below, end), middle) if end < 0.5 else middle for end in ends]
        upper = [np.maximum(_quantile(centre, above, end), middle) if end > 0.5 else middle for end in ends]
        return np.exp(np.add(lower, upper) - middle)


def damped_growth(slope: Array, doublings: Array) -> Array:
    """Growth of log X over doublings of the load, each with a part φ of the growth of the one before."""
    result: Array = slope * _DAMPING * (1 - _DAMPING**doublings) / (1 - _DAMPING)
    return result


def join(outlooks: list[Outlook]) -> Outlook:
    """Join the outlooks of several curves, one after the other."""
    parts = zip(*([getattr(one, field.name) for field in fields(Outlook)] for one in outlooks), strict=True)
    return Outlook(*(np.concatenate(part) for part in parts))


def _quantile(centre: Array, width: Array, end: float) -> Array:
    """Quantile of an even mixture of normals of one width, by bisection."""
    # It lies between the least and the largest quantile of the mixed ones.
    away = scipy.special.ndtri(end) * width
    lo, hi = centre.min(axis=1) + away, centre.max(axis=1) + away
    found: Array = (lo + hi) / 2
    mixed = hi > lo
    lo, hi, centre, width = lo[mixed], hi[mixed], centre[mixed], width[mixed, None]
    for _ in range(_STEPS):
        middle = (lo + hi) / 2
        reached = scipy.special.ndtr((middle[:, None] - centre) / width).mean(axis=1) >= end
        lo, hi = np.where(reached, lo, middle), np.where(reached, middle, hi)
    found[mixed] = (lo + hi) / 2
    return found
