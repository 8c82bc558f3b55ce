"""Axes, palettes and labels shared by all figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

from loadcurve.errors import ValueRuleError
from loadcurve.plots.style import colours
from loadcurve.tables import axis_label
from loadcurve.tables.curves import check_points, curves

# Legend position that is clear of an early plateau and of a late rise.
IN_THE_MIDDLE = {"loc": "center", "bbox_to_anchor": (0.5, 0.42), "fontsize": "small"}


def axes_or_new(ax: Axes | None, **tables: pd.DataFrame) -> Axes:
    """Return the given axes, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Given by the caller of a plot.
    **tables : pandas.DataFrame
        Arguments of the plot without which its figure would be empty.

    Raises
    ------
    ValueRuleError
        When a table has no rows.
    """
    for name, table in tables.items():
        if table.empty:
            raise ValueRuleError(name, "one row or more, because the figure would be empty", len(table))
    return plt.subplots()[1] if ax is None else ax


def palette_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the colour of each curve, which is the same in every figure."""
    return colours([name for name, _ in curves(frame)])


def connections_axis(ax: Axes) -> None:
    """Set a log₂ axis of connections, labelled with plain numbers."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(axis_label("runs", "connections"))


def seconds() -> EngFormatter:
    """Return a formatter for seconds with SI prefixes."""
    return EngFormatter(unit="s")


def label_end(ax: Axes, x: float, y: float, text: str, color: str) -> None:
    """Label a line at its end, in the colour of the line."""
    ax.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color)


def name_ends(ax: Axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Name lines at their ends on a logarithmic y axis, the names at least a line of text apart.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With its final limits.
    ends : list of tuple
        Of each line y and x of its end, its name, and its colour.
    """
    height = ax.get_window_extent().height * 72 / ax.figure.dpi  # in points
    low, high = np.log(ax.get_ylim())
    lowest = -np.inf
    for value, at, name, color in sorted(ends):
        place = (np.log(value) - low) / (high - low) * height
        lowest = max(place, lowest + 11)
        ax.annotate(name, (at, value), xytext=(6, lowest - place), textcoords="offset points", va="center",
                    color=color, fontsize="small")  # fmt: skip


def log_seconds_axis(ax: Axes) -> None:
    """Set ticks of a logarithmic y axis of times, also between the powers of ten where it spans less than two."""
    low, high = ax.get_ylim()
    if high < 100 * low:  # at one tick per decade, the axis would have one or two ticks
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(seconds())
    ax.yaxis.set_minor_locator(NullLocator())


def known_points(rows: pd.DataFrame, column: str, load: str = "connections") -> pd.DataFrame:
    """Return the rows that can be plotted against a load.

    Raises
    ------
    ValueRuleError
        When there are no such rows, because the figure would be empty.
    """
    known = rows.dropna(subset=[load, column])
    if known.empty:
        raise ValueRuleError("runs", f"some with both {load} and {column}", f"{len(rows)} without")
    return known


def points_and_mean(ax: Axes, rows: pd.DataFrame, column: str, color: str, style: str, label: str) -> None:
    """Plot every run as a point, and the mean of the repeats as a line."""
    known = known_points(rows, column)
    check_points(known, ["connections"])
    ax.scatter(known["connections"], known[column], color=color, alpha=0.35, s=16)
    mean = known.groupby("connections")[column].mean()
    ax.plot(mean.index, mean, style, color=color, label=label)
