"""Points of a curve: the mean of the runs of each level and its weight in a fit, sorted and checked."""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._runs import group_runs, known_runs
from loadcurve.stats.arrays import Array, Integers, above_0, measured


def known_points(
    connections: ArrayLike, throughput_rps: ArrayLike, weights: ArrayLike | None, least: int
) -> tuple[Array, Array, Array, list[str]]:
    """Connections, throughput and weights of the points that have a value, sorted by connections; and warnings."""
    number = np.atleast_1d(measured("connections", connections))
    throughput = np.atleast_1d(measured("throughput_rps", throughput_rps))
    weight = np.ones_like(number) if weights is None else np.atleast_1d(above_0("weights", weights))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    if weight.shape != number.shape:
        raise ValueRuleError("weights", f"of the shape of connections, {number.shape}", weight.shape)
    known = np.isfinite(number) & np.isfinite(throughput) & np.isfinite(weight)
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} points have no value and are left out"]
    number, throughput, weight = number[known], throughput[known], weight[known]
    if number.size < least:
        raise ValueRuleError("points", f">= {least} (the law has {least} parameters)", number.size)
    order = np.argsort(number)
    number, throughput, weight = number[order], throughput[order], weight[order]
    twice = number[1:][np.diff(number) == 0]
    if twice.size:
        raise ValueRuleError("connections", "each level once (pass the mean over its repeats)", f"{twice[0]:g} twice")
    return number, throughput, weight / weight.mean(), warnings


def summarise_points(connections: ArrayLike, throughput_rps: ArrayLike) -> pd.DataFrame:
    r"""Mean of the runs of each level with its weight, one over the variance of the mean.

    Three repeats are too few to estimate a variance per level.  So all levels together determine how the scatter of
    a run depends on the throughput:

    .. math:: s_i = c\,\bar X_i^{\theta}, \qquad w_i \propto r_i / s_i^2, \qquad 0 \le \theta \le 1

    from the same scatter everywhere (θ = 0) to the same share of the throughput (θ = 1), by maximum likelihood of the
    variances within the levels (R. J. Carroll, D. Ruppert, "Transformation and Weighting in Regression", 1988, chapter
    3, "power of the mean").  Where no repeats show any scatter, θ = 1: throughput mostly scatters in proportion.

    Parameters
    ----------
    connections, throughput_rps : array_like, shape (m,)
        Each run: its connections N, > 0, and its throughput X, > 0; the repeats of a level have the same N.  A run
        without a value (NaN) is left out.

    Returns
    -------
    pandas.DataFrame
        ``connections, throughput_rps`` (mean), ``repeats``, ``scatter_rps`` (s_i, of one run; NaN where no level has
        repeats) and ``weight`` (mean 1), sorted by connections: what every `fit_*` takes.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, no run has a value, or a value breaks its rule.

    Examples
    --------
    >>> summarise_points([1, 1, 8, 8], [99, 101, 790, 810]).round(2)
       connections  throughput_rps  repeats  scatter_rps  weight
    0          1.0           100.0        2         1.60    1.97
    1          8.0           800.0        2        12.81    0.03
    """
    number, throughput, _ = known_runs(connections, throughput_rps)
    levels, _, means, repeats, squares = group_runs(number, throughput)
    scatter = _scatter(means, squares, repeats - 1)
    weight = repeats / (scatter if np.all(scatter > 0) else means) ** 2
    return pd.DataFrame(
        {
            "connections": levels,
            "throughput_rps": means,
            "repeats": repeats,
            "scatter_rps": scatter,
            "weight": weight / weight.mean(),
        }
    )


def _scatter(means: Array, squares: Array, degrees: Integers) -> Array:
    """Standard deviation of a run at each level, c times a power of its mean."""
    if not degrees.any():
        return np.full(means.size, np.nan)
    if not squares.any():
        return np.zeros(means.size)
    relative = means / means.max()  # powers of a million requests per second would lose digits

    def variance(power: float) -> float:
        return float((squares * relative ** (-2 * power)).sum() / degrees.sum())

    def misfit(power: float) -> float:
        return float(degrees.sum() * np.log(variance(power)) + 2 * power * (degrees @ np.log(relative)))

    power = float(scipy.optimize.minimize_scalar(misfit, bounds=(0.0, 1.0), method="bounded").x)
    result: Array = np.sqrt(variance(power)) * np.power(relative, power)
    return result
