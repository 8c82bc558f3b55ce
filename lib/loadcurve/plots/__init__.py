"""Plot functions ``plot_x(data, *, ax=None) -> Axes``: they take tables and fits, share one style, and save nothing.

Each draws on the Axes `ax`, or on those of a new figure, and returns them.
A plot draws the repeats, then their mean, then a law with its band.  Throughput starts at 0, connections have a log₂
axis, and an entity has the same colour in every figure.
"""

from typing import TYPE_CHECKING

from loadcurve.packages import imported_late
from loadcurve.plots.style import use

if TYPE_CHECKING:
    from loadcurve.plots.capacity import (
        plot_bottlenecks,
        plot_capacity,
        plot_efficiency,
        plot_knees,
        plot_projection,
        plot_utilisation,
    )
    from loadcurve.plots.checklist import plot_acceptance, plot_checklist
    from loadcurve.plots.comparison import (
        plot_coverage,
        plot_error_rates,
        plot_interval_coverage,
        plot_ratios,
        plot_repeats_by_scatter,
        plot_throughput_by_block,
    )
    from loadcurve.plots.curve import plot_curve_latency, plot_curve_throughput
    from loadcurve.plots.fits import (
        plot_fit,
        plot_forecast,
        plot_forecast_errors,
        plot_intervals,
        plot_laws,
        plot_residuals,
    )
    from loadcurve.plots.latency import plot_percentiles, plot_rates
    from loadcurve.plots.network import (
        plot_bound_gaps,
        plot_busy_by_threads,
        plot_network_latency,
        plot_network_throughput,
        plot_solvers,
    )
    from loadcurve.plots.quality import (
        plot_cpu_by_connections,
        plot_deviation_from_law,
        plot_effective_concurrency,
        plot_established_by_connections,
        plot_law_by_delay,
        plot_throughput_by_threads,
    )
    from loadcurve.plots.scale_out import plot_budgets, plot_overlap, plot_reported_rates
    from loadcurve.plots.settings import (
        plot_busy_rates,
        plot_dealt,
        plot_rates_by_setting,
        plot_shares_by_size,
        plot_used,
    )
    from loadcurve.plots.sockets import plot_counts, plot_sockets, plot_sockets_over_time
    from loadcurve.plots.throughput import (
        plot_asymptotic_bounds,
        plot_latency_by_connections,
        plot_records,
        plot_throughput_by_connections,
        plot_throughput_law,
    )
    from loadcurve.plots.timeline import plot_fault, plot_timeline
    from loadcurve.plots.topology import plot_topology
    from loadcurve.plots.wire import (
        plot_overhead_by_size,
        plot_packets_by_size,
        plot_port_limit,
        plot_requests_limit_by_size,
    )

use()

__all__ = [
    "plot_acceptance",
    "plot_asymptotic_bounds",
    "plot_bottlenecks",
    "plot_bound_gaps",
    "plot_budgets",
    "plot_busy_by_threads",
    "plot_busy_rates",
    "plot_capacity",
    "plot_checklist",
    "plot_counts",
    "plot_coverage",
    "plot_cpu_by_connections",
    "plot_curve_latency",
    "plot_curve_throughput",
    "plot_dealt",
    "plot_deviation_from_law",
    "plot_effective_concurrency",
    "plot_efficiency",
    "plot_error_rates",
    "plot_established_by_connections",
    "plot_fault",
    "plot_fit",
    "plot_forecast",
    "plot_forecast_errors",
    "plot_interval_coverage",
    "plot_intervals",
    "plot_knees",
    "plot_latency_by_connections",
    "plot_law_by_delay",
    "plot_laws",
    "plot_network_latency",
    "plot_network_throughput",
    "plot_overhead_by_size",
    "plot_overlap",
    "plot_packets_by_size",
    "plot_percentiles",
    "plot_port_limit",
    "plot_projection",
    "plot_rates",
    "plot_rates_by_setting",
    "plot_ratios",
    "plot_records",
    "plot_repeats_by_scatter",
    "plot_reported_rates",
    "plot_requests_limit_by_size",
    "plot_residuals",
    "plot_shares_by_size",
    "plot_sockets",
    "plot_sockets_over_time",
    "plot_solvers",
    "plot_throughput_by_block",
    "plot_throughput_by_connections",
    "plot_throughput_by_threads",
    "plot_throughput_law",
    "plot_timeline",
    "plot_topology",
    "plot_used",
    "plot_utilisation",
]

__getattr__ = imported_late(__name__, __all__)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
