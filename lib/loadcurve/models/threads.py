"""Utilisation of a processor by a pool of threads: `threads_to_fill` with the queueing that it leaves out.

Each thread computes for C at one of m cores, waits for W, and starts again: a closed network of one queue and a delay,
known as the machine repair model.  It is solved exactly, as any other network.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 6.
"""

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.models.network_bounds import asymptotic_bounds
from loadcurve.models.queueing import solve_network
from loadcurve.models.utilisation_laws import filled_utilisation_ratio, threads_to_fill, utilisation_ratio
from loadcurve.stats.estimate import Estimate


def summarise_threads(cpu_time_s: float, wait_time_s: float, cores: int = 1, max_threads: int = 128) -> pd.DataFrame:
    """What 1, 2, … threads make of a processor, exactly and by the formula.

    Parameters
    ----------
    cpu_time_s : float
        Time C that a request computes, > 0.
    wait_time_s : float
        Time W that it waits elsewhere, without a queue, >= 0.
    cores : int
        Cores, >= 1; all threads share one queue for them.
    max_threads : int
        Highest number of threads, >= 1.

    Returns
    -------
    pandas.DataFrame
        ``threads throughput_rps latency_s`` (compute, queue and wait together) ``utilisation_ratio`` (exact)
        ``bound_ratio`` (what `filled_utilisation_ratio` gives) ``least_ratio`` (when all threads compute at the same
        time: the lower end of `asymptotic_bounds`) and ``threads_to_fill``.

    Examples
    --------
    >>> shares = summarise_threads(0.002, 0.042).loc[21, ["bound_ratio", "utilisation_ratio", "least_ratio"]]
    >>> print(shares.round(3).to_list())
    [1.0, 0.871, 0.512]
    """
    pool = solve_network(max_threads, [cpu_time_s], wait_time_s, cores)
    least = asymptotic_bounds(pool.connections, [cpu_time_s], wait_time_s, cores)["throughput_lo_rps"]
    return pd.DataFrame(
        {
            "threads": pool.connections,
            "throughput_rps": pool.throughput_rps,
            "latency_s": pool.latency_s + wait_time_s,
            "utilisation_ratio": pool.utilisation_ratio[:, 0],
            "bound_ratio": filled_utilisation_ratio(pool.connections, cpu_time_s, wait_time_s, cores),
            "least_ratio": utilisation_ratio(least, cpu_time_s, cores),
            "threads_to_fill": float(threads_to_fill(cpu_time_s, wait_time_s, cores)),
        }
    )


def find_threads_to_fill(cpu_time: Estimate, wait_time_s: float, cores: int = 1) -> Estimate:
    """Threads that fill a processor by the formula, with the interval of a measured processor time.

    Parameters
    ----------
    cpu_time : Estimate
        Time C that a request computes, in s, > 0.
    wait_time_s : float
        Time W that it waits elsewhere, >= 0, taken as exact.
    cores : int
        Cores, >= 1.

    Returns
    -------
    Estimate
        Threads N = m (C + W) / C; the ends of C give those of N, in reverse, because N falls with C.

    Examples
    --------
    >>> print(find_threads_to_fill(Estimate(0.002, 0.0016, 0.0025, 0.95, "given"), 0.042))
    22 [17.8, 27.25]
    """
    value, lo, hi = (
        float(threads_to_fill(time_s, wait_time_s, cores)) if time_s > 0 else np.inf
        for time_s in (cpu_time.value, cpu_time.hi, cpu_time.lo)
    )
    return Estimate(value, lo, hi, cpu_time.level, f"(C + W) / C, C by {cpu_time.method}", cpu_time.warnings)


def threads_needed(cpu_time_s: float, wait_time_s: float, cores: int = 1, utilisation_ratio: float = 0.99) -> int:
    """Least number of threads that keep each core busy for a wanted share, their queue counted.

    Parameters
    ----------
    cpu_time_s, wait_time_s, cores
        As for `summarise_threads`.
    utilisation_ratio : float
        Busy share wanted, 0 < U < 1: a queue fills a processor only in the limit.

    Returns
    -------
    int
        Threads; never fewer than `threads_to_fill` gives for that share.

    Examples
    --------
    >>> threads_needed(0.002, 0.042)
    31
    """
    if not 0 < utilisation_ratio < 1:
        raise ValueRuleError("utilisation_ratio", "0 < ratio < 1", utilisation_ratio)
    formula = float(threads_to_fill(cpu_time_s, wait_time_s, cores))
    if not formula < np.inf:
        raise ValueRuleError("cpu_time_s and wait_time_s", "known and finite", (cpu_time_s, wait_time_s))
    max_threads = 2 * int(np.ceil(formula))
    while True:
        pool = summarise_threads(cpu_time_s, wait_time_s, cores, max_threads)
        reached = pool.loc[pool["utilisation_ratio"] >= utilisation_ratio * (1 - 1e-12), "threads"]
        if len(reached):
            return int(reached.iloc[0])
        max_threads *= 2  # it tends to 1, so this ends
