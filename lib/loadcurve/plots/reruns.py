"""Plots of reruns of published experiments: a law over delays, throughput over threads."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from loadcurve.plots._axes import axes_or_new, connections_axis, name_ends, name_line, percent_axis, seconds_axis
from loadcurve.plots.style import COLOURS, PALETTE, colours
from loadcurve.stats import Estimate


def plot_law_by_delay(drawn: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot measured over predicted values against the delay of the server, a colour for each law, with a band of ±3 %.

    Parameters
    ----------
    drawn : pandas.DataFrame
        ``delay_s`` (> 0), ``law`` (its name) and ``measured_ratio``, one row for each run and law.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> drawn = pd.DataFrame({"delay_s": [0.001, 0.01], "law": "X · R", "measured_ratio": [1.0, 0.99]})
    >>> plot_law_by_delay(drawn).get_ylabel()
    'Measured / predicted'
    """
    ax = axes_or_new(ax, drawn=drawn)
    ax.axhspan(0.97, 1.03, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    palette = colours(drawn["law"].unique())
    for law, rows in drawn.groupby("law", sort=False):
        mean = rows.groupby("delay_s")["measured_ratio"].mean()
        ax.plot(rows["delay_s"], rows["measured_ratio"], "o", color=palette[law], alpha=0.45, markersize=4)
        ax.plot(mean.index, mean, color=palette[law])
    ax.margins(y=0.15)
    ax.set_xscale("log")
    for law, rows in drawn.groupby("law", sort=False):
        name_line(ax, rows.groupby("delay_s")[["measured_ratio"]].mean().reset_index(), str(law), palette[law])
    ax.xaxis.set_major_locator(FixedLocator(sorted(drawn["delay_s"].unique())))
    ax.xaxis.set_minor_locator(NullLocator())
    seconds_axis(ax.xaxis, "Delay of the server")
    ax.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))  # whole per cent
    percent_axis(ax.yaxis, "Measured / predicted")
    return ax


def plot_throughput_by_threads(
    runs: pd.DataFrame, law: pd.DataFrame, optimum: Estimate, *, ax: Axes | None = None
) -> Axes:
    """Plot measured throughput against threads, with the formula, two models that queue, and the measured optimum.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``threads`` and ``throughput_rps``, one row for each run.
    law : pandas.DataFrame
        As `loadcurve.models.summarise_threads` returns it, for the same processor and wait.
    optimum : Estimate
        Threads at which the line of few threads meets the plateau, drawn with its interval; NaN without a plateau.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> from loadcurve.models import summarise_threads
    >>> runs = pd.DataFrame({"threads": [1, 10, 40], "throughput_rps": [22.0, 218.0, 490.0]})
    >>> found = Estimate(22.0, 21.0, 23.0, 0.95, "given")
    >>> [text.get_text() for text in plot_throughput_by_threads(runs, summarise_threads(0.002, 0.042), found).texts]
    ['measured optimum: 22', 'formula', 'with queueing', 'in lockstep', 'measured']
    """
    ax = axes_or_new(ax, runs=runs, law=law)
    demand = law["utilisation_ratio"].iloc[0] / law["throughput_rps"].iloc[0]
    formula = law["bound_ratio"] / demand
    lines = [("formula", formula, PALETTE[1], "-"), ("with queueing", law["throughput_rps"], COLOURS["law"], "--")]
    lines += [("in lockstep", law["least_ratio"] / demand, COLOURS["limit"], ":")]
    for _, rates, color, style in lines:
        ax.plot(law["threads"], rates, style, color=color, linewidth=1.4)
    mean = runs.groupby("threads")["throughput_rps"].mean()
    ax.plot(runs["threads"], runs["throughput_rps"], "o", color=PALETTE[0], alpha=0.45, markersize=4)
    ax.plot(mean.index, mean, color=PALETTE[0])
    top = float(mean.max())
    if np.isfinite(optimum.value):
        ax.axvspan(optimum.lo, optimum.hi, color=COLOURS["limit"], alpha=0.15, linewidth=0)
        ax.plot(optimum.value, top, "D", color=PALETTE[0], linestyle="none")
        ax.annotate(
            f"measured optimum: {optimum.value:.3g}", (optimum.value, top), xytext=(-6, 8), textcoords="offset points",
            ha="right", color=PALETTE[0],
        )  # fmt: skip
    connections_axis(ax)
    ax.set_xlabel("Threads")
    ax.set_ylabel("Throughput [requests/s]")
    ax.set_ylim(0, 1.2 * max(top, float(formula.max())))
    ends = [(law["threads"].iloc[-1], rates.iloc[-1], name, color) for name, rates, color, _ in lines]
    name_ends(ax, [*ends, (mean.index[-1], mean.iloc[-1], "measured", PALETTE[0])])
    return ax
