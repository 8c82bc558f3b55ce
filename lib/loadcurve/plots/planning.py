"""Plot the number of runs that a verdict requires, for planning a study."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from loadcurve.plots._axes import axes_or_new
from loadcurve.plots.style import PALETTE


def plot_repeats_by_scatter(plan: pd.DataFrame, marked: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the runs of each server that a verdict requires against the scatter of runs; some scatters are labelled.

    Parameters
    ----------
    plan : pandas.DataFrame
        ``variation_ratio repeats``, sorted by scatter.
    marked : pandas.DataFrame
        ``name variation_ratio repeats`` of the scatters to label; may be empty.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> plan = pd.DataFrame({"variation_ratio": [0.01, 0.05, 0.1], "repeats": [3, 12, 45]})
    >>> marked = pd.DataFrame({"name": ["nginx"], "variation_ratio": [0.05], "repeats": [12]})
    >>> plot_repeats_by_scatter(plan, marked).texts[0].get_text()
    'nginx'
    """
    ax = axes_or_new(ax, plan=plan)
    ax.plot(plan["variation_ratio"], plan["repeats"], color=PALETTE[0])
    middle = (plan["variation_ratio"].min() * plan["variation_ratio"].max()) ** 0.5
    for row in marked.itertuples():
        ax.plot(row.variation_ratio, row.repeats, "o", color=PALETTE[1], markersize=7)
        # Place the label on the free side of the rising line, towards the middle of the axes.
        side: dict[str, Any] = {"xytext": (7, -3), "ha": "left", "va": "top"}
        if row.variation_ratio > middle:
            side = {"xytext": (-8, 3), "ha": "right", "va": "bottom"}
        at = (row.variation_ratio, row.repeats)
        ax.annotate(row.name, at, textcoords="offset points", color=PALETTE[1], **side)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom=1)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}%"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlabel("Scatter of one run")
    ax.set_ylabel("Runs of each server")
    return ax
