"""Plots of the distribution of response times: percentiles up to the far tail, and a heat map over the load."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.ticker import FuncFormatter, NullLocator

from loadcurve.plots._axes import axes_or_new, log_seconds_axis, name_ends, seconds_axis
from loadcurve.plots.style import PALETTE, colours

_LEAST_ALPHA = 0.12  # of the faintest cell, which must be seen


def plot_percentiles(percentiles: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot response times against the percentile, on an axis that is logarithmic in the share of slower responses.

    Parameters
    ----------
    percentiles : pandas.DataFrame
        ``curve`` (its name), ``quantile`` (0 to 1, 1 excluded) and ``latency_s``; optionally ``corrected``: a corrected
        curve is drawn dashed, in the colour of the measured one of the same name.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> tail = pd.DataFrame({"curve": "nginx", "quantile": [0.5, 0.9, 0.99], "latency_s": [0.001, 0.002, 0.01]})
    >>> [text.get_text() for text in plot_percentiles(tail).texts]
    ['nginx']
    """
    ax = axes_or_new(ax, percentiles=percentiles)
    palette = colours(percentiles["curve"].unique())
    known = percentiles.assign(corrected=percentiles.get("corrected", pd.Series(False, percentiles.index)))
    ends = []
    for (curve, corrected), rows in known.groupby(["curve", "corrected"], sort=False):
        ordered = rows.sort_values("quantile")
        slower = 1 - ordered["quantile"].astype(float)
        ax.plot(slower, ordered["latency_s"], "--" if corrected else "-", color=palette[curve])
        words = f"{curve}, corrected" if corrected else str(curve)
        ends.append((float(slower.iloc[-1]), float(ordered["latency_s"].iloc[-1]), words, palette[curve]))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.invert_xaxis()
    name_ends(ax, ends)
    last = float((1 - known["quantile"].astype(float)).min())
    ax.set_xticks([0.5, *(10.0**-digits for digits in range(1, 7) if 10.0**-digits >= 0.99 * last)])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * (1 - share):.6g} %"))
    ax.xaxis.set_minor_locator(NullLocator())
    log_seconds_axis(ax, "Response time")
    ax.set_xlabel("Percentile of responses")
    return ax


def plot_latency_heatmap(cells: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the share of responses in each class of response time, a column for each load: the darker, the more.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``column`` (such as a number of connections, in the order in which it is drawn), ``lower_s upper_s`` (ends of a
        class, above 0) and ``share_ratio`` of the column's responses.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> cells = pd.DataFrame({"column": ["1", "8"], "lower_s": 0.001, "upper_s": 0.002, "share_ratio": [1.0, 0.5]})
    >>> [label.get_text() for label in plot_latency_heatmap(cells).get_xticklabels()]
    ['1', '8']
    """
    ax = axes_or_new(ax, cells=cells)
    names = list(cells["column"].unique())
    places = cells["column"].map({name: place for place, name in enumerate(names)}).to_numpy()
    low, high = cells["lower_s"].to_numpy(), cells["upper_s"].to_numpy()
    corners = [
        [(x - 0.47, a), (x + 0.47, a), (x + 0.47, b), (x - 0.47, b)] for x, a, b in zip(places, low, high, strict=True)
    ]
    share = cells["share_ratio"].to_numpy() / cells["share_ratio"].max()
    faces = np.column_stack([np.tile(to_rgb(PALETTE[0]), (len(cells), 1)), _LEAST_ALPHA + (1 - _LEAST_ALPHA) * share])
    ax.add_collection(PolyCollection(corners, facecolors=faces, linewidths=0))
    ax.set_yscale("log")
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_ylim(low.min(), high.max())
    ax.set_xticks(range(len(names)), [str(name) for name in names])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(visible=False, axis="x")
    seconds_axis(ax.yaxis, "Response time")
    return ax
