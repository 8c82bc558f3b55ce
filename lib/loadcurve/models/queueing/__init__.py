"""Queues: single stations with Poisson arrivals, and closed networks in which N requests circulate.

A load generator with N connections and its servers are a closed network; users who come when they like are arrivals.

| module             | solves                       | by |
|--------------------|------------------------------|---|
| ``stations``       | M/M/1 M/M/m M/M/m/K M/G/1    | closed forms, Erlang B and C by their recursion |
| ``mva``            | one class, exact             | mean value analysis, and convolution for several servers |
| ``classes``        | several classes, exact       | mean value analysis, and convolution for several servers |
| ``approximate``    | several classes, large       | Schweitzer's fixed point, Linearizer |

``solve_*`` of a network returns a `ClosedNetwork` that passed `check_network`: Little's law at every centre, all
requests found, nothing more than always busy.  What breaks them raises `InvariantError` and is never returned.

Exact means exact for product-form networks: exponential service where requests queue in order of arrival, or any
service at centres that share their time among all (J. R. Jackson 1963; F. Baskett, K. M. Chandy, R. R. Muntz,
F. G. Palacios, "Open, Closed, and Mixed Networks of Queues with Different Classes of Customers", Journal of the ACM
22(2), 1975).
"""

from loadcurve.models.queueing.approximate import solve_linearizer, solve_schweitzer
from loadcurve.models.queueing.classes import solve_classes
from loadcurve.models.queueing.mva import solve_network
from loadcurve.models.queueing.solution import ClosedNetwork, InvariantError, check_network
from loadcurve.models.queueing.stations import Station, erlang_b, erlang_c, solve_mg1, solve_mm1, solve_mmm, solve_mmmk

__all__ = [
    "ClosedNetwork",
    "InvariantError",
    "Station",
    "check_network",
    "erlang_b",
    "erlang_c",
    "solve_classes",
    "solve_linearizer",
    "solve_mg1",
    "solve_mm1",
    "solve_mmm",
    "solve_mmmk",
    "solve_network",
    "solve_schweitzer",
]
