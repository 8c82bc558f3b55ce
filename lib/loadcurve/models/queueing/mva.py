r"""Exact mean value analysis of a closed network with one class of requests.

A request that arrives at a centre finds there what N − 1 requests would leave there on average (arrival theorem), so
with a single server

.. math:: R_k(N) = D_k\,(1 + Q_k(N-1)), \qquad X(N) = \frac{N}{Z + \sum_k R_k(N)}, \qquad Q_k(N) = X(N)\,R_k(N)

and at a delay centre R_k = D_k.  All terms are positive, so rounding does not grow.

M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks", Journal of the ACM 27(2),
1980, pp. 313–322.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.models._network import demands, server_numbers, think_time, whole
from loadcurve.models.network_bounds import asymptotic_bounds
from loadcurve.models.queueing.load_dependent import solve_centres
from loadcurve.models.queueing.solution import ClosedNetwork, InvariantError, checked_solution
from loadcurve.stats.arrays import Array

_ROUNDING = 1e-9  # part by which rounding may take the throughput past an asymptote that it meets


def solve_network(
    connections: int, demand_s: ArrayLike, think_time_s: float = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of a closed network for every population up to N, exactly.

    Single servers and delays go through mean value analysis.  A centre with several servers sends all of them through
    the convolution of `solve_load_dependent`, because mean value analysis with several servers subtracts probabilities
    and loses all its digits near saturation.

    Parameters
    ----------
    connections : int
        Largest population N, >= 1.
    demand_s : array_like, shape (K,)
        Service demand D_k = V_k S_k of each centre: the work one request needs there, over all its visits, >= 0 and
        one of them above 0.
    think_time_s : float
        Think time Z, >= 0: what each request waits outside, such as between a response and the next request.
    servers : array_like, shape (K,)
        Servers m_k of each centre, or one number for all: 1, more, or ``inf`` for a delay centre.

    Returns
    -------
    ClosedNetwork
        N rows, for the populations 1 … N.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.
    InvariantError
        When the solution breaks a law; it is then not returned.

    Examples
    --------
    Three terminals that think 15 s (Lazowska and others 1984, p. 117): 0.1515 requests/s.

    >>> solve_network(3, [0.605, 2.1, 1.35], think_time_s=15).table().round(4).values.tolist()[-1]
    [3.0, 0.1515, 4.7998]
    """
    number = int(whole("connections", connections, 1))
    demand, think = demands(demand_s), think_time(think_time_s)
    many = server_numbers(servers, demand.size)
    if ((many > 1) & np.isfinite(many)).any():
        speeds = [np.arange(1, min(m, number) + 1) for m in many]
        network = solve_centres(number, demand, think, speeds, many)
    else:
        network = _mean_values(number, demand, think, many)
    _require_asymptotes(network, demand, think, many)
    return network


def _mean_values(number: int, demand: Array, think: float, many: Array) -> ClosedNetwork:
    queueing = np.where(np.isfinite(many), demand, 0.0)  # a delay centre takes D at any queue length
    queue = np.zeros((number + 1, demand.size))
    throughput = np.empty(number)
    for n in range(1, number + 1):
        residence = demand + queueing * queue[n - 1]  # R_k(N) = D_k (1 + Q_k(N − 1))
        throughput[n - 1] = n / (think + residence.sum())
        queue[n] = throughput[n - 1] * residence
    residence = demand + queueing * queue[:-1]
    busy = throughput[:, None] * demand / many
    return checked_solution("mean value analysis", think, throughput, residence, queue[1:], busy)


def _require_asymptotes(network: ClosedNetwork, demand: Array, think: float, many: Array) -> None:
    # Little's law holds for a wrong throughput too, with a wrong response time; the asymptotes detect it.
    bounds, throughput = asymptotic_bounds(network.connections, demand, think, many), network.throughput_rps
    lo, hi = bounds["throughput_lo_rps"].to_numpy(), bounds["throughput_hi_rps"].to_numpy()
    outside = np.flatnonzero((throughput < lo * (1 - _ROUNDING)) | (throughput > hi * (1 + _ROUNDING)))
    if outside.size:
        n = outside[0]
        between = f"between its asymptotes {lo[n]:.9g} and {hi[n]:.9g}"
        raise InvariantError(f"{network.method}: X({n + 1}) = {throughput[n]:.9g} is not {between}")
