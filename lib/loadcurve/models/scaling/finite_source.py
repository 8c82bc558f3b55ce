r"""The finite-source law: the throughput of N connections through a delay and one queue.

Each connection spends a time Z away from the busiest resource (network, think time, work that does not queue) and then
asks it for D.  With exponential times this is the machine-repairman model M/M/1//N; its utilisation is one minus
Erlang's loss probability B with N servers and the load a = Z / D:

.. math:: X(N) = \frac{1 - B(N,\ Z/D)}{D}, \qquad
    \frac{1}{B(N, a)} = \sum_{k=0}^{N} \frac{N!}{(N-k)!\,a^k} = \frac{N!\,e^a\,Q(N+1, a)}{a^N}

with the regularised incomplete gamma function Q.  L. Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, chapter 3
(M/M/m/m and the finite population).  Behind a delay, a queue served as processor sharing gives the same curve for any
distribution of the times.
"""

import numpy as np
import scipy

from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.marquardt import minimise
from loadcurve.stats.arrays import Array

# Below this, Q loses its digits; there a is far above N, and the sum's terms fall fast, as (N/a)^k.
_SMALL = 1e-200
_DIGITS = 1e-16
# A demand this many times the shortest time between two responses seen, or a delay this many times the shortest N / X
# seen, is one that the data do not bound.
_CEILING_FACTOR = 1e3
# A delay of this part of D is none: already one connection then keeps the resource busy.
_SHORTEST = 1e-9


def finite_source_rps(number: Array, demand_s: Array, delay_s: Array) -> Array:
    """Throughput of N connections (n,); the parameters are scalars, or (b, 1) for (b, n) values."""
    demand = np.asarray(demand_s, float)
    number, load = np.broadcast_arrays(
        np.asarray(number, float), np.maximum(np.asarray(delay_s, float) / demand, _SHORTEST)
    )
    rest = scipy.special.gammaincc(number + 1, load)
    small = rest < _SMALL
    loss = np.empty(number.shape)
    loss[small] = 1 / _sum(number[small], load[small])
    n, a = number[~small], load[~small]
    loss[~small] = np.exp(n * np.log(a) - a - scipy.special.gammaln(n + 1) - np.log(rest[~small]))
    result: Array = (1 - loss) / demand
    return result


def _sum(number: Array, load: Array) -> Array:
    total, term, k = np.ones_like(number), np.ones_like(number), 0
    while (term > _DIGITS * total).any():
        term = term * np.maximum(number - k, 0.0) / load
        total += term
        k += 1
    return total


def _gradient(number: Array, demand_s: float, delay_s: float) -> Array:
    def of_logs(logs: Array) -> Array:
        return finite_source_rps(number, *np.exp(logs))

    logs, step = np.log([demand_s, delay_s]), 6e-6
    slopes = [(of_logs(logs + step * unit) - of_logs(logs - step * unit)) / (2 * step) for unit in np.eye(2)]
    return np.column_stack(slopes) / [demand_s, delay_s]


def _solve(number: Array, observed: Array, weights: Array) -> Array:
    # The two asymptotes: D from the highest throughput, D + Z from the least N / X.
    demand = 1 / observed.max(axis=1)
    least = (number / observed).min(axis=1)
    start = np.column_stack([0.95 * demand, np.maximum(least - demand, 0.05 * demand)])
    return minimise(finite_source_rps, number, observed, weights, start, _ceiling(number, observed))


def _ceiling(number: Array, observed: Array) -> Array:
    return _CEILING_FACTOR * np.column_stack([1 / observed.max(axis=1), (number / observed).min(axis=1)])


FINITE_SOURCE = Law("finite_source", ("demand_s", "delay_s"), finite_source_rps, _gradient, _solve, ceiling=_ceiling)
