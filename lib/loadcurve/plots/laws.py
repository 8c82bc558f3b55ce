"""Laws beside each other, and the rates that a report states."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from loadcurve.plots._axes import axes_or_new, connections_axis
from loadcurve.style import COLOURS, colours
from loadcurve.tables import axis_label

# Of the height of the axes: what two names at the ends of lines must be apart at least to be read.
_APART = 0.075


def plot_laws(laws: pd.DataFrame, reported: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Throughput by several laws, each named at its end, and what a report states, with what its rounding leaves open.

    Parameters
    ----------
    laws : pandas.DataFrame
        ``law`` (its name), ``connections`` or ``workers``, ``throughput_rps``.
    reported : pandas.DataFrame
        ``name``, the same load, ``load_lo load_hi`` (its rounding), ``throughput_rps lo hi``.  Where the load is NaN
        the rate is a line over all of them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = axes_or_new(ax)
    load = "workers" if "workers" in laws else "connections"
    palette = colours(laws["law"].unique())
    for law, rows in laws.groupby("law", sort=False):
        ax.plot(rows[load], rows["throughput_rps"], color=palette[law])
    top = 1.12 * max(laws["throughput_rps"].max(), reported["hi"].max())
    ends = laws.groupby("law", sort=False).tail(1).sort_values("throughput_rps")
    height = -top
    for end in ends.itertuples():
        height = max(end.throughput_rps, height + _APART * top)
        ax.annotate(
            end.law, (ends[load].max(), height), xytext=(6, 0), textcoords="offset points", va="center",
            color=palette[end.law],
        )  # fmt: skip
    for row in reported.itertuples():
        at = getattr(row, load)
        known = not pd.isna(at)
        x = at if known else laws[load].min()
        if known:
            ax.plot([row.load_lo, row.load_hi], [row.throughput_rps] * 2, color=COLOURS["limit"], linewidth=1.2)
            ax.plot([at, at], [row.lo, row.hi], color=COLOURS["limit"], linewidth=1.2)
            ax.plot(at, row.throughput_rps, "o", color=COLOURS["limit"], linestyle="none")
        else:
            ax.axhline(row.throughput_rps, color=COLOURS["limit"], linestyle="--", linewidth=1.2)
        ax.annotate(
            row.name, (x, row.throughput_rps), xytext=(5, 5), textcoords="offset points", color=COLOURS["limit"]
        )
    connections_axis(ax)
    ax.set_xlabel(load.capitalize())
    ax.set_ylim(0, top)
    ax.set_ylabel(axis_label("runs", "throughput_rps"))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    return ax
