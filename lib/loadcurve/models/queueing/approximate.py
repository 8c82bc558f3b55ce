r"""Approximate mean value analysis for populations too large for the exact recursion.

Exact mean value analysis needs the queues that N − 1 requests leave.  The approximations guess them from the queues
of N themselves, and iterate until both agree:

.. math:: Q_{ck}(\mathbf N - \mathbf 1_j) \approx
          (\mathbf N - \mathbf 1_j)_c \left(\frac{Q_{ck}(\mathbf N)}{N_c} + F_{ckj}\right)

Schweitzer takes F = 0: one request less changes no share.  Linearizer (Chandy and Neuse) solves the populations
N − 1_j too, and takes F from how the shares differ.  Near saturation its shares may give a centre slightly more work
than it can do, such as U = 1.001.  Then the residence times there are stretched by the factor that makes U = 1.

P. J. Schweitzer, "Approximate Analysis of Multiclass Closed Networks of Queues", Proceedings of the International
Conference on Stochastic Control and Optimization, Amsterdam, 1979.
K. M. Chandy, D. Neuse, "Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems",
Communications of the ACM 25(2), 1982, pp. 126–134.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.queueing.classes import class_arguments, class_network, has_several
from loadcurve.models.queueing.solution import ClosedNetwork, InvariantError
from loadcurve.stats.arrays import Array, Integers

_CONVERGED = 1e-12  # largest change of a share Q_ck / N_c in the last iteration
_MAX_ITERATIONS = 100_000
_LINEARIZER_ROUNDS = 3  # Chandy and Neuse: more bring no accuracy


def solve_schweitzer(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of every class, by Schweitzer's approximation.

    It is exact for one connection and in the limit of many, and off by some per cent in between.  No centre gets more
    work than it can do: Q (1 − U) >= 0 follows from the fixed point.

    Parameters
    ----------
    connections : array_like, shape (C,)
        Population N_c of each class, whole numbers >= 0, at least one of them above 0.
    demand_s : array_like, shape (C, K)
        Service demand of each class at each centre, >= 0; 0 where the class skips the centre.
    think_time_s : array_like, shape (C,)
        Think time of each class, or one number for all, >= 0; a class without any demand needs one above 0.
    servers : array_like, shape (K,)
        1, or ``inf`` for a delay centre; several servers are refused.

    Returns
    -------
    ClosedNetwork
        C rows, one for each class.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.
    InvariantError
        When the iteration does not converge, or the solution breaks a law.

    Examples
    --------
    Lazowska and others 1984, p. 117, where the exact throughput is 0.1515:

    >>> solve_schweitzer([3], [[0.605, 2.1, 1.35]], think_time_s=15).throughput_rps.round(4).tolist()
    [0.151]
    """
    network = _checked(connections, demand_s, think_time_s, servers)
    unchanged = np.zeros((*network.demand.shape, network.number.size))
    share = network.fixed_point(unchanged, network.even_shares(), "Schweitzer")
    return network.solved("Schweitzer's approximation", unchanged, share)


