"""Plots of queueing models: closed networks within their bounds, solvers, and processors by number of threads."""

import pandas as pd
from matplotlib.axes import Axes

from loadcurve.plots._axes import axes_or_new, connections_axis, label_end, percent_axis, seconds_axis, throughput_axis
from loadcurve.plots.style import COLOURS, colours
from loadcurve.tables import axis_label


def plot_network_throughput(network: pd.DataFrame, bounds: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot exact throughput of a closed network against connections, and the range between its bounds.

    - `network`: ``connections throughput_rps``, such as from `ClosedNetwork.table`.
    - `bounds`: ``connections throughput_lo_rps throughput_hi_rps``, such as from `asymptotic_bounds`.

    Examples
    --------
    >>> from loadcurve.models import asymptotic_bounds, queueing
    >>> network = queueing.solve_network(16, [0.01, 0.02])
    >>> ax = plot_network_throughput(network.table(), asymptotic_bounds(range(1, 17), [0.01, 0.02]))
    >>> ax.get_ylabel()
    'Throughput [requests/s]'
    """
    ax = _within(network, bounds, "throughput_rps", ("throughput_lo_rps", "throughput_hi_rps"), ax)
    ax.set_ylim(0, 1.1 * network["throughput_rps"].max())
    throughput_axis(ax.yaxis)
    return ax


def plot_network_latency(network: pd.DataFrame, bounds: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot exact mean response time of a closed network against connections, and the range between its bounds.

    - `network`: ``connections latency_s``, such as from `ClosedNetwork.table`.
    - `bounds`: ``connections latency_lo_s latency_hi_s``, such as from `asymptotic_bounds`.

    Examples
    --------
    >>> from loadcurve.models import asymptotic_bounds, queueing
    >>> network = queueing.solve_network(16, [0.01, 0.02])
    >>> ax = plot_network_latency(network.table(), asymptotic_bounds(range(1, 17), [0.01, 0.02]))
    >>> ax.get_ylabel()
    'Mean response time'
    """
    ax = _within(network, bounds, "latency_s", ("latency_lo_s", "latency_hi_s"), ax)
    ax.set_ylim(0, 1.3 * network["latency_s"].max())  # the upper bound would need a much higher axis
    seconds_axis(ax.yaxis, axis_label("runs", "latency_mean_s"))
    return ax


def plot_bound_gaps(gaps: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the relative distance of bounds from the exact throughput against connections, a colour for each family.

    `gaps`: ``bounds`` (their name), ``connections``, and ``lo_ratio``, ``hi_ratio``: bound / exact − 1.

    Examples
    --------
    >>> gaps = pd.DataFrame({"bounds": "asymptotic", "connections": [1, 8], "lo_ratio": [0.0, -0.5],
    ...                      "hi_ratio": [0.0, 0.1]})
    >>> plot_bound_gaps(gaps).get_legend_handles_labels()[1]
    ['asymptotic']
    """
    ax = axes_or_new(ax, gaps=gaps)
    ax.axhline(0, color=COLOURS["limit"], linewidth=1, zorder=0)
    palette = colours(gaps["bounds"].unique())
    for name, rows in gaps.groupby("bounds", sort=False):
        ax.plot(rows["connections"], rows["lo_ratio"], color=palette[name], label=name)
        ax.plot(rows["connections"], rows["hi_ratio"], color=palette[name])
    connections_axis(ax)
    percent_axis(ax.yaxis, "Bound / exact − 1")
    ax.legend(fontsize="small")
    return ax


def plot_solvers(latency: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the mean response time of one network by several solvers against connections; values below 0 are invalid.

    Connections have a linear axis, because the solvers differ within a few of them; response time is linear around 0
    and logarithmic beyond 10 s, so that the correct curve stays visible.

    `latency`: ``solver`` (its name), ``connections`` and ``latency_s``.

    Examples
    --------
    >>> latency = pd.DataFrame({"solver": ["exact", "exact", "other", "other"], "connections": [1, 8] * 2,
    ...                         "latency_s": [0.1, 0.8, 0.1, -3.0]})
    >>> plot_solvers(latency).get_legend_handles_labels()[1]
    ['exact', 'other']
    """
    ax = axes_or_new(ax, latency=latency)
    ax.axhline(0, color=COLOURS["limit"], linewidth=1, zorder=0)
    palette = colours(latency["solver"].unique())
    for style, (solver, rows) in zip(("-", ":", "--", "-."), latency.groupby("solver", sort=False), strict=False):
        ax.plot(rows["connections"], rows["latency_s"], style, color=palette[solver], label=solver)
    ax.set_xlabel(axis_label("runs", "connections"))
    ax.set_yscale("symlog", linthresh=10)
    seconds_axis(ax.yaxis, axis_label("runs", "latency_mean_s"))
    ax.legend(loc="lower left")
    return ax


def _within(network: pd.DataFrame, bounds: pd.DataFrame, column: str, ends: tuple[str, str], ax: Axes | None) -> Axes:
    ax = axes_or_new(ax, network=network)
    lo, hi = (bounds[end] for end in ends)
    ax.fill_between(bounds["connections"], lo, hi, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    for end in (lo, hi):
        ax.plot(bounds["connections"], end, color=COLOURS["limit"], linestyle="--")
    ax.plot(network["connections"], network[column], color=COLOURS["law"])
    label_end(ax, network["connections"].iloc[-1], network[column].iloc[-1], "exact", COLOURS["law"])
    connections_axis(ax)
    return ax


# Tolerance, so that a number of threads just below an integer by rounding counts as that integer.
_ROUNDING = 1 + 1e-9


def plot_busy_by_threads(busy: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot utilisation of a processor against threads: exact (line) and by the formula (dashed), a colour per case.

    The diamond and the label of a case are at the whole number of threads that fills the processor by the formula.

    `busy`: ``case`` (its name), ``threads``, ``utilisation_ratio`` (exact), ``bound_ratio`` (by the formula) and
    ``threads_to_fill`` (one number for each case).

    Examples
    --------
    >>> busy = pd.DataFrame({"case": "10 ms wait", "threads": [1, 2, 4], "utilisation_ratio": [0.3, 0.5, 0.8],
    ...                      "bound_ratio": [0.3, 0.6, 1.0], "threads_to_fill": 3.3})
    >>> plot_busy_by_threads(busy).texts[0].get_text()
    '10 ms wait: 2 threads, 50%'
    """
    ax = axes_or_new(ax, busy=busy)
    palette = colours(busy["case"].unique())
    for place, (case, rows) in enumerate(busy.groupby("case", sort=False)):
        color = palette[case]
        ax.plot(rows["threads"], rows["bound_ratio"], "--", color=color, linewidth=1.2, alpha=0.8)
        ax.plot(rows["threads"], rows["utilisation_ratio"], color=color)
        full = rows[rows["threads"] <= rows["threads_to_fill"] * _ROUNDING].iloc[-1]
        ax.plot(full["threads"], full["utilisation_ratio"], "D", color=color, linestyle="none")
        # Label where no curve of a pool that fills its processor runs.
        ax.text(
            0.99, 0.05 + 0.08 * place, f"{case}: {full['threads']:g} threads, {full['utilisation_ratio']:.0%}",
            transform=ax.transAxes, ha="right", color=color, fontsize=9,
        )  # fmt: skip
    connections_axis(ax)
    ax.set_xlabel("Threads")
    ax.set_ylim(0, 1.04)
    percent_axis(ax.yaxis, "Processor busy")
    return ax
