r"""Exact analysis of a closed network with several classes of requests.

Each class c has its own population, demands and think time.  A request of class c sees the network without itself:

.. math:: R_{ck}(\mathbf N) = D_{ck}\Bigl(1 + \sum_j Q_{jk}(\mathbf N - \mathbf 1_c)\Bigr), \qquad
          X_c = \frac{N_c}{Z_c + \sum_k R_{ck}}, \qquad Q_{ck} = X_c R_{ck}

It needs every population below **N**: ∏(N_c + 1) of them.  `approximate` does without.

M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks", Journal of the ACM 27(2),
1980, pp. 313–322.

Centres with several servers: with :math:`\mathbf n` the requests of each class and :math:`n` all of them, a centre with
m servers has the factor

.. math:: F_k(\mathbf n) = n! \prod_c \frac{D_{ck}^{n_c}}{n_c!} \prod_{i \le n} \frac{1}{\min(i, m)}

and the network the normalising constant :math:`G(\mathbf N) = \sum \prod_k F_k(\mathbf n_k)` over all states.  Split by
how many requests j are at centre k, with :math:`G_{-k}` of the network without it:

.. math:: w_0(\mathbf n) = G_{-k}(\mathbf n), \qquad
          w_j(\mathbf n) = \frac{1}{\min(j, m)} \sum_c D_{ck}\, w_{j-1}(\mathbf n - \mathbf 1_c), \qquad
          G(\mathbf n) = \sum_j w_j(\mathbf n)

An arriving request of class c sees the network without itself.  It needs (j + 1) / min(j + 1, m) times its demand where
it finds j others:

.. math:: R_{ck}(\mathbf N) = \frac{D_{ck}}{G(\mathbf N - \mathbf 1_c)} \sum_j \frac{j + 1}{\min(j + 1, m)}
          \, w_j(\mathbf N - \mathbf 1_c)

From j = m on, the weights fall by the same factor at each step, so their sum is one recursion over the populations.
All terms are positive and taken in logarithms: nothing cancels, as it does in mean value analysis with several servers.

F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, "Open, Closed, and Mixed Networks of Queues with Different
Classes of Customers", Journal of the ACM 22(2), 1975 (product form).  M. Reiser, H. Kobayashi, "Queuing Networks with
Multiple Closed Chains: Theory and Computational Algorithms", IBM Journal of Research and Development 19(3), 1975
(convolution).
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._network import demands, known, server_numbers, whole
from loadcurve.models.queueing.solution import ClosedNetwork, check_network
from loadcurve.stats.arrays import Array, Integers, at_least_0

# Populations × centres: 400 MB of queue lengths.  Beyond, the approximations are the tool.
_MAX_CELLS = 50_000_000


def solve_classes(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of every class in a closed network, exactly.

    Single servers and delays go through mean value analysis.  A centre with several servers sends all of them through
    a convolution in logarithms, because mean value analysis with several servers loses its digits near saturation.

    Parameters
    ----------
    connections : array_like, shape (C,)
        Population N_c of each class, whole numbers >= 0, at least one of them above 0.
    demand_s : array_like, shape (C, K)
        Service demand of each class at each centre, >= 0; 0 where the class skips the centre.
    think_time_s : array_like, shape (C,)
        Think time of each class, or one number for all, >= 0; a class without any demand needs one above 0.
    servers : array_like, shape (K,)
        Servers of each centre, or one number for all: 1, more, or ``inf`` for a delay centre.  With several servers the
        result holds for classes with different demands where the servers share their time among all requests, as
        processors do.

    Returns
    -------
    ClosedNetwork
        C rows, one for each class.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule, or there are more populations than memory should hold.
    InvariantError
        When the solution breaks a law; it is then not returned.

    Examples
    --------
    >>> solve_classes([1, 1], [[1, 3], [2, 4]]).throughput_rps.round(4).tolist()  # 3/19 and 2/19
    [0.1579, 0.1053]
    """
    number, demand, think, many = class_arguments(connections, demand_s, think_time_s, servers)
    if np.prod(number + 1.0) * demand.shape[1] > _MAX_CELLS:
        raise ValueRuleError("connections", f"at most {_MAX_CELLS} populations times centres", number.tolist())
    if has_several(many):
        method, residence = "convolution with classes", residence_times(number, demand, think, many)
    else:
        method, residence = "mean value analysis with classes", _mean_values(number, demand, think, many)
    throughput = np.zeros(number.size)
    present = number > 0
    throughput[present] = number[present] / (think + residence.sum(axis=1))[present]
    return class_network(method, number, demand, think, many, throughput, residence)


def _mean_values(number: Integers, demand: Array, think: Array, many: Array) -> Array:
    """Return the residence times of the full population, (C, K)."""
    queueing, lattice = np.isfinite(many), Lattice(number)
    queue = np.zeros((lattice.populations.shape[1], demand.shape[1]))  # of all classes together
    for at in lattice.levels[1:]:  # all populations of one size at once
        residence = []
        for c in range(number.size):
            here = lattice.populations[c, at] > 0
            seen = queue[np.where(here, at - lattice.stride[c], 0)]
            residence.append(demand[c] * (1 + queueing * seen))
            cycle = think[c] + residence[c][here].sum(axis=1)
            queue[at[here]] += (lattice.populations[c, at[here]] / cycle)[:, None] * residence[c][here]
    return np.array([r[-1] for r in residence])


