"""Axes, palettes and labels that every figure shares."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, NullLocator

from loadcurve.errors import ValueRuleError
from loadcurve.plots.style import colours
from loadcurve.tables import axis_label
from loadcurve.tables.curves import check_points, curves

# Where neither an early plateau nor a late rise runs.
IN_THE_MIDDLE = {"loc": "center", "bbox_to_anchor": (0.5, 0.42), "fontsize": "small"}


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes that were given, or those of a new figure."""
    return plt.subplots()[1] if ax is None else ax


def palette_of(frame: pd.DataFrame) -> dict[str, str]:
    """A colour for each curve, the same in every figure."""
    return colours([name for name, _ in curves(frame)])


def connections_axis(ax: Axes) -> None:
    """Connections on a log₂ axis, as plain numbers."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(axis_label("runs", "connections"))


def seconds() -> EngFormatter:
    """Seconds with their prefix."""
    return EngFormatter(unit="s")


def label_end(ax: Axes, x: float, y: float, text: str, color: str) -> None:
    """Write what a line is at its end, in its own colour."""
    ax.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color)


def known_points(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows that can be drawn over connections.

    Raises
    ------
    ValueRuleError
        When there is none: the figure would be empty.
    """
    known = rows.dropna(subset=["connections", column])
    if known.empty:
        raise ValueRuleError("runs", f"some with both connections and {column}", f"{len(rows)} without")
    return known


def points_and_mean(ax: Axes, rows: pd.DataFrame, column: str, color: str, style: str, label: str) -> None:
    """Every run as a point, and the mean of the repeats as a line."""
    known = known_points(rows, column)
    check_points(known, ["connections"])
    ax.scatter(known["connections"], known[column], color=color, alpha=0.35, s=16)
    mean = known.groupby("connections")[column].mean()
    ax.plot(mean.index, mean, style, color=color, label=label)
