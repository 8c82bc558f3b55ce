r"""Bootstrap intervals of a law: it is fitted to many samples of the runs, drawn with replacement.

The unit that is drawn is a run.  Repeats of a level share what makes the law miss there, so they are drawn within
their level; drawn from r runs, a mean varies by (r − 1) / r of what it should, so each draw's distance from the level's
mean is stretched by :math:`\sqrt{r/(r-1)}`.  Where no level has repeats, residuals are drawn instead, each stretched by
:math:`1/\sqrt{1-h}` with its leverage h; that takes the law for true and the weights for right.

A. C. Davison, D. V. Hinkley, "Bootstrap Methods and their Application", 1997, chapter 2 (the factor), chapter 6
(residuals and leverage).
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._runs import group_runs
from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.points import summarise_points
from loadcurve.models.scaling.usl import usl_limit_rps, usl_peak_connections
from loadcurve.stats.arrays import Array, Integers, above_0, between_0_and_1, measured
from loadcurve.stats.estimate import Estimate

# A drawn mean that is not above 0 has no logarithm and no law: it becomes this part of the level's mean.
MIN_OF_MEAN = 1e-3


def bootstrap_law(
    law: Law,
    connections: ArrayLike,
    throughput_rps: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Parameters of a law fitted to each of many draws of the runs.

    Parameters
    ----------
    law : Law
        One of `LAWS`.
    connections, throughput_rps : array_like, shape (m,)
        Each run: its connections N, > 0, and its throughput X, > 0; the repeats of a level have the same N.
    weights : array_like, shape (n,), optional
        How much each level counts in a fit, > 0, in the order of the levels; without it those of
        `summarise_points`, or relative ones where no level has repeats.
    draws : int
        How many, >= 2.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    pandas.DataFrame
        One row for each draw, one column for each parameter; for the Universal Scalability Law ``peak`` (connections,
        infinite without coherency) and ``limit_rps`` too.

    Raises
    ------
    ValueRuleError
        When there are fewer levels than parameters, no level has repeats and no residual is left, or a value breaks its
        rule.

    Examples
    --------
    >>> from loadcurve.models.scaling import LAWS
    >>> connections = [1, 1, 2, 2, 4, 4, 8, 8]
    >>> found = bootstrap_law(LAWS["linear"], connections, [9, 11, 19, 21, 39, 41, 80, 82], draws=500)
    >>> print(find_interval(found["unit_throughput_rps"], 10.1))
    10.1 [9.878, 10.29]
    """
    number, throughput = np.asarray(measured("connections", connections)), measured("throughput_rps", throughput_rps)
    if number.shape != throughput.shape or number.ndim != 1 or np.isnan(number + throughput).any():
        raise ValueRuleError("throughput_rps", f"one known value for each of {number.size} runs", throughput.shape)
    if draws < 2:
        raise ValueRuleError("draws", ">= 2", draws)
    levels, of_level, means, repeats, _ = group_runs(number, throughput)
    if levels.size < len(law.parameters):
        raise ValueRuleError("levels", f">= {len(law.parameters)} (the law has as many parameters)", levels.size)
    random = np.random.default_rng(seed)
    weight = level_weights(law, number, throughput) if weights is None else np.asarray(above_0("weights", weights))
    if (repeats > 1).any():
        drawn = draw_runs(throughput, of_level, means, repeats, draws, random)
    else:
        drawn = _draw_residuals(law, levels, means, weight, draws, random)
    values = law.solve(levels, np.maximum(drawn, MIN_OF_MEAN * means), weight)
    return quantities(law, values)


def level_weights(law: Law, connections: ArrayLike, throughput_rps: ArrayLike) -> Array:
    """Return weights (n,) for runs (m,) of n levels: those of `summarise_points`, or relative ones without repeats."""
    points = summarise_points(connections, throughput_rps)
    if (points["repeats"] == 1).all():
        return law.relative_weights(points["connections"].to_numpy(), points["throughput_rps"].to_numpy())
    result: Array = points["weight"].to_numpy()
    return result


def quantities(law: Law, values: Array) -> pd.DataFrame:
    """Parameters, shape (b, p), as the columns of `bootstrap_law`, with what follows from them."""
    found = dict(zip(law.parameters, values.T, strict=True))
    if law.name == "usl":
        found["peak"] = usl_peak_connections(found["contention"], found["coherency"])
        found["limit_rps"] = usl_limit_rps(found["unit_throughput_rps"], found["contention"])
    return pd.DataFrame(found)


