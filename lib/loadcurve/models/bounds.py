"""What no measurement can exceed: the two asymptotes of a closed system, and where they cross.

With few connections nobody waits: X = N / (R_min + Z).  With many, the busiest resource works all the time:
X = 1 / D.  Every throughput lies under both lines.  They cross at N* = (R_min + Z) / D, the point from which on
another connection must queue.

D is the service demand of the busiest resource: the time for which one request occupies it.  R_min is the response
time of a request that meets nobody, so it is the sum of all demands and of all fixed delays; D <= R_min where the
busiest resource serves one request at a time.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, section 5.2
(asymptotic bounds), pp. 72–77; the utilisation law, chapter 3.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0, at_least_0
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean, summarise_repeats


def asymptotic_throughput_rps(
    connections: ArrayLike, demand_s: ArrayLike, latency_min_s: ArrayLike, think_time_s: ArrayLike = 0
) -> np.ndarray:
    """Most throughput that N connections can make: X <= min(1 / D, N / (R_min + Z)).

    Parameters
    ----------
    connections : array_like
        Connections N, >= 0.
    demand_s : array_like
        Service demand D of the busiest resource, > 0.
    latency_min_s : array_like
        Response time R_min without any queueing, > 0.
    think_time_s : array_like
        Think time Z, >= 0.

    Returns
    -------
    numpy.ndarray
        Upper bound in requests per second; the arguments broadcast, NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(asymptotic_throughput_rps([1, 20], demand_s=9.2, latency_min_s=17.2, think_time_s=120).round(4))
    [0.0073 0.1087]
    """
    number = at_least_0("connections", connections)
    light = number / (above_0("latency_min_s", latency_min_s) + at_least_0("think_time_s", think_time_s))
    return np.minimum(1 / above_0("demand_s", demand_s), light)  # X <= min(1/D, N/(R_min + Z))


def asymptotic_latency_s(
    connections: ArrayLike, demand_s: ArrayLike, latency_min_s: ArrayLike, think_time_s: ArrayLike = 0
) -> np.ndarray:
    """Least mean response time with N connections: R >= max(R_min, N D − Z).

    Parameters
    ----------
    connections, demand_s, latency_min_s, think_time_s : array_like
        As for `asymptotic_throughput_rps`.

    Returns
    -------
    numpy.ndarray
        Lower bound in seconds; the arguments broadcast, NaN passes through.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(asymptotic_latency_s(20, demand_s=9.2, latency_min_s=17.2, think_time_s=120).round(6))
    64.0
    """
    number = at_least_0("connections", connections)
    heavy = number * above_0("demand_s", demand_s) - at_least_0("think_time_s", think_time_s)
    return np.maximum(above_0("latency_min_s", latency_min_s), heavy)  # R >= max(R_min, N D − Z)


def find_saturation(demand: Estimate, latency_min: Estimate, think_time_s: float = 0) -> Estimate:
    """Saturation point N* = (R_min + Z) / D: the connections from which on some must queue.

    Parameters
    ----------
    demand : Estimate
        Service demand D in seconds, > 0, such as `find_demand` gives.
    latency_min : Estimate
        Response time R_min without queueing in seconds, > 0: the mean over repeats at one connection.
    think_time_s : float
        Think time Z, >= 0.

    Returns
    -------
    Estimate
        N* in connections.  The interval takes the worst corners, (R_lo + Z) / D_hi and (R_hi + Z) / D_lo.  For D and
        R_min from different runs it is wider than its level (the lower of both) asks for, because errors seldom add up.

    Raises
    ------
    ValueRuleError
        When `demand` or `latency_min` is not above 0, or `think_time_s` is negative.

    Examples
    --------
    >>> demand = Estimate(0.010, 0.008, 0.012, 0.95, "given")
    >>> print(find_saturation(demand, Estimate(0.2, 0.19, 0.21, 0.95, "given"), think_time_s=0.1))
    30 [24.17, 38.75]
    """
    above_0("demand", demand.value)
    above_0("latency_min", latency_min.value)
    think = float(at_least_0("think_time_s", think_time_s))
    warnings = [*demand.warnings, *latency_min.warnings]
    value = (latency_min.value + think) / demand.value  # N* = (R_min + Z) / D
    lo = max(latency_min.lo + think, 0.0) / demand.hi if not np.isnan(latency_min.lo) else np.nan
    hi = (latency_min.hi + think) / demand.lo if not demand.lo <= 0 else np.inf
    if np.isnan(latency_min.hi):
        hi = np.nan
    if np.isnan([lo, hi]).any():
        warnings.append("the interval of the demand or of the least latency is not known: none for saturation")
    level = min(demand.level, latency_min.level)
    return Estimate(value, lo, hi, level, "(R_min + Z) / D, worst corners of both intervals", _once(warnings))


def find_demand(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Estimate:
    """Service demand of the busiest resource, as the plateau implies it: D = 1 / X_max.

    X_max is the mean over repeats at the level of connections whose mean throughput is the highest, and not the
    highest single run.  By the utilisation law U = X D, a resource that is always busy (U = 1) has D = 1 / X.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N of each run, > 0; the repeats of a level are rows with the same N.
    throughput_rps : array_like, shape (n,)
        Throughput X of each run, > 0; a run without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        D in seconds.  Its interval is 1 / that of X_max, a t interval over the repeats at that level alone.  The level
        was chosen because it is the highest, so X_max leans upwards, and D downwards, by about a plateau's scatter.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, hold no pair, or break their rules.

    Examples
    --------
    >>> print(find_demand([1, 1, 8, 8, 8, 32, 32, 32], [99, 101, 398, 400, 402, 389, 390, 391]))
    0.0025 [0.002469, 0.002531]
    """
    number = np.atleast_1d(above_0("connections", connections))
    throughput = np.atleast_1d(above_0("throughput_rps", throughput_rps))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    known = ~(np.isnan(number) | np.isnan(throughput))
    if not known.any():
        raise ValueRuleError("throughput_rps", "known for at least one run", "none")
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} runs have no value and are left out"]
    runs = pd.DataFrame({"connections": number[known], "throughput_rps": throughput[known]})
    levels = summarise_repeats(runs, by="connections", column="throughput_rps", level=level)
    best = levels["throughput_rps"].idxmax()
    if len(levels) == 1:
        warnings.append("1 level: nothing shows that throughput is at its plateau")
    elif best == len(levels) - 1:
        warnings.append(_still_rising(levels))
    x_max = find_mean(runs.loc[runs["connections"] == levels["connections"][best], "throughput_rps"], level)
    if x_max.lo <= 0:
        warnings.append("the interval of the highest throughput reaches 0: the demand has no upper end")
    return Estimate(
        1 / x_max.value,  # D = U / X at U = 1
        1 / x_max.hi,
        np.inf if x_max.lo <= 0 else 1 / x_max.lo,
        level,
        f"1 / mean throughput at N = {levels['connections'][best]:g}, t interval over its repeats",
        _once([*warnings, *x_max.warnings]),
    )


def _still_rising(levels: pd.DataFrame) -> str:
    before, last = levels.iloc[-2], levels.iloc[-1]
    rise = last["throughput_rps"] / before["throughput_rps"] - 1
    return (
        f"throughput still rises at the last level (N = {last['connections']:g}, {rise:+.2%} from "
        f"N = {before['connections']:g}): D is an upper bound"
    )


def _once(warnings: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))
