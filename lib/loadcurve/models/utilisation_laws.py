"""Operational laws of one resource: utilisation, service demand, forced flow, and the threads that keep it busy.

    U = X D / m        utilisation law: D seconds of work a request, m servers (cores, disks, workers)
    X_k = V_k X        forced flow law: V_k visits to the resource for each request
    X <= m U / D       bottleneck law: the least over all resources, at U = 1, is the highest throughput

They are identities of counts and times over an interval, without any assumption about distributions.

P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978.
E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 3.

Every function takes numbers or arrays that broadcast, and gives NaN where an argument is NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, above_0, at_least_0, at_least_1


def utilisation_ratio(throughput_rps: ArrayLike, demand_s: ArrayLike, servers: ArrayLike = 1) -> Array:
    """Share of time for which each server of a resource is busy: U = X D / m.

    Parameters
    ----------
    throughput_rps : array_like
        Throughput X of the system, >= 0.
    demand_s : array_like
        Service demand D: seconds of work that one request needs of the resource, over all its visits, >= 0.
    servers : array_like
        Servers m of the resource, such as cores, >= 1; infinite for a delay.

    Returns
    -------
    numpy.ndarray
        Mean over the servers.  Above 1 the three numbers do not belong to one system: nothing is more than always busy.

    Examples
    --------
    >>> print(utilisation_ratio(500, demand_s=0.002, servers=2))
    0.5
    """
    work = at_least_0("throughput_rps", throughput_rps) * at_least_0("demand_s", demand_s)
    return work / at_least_1("servers", servers)  # U = X D / m


def service_demand_s(throughput_rps: ArrayLike, utilisation_ratio: ArrayLike, servers: ArrayLike = 1) -> Array:
    """Seconds of work that one request needs of a resource, from how busy it was: D = m U / X.

    Parameters
    ----------
    throughput_rps : array_like
        Throughput X of the system, > 0.
    utilisation_ratio : array_like
        Mean busy share U of each server, 0 <= U <= 1.
    servers : array_like
        Servers m that U is the mean over, >= 1.

    Returns
    -------
    numpy.ndarray
        Service demand D.  It includes all other work that kept the resource busy.

    Examples
    --------
    >>> print(service_demand_s(500, utilisation_ratio=0.5, servers=2))
    0.002
    """
    busy = _ratio("utilisation_ratio", utilisation_ratio)
    return at_least_1("servers", servers) * busy / above_0("throughput_rps", throughput_rps)  # D = m U / X


def saturation_throughput_rps(demand_s: ArrayLike, servers: ArrayLike = 1, utilisation_ratio: ArrayLike = 1) -> Array:
    """Throughput of the system at which a resource is busy for a given share: X = m U / D.

    Parameters
    ----------
    demand_s : array_like
        Service demand D of the resource, > 0.
    servers : array_like
        Servers m, >= 1.
    utilisation_ratio : array_like
        Busy share U, 0 <= U <= 1; 1 for what the resource allows at most.

    Returns
    -------
    numpy.ndarray
        Requests per second.  The least over all resources, at U = 1, is the bottleneck's: no load makes more.

    Examples
    --------
    >>> print(saturation_throughput_rps([0.002, 0.0008], servers=[2, 1]))
    [1000. 1250.]
    """
    busy = _ratio("utilisation_ratio", utilisation_ratio)
    return at_least_1("servers", servers) * busy / above_0("demand_s", demand_s)  # X = m U / D


def forced_flow_rps(throughput_rps: ArrayLike, visits: ArrayLike) -> Array:
    """Throughput of a resource, from that of the system: X_k = V_k X.

    Parameters
    ----------
    throughput_rps : array_like
        Throughput X of the system, >= 0.
    visits : array_like
        Mean visits V_k to the resource for each request, >= 0.

    Returns
    -------
    numpy.ndarray
        Visits per second.

    Raises
    ------
    ValueRuleError
        When an argument is negative.

    Examples
    --------
    >>> print(forced_flow_rps(100, visits=[1, 3]))
    [100. 300.]
    """
    return at_least_0("visits", visits) * at_least_0("throughput_rps", throughput_rps)  # X_k = V_k X


def threads_to_fill(
    cpu_time_s: ArrayLike, wait_time_s: ArrayLike, cores: ArrayLike = 1, utilisation_ratio: ArrayLike = 1
) -> Array:
    """Threads that keep the cores busy while others wait: N = (C + W) / C × cores × U.

    It is N* of a closed system whose only queue is the processor, and so the least number that can do it: threads that
    wait for each other at the processor keep it less busy.  `queueing.solve_network` computes by how much.

    Parameters
    ----------
    cpu_time_s : array_like
        Time C that one request computes, > 0.
    wait_time_s : array_like
        Time W that it waits for something that is not the processor, >= 0.
    cores : array_like
        Cores, >= 1.
    utilisation_ratio : array_like
        Busy share U wanted of each core, 0 <= U <= 1.

    Returns
    -------
    numpy.ndarray
        Threads, not rounded.

    References
    ----------
    B. Goetz and others, "Java Concurrency in Practice", 2006, section 8.2.  The report "Nginx Performance Test" writes
    it as (2 + 42)/2 = 22.

    Examples
    --------
    >>> print(threads_to_fill(0.002, 0.042))
    22.0
    """
    compute = above_0("cpu_time_s", cpu_time_s)
    share = (compute + at_least_0("wait_time_s", wait_time_s)) / compute
    return share * at_least_1("cores", cores) * _ratio("utilisation_ratio", utilisation_ratio)


def filled_utilisation_ratio(
    threads: ArrayLike, cpu_time_s: ArrayLike, wait_time_s: ArrayLike, cores: ArrayLike = 1
) -> Array:
    """Most that a number of threads can keep each core busy: U <= min(1, N C / ((C + W) cores)).

    Inverse of `threads_to_fill` on the branch below saturation; from there on it is 1.

    Parameters
    ----------
    threads : array_like
        Threads N, >= 0.
    cpu_time_s, wait_time_s, cores : array_like
        As for `threads_to_fill`.

    Returns
    -------
    numpy.ndarray
        Upper bound of the busy share.

    Examples
    --------
    >>> print(filled_utilisation_ratio([11, 22, 44], 0.002, 0.042))
    [0.5 1.  1. ]
    """
    full = threads_to_fill(cpu_time_s, wait_time_s, cores)
    return np.minimum(1.0, at_least_0("threads", threads) / full)


def _ratio(name: str, values: ArrayLike) -> Array:
    ratio = at_least_0(name, values)
    if np.any(ratio > 1):
        raise ValueRuleError(name, "0 <= ratio <= 1", np.max(ratio[ratio > 1]))
    return ratio
