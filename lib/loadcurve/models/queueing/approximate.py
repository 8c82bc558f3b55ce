r"""Approximate mean value analysis for populations whose lattice is too large for the exact one.

Exact mean value analysis needs the queues that N − 1 requests leave.  The approximations guess them from the queues
of N themselves, and iterate until both agree:

.. math:: Q_{ck}(\mathbf N - \mathbf 1_j) \approx
          (\mathbf N - \mathbf 1_j)_c \left(\frac{Q_{ck}(\mathbf N)}{N_c} + F_{ckj}\right)

Schweitzer takes F = 0: one request less changes nobody's share.  Linearizer (Chandy and Neuse) solves the populations
N − 1_j too, and takes F from how the shares differ.  Near saturation its shares may give a centre slightly more work
than it can do, such as U = 1.001.  Then the residence times there are stretched by the factor that makes U = 1.

P. J. Schweitzer, "Approximate Analysis of Multiclass Closed Networks of Queues", Proceedings of the International
Conference on Stochastic Control and Optimization, Amsterdam, 1979.
K. M. Chandy, D. Neuse, "Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems",
Communications of the ACM 25(2), 1982, pp. 126–134.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from loadcurve.errors import ValueRuleError
from loadcurve.models.queueing.classes import class_arguments, class_network, has_several
from loadcurve.models.queueing.solution import ClosedNetwork, InvariantError

_CONVERGED = 1e-12  # largest change of a share Q_ck / N_c in the last iteration
_MOST_ITERATIONS = 100_000
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
    arguments = _arguments(connections, demand_s, think_time_s, servers)
    classes, centres = arguments[1].shape
    share, _, _ = _core(*arguments, np.zeros((classes, centres, classes)), _spread(arguments), "Schweitzer")
    return _solved("Schweitzer's approximation", arguments, np.zeros((classes, centres, classes)), share)


def solve_linearizer(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of every class, by Linearizer: dearer than Schweitzer, and closer as a rule.

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
    arguments = _arguments(connections, demand_s, think_time_s, servers)
    number, rest = arguments[0], arguments[1:]
    classes, centres = arguments[1].shape
    change = np.zeros((classes, centres, classes))
    share = _spread(arguments)
    fewer = np.repeat(share[None], classes, axis=0)
    for _ in range(_LINEARIZER_ROUNDS - 1):
        share, _, _ = _core(number, *rest, change, share, "Linearizer")
        updated = np.zeros_like(change)
        for j in np.flatnonzero(number):
            less = number - np.eye(classes, dtype=int)[j]
            fewer[j], _, _ = _core(less, *rest, change, fewer[j], "Linearizer")
            both = (less > 0)[:, None]
            updated[:, :, j] = np.where(both, fewer[j] - share, 0.0)  # F_ckj
        change = updated
    share, _, _ = _core(number, *rest, change, share, "Linearizer")
    return _solved("Linearizer", arguments, change, share)


def _arguments(connections, demand_s, think_time_s, servers):
    number, demand, think, many = class_arguments(connections, demand_s, think_time_s, servers)
    if has_several(many):
        raise ValueRuleError("servers", "1 or inf in an approximation; `solve_classes` takes more", many)
    return number, demand, think, np.isfinite(many).astype(float)


def _spread(arguments):
    number, demand = arguments[:2]
    return (number > 0)[:, None] * np.full(demand.shape, 1 / demand.shape[1])


def _step(number, demand, think, queueing, change, share):
    # What class j finds at centre k: everybody's estimated queue there without one request of j.
    without = number[:, None] - np.eye(number.size)  # (c, j): population of c without one of j
    seen = np.einsum("cj,ckj->jk", np.maximum(without, 0.0), share[:, :, None] + change)
    residence = demand * (1 + queueing * seen)
    return _throughput(number, think, residence), residence


def _throughput(number, think, residence):
    cycle = think + residence.sum(axis=1)
    return np.divide(number, cycle, out=np.zeros(number.size), where=number > 0)


def _core(number, demand, think, queueing, change, share, method):
    """Return the shares Q_ck / N_c at the fixed point, with throughput and residence times."""
    for _ in range(_MOST_ITERATIONS):
        throughput, residence = _step(number, demand, think, queueing, change, share)
        rate = throughput / np.maximum(number, 1)
        updated = rate[:, None] * residence
        moved = np.max(np.abs(updated - share))
        share = updated
        if moved < _CONVERGED:
            return share, throughput, residence
    raise InvariantError(f"{method}: shares still move by {moved:.2g} after {_MOST_ITERATIONS} iterations")


def _solved(method, arguments, change, share):
    number, demand, think, queueing = arguments
    _, residence = _step(number, demand, think, queueing, change, share)
    held = _within_capacity(number, demand * queueing, think, residence)
    if held is not residence:
        method, residence = f"{method}, held to full utilisation", held
    servers = np.where(queueing > 0, 1.0, np.inf)
    return class_network(method, number, demand, think, servers, _throughput(number, think, residence), residence)


def _within_capacity(number, demand, think, residence):
    """Return the residence times, stretched at each centre that would be more than always busy until U = 1."""

    def busy(residence):
        return _throughput(number, think, residence) @ demand

    # A longer wait at one centre lowers every throughput, so no other centre gets busier: one pass for each is enough.
    for _ in range(demand.shape[1]):
        k = int(np.argmax(busy(residence)))
        if busy(residence)[k] <= 1:
            break
        column = np.eye(demand.shape[1])[k]

        def excess(log_factor, k=k, column=column, residence=residence):
            return busy(residence * np.exp(log_factor * column))[k] - 1

        most = 1e-3
        while excess(most) > 0:
            most *= 2
        residence = residence * np.exp(brentq(excess, 0, most, xtol=1e-15) * column)
    return residence
