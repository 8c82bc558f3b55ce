"""Asymptotic bounds of a closed system: the highest throughput in the long run, and the saturation point N*.

With few connections no request waits: X = N / (R_min + Z).  With many, the busiest resource is always busy:
X = 1 / D.  The throughput lies under both lines, as far as D and R_min are known: a single run scatters around them.
They cross at N* = (R_min + Z) / D, the point from which on another connection must queue.

D is the service demand of the busiest resource: the time for which one request occupies it.  R_min is the response
time of a request that never waits, so it is the sum of all demands and of all fixed delays; D <= R_min where the
busiest resource serves one request at a time.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, section 5.2
(asymptotic bounds), pp. 72–77; the utilisation law, chapter 3.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.stats.arrays import Array, above_0, at_least_0
from loadcurve.stats.estimate import Estimate


def asymptotic_throughput_rps(
    connections: ArrayLike, demand_s: ArrayLike, latency_min_s: ArrayLike, think_time_s: ArrayLike = 0
) -> Array:
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

    Examples
    --------
    >>> print(asymptotic_throughput_rps([1, 20], demand_s=9.2, latency_min_s=17.2, think_time_s=120).round(4))
    [0.0073 0.1087]
    """
    number = at_least_0("connections", connections)
    light = number / (above_0("latency_min_s", latency_min_s) + at_least_0("think_time_s", think_time_s))
    return np.minimum(1 / above_0("demand_s", demand_s), light)  # X <= min(1/D, N/(R_min + Z))


def saturation_connections(demand_s: ArrayLike, latency_min_s: ArrayLike, think_time_s: ArrayLike = 0) -> Array:
    """Saturation point N* = (R_min + Z) / D: the connections from which on some must queue.

    Parameters
    ----------
    demand_s : array_like
        Service demand D of the busiest resource, > 0; with m servers, D / m.
    latency_min_s : array_like
        Response time R_min without any queueing, > 0.
    think_time_s : array_like
        Think time Z, >= 0.

    Returns
    -------
    numpy.ndarray
        Connections, not rounded; the arguments broadcast, NaN passes through.

    Examples
    --------
    >>> print(saturation_connections(demand_s=0.002, latency_min_s=0.044))
    22.0
    """
    cycle = above_0("latency_min_s", latency_min_s) + at_least_0("think_time_s", think_time_s)
    return cycle / above_0("demand_s", demand_s)  # N* = (R_min + Z) / D


def find_saturation(demand: Estimate, latency_min: Estimate, think_time_s: float = 0) -> Estimate:
    """Saturation point N* = (R_min + Z) / D: the connections from which on some must queue.

    Parameters
    ----------
    demand : Estimate
        Service demand D in seconds, > 0, such as `find_demand` gives.
    latency_min : Estimate
        Response time R_min without queueing in seconds, > 0, such as `find_latency_min` gives.
    think_time_s : float
        Think time Z, >= 0.

    Returns
    -------
    Estimate
        N* in connections; its level is the lower of both.  The relative distances to the ends of R_min + Z and of D are
        added as independent errors are, by their squares.  For both from the same few runs take
        `find_saturation_of_runs`, whose interval is narrower.

    Raises
    ------
    ValueRuleError
        When `demand` or `latency_min` is not above 0, or `think_time_s` is negative.

    Notes
    -----
    The method of variance estimates recovery, on logarithms: G. Y. Zou, A. Donner, "Construction of confidence limits
    about effect measures: A general approach", Statistics in Medicine 27, 2008.

    Examples
    --------
    >>> demand = Estimate(0.010, 0.008, 0.012, 0.95, "given")
    >>> print(find_saturation(demand, Estimate(0.2, 0.19, 0.21, 0.95, "given"), think_time_s=0.1))
    30 [24.92, 37.59]
    """
    above_0("demand", demand.value)
    above_0("latency_min", latency_min.value)
    think = float(at_least_0("think_time_s", think_time_s))
    warnings = [*demand.warnings, *latency_min.warnings]
    value = (latency_min.value + think) / demand.value  # N* = (R_min + Z) / D
    with np.errstate(divide="ignore"):  # an end at 0 is infinitely far away
        cycle = np.log(np.maximum([latency_min.lo + think, latency_min.hi + think], 0.0) / (latency_min.value + think))
        work = np.log(np.maximum([demand.hi, demand.lo], 0.0) / demand.value)
    below, above = np.hypot(cycle, work)
    lo, hi = value * np.exp(-below), value * np.exp(above)
    if np.isnan([lo, hi]).any():
        warnings.append("N* has no interval, because R_min or D has none: repeat the levels")
    level = min(demand.level, latency_min.level)
    return Estimate(value, lo, hi, level, "(R_min + Z) / D, relative errors added by their squares", tuple(warnings))
