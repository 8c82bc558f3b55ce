"""Axes, palettes and labels shared by all figures."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.plots.style import colours, figure_of
from loadcurve.stats.arrays import Array
from loadcurve.tables import axis_label
from loadcurve.tables.curves import check_points, curves

# Of text of 10 points: height of a line, mean width of a letter, and the distance that it keeps from lines.
_LINE_POINTS, _LETTER_POINTS, _CLEAR_POINTS = 12.0, 6.4, 2.0


def axes_or_new(ax: Axes | None, **tables: pd.DataFrame) -> Axes:
    """Return the given axes, or those of a new figure; refuse a table without rows, of which it would be empty."""
    for name, table in tables.items():
        if table.empty:
            raise ValueRuleError(name, "one row or more, because the figure would be empty", len(table))
    return plt.subplots()[1] if ax is None else ax


def panel_column(count: int, height: float) -> list[Axes]:
    """Return the axes of a new figure with panels one above the other, which share their x axis."""
    return list(plt.subplots(count, sharex=True, squeeze=False, figsize=(5.4, height))[1][:, 0])


def palette_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the colour of each curve, which is the same in every figure."""
    return colours([name for name, _ in curves(frame)])


def connections_axis(ax: Axes) -> None:
    """Set a log₂ axis of connections, labelled with plain numbers."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(axis_label("runs", "connections"))


def seconds_axis(axis: Axis, quantity: str) -> None:
    """Name the quantity of an axis in s; its ticks name the unit with its prefix (10 ms), so the label has none."""
    axis.set_major_formatter(EngFormatter(unit="s"))
    axis.set_label_text(quantity.removesuffix(" [s]"))


def throughput_axis(axis: Axis) -> None:
    """Name the throughput on an axis; its ticks have a prefix (40k)."""
    axis.set_major_formatter(EngFormatter(sep=""))
    axis.set_label_text(axis_label("runs", "throughput_rps"))


def percent_axis(axis: Axis, quantity: str) -> None:
    """Name a share on an axis, with ticks in whole per cent."""
    axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axis.set_label_text(quantity)


def write(ax: Axes, text: str, at: Any, offset: tuple[float, float], color: str, **style: Any) -> None:
    """Write a text beside a point, at an offset in points: to its left where the offset is, with its middle level."""
    style = {"ha": "right" if offset[0] < 0 else "left", "va": "center", **style}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", color=color, **style)


def label_end(ax: Axes, x: float, y: float, text: str, color: str) -> None:
    """Label a line at its end, in the colour of the line."""
    write(ax, text, (x, y), (6, 0), color)


def name_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name lines to the right of their ends, where no line is, the names at least a line of text apart.

    Of each line x and y of its end, its name, and its colour; the axes have their final scales and limits.
    """
    ends = [end for end in ends if end[2]]
    if not ends:
        return
    height = _size_points(ax)[1]
    places = (ax.transScale + ax.transLimits).transform([(x, y) for x, y, *_ in ends])[:, 1] * height
    for (x, y, name, color), place, own in zip(ends, _apart(places, height), places, strict=True):
        write(ax, name, (x, y), (6, place - own), color)


def name_line(ax: Axes, points: ArrayLike, name: str, color: str) -> None:
    """Name a line above or below the first of its points (n, 2) where the text touches no line, else above the first.

    The axes have all their lines, and their final scales and limits.
    """
    size = _size_points(ax)
    drawn = np.vstack(
        [_every_point((line.get_transform() - ax.transAxes).transform(line.get_xydata()) * size) for line in ax.lines]
    )
    text = np.array([_LETTER_POINTS * len(name), _LINE_POINTS])
    places = np.asarray(points, float)
    for place, at in zip(places, (ax.transScale + ax.transLimits).transform(places) * size, strict=True):
        for side in (10, -10):
            low = at + np.array([0, side - _LINE_POINTS / 2])
            touched = ((drawn > low - _CLEAR_POINTS) & (drawn < low + text + _CLEAR_POINTS)).all(axis=1).any()
            if not touched and (low >= 0).all() and (low + text <= size).all():
                write(ax, name, place, (0, side), color)
                return
    write(ax, name, places[0], (0, 10), color)


def _size_points(ax: Axes) -> Array:
    """Return width and height of an Axes in points, with its limits computed for the transformations."""
    ax.get_xlim(), ax.get_ylim()
    figure = figure_of(ax)
    size: Array = np.array(ax.get_position().size) * figure.get_size_inches() * 72
    return size


def _every_point(corners: Array) -> Array:
    """Return points along a line through the corners, at most half a letter apart; a corner of NaN is a gap."""
    if not len(corners):
        return corners
    way = np.r_[0, np.nan_to_num(np.hypot(*np.diff(corners, axis=0).T)).cumsum()]
    along = np.linspace(0, way[-1], 2 + int(2 * way[-1] / _LETTER_POINTS))
    return np.column_stack([np.interp(along, way, of) for of in corners.T])


def _apart(places: Array, top: float) -> Array:
    """Return the places in the same order, moved up until a line of text apart, then down again from the top."""
    ranks = _LINE_POINTS * np.arange(len(places))
    order = np.argsort(places, kind="stable")
    raised = np.maximum.accumulate(places[order] - ranks) + ranks
    found = np.empty(len(places))
    found[order] = np.minimum(raised, max(top, float(places.max())) - ranks[::-1])
    return found


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Set ticks of a logarithmic axis: powers of ten, with 2 and 5 over two powers; over a factor of 4, evenly."""
    subs = (1, 2, 5) if high < 100 * low else (1,)
    axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]) if high < 4 * low else LogLocator(subs=subs))
    axis.set_minor_locator(NullLocator())


def log_seconds_axis(ax: Axes, quantity: str) -> None:
    """Name a logarithmic y axis of times."""
    seconds_axis(ax.yaxis, quantity)
    log_ticks(ax.yaxis, *ax.get_ylim())


def known_points(rows: pd.DataFrame, column: str, load: str = "connections") -> pd.DataFrame:
    """Return the rows that can be plotted against a load."""
    known = rows.dropna(subset=[load, column])
    if known.empty:
        raise ValueRuleError("runs", f"some with both {load} and {column}", f"{len(rows)} without")
    return known


def points_and_mean(
    ax: Axes, rows: pd.DataFrame, column: str, color: str, style: str, label: str
) -> tuple[float, float]:
    """Plot every run as a point and the mean of the repeats as a line, and return the end of the line."""
    known = known_points(rows, column)
    check_points(known, ["connections"])
    ax.scatter(known["connections"], known[column], color=color, alpha=0.35, s=16)
    mean = known.groupby("connections")[column].mean()
    ax.plot(mean.index, mean, style, color=color, label=label)
    return float(mean.index[-1]), float(mean.iloc[-1])
