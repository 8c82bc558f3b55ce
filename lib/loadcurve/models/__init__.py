"""Laws of throughput and latency as pure functions on arrays, and their fits; they know no tool and no file."""

from loadcurve.models import capacity, queueing, scaling, wire
from loadcurve.models.bounds import (
    asymptotic_latency_s,
    asymptotic_throughput_rps,
    find_saturation,
    saturation_connections,
)
from loadcurve.models.demand import find_demand, find_latency_min
from loadcurve.models.fit import Fit, fit_table
from loadcurve.models.gain import summarise_gain
from loadcurve.models.laws import (
    little_connections,
    little_latency_s,
    little_throughput_rps,
    single_thread_throughput_rps,
)
from loadcurve.models.likeness import likeness_verdict, summarise_likeness
from loadcurve.models.network_bounds import (
    asymptotic_bounds,
    balanced_job_bounds,
    geometric_bounds,
    proportional_bounds,
)
from loadcurve.models.peak import find_limit, find_peak, find_peak_throughput
from loadcurve.models.scaling import fit_usl, usl, usl_limit_rps, usl_peak_connections
from loadcurve.models.threads import summarise_threads, threads_needed
from loadcurve.models.utilisation_laws import (
    filled_utilisation_ratio,
    forced_flow_rps,
    saturation_throughput_rps,
    service_demand_s,
    threads_to_fill,
    utilisation_ratio,
    visits_per_request,
)

__all__ = [
    "Fit",
    "asymptotic_bounds",
    "asymptotic_latency_s",
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
    "fit_table",
    "fit_usl",
    "forced_flow_rps",
    "geometric_bounds",
    "likeness_verdict",
    "little_connections",
    "little_latency_s",
    "little_throughput_rps",
    "proportional_bounds",
    "queueing",
    "saturation_connections",
    "saturation_throughput_rps",
    "scaling",
    "service_demand_s",
    "single_thread_throughput_rps",
    "summarise_gain",
    "summarise_likeness",
    "summarise_threads",
    "threads_needed",
    "threads_to_fill",
    "usl",
    "usl_limit_rps",
    "usl_peak_connections",
    "utilisation_ratio",
    "visits_per_request",
    "wire",
]