def class_arguments(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: ArrayLike, servers: ArrayLike
) -> tuple[Integers, Array, Array, Array]:
    """Return checked (N, D, Z, m) of shapes (C,), (C, K), (C,), (K,); m is infinite for a delay."""
    number, demand = np.atleast_1d(whole("connections", connections, 0)), demands(demand_s, dimensions=2)
    if number.shape != (demand.shape[0],) or number.sum() == 0:
        raise ValueRuleError("connections", f"one for each of the {demand.shape[0]} classes, some above 0", number)
    think = known("think_time_s", at_least_0("think_time_s", think_time_s))
    if think.ndim and think.shape != number.shape:
        raise ValueRuleError("think_time_s", f"one number, or one for each of the {number.size} classes", think)
    think = np.broadcast_to(think, number.shape)
    idle = ~demand.any(axis=1) & (think == 0)
    if idle.any():
        raise ValueRuleError(f"demand_s of class {idle.argmax()}", "> 0 at one centre, or its think time > 0", 0)
    return number, demand, think, server_numbers(servers, demand.shape[1])


def has_several(many: Array) -> bool:
    """Return whether a centre has more than one server without being a delay."""
    return bool(((many > 1) & np.isfinite(many)).any())


def class_network(
    method: str, number: Integers, demand: Array, think: Array, many: Array, throughput: Array, residence: Array
) -> ClosedNetwork:
    """Return the checked solution for throughput (C,) and residence times (C, K) of the classes."""
    present = number > 0
    return check_network(
        ClosedNetwork(
            "class",
            method,
            number,
            think,
            throughput,
            np.where(present, residence.sum(axis=1), np.nan),
            np.where(present[:, None], residence, np.nan),
            np.where(present[:, None], throughput[:, None] * residence, 0.0),
            throughput[:, None] * demand / many,
        )
    )


def residence_times(number: Integers, demand: Array, think: Array, many: Array) -> Array:
    """Return the residence time of each class at each centre, shape (C, K), for checked arguments.

    Its cost is K² min(m, N) passes over the ∏(N_c + 1) populations.  A class without requests gets NaN.
    """
    lattice, present = Lattice(number), np.flatnonzero(number)
    delay = np.isinf(many)
    outside = think + demand[:, delay].sum(axis=1)  # delays are one delay
    residence = np.where(delay, demand, np.nan)
    with np.errstate(divide="ignore"):  # log 0: a class that skips the centre
        log_demand = np.log(demand)
    queued = np.flatnonzero(~delay & demand.any(axis=0))
    residence[:, ~delay & ~demand.any(axis=0)] = 0.0
    for k in queued:
        others = lattice.delay(outside)
        for other in queued[queued != k]:
            others, _ = lattice.add(others, log_demand[:, other], many[other])
        total, seen = lattice.add(others, log_demand[:, k], many[k])
        before = others.size - 1 - lattice.stride[present]  # N − 1_c
        residence[present, k] = demand[present, k] * np.exp(seen[before] - total[before])
    return residence


class Lattice:
    """All populations 0 <= n <= N in one row, and the sums over them.

    `populations` (C, P) lists the P = ∏(N_c + 1) populations, `stride` (C,) how far before each the one with a
    request of a class less is, and `levels` the places of those of 0, 1, … requests of all classes together.
    """

    def __init__(self, number: Integers) -> None:
        shape = tuple(number + 1)
        self.populations = np.indices(shape).reshape(number.size, -1)
        self.stride = np.array([int(np.prod(shape[c + 1 :])) for c in range(number.size)])
        size = self.populations.sum(axis=0)
        order = np.argsort(size, kind="stable")
        self.levels = np.split(order, np.flatnonzero(np.diff(size[order])) + 1)

    def delay(self, outside: Array) -> Array:
        """Return log ∏ Z_c^n_c / n_c!, the constant of a delay alone."""
        log_g = np.zeros(self.populations.shape[1])
        for c, pause in enumerate(outside):
            n = self.populations[c]
            log_g += np.where(n > 0, n * np.log(pause) if pause > 0 else -np.inf, 0.0) - scipy.special.gammaln(n + 1)
        return log_g

    def add(self, others: Array, log_demand: Array, servers: float) -> tuple[Array, Array]:
        """Return log G with one more centre, and log Σ (j + 1) / min(j + 1, m) w_j, from log G without it."""
        full = int(min(servers, self.populations.sum(axis=0).max() + 1))
        weight, total = others, others
        for j in range(1, full):  # w_j for j < m
            weight = self._one_more(weight, log_demand - np.log(j))
            total = np.logaddexp(total, weight)
        step = log_demand - np.log(full)
        tail = self._from_below(self._one_more(weight, step), step)  # Σ w_j over j >= m
        beyond = self._from_below(tail, step)  # Σ (j − m + 1) w_j over j >= m
        total = np.logaddexp(total, tail)
        return total, np.logaddexp(total, beyond - np.log(full))

    def _one_more(self, log_w: Array, step: Array) -> Array:
        """Return log Σ_c exp(step_c) w(n − 1_c)."""
        found = np.full(log_w.size, -np.inf)
        for c, size in enumerate(self.stride):
            some = self.populations[c] > 0
            found[some] = np.logaddexp(found[some], step[c] + log_w[np.flatnonzero(some) - size])
        return found

    def _from_below(self, log_w: Array, step: Array) -> Array:
        """Return log t with t(n) = w(n) + Σ_c exp(step_c) t(n − 1_c)."""
        found = log_w.copy()
        for at in self.levels[1:]:  # all populations of one size at once
            for c, size in enumerate(self.stride):
                here = at[self.populations[c, at] > 0]
                found[here] = np.logaddexp(found[here], step[c] + found[here - size])
        return found
