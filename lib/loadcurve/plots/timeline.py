"""Plot everything that was watched on one clock: a panel for each quantity, one above the other."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter

from loadcurve.plots._axes import axes_or_new, name_ends
from loadcurve.plots.style import colours

_PANEL_INCHES = 1.05


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
        every: list[Axes] = list(grid[:, 0])
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
    ends = []
    for series, points in rows.groupby("series", sort=False):
        values = points["value"]
        ax.plot(points["x"], values, color=palette[series], linewidth=1.3)
        alone = values.notna() & values.shift().isna() & values.shift(-1).isna()  # no line shows it
        if alone.any():
            ax.plot(points["x"][alone], values[alone], ".", color=palette[series], markersize=3)
        ends.append((last, float(values.dropna().iloc[-1]), str(series), palette[series]))
    name_ends(ax, ends)
    ax.set_title(name, pad=3)
    ax.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(PercentFormatter(1, 0) if shares else EngFormatter(sep=""))
    ax.margins(x=0.01)
