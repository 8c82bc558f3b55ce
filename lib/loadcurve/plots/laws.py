"""Plot several laws together with the rates that a report states."""

import pandas as pd
from matplotlib.axes import Axes

from loadcurve.plots._axes import axes_or_new, connections_axis, throughput_axis
from loadcurve.plots.style import COLOURS, colours

# As a share of the height of the axes: minimum distance of two names at the ends of lines, and height of the names of
# reported rates, above all lines.
_APART, _NAMES = 0.075, 0.94


def plot_laws(laws: pd.DataFrame, reported: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput by several laws, each labelled at its end, and reported rates with their rounding intervals.

    Parameters
    ----------
    laws : pandas.DataFrame
        ``law`` (its name), ``connections`` or ``workers``, ``throughput_rps``.
    reported : pandas.DataFrame
        ``name``, the same load, ``load_lo load_hi`` (its rounding), ``throughput_rps lo hi``.  A rate without a load
        (NaN) is drawn as a line over all loads.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> laws = pd.DataFrame({"law": "linear", "connections": [1, 8], "throughput_rps": [100.0, 800.0]})
    >>> reported = pd.DataFrame({"name": ["report"], "connections": [8], "load_lo": [7.5], "load_hi": [8.5],
    ...                          "throughput_rps": [700.0], "lo": [650.0], "hi": [750.0]})
    >>> [text.get_text() for text in plot_laws(laws, reported).texts]
    ['linear', 'report']
    """
    ax = axes_or_new(ax, laws=laws)
    load = "workers" if "workers" in laws else "connections"
    palette = colours(laws["law"].unique())
    for law, rows in laws.groupby("law", sort=False):
        ax.plot(rows[load], rows["throughput_rps"], color=palette[law])
    top = 1.16 * max(laws["throughput_rps"].max(), reported["hi"].max())
    _name_laws(ax, laws, load, palette, top)
    _mark_reported(ax, reported, load, laws[load].min(), top)
    connections_axis(ax)
    ax.set_xlabel(load.capitalize())
    ax.set_ylim(0, top)
    throughput_axis(ax.yaxis)
    return ax


def _name_laws(ax: Axes, laws: pd.DataFrame, load: str, palette: dict[str, str], top: float) -> None:
    """Label each law at its end, without overlap; if all end at one rate, label it left of where it reaches half."""
    ends = laws.groupby("law", sort=False).tail(1).sort_values("throughput_rps")
    one_end = len(ends) > 1 and ends["throughput_rps"].max() - ends["throughput_rps"].min() < _APART * top
    height = -top
    for law, x, y in zip(ends["law"], ends[load], ends["throughput_rps"], strict=True):
        if one_end:
            rows = laws[(laws["law"] == law) & (laws["throughput_rps"] >= y / 2)]
            at, side, offset = (rows[load].min(), y / 2), "right", -12
        else:
            height = max(y, height + _APART * top)
            at, side, offset = (x, height), "left", 6
        ax.annotate(law, at, xytext=(offset, 0), textcoords="offset points", ha=side, va="center", color=palette[law])


def _mark_reported(ax: Axes, reported: pd.DataFrame, load: str, left: float, top: float) -> None:
    """Draw a cross for the rounding intervals, labelled above all lines, or a line over all loads, labelled left."""
    color = COLOURS["limit"]
    for row, at in zip(reported.itertuples(), reported[load], strict=True):
        if pd.isna(at):
            ax.axhline(row.throughput_rps, color=color, linestyle="--", linewidth=1.2)
            ax.annotate(row.name, (left, row.throughput_rps), xytext=(5, 4), textcoords="offset points", color=color)
            continue
        ax.plot([row.load_lo, row.load_hi], [row.throughput_rps] * 2, color=color, linewidth=1.2)
        ax.plot([at, at], [row.lo, row.hi], color=color, linewidth=1.2)
        ax.plot(at, row.throughput_rps, "o", color=color, linestyle="none")
        ax.plot([at, at], [row.hi, _NAMES * top], ":", color=color, linewidth=1)
        ax.annotate(row.name, (at, _NAMES * top), ha="center", va="bottom", color=color)
