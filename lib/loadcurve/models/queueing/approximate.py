r"""Approximate mean value analysis for populations whose lattice is too large for the exact one.

Exact mean value analysis needs the queues that N − 1 requests leave.  The approximations guess them from the queues
of N themselves, and iterate until both agree:

.. math:: Q_{ck}(\mathbf N - \mathbf 1_j) \approx
          (\mathbf N - \mathbf 1_j)_c \left(\frac{Q_{ck}(\mathbf N)}{N_c} + F_{ckj}\right)

Schweitzer takes F = 0: one request less changes nobody's share.  Linearizer (Chandy and Neuse) solves the populations
N − 1_j too, and takes F from how the shares differ.

P. J. Schweitzer, "Approximate Analysis of Multiclass Closed Networks of Queues", Proceedings of the International
Conference on Stochastic Control and Optimization, Amsterdam, 1979.
K. M. Chandy, D. Neuse, "Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems",
Communications of the ACM 25(2), 1982, pp. 126–134.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.models.queueing.classes import class_arguments, class_network
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
        Service demand of each class at each centre, > 0.
    think_time_s : array_like, shape (C,)
        Think time of each class, or one number for all, >= 0.
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
    arguments = class_arguments(connections, demand_s, think_time_s, servers)
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
        When an iteration does not converge, or the solution breaks a law.  Close to saturation Linearizer may give a
        centre a little more work than it can do, U = 1.0001: it is refused.  `solve_schweitzer` never does.

    Examples
    --------
    >>> solve_linearizer([3], [[0.605, 2.1, 1.35]], think_time_s=15).throughput_rps.round(4).tolist()
    [0.1515]
    """
    arguments = class_arguments(connections, demand_s, think_time_s, servers)
    number, rest = arguments[0], arguments[1:]
    classes, centres = rest[0].shape
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


def _spread(arguments):
    number, demand = arguments[:2]
    return (number > 0)[:, None] * np.full(demand.shape, 1 / demand.shape[1])


def _step(number, demand, think, queueing, change, share):
    # What class j finds at centre k: everybody's estimated queue there without one request of j.
    without = number[:, None] - np.eye(number.size)  # (c, j): population of c without one of j
    seen = np.einsum("cj,ckj->jk", np.maximum(without, 0.0), share[:, :, None] + change)
    residence = demand * (1 + queueing * seen)
    throughput = number / (think + residence.sum(axis=1))
    return throughput, residence


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
    throughput, residence = _step(number, demand, think, queueing, change, share)
    return class_network(method, number, demand, think, queueing, throughput, residence)
