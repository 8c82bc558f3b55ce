r"""Forecasts that know no law: what any forecast must beat.

They start at the last measured point; only the last two are used.  The damped trend continues their growth g of log X
per doubling of the load, each doubling with a part φ of the growth of the one before:

.. math:: \log X(N_n 2^h) = \log X_n + g\,(\varphi + \varphi^2 + \dots + \varphi^h)
    = \log X_n + g\,\varphi\,\frac{1 - \varphi^h}{1 - \varphi}

E. S. Gardner, E. McKenzie, "Forecasting trends in time series", Management Science 31(10), 1985, with doublings in
place of periods.
"""

import numpy as np

from loadcurve.models.scaling.model_selection import damped_growth
from loadcurve.plots.fits import LAST_VALUE
from loadcurve.stats.arrays import Array

# A line that falls to nothing would predict no throughput; a twentieth of the last is as wrong, and has a logarithm.
_MIN_RATIO = 0.05


def last_value(number: Array, throughput: Array, at: Array) -> Array:
    """Predict the last throughput for every load."""
    return np.full(at.shape, throughput[-1])


def last_line(number: Array, throughput: Array, at: Array) -> Array:
    """Continue the line through the last two points."""
    slope = (throughput[-1] - throughput[-2]) / (number[-1] - number[-2])
    result: Array = np.maximum(throughput[-1] + slope * (at - number[-1]), _MIN_RATIO * throughput[-1])
    return result


def damped_trend(number: Array, throughput: Array, at: Array) -> Array:
    """Continue the growth per doubling between the last two points, damped."""
    growth = np.log(throughput[-1] / throughput[-2]) / np.log2(number[-1] / number[-2])
    result: Array = throughput[-1] * np.exp(damped_growth(growth, np.log2(at / number[-1])))
    return result


BASELINES = {
    LAST_VALUE: last_value,
    "line through the last two": last_line,
    "damped trend": damped_trend,
}
"""By the name under which they are published."""
