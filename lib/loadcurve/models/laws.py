"""Little's law with think time: of connections N, throughput X and response time R, any two give the third.

    N = X · (R + Z)

The law holds for every system in steady state, so it is both a model and a check: numbers that break it were not
measured on one system over one time.

J. D. C. Little, "A Proof for the Queuing Formula L = λW", Operations Research 9(3), 1961, pp. 383–387.
E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 3 (p. 42 for
the law, and further on the same law with think time, there called the interactive response time law).

Every function takes numbers or arrays that broadcast, and gives NaN where an argument is NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, above_0, at_least_0

# N/X − Z is a difference of two rounded numbers: down to this part of Z, a negative latency is rounding and means 0.
_ROUNDING = 1e-9


def little_connections(throughput_rps: ArrayLike, latency_s: ArrayLike, think_time_s: ArrayLike = 0) -> Array:
    """Connections in use: N = X (R + Z).

    Parameters
    ----------
    throughput_rps : array_like
        Throughput X, >= 0.
    latency_s : array_like
        Mean response time R, >= 0.
    think_time_s : array_like
        Time Z that a connection idles between a response and its next request, >= 0.  wrk, ab and weighttp have none.

    Returns
    -------
    numpy.ndarray
        Mean number of connections with a request in flight (or thinking).

    Raises
    ------
    ValueRuleError
        When an argument is negative.

    Examples
    --------
    >>> print(little_connections(20260.60, 0.04994).round(1))  # 8000 were requested
    1011.8
    """
    throughput = at_least_0("throughput_rps", throughput_rps)
    latency = at_least_0("latency_s", latency_s)
    return throughput * (latency + at_least_0("think_time_s", think_time_s))  # N = X (R + Z)


def little_throughput_rps(connections: ArrayLike, latency_s: ArrayLike, think_time_s: ArrayLike = 0) -> Array:
    """Throughput of N connections that each wait R: X = N / (R + Z).

    Parameters
    ----------
    connections : array_like
        Connections N, >= 0.
    latency_s : array_like
        Mean response time R, > 0.
    think_time_s : array_like
        Think time Z, >= 0.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Examples
    --------
    >>> print(little_throughput_rps(100, 0.05))
    2000.0
    """
    number = at_least_0("connections", connections)
    latency = above_0("latency_s", latency_s)
    return number / (latency + at_least_0("think_time_s", think_time_s))  # X = N / (R + Z)


def little_latency_s(connections: ArrayLike, throughput_rps: ArrayLike, think_time_s: ArrayLike = 0) -> Array:
    """Mean response time of N connections with a total throughput X: R = N / X − Z.

    Parameters
    ----------
    connections : array_like
        Connections N, >= 0.
    throughput_rps : array_like
        Throughput X, > 0.
    think_time_s : array_like
        Think time Z, 0 <= Z <= N / X: more would leave no time for the response.

    Returns
    -------
    numpy.ndarray
        Seconds.

    Examples
    --------
    >>> print(little_latency_s(64, 1600, think_time_s=0.01))
    0.03
    """
    number = at_least_0("connections", connections)
    throughput = above_0("throughput_rps", throughput_rps)
    think = at_least_0("think_time_s", think_time_s)
    latency = number / throughput - think  # R = N / X − Z
    if np.any(latency < -_ROUNDING * think):
        raise ValueRuleError("think_time_s", "<= connections / throughput_rps", think_time_s)
    return np.where(np.isnan(latency), np.nan, np.maximum(latency, 0.0))[()]


def single_thread_throughput_rps(latency_s: ArrayLike) -> Array:
    """Throughput of one connection, or one thread that waits for each response: X = 1 / R.

    The field knows it as QPS = 1000 / RT with RT in milliseconds; it is Little's law at N = 1, Z = 0.

    Parameters
    ----------
    latency_s : array_like
        Mean response time R, > 0.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Raises
    ------
    ValueRuleError
        When a latency is not above 0.

    Examples
    --------
    >>> print(single_thread_throughput_rps(0.045).round(2))
    22.22
    """
    return 1 / above_0("latency_s", latency_s)
