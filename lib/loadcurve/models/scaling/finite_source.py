r"""N connections, a delay and one queue: what a closed system gives when nothing but one resource queues.

Each connection spends a time Z away from the busiest resource (network, think time, work that does not queue) and then
asks it for D.  With exponential times this is the machine-repairman model M/M/1//N; its utilisation is one minus
Erlang's loss probability B with N servers and the load Z / D:

.. math:: X(N) = \frac{1 - B(N,\ Z/D)}{D}, \qquad \frac{1}{B(N, a)} = 1 + \frac{N}{a}\,\frac{1}{B(N-1, a)},\ B(0,a)=1

L. Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, chapter 3 (M/M/m/m and the finite population).  Behind a
delay, a queue served as processor sharing gives the same curve for any distribution of the times.
"""

import numpy as np

from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.walk import walk

# From here on 1/B is so large that B changes no digit of the throughput.
_ENDLESS = 1e17
# Most that D and Z may become, in seconds: no client waits longer than an hour.
_UPPER = np.array([3600.0, 3600.0])
# A delay of this part of D is none: already one connection then keeps the resource busy.
_SHORTEST = 1e-9


def finite_source_rps(number: np.ndarray, demand_s: np.ndarray, delay_s: np.ndarray) -> np.ndarray:
    """Throughput of whole connections N (n,); the parameters are scalars, or (b, 1) for (b, n) values."""
    number = np.asarray(number, float)
    demand = np.asarray(demand_s, float)
    load = np.maximum(np.asarray(delay_s, float) / demand, _SHORTEST)
    loss = np.zeros(np.broadcast_shapes(load.shape, number.shape))
    inverse = np.ones_like(load)
    levels = set(number.tolist())
    for n in range(1, int(number.max()) + 1):
        inverse = 1 + n / load * inverse
        if n in levels:
            np.copyto(loss, 1 / inverse, where=number == n)
        if (inverse > _ENDLESS).all():
            break
    return (1 - loss) / demand


def _gradient(number, demand_s, delay_s):
    def of_logs(logs: np.ndarray) -> np.ndarray:
        return finite_source_rps(number, *np.exp(logs))

    logs, step = np.log([demand_s, delay_s]), 6e-6
    slopes = [(of_logs(logs + step * unit) - of_logs(logs - step * unit)) / (2 * step) for unit in np.eye(2)]
    return np.column_stack(slopes) / [demand_s, delay_s]


def _solve(number: np.ndarray, observed: np.ndarray, weights: np.ndarray) -> np.ndarray:
    # The two asymptotes: D from the highest throughput, D + Z from the least N / X.
    demand = 1 / observed.max(axis=1)
    least = (number / observed).min(axis=1)
    start = np.column_stack([0.95 * demand, np.maximum(least - demand, 0.05 * demand)])
    return walk(finite_source_rps, number, observed, weights, start, _UPPER)


FINITE_SOURCE = Law("finite_source", ("demand_s", "delay_s"), finite_source_rps, _gradient, _solve)
