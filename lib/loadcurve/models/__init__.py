"""Laws of throughput and response time as pure functions on arrays and tables, and their fits.

| module                 | holds |
|------------------------|---|
| ``laws``               | Little's law in all its forms |
| ``utilisation_laws``   | utilisation, service demand, forced flow, threads that keep a processor busy |
| ``bounds``             | asymptotes and the saturation point N*; ``demand`` finds their two numbers in measurements |
| ``network_bounds``     | bounds of a closed network from its service demands |
| ``threads``            | a thread pool at a processor |
| ``retransmission``     | how long TCP retransmits, and orphans live |
| ``gain``, ``similarity`` | what each level of connections adds; whether two records have curves of one shape |
| ``fit``                | `Fit`, what every ``fit_*`` returns, and its rows of the table ``fits`` |
| ``peak``               | peak and limit of a fitted Universal Scalability Law, with intervals |
| ``scaling``            | laws of throughput over connections: fits, intervals, model selection |
| ``capacity``           | decisions: knee, capacity under an objective, bottleneck, scale-out |
| ``queueing``           | stations with Poisson arrivals; closed networks, exact and approximate |
| ``wire``               | bytes, frames and packets of HTTP over Ethernet; limits of links and ports |

Imports go one way: ``laws utilisation_laws retransmission bounds demand fit gain similarity`` (arrays and
`loadcurve.stats` only) < ``network_bounds queueing scaling wire`` < ``threads peak capacity``.  No module knows a tool
or a file.

An argument outside the range that its docstring states raises `ValueRuleError`, which names the argument and the rule.
Each name below is imported when it is first used.
"""

from typing import TYPE_CHECKING

from loadcurve.packages import imported_late

if TYPE_CHECKING:
    from loadcurve.models import capacity, queueing, scaling, wire
    from loadcurve.models.bounds import (
        asymptotic_throughput_rps,
        find_saturation,
        saturation_connections,
    )
    from loadcurve.models.demand import find_demand, find_latency_min, find_saturation_of_runs
    from loadcurve.models.fit import Fit, summarise_fit
    from loadcurve.models.gain import summarise_gain
    from loadcurve.models.laws import (
        little_connections,
        little_latency_s,
        little_throughput_rps,
        single_thread_throughput_rps,
    )
    from loadcurve.models.network_bounds import (
        asymptotic_bounds,
        balanced_job_bounds,
        geometric_bounds,
        proportional_bounds,
    )
    from loadcurve.models.peak import find_limit, find_peak, find_peak_throughput
    from loadcurve.models.retransmission import next_retransmission_s, orphan_lifetime_s, retransmission_limit_s
    from loadcurve.models.scaling import fit_usl
    from loadcurve.models.scaling.usl import usl, usl_limit_rps, usl_peak_connections
    from loadcurve.models.similarity import similarity_verdict, summarise_similarity
    from loadcurve.models.threads import find_threads_to_fill, summarise_threads, threads_needed
    from loadcurve.models.utilisation_laws import (
        filled_utilisation_ratio,
        forced_flow_rps,
        saturation_throughput_rps,
        service_demand_s,
        threads_to_fill,
        utilisation_ratio,
    )

__all__ = [
    "Fit",
    "asymptotic_bounds",
    "asymptotic_throughput_rps",
    "balanced_job_bounds",
    "capacity",
    "filled_utilisation_ratio",
    "find_demand",
    "find_latency_min",
    "find_limit",
    "find_peak",
    "find_peak_throughput",
    "find_saturation",
    "find_saturation_of_runs",
    "find_threads_to_fill",
    "fit_usl",
    "forced_flow_rps",
    "geometric_bounds",
    "little_connections",
    "little_latency_s",
    "little_throughput_rps",
    "next_retransmission_s",
    "orphan_lifetime_s",
    "proportional_bounds",
    "queueing",
    "retransmission_limit_s",
    "saturation_connections",
    "saturation_throughput_rps",
    "scaling",
    "service_demand_s",
    "similarity_verdict",
    "single_thread_throughput_rps",
    "summarise_fit",
    "summarise_gain",
    "summarise_similarity",
    "summarise_threads",
    "threads_needed",
    "threads_to_fill",
    "usl",
    "usl_limit_rps",
    "usl_peak_connections",
    "utilisation_ratio",
    "wire",
]

__getattr__ = imported_late(__name__, __all__)  # an audit needs Little's law, and none of the fits


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
