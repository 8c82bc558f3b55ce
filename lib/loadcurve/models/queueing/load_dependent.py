r"""Closed networks with load-dependent centres: the speed of a centre depends on its queue length.

A centre with j requests serves at a_k(j) / D_k.  Several servers are a_k(j) = min(j, m).  The network has the
normalising constant

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

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._network import demands, known, think_time, whole
from loadcurve.models.queueing.solution import ClosedNetwork, checked_solution
from loadcurve.stats.arrays import Array, above_0


def solve_load_dependent(
    connections: int, demand_s: ArrayLike, speedup: Sequence[ArrayLike], think_time_s: float = 0
) -> ClosedNetwork:
    """Throughput and response time of a closed network of centres whose speed depends on their queue, exactly.

    Parameters
    ----------
    connections : int
        Largest population N, >= 1.
    demand_s : array_like, shape (K,)
        Service demand D_k of each centre at speed 1, >= 0 and one of them above 0.
    speedup : sequence of K array_like
        For each centre its speeds a(1), a(2), …, a(J) with 1, 2, …, J requests there, > 0; the last one holds for more.
        ``[1]`` is a single server, ``[1, 2]`` two servers; falling speeds are a centre that thrashes.
    think_time_s : float
        Think time Z, >= 0; put delay centres here.

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
    Two cores whose second one adds 0.8 of a core:

    >>> solve_load_dependent(3, [0.010], [[1, 1.8]]).throughput_rps.round(6).tolist()
    [100.0, 180.0, 180.0]
    """
    number = int(whole("connections", connections, 1))
    demand, think = demands(demand_s), think_time(think_time_s)
    speeds = [np.atleast_1d(known("speedup", above_0("speedup", speed))) for speed in speedup]
    if len(speeds) != demand.size or any(speed.ndim != 1 or speed.size == 0 for speed in speeds):
        raise ValueRuleError("speedup", f"a list of speeds for each of the {demand.size} centres", speedup)
    return solve_centres(number, demand, think, speeds, np.array([speed[:number].max() for speed in speeds]))


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
