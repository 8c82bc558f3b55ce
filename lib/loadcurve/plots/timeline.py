"""Plots over time, a panel for each quantity: all that was watched in a run, and a fault with its counter."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator, NullLocator, PercentFormatter

from loadcurve.plots._axes import axes_or_new, connections_axis, name_ends, panel_column, seconds_axis, write
from loadcurve.plots.style import COLOURS, PALETTE, colours

_PANEL_INCHES = 1.05


def plot_timeline(timeline: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot each panel of a timeline over the same seconds, with a label at the end of each series.

    - `timeline`: ``panel series x value``, as `loadcurve.analysis.timeline.summarise_timeline` returns it.
    - `ax`: Axes for the last panel alone; by default a new figure with all panels.

    Examples
    --------
    >>> timeline = pd.DataFrame({"panel": ["CPU 0", "CPU 0"], "series": "user", "x": [0.0, 1.0], "value": [0.2, 0.4]})
    >>> [text.get_text() for text in plot_timeline(timeline).texts]
    ['user']
    """
    panels = [(str(name), rows) for name, rows in timeline.groupby("panel", sort=False)]
    height = 0.5 + _PANEL_INCHES * len(panels)
    every = panel_column(len(panels), height) if ax is None and panels else [axes_or_new(ax, timeline=timeline)]
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


_SHARE = " [ratio]"
_LABELS = {"time": "Time since the load started [s]", "quantile": "Quantile", "run": "Run, in order of start"}
_POINTS = ("connections", "run")  # single runs, whose scatter a line would hide


def plot_fault(shown: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the panels of a fault one above the other; the dashed line is the rule's limit, the grey one a clean run.

    - `shown`: as `loadcurve.audit.atlas.summarise_shown` returns it.
    - `ax`: Axes for the last panel, the counter; by default a new figure with all panels.

    Examples
    --------
    >>> shown = pd.DataFrame({"panel": "Steal", "axis": "time", "x": [1.0, 2.0], "name": None, "series": "",
    ...                       "value": [0.2, 0.3], "limit": 0.01, "clean": False})
    >>> plot_fault(shown).get_ylabel()
    'Steal'
    """
    panels = [rows for _, rows in shown.groupby("panel", sort=False)]
    several = len(panels) > 1 and ax is None
    all_axes = panel_column(len(panels), 1.7 + 1.5 * len(panels)) if several else [axes_or_new(ax, shown=shown)]
    for one, rows in zip(all_axes, panels[-len(all_axes) :], strict=True):
        _draw_fault(one, rows)
    last = all_axes[-1]
    axis = panels[-1]["axis"].iloc[0]
    if axis == "connections":
        connections_axis(last)
    elif axis in _LABELS:
        last.set_xlabel(_LABELS[axis])
        last.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=axis == "run"))
        if axis == "quantile":
            last.set_xlim(right=1)
    elif axis == "class":
        last.set_xscale("log")
        seconds_axis(last.xaxis, "Response time")
        last.xaxis.set_minor_locator(NullLocator())
    return last


def _draw_fault(ax: Axes, rows: pd.DataFrame) -> None:
    label, axis = str(rows["panel"].iloc[0]), rows["axis"].iloc[0]
    limit = rows["limit"].dropna()
    if axis == "name":
        _draw_bars(ax, rows)
    elif axis == "class":
        ax.fill_between(rows["x"], rows["value"], step="mid", color=(PALETTE[0], 0.3), edgecolor=PALETTE[0])
    else:
        _draw_lines(ax, rows, "o" if axis in _POINTS else "o-")
    if len(limit):
        ax.axhline(limit.iloc[0], color=COLOURS["limit"], linestyle="--", linewidth=1.4)
        beside = ("axes fraction", "data")  # beside the axes, where no line is
        write(ax, "limit", (1, limit.iloc[0]), (4, 0), COLOURS["limit"], xycoords=beside, fontsize="small")
    shares = label.endswith(_SHARE)
    ax.set_ylabel(label.removesuffix(_SHARE), fontsize=9)
    top = float(np.nanmax([*rows["value"], *limit, 0.0]))
    ax.set_ylim(0, 1.12 * top if top else 1.0)
    if label.endswith(" [s]"):
        seconds_axis(ax.yaxis, label)
    else:
        ax.yaxis.set_major_formatter(PercentFormatter(1, 0 if top >= 0.05 else 1) if shares else EngFormatter(sep=""))
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def _draw_lines(ax: Axes, rows: pd.DataFrame, form: str) -> None:
    drawn = rows[~rows["clean"].astype(bool)]
    last = drawn["series"].nunique() - 1
    for place, (series, line) in enumerate(drawn.groupby("series", sort=False)):
        points = line.sort_values("x")
        colour = PALETTE[place % len(PALETTE)]
        size = 3.5 + 2.5 * min(last - place, 2) * (form == "o")  # a point below another one of a curve stays visible
        ax.plot(points["x"], points["value"], form, color=colour, markersize=size, label=str(series))
    for place, (_, line) in enumerate(rows[rows["clean"].astype(bool)].groupby("series", sort=False)):
        points = line.sort_values("x")
        ax.plot(
            points["x"], points["value"], form.replace("o", ""), color=COLOURS["limit"], linewidth=1.2, alpha=0.8,
            label="clean run" if place == 0 else "_",
        )  # fmt: skip
    if len(names := ax.get_legend_handles_labels()[1]) > 1:
        columns = max(36 // (3 + max(map(len, names))), 1)  # as many as a phone has room for
        ax.legend(fontsize="small", ncols=columns, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.1)


def _draw_bars(ax: Axes, rows: pd.DataFrame) -> None:
    names, both = list(rows["name"].unique()), rows["clean"].any()
    for clean, shift, colour in ((False, -0.2, PALETTE[0]), (True, 0.2, COLOURS["limit"])):
        bars = rows[rows["clean"].astype(bool) == clean]
        if len(bars):
            places = [names.index(name) + (shift if both else 0) for name in bars["name"]]
            width = 0.36 if both else 0.6
            label = "clean run" if clean else "with the fault"
            ax.bar(places, bars["value"], width, color=(colour, 0.3), edgecolor=colour, linewidth=1.2, label=label)
    ax.set_xticks(range(len(names)), names)
    ax.grid(visible=False, axis="x")
    if both:
        ax.legend(fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.1)
