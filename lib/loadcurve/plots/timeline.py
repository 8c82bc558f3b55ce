"""Plot everything that was watched on one clock: a panel for each quantity, one above the other."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter

from loadcurve.plots._axes import axes_or_new
from loadcurve.plots.style import colours

_PANEL_INCHES = 1.05
_LABEL_POINTS = 11.5  # height of a line of text of 10 points


def plot_timeline(timeline: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot each panel of a timeline over the same seconds, with a label at the end of each series.

    Parameters
    ----------
    timeline : pandas.DataFrame
        ``panel series x value``, as `loadcurve.analysis.timeline.summarise_timeline` returns it.
    ax : matplotlib.axes.Axes, optional
        Axes for the last panel alone; by default a new figure with all panels.

    Examples
    --------
    >>> timeline = pd.DataFrame({"panel": ["CPU 0", "CPU 0"], "series": "user", "x": [0.0, 1.0], "value": [0.2, 0.4]})
    >>> [text.get_text() for text in plot_timeline(timeline).texts]
    ['user']
    """
    panels = [(str(name), rows) for name, rows in timeline.groupby("panel", sort=False)]
    if ax is None and panels:
        size = (5.4, 0.5 + _PANEL_INCHES * len(panels))
        _, grid = plt.subplots(len(panels), sharex=True, squeeze=False, figsize=size)
        every = list(grid[:, 0])
    else:
        every = [axes_or_new(ax, timeline=timeline)]
    for one, (name, rows) in zip(every, panels[-len(every) :], strict=True):
        _draw(one, name, rows, timeline["x"].max())
    every[-1].set_xlabel("Time since the load began [s]")
    return every[-1]


def _draw(ax: Axes, name: str, rows: pd.DataFrame, last: float) -> None:
    palette = colours(rows["series"].unique())
    top = 1.15 * max(float(rows["value"].max()), 1e-9)
    shares = name.startswith("CPU")
    ax.set_ylim(0, min(top, 1.05) if shares else top)
    ends = {}
    for series, points in rows.groupby("series", sort=False):
        ax.plot(points["x"], points["value"], ".-", color=palette[series], linewidth=1.5, markersize=2.5)
        ends[str(series)] = float(points["value"].dropna().iloc[-1])
    for series, place in _apart(ax, ends).items():
        ax.annotate(
            series, (last, place), xytext=(4, 0), textcoords="offset points", va="center", color=palette[series]
        )
    ax.set_title(name, pad=3)
    ax.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(PercentFormatter(1, 0) if shares else EngFormatter(sep=""))
    ax.margins(x=0.01)


def _apart(ax: Axes, ends: dict[str, float]) -> dict[str, float]:
    """Return a height for each label, as near to the end of its line as labels that do not overlap allow."""
    low, high = ax.get_ylim()
    height = (high - low) * _LABEL_POINTS / (72 * (_PANEL_INCHES - 0.35))
    names = sorted((name for name in ends if name), key=lambda name: ends[name])
    placed = np.array([ends[name] for name in names])
    for at in range(1, len(placed)):  # upwards
        placed[at] = max(placed[at], placed[at - 1] + height)
    if len(placed) and placed[-1] > high:  # and down again from the upper edge
        placed[-1] = high
        for at in range(len(placed) - 2, -1, -1):
            placed[at] = min(placed[at], placed[at + 1] - height)
    return dict(zip(names, placed.tolist(), strict=True))
