r"""Exact analysis of a closed network with several classes of requests.

Each class c has its own population, demands and think time.  A request of class c sees the network without itself:

.. math:: R_{ck}(\mathbf N) = D_{ck}\Bigl(1 + \sum_j Q_{jk}(\mathbf N - \mathbf 1_c)\Bigr), \qquad
          X_c = \frac{N_c}{Z_c + \sum_k R_{ck}}, \qquad Q_{ck} = X_c R_{ck}

It needs every population below **N**: ∏(N_c + 1) of them.  `approximate` does without.  Centres with several servers go
through `class_convolution`.

M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks", Journal of the ACM 27(2),
1980, pp. 313–322.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._network import demands, known, server_numbers, whole
from loadcurve.models.queueing.class_convolution import Lattice, residence_times
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