def solve_linearizer(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of every class, by Linearizer: more work than Schweitzer, and usually closer.

    Parameters
    ----------
    connections, demand_s, think_time_s, servers
        As for `solve_schweitzer`.

    Returns
    -------
    ClosedNetwork
        C rows, one for each class.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.
    InvariantError
        When an iteration does not converge, or the solution breaks a law.

    Examples
    --------
    >>> solve_linearizer([3], [[0.605, 2.1, 1.35]], think_time_s=15).throughput_rps.round(4).tolist()
    [0.1515]
    """
    network = _checked(connections, demand_s, think_time_s, servers)
    classes = network.number.size
    change, share = np.zeros((*network.demand.shape, classes)), network.even_shares()
    fewer = np.repeat(share[None], classes, axis=0)
    for _ in range(_LINEARIZER_ROUNDS - 1):
        share = network.fixed_point(change, share, "Linearizer")
        updated = np.zeros_like(change)
        for j in np.flatnonzero(network.number):
            less = network._replace(number=network.number - np.eye(classes, dtype=int)[j])
            fewer[j] = less.fixed_point(change, fewer[j], "Linearizer")
            updated[:, :, j] = np.where((less.number > 0)[:, None], fewer[j] - share, 0.0)  # F_ckj
        change = updated
    return network.solved("Linearizer", change, network.fixed_point(change, share, "Linearizer"))


class _Network(NamedTuple):
    """Checked arguments: N (C,), D (C, K), Z (C,), and for each centre (K,) 1 where requests queue, 0 at a delay."""

    number: Integers
    demand: Array
    think: Array
    queueing: Array

    def even_shares(self) -> Array:
        """Return shares Q_ck / N_c to start from, the same at every centre."""
        return np.where((self.number > 0)[:, None], np.full(self.demand.shape, 1 / self.demand.shape[1]), 0.0)

    def throughput(self, residence: Array) -> Array:
        """Return X_c (C,) for residence times (C, K)."""
        cycle = self.think + residence.sum(axis=1)
        result: Array = np.divide(self.number, cycle, out=np.zeros(self.number.size), where=self.number > 0)
        return result

    def residence(self, change: Array, share: Array) -> Array:
        """Return residence times (C, K) for shares (C, K) and their change F_ckj (C, K, C)."""
        # What class j finds at centre k: the estimated queue of all classes there without one request of j.
        without = self.number[:, None] - np.eye(self.number.size)  # (c, j): population of c without one of j
        seen = np.einsum("cj,ckj->jk", np.maximum(without, 0.0), share[:, :, None] + change)
        result: Array = self.demand * (1 + self.queueing * seen)
        return result

    def fixed_point(self, change: Array, share: Array, method: str) -> Array:
        """Return the shares Q_ck / N_c that reproduce themselves."""
        for _ in range(_MAX_ITERATIONS):
            residence = self.residence(change, share)
            updated = (self.throughput(residence) / np.maximum(self.number, 1))[:, None] * residence
            moved = np.max(np.abs(updated - share))
            share = updated
            if moved < _CONVERGED:
                return share
        raise InvariantError(f"{method}: shares still move by {moved:.2g} after {_MAX_ITERATIONS} iterations")

    def solved(self, method: str, change: Array, share: Array) -> ClosedNetwork:
        """Return the checked network, with no centre more than always busy."""
        residence = self.residence(change, share)
        held = self.within_capacity(residence)
        if held is not residence:
            method, residence = f"{method}, held to full utilisation", held
        servers = np.where(self.queueing > 0, 1.0, np.inf)
        throughput = self.throughput(residence)
        return class_network(method, self.number, self.demand, self.think, servers, throughput, residence)

    def within_capacity(self, residence: Array) -> Array:
        """Return the residence times, stretched at each centre that would be more than always busy until U = 1."""
        demand = self.demand * self.queueing

        # A longer wait at one centre lowers every throughput, so no other centre gets busier: one pass for each.
        for _ in range(demand.shape[1]):
            busy = self.throughput(residence) @ demand
            k = int(np.argmax(busy))
            if busy[k] <= 1:
                break
            column = np.eye(demand.shape[1])[k]

            def excess(log_factor: float, k: int = k, column: Array = column, residence: Array = residence) -> float:
                return float((self.throughput(residence * np.exp(log_factor * column)) @ demand)[k] - 1)

            most = 1e-3
            while excess(most) > 0:
                most *= 2
            residence = residence * np.exp(scipy.optimize.brentq(excess, 0, most, xtol=1e-15) * column)
        return residence


def _checked(connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike, servers: ArrayLike) -> _Network:
    number, demand, think, many = class_arguments(connections, demand_s, think_time_s, servers)
    if has_several(many):
        raise ValueRuleError("servers", "1 or inf in an approximation; `solve_classes` takes more", many)
    return _Network(number, demand, think, np.isfinite(many).astype(float))
