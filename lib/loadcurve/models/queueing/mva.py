r"""Exact analysis of a closed network with one class of requests.

Mean value analysis: a request that arrives at a centre finds there what N − 1 requests would leave there on average
(arrival theorem), so with a single server

.. math:: R_k(N) = D_k\,(1 + Q_k(N-1)), \qquad X(N) = \frac{N}{Z + \sum_k R_k(N)}, \qquad Q_k(N) = X(N)\,R_k(N)

and at a delay centre R_k = D_k.  All terms are positive, so rounding does not grow.

M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks", Journal of the ACM 27(2),
1980, pp. 313–322.

Several servers are a centre whose speed depends on the length of its queue: with j requests it serves at a_k(j) / D_k,
a_k(j) = min(j, m).  The network has the normalising constant

.. math:: G(n) = \sum_{n_1 + \dots + n_K = n} \prod_k F_k(n_k), \qquad F_k(j) = \prod_{i \le j} \frac{D_k}{a_k(i)}

and X(N) = G(N − 1) / G(N).  The queue of centre k needs the constant G₋ₖ of the network without it,

.. math:: Q_k(N) = \frac{1}{G(N)} \sum_j j\, F_k(j)\, G_{-k}(N - j).

Every sum here has positive terms only, and is taken in logarithms, so nothing cancels, overflows or underflows.  That
is the difference to mean value analysis with several servers: there P(0) is 1 minus a sum, which is noise as soon as
the centre is hardly ever idle, and the recursion multiplies the noise.  From the last given speed on, F falls
geometrically, and the sum over that tail is a running sum: a centre with m servers costs N m steps.

J. P. Buzen, "Computational Algorithms for Closed Queueing Networks with Exponential Servers", Communications of the ACM
16(9), 1973, pp. 527–531 (convolution).  M. Reiser, "Mean-Value Analysis and Convolution Method for Queue-Dependent
Servers in Closed Queueing Networks", Performance Evaluation 1(1), 1981, pp. 7–18 (the instability).
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.models._network import demands, server_numbers, think_time, whole
from loadcurve.models.network_bounds import asymptotic_bounds
from loadcurve.models.queueing.solution import ClosedNetwork, InvariantError, checked_solution
from loadcurve.stats.arrays import Array

_ROUNDING = 1e-9  # part by which rounding may take the throughput past an asymptote that it meets


def solve_network(
    connections: int, demand_s: ArrayLike, think_time_s: float = 0, servers: ArrayLike = 1
) -> ClosedNetwork:
    """Throughput and response time of a closed network for every population up to N, exactly.

    Single servers and delays go through mean value analysis.  A centre with several servers sends all of them through
    a convolution, because mean value analysis with several servers subtracts probabilities and loses all its digits
    near saturation.

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


def solve_centres(number: int, demand: Array, think: float, speeds: list[Array], full: Array) -> ClosedNetwork:
    """Solve for checked arguments; `full` is what U is the share of: the servers, infinite for a delay centre."""
    delay = np.isinf(full)
    unit = np.max(np.where(delay, 0.0, demand / full))  # time in units of the bottleneck's: G neither grows nor falls
    unit = unit if unit > 0 else 1.0
    outside = (think + demand[delay].sum()) / unit  # delays are one delay
    queued = np.flatnonzero(~delay & (demand > 0))
    factors = [_factors(demand[k] / unit, speeds[k][:number]) for k in queued]

    whole_g = _delay(outside, number)
    for factor in factors:
        whole_g, _ = _add(whole_g, *factor)
    throughput = np.exp(whole_g[:-1] - whole_g[1:]) / unit  # X(N) = G(N − 1) / G(N)

    queue = throughput[:, None] * demand  # at a delay centre
    for place, k in enumerate(queued):
        others = _delay(outside, number)
        for factor in factors[:place] + factors[place + 1 :]:
            others, _ = _add(others, *factor)
        _, weighted = _add(others, *factors[place])
        queue[:, k] = np.exp(weighted[1:] - whole_g[1:])
    residence = queue / throughput[:, None]
    busy = throughput[:, None] * demand / full
    return checked_solution("convolution in logarithms", think, throughput, residence, queue, busy)


def _delay(outside: float, number: int) -> Array:
    # log G of a delay alone: Z^n / n!; without one, only the empty network.
    if outside == 0:
        return np.concatenate([[0.0], np.full(number, -np.inf)])
    n = np.arange(number + 1)
    log_g: Array = n * np.log(outside) - scipy.special.gammaln(n + 1)
    return log_g


def _factors(demand: float, speeds: Array) -> tuple[Array, float]:
    # log F(1 … J), and the log of the ratio by which F goes on from there.
    steps = np.log(demand) - np.log(speeds)
    return np.cumsum(steps), steps[-1]


def _add(log_g: Array, log_f: Array, log_ratio: float) -> tuple[Array, Array]:
    """Log G(n) with one more centre, and log Σ j F(j) G(n − j), from log G(n) without it; n = 0 … N."""
    size, last = log_g.size, log_f.size
    total, weighted = log_g.copy(), np.full(size, -np.inf)
    for j in range(1, min(last, size)):
        here = log_f[j - 1] + log_g[: size - j]
        total[j:] = np.logaddexp(total[j:], here)
        weighted[j:] = np.logaddexp(weighted[j:], here + np.log(j))
    if last < size:
        tilt = log_ratio * np.arange(size - last)
        here = log_f[-1] + log_g[: size - last]
        tail = np.logaddexp.accumulate(here - tilt) + tilt  # Σ F(j) G(n − j) over j >= J
        beyond = np.logaddexp.accumulate(tail - tilt) + tilt  # Σ (j − J + 1) F(j) G(n − j) over j >= J
        total[last:] = np.logaddexp(total[last:], tail)
        if last > 1:
            beyond = np.logaddexp(beyond, tail + np.log(last - 1))
        weighted[last:] = np.logaddexp(weighted[last:], beyond)
    return total, weighted
