"""Plots of an open loop: percentiles of the response time by offered rate, beside those of a closed loop."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from loadcurve.analysis.cells import connections_words
from loadcurve.analysis.open_loop import QUANTILES
from loadcurve.models.capacity import overload_latency_s
from loadcurve.plots._axes import axes_or_new, log_seconds_axis, name_ends
from loadcurve.plots.style import COLOURS, PALETTE
from loadcurve.stats import Estimate

_STYLES = {"latency_p50_s": (":", "o", "p50"), "latency_p99_s": ("-", "D", "p99")}


def plot_rates(offered: pd.DataFrame, closed: pd.DataFrame, capacity: Estimate, *, ax: Axes | None = None) -> Axes:
    """Plot median and p99 by rate: of an open loop by what was offered, of a closed loop by what was served.

    Parameters
    ----------
    offered : pandas.DataFrame
        ``target_rate_rps duration_s latency_p50_s latency_p99_s`` of each run of an open loop, timed from when requests
        were due.
    closed : pandas.DataFrame
        ``connections throughput_rps latency_p50_s latency_p99_s`` of each run of a closed loop.
    capacity : Estimate
        In requests/s: the shaded interval, and the start of the grey lines that predict the overload from the length of
        the runs.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> columns = ["target_rate_rps", "latency_p50_s", "latency_p99_s"]
    >>> offered = pd.DataFrame([[50.0, 0.02, 0.03], [120.0, 0.3, 0.6]], columns=columns).assign(duration_s=4.0)
    >>> closed = pd.DataFrame({"connections": [1], "throughput_rps": 50.0, "latency_p50_s": 0.02})
    >>> closed = closed.assign(latency_p99_s=0.03)
    >>> ax = plot_rates(offered, closed, Estimate(100.0, 98.0, 102.0, 0.95, "mean"))
    >>> [text.get_text() for text in ax.texts]
    ['capacity', 'closed loop, 1 connection', 'open loop, p50', 'open loop, p99']
    """
    ax = axes_or_new(ax, offered=offered)
    ax.axvspan(capacity.lo, capacity.hi, color=COLOURS["limit"], alpha=0.35, linewidth=0, zorder=0)
    top = 1.03 * float(offered["target_rate_rps"].max())
    grid = np.linspace(capacity.value, max(top, capacity.value), 100)
    unloaded = float(offered.loc[offered["target_rate_rps"].idxmin(), "latency_p50_s"])
    duration = float(offered["duration_s"].astype(float).mean())
    for quantile in QUANTILES:
        predicted = overload_latency_s(grid, capacity.value, duration, quantile, unloaded)
        ax.plot(grid, predicted, color=COLOURS["limit"], linestyle="--", linewidth=1.2, zorder=1)
    ax.annotate("capacity", (capacity.lo, 0.99), xycoords=ax.get_xaxis_transform(), xytext=(-4, 0),
                textcoords="offset points", ha="right", va="top", color=COLOURS["limit"])  # fmt: skip
    of_open = _draw_loop(ax, offered, "target_rate_rps", "target_rate_rps", PALETTE[0])
    of_closed = _draw_loop(ax, closed, "throughput_rps", "connections", PALETTE[1])
    if "p99" in of_closed:
        _name_connections(ax, of_closed["p99"], PALETTE[1])
    ax.set_yscale("log")
    ax.set_xlim(0, top)
    ax.set_xlabel("Requests per second: offered (open loop), served (closed loop)")
    log_seconds_axis(ax, "Response time")
    ends = {name: means.iloc[-1] for name, means in of_open.items()}
    name_ends(ax, [(end["load"], end["latency_s"], f"open loop, {name}", PALETTE[0]) for name, end in ends.items()])
    return ax


def _draw_loop(ax: Axes, rows: pd.DataFrame, load: str, by: str, color: str) -> dict[str, pd.DataFrame]:
    """Plot the percentiles of every run and their means by a column; return ``load latency_s`` of the means of each."""
    drawn = {}
    for column, (style, marker, percentile) in _STYLES.items():
        known = rows.reindex(columns=list({by, load, column})).astype(float).dropna()
        known = known[known[column] > 0]  # a time of 0 has no logarithm
        if known.empty:
            continue
        ax.scatter(known[load], known[column], color=color, alpha=0.35, s=14, lw=0, marker=marker)
        groups = known.groupby(by)
        means = pd.DataFrame({"load": groups[load].mean(), "latency_s": groups[column].mean()})
        ax.plot(means["load"], means["latency_s"], linestyle=style, color=color)
        drawn[percentile] = means
    return drawn


def _name_connections(ax: Axes, means: pd.DataFrame, color: str) -> None:
    """Name the numbers of connections of the closed loop, the last one to the left of the line."""
    for connections, mean in means.iterrows():
        is_last = connections == means.index[-1]
        words = f"closed loop, {connections_words(connections)}" if is_last else f"{connections:g}"
        ax.annotate(
            words, (mean["load"], mean["latency_s"]), xytext=(-7, 0) if is_last else (4, 6), textcoords="offset points",
            ha="right" if is_last else "left", va="center", color=color, fontsize="small",
        )  # fmt: skip