def find_interval(drawn: ArrayLike, value: float, level: float = 0.95, degrees: float = np.inf) -> Estimate:
    """Estimate of a quantity from its values in many draws: the percentiles between which `level` of them lie.

    With few repeats those are too close together, as the draws take the scatter of the runs for known.  `degrees` moves
    them outwards, as a t interval is wider than one of a known scatter (T. C. Hesterberg, "What teachers should know
    about the bootstrap", The American Statistician 69, 2015: the expanded percentile interval).

    Parameters
    ----------
    drawn : array_like, shape (b,)
        The quantity in each draw; it may be infinite.  A draw in which it does not exist is NaN.
    value : float
        The quantity of the fit to all runs.
    level : float
        Confidence level, 0 < level < 1.
    degrees : float
        Degrees of freedom of the scatter behind the draws, > 0, as `influence_degrees` gives them; infinite for plain
        percentiles.

    Returns
    -------
    Estimate
        The interval is widened to `value` where that lies outside.  A warning names the share of draws without it, and
        says so where the wanted percentile lies beyond all draws.

    Raises
    ------
    ValueRuleError
        When `degrees` or `level` breaks its rule.

    Examples
    --------
    >>> print(find_interval(np.arange(1, 1001), 500, level=0.9, degrees=4))
    500 [17, 984]
    """
    if not degrees > 0:
        raise ValueRuleError("degrees", "> 0", degrees)
    between_0_and_1("level", level)
    method = "bootstrap, percentiles"  # of runs or of residuals: the draws do not say
    if np.isfinite(degrees):
        method = f"bootstrap, percentiles expanded to {degrees:.3g} degrees of freedom"
    known = np.asarray(drawn, float)
    known = known[~np.isnan(known)]
    warnings = []
    if known.size < len(np.atleast_1d(drawn)):
        share = 1 - known.size / len(np.atleast_1d(drawn))
        warnings.append(f"{share:.1%} of the draws do not have it")
    if not known.size:
        return Estimate(value, np.nan, np.nan, level, method, tuple(warnings))
    tail = float(scipy.special.ndtr(scipy.special.stdtrit(degrees, (1 - level) / 2)))
    if tail * known.size < 1:
        warnings.append(f"{known.size} draws have no percentile of {tail:.2g}: the ends are their least and greatest")
    # Ranks, not interpolation: between a finite and an infinite draw there is no value.
    lo, hi = np.quantile(known, [tail, 1 - tail], method="inverted_cdf")
    if not lo <= value <= hi:
        warnings.append(f"the fit's own value lies outside of the draws' [{lo:.4g}, {hi:.4g}]")
    ends = (min(lo, value), max(hi, value)) if not np.isnan(value) else (lo, hi)
    return Estimate(value, *ends, level, method, tuple(warnings))


def draw_runs(
    throughput: Array, of_level: Integers, means: Array, repeats: Integers, draws: int, random: np.random.Generator
) -> Array:
    """Means of runs drawn within each level; a level of one run varies as the others do, in proportion to its mean.

    Throughput (m,) with the level of each run, mean and number of runs of each level (n,); the result (draws, n) may
    hold values that are not above 0 where the scatter is as large as the mean.
    """
    drawn = np.empty((draws, means.size))
    relative = throughput / means[of_level] - 1
    stretch = np.sqrt(repeats / np.maximum(repeats - 1, 1))
    pooled = (relative * stretch[of_level])[repeats[of_level] > 1]
    for i, count in enumerate(repeats):
        own = relative[of_level == i] * stretch[i] if count > 1 else pooled
        drawn[:, i] = means[i] * (1 + random.choice(own, (draws, count)).mean(axis=1))
    return drawn


def _draw_residuals(
    law: Law, levels: Array, means: Array, weights: Array, draws: int, random: np.random.Generator
) -> Array:
    root = np.sqrt(weights)
    values = law.solve(levels, means[None], weights)[0]
    fitted = law.function(levels, *values)
    free = law.free(levels, means, values)
    if levels.size <= len(free):
        raise ValueRuleError("levels", f"> {len(free)} where no level has repeats", levels.size)
    slope = law.gradient(levels, *values)[:, free] * root[:, None]
    norm = np.linalg.norm(slope, axis=0)
    slope = slope / np.where(norm > 0, norm, 1.0)  # a parameter without effect at these levels has no leverage
    leverage = np.einsum("ij,ji->i", slope, np.linalg.pinv(slope))
    # A point that fits itself has no residual.
    residuals = root * (means - fitted) / np.sqrt(np.maximum(1 - leverage, 1e-3))
    residuals = residuals - residuals.mean()
    return fitted + random.choice(residuals, (draws, levels.size)) / root
