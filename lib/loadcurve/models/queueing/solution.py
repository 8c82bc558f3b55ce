"""The result of every solver of a closed network, and the laws it must satisfy."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.stats.arrays import Array, Integers

# Part by which an identity may be off.  Rounding in the longest solvers is below 1e-9 of N (N = 10,000); a wrong
# algorithm is off by per cents.
_TOLERANCE = 1e-7


class InvariantError(LoadcurveError):
    """The solution violates a law that every network obeys, so it is wrong and is not returned.

    Examples
    --------
    >>> raise InvariantError("mva: U <= 1 is broken at centre 0: 1.2 against 1")
    Traceback (most recent call last):
    loadcurve.models.queueing.solution.InvariantError: mva: U <= 1 is broken at centre 0: 1.2 against 1
    """


@dataclass(frozen=True, eq=False)
class ClosedNetwork:
    """A solved closed network of K centres.

    With ``rows == "connections"`` (one class) the n rows are the populations N = 1 … n; with ``rows == "class"`` each
    row is a class, all of them together in the network.

    Attributes
    ----------
    rows : str
        ``connections`` or ``class``.
    method : str
        How it was solved, in words.
    connections : numpy.ndarray of int, shape (n,)
        Requests N in the network, thinking ones included.
    think_time_s : numpy.ndarray, shape (n,)
        Think time Z.
    throughput_rps : numpy.ndarray, shape (n,)
        Throughput X in requests per second.
    latency_s : numpy.ndarray, shape (n,)
        Mean response time R: the sum of the residence times, without think time.  NaN for a class without requests.
    residence_s : numpy.ndarray, shape (n, K)
        Time a request spends at each centre, over all its visits, waiting included.
    queue_length : numpy.ndarray, shape (n, K)
        Mean number of requests at each centre, those in service included.
    utilisation_ratio : numpy.ndarray, shape (n, K)
        X D / m: busy share of each of the m servers; 0 at a delay centre, which has endless servers.  At a centre whose
        speed depends on its queue, the share of its highest speed.

    Examples
    --------
    >>> from loadcurve.models.queueing import solve_network
    >>> solve_network(2, [0.010, 0.005]).table()  # X = 1 / 15 ms, then 3 / 35 ms
       connections  throughput_rps  latency_s
    0            1       66.666667   0.015000
    1            2       85.714286   0.023333
    """

    rows: str
    method: str
    connections: Integers
    think_time_s: Array
    throughput_rps: Array
    latency_s: Array
    residence_s: Array
    queue_length: Array
    utilisation_ratio: Array

    def table(self) -> pd.DataFrame:
        """Return ``connections, throughput_rps, latency_s``, one row for each population, or each class."""
        return pd.DataFrame(
            {"connections": self.connections, "throughput_rps": self.throughput_rps, "latency_s": self.latency_s}
        )


def check_network(network: ClosedNetwork) -> ClosedNetwork:
    """Return the network as it is, or raise: Little at every centre, ΣQ + X Z = N, U <= 1, nothing negative.

    Parameters
    ----------
    network : ClosedNetwork
        As a solver made it.

    Returns
    -------
    ClosedNetwork
        The same object.

    Raises
    ------
    InvariantError
        With the law that is broken, where, and by how much.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from loadcurve.models.queueing import solve_network
    >>> network = solve_network(1, [0.010])
    >>> check_network(network) is network
    True
    >>> check_network(replace(network, throughput_rps=np.array([200.0])))
    Traceback (most recent call last):
    loadcurve.models.queueing.solution.InvariantError: mean value analysis: Q = X R at every centre is broken at \
connections 1: 1 against 2
    """
    throughput, queue = network.throughput_rps[:, None], network.queue_length
    present = network.connections > 0
    for name in ("throughput_rps", "latency_s", "residence_s", "queue_length", "utilisation_ratio"):
        values = getattr(network, name)[present]
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InvariantError(f"{network.method}: {name} has values that are negative or not finite")
    number = network.connections.astype(float)
    _require(network, "Q = X R at every centre", queue, throughput * network.residence_s, number[:, None])
    total = queue.sum(axis=1) + network.throughput_rps * network.think_time_s
    _require(network, "sum of Q + X Z = N", total, number, number)
    latency = np.where(present, network.latency_s, 0.0)
    _require(network, "X (R + Z) = N", network.throughput_rps * (latency + network.think_time_s), number, number)
    busy = network.utilisation_ratio
    busiest = busy.sum(axis=0) if network.rows == "class" else busy
    _require(network, "U <= 1", np.maximum(busiest, 1.0), np.ones_like(busiest), np.ones_like(busiest))
    return network


def checked_solution(
    method: str, think_time_s: float, throughput: Array, residence: Array, queue: Array, utilisation: Array
) -> ClosedNetwork:
    """Return the checked solution for the populations 1 … n of one class, from X (n,) and R, Q and U (n, K)."""
    number, think = np.arange(1, throughput.size + 1), np.full(throughput.size, think_time_s)
    latency = residence.sum(axis=1)
    return check_network(
        ClosedNetwork("connections", method, number, think, throughput, latency, residence, queue, utilisation)
    )


def _require(network: ClosedNetwork, law: str, left: Array, right: Array, scale: Array) -> None:
    off = np.abs(left - right) - _TOLERANCE * scale
    if (off > 0).any():
        at = np.unravel_index(np.argmax(off), off.shape)
        where = f"{network.rows} {network.connections[at[0]] if network.rows == 'connections' else at[0]}"
        if law == "U <= 1":
            where = f"centre {at[-1]}"
        raise InvariantError(f"{network.method}: {law} is broken at {where}: {left[at]:.9g} against {right[at]:.9g}")
