"""How busy a number of threads keeps its processor: by the formula, and with the queue at it."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from loadcurve.plots._axes import axes_or_new, connections_axis
from loadcurve.style import colours


def plot_busy_by_threads(busy: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Utilisation of a processor against threads: exact (line) and by the formula (dashed), a colour for each case.

    The diamond is where the formula says that it is full, at what the queue leaves of that.

    Parameters
    ----------
    busy : pandas.DataFrame
        ``case`` (its name), ``threads``, ``utilisation_ratio`` (exact), ``bound_ratio`` (by the formula) and
        ``threads_to_fill`` (one number for each case).
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = axes_or_new(ax)
    palette = colours(busy["case"].unique())
    for case, rows in busy.groupby("case", sort=False):
        color = palette[case]
        ax.plot(rows["threads"], rows["bound_ratio"], "--", color=color, linewidth=1.2, alpha=0.8)
        ax.plot(rows["threads"], rows["utilisation_ratio"], color=color)
        full = rows[rows["threads"] <= rows["threads_to_fill"]].iloc[-1]
        ax.plot(full["threads"], full["utilisation_ratio"], "D", color=color, linestyle="none")
        ax.annotate(
            f"{case}: {full['threads']:g}\n{full['utilisation_ratio']:.0%} busy",
            (full["threads"], full["utilisation_ratio"]),
            xytext=(7, -4), textcoords="offset points", va="top", color=color, fontsize=9,
        )  # fmt: skip
    connections_axis(ax)
    ax.set_xlabel("Threads")
    ax.set_ylim(0, 1.04)
    ax.set_ylabel("Processor busy")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return ax
