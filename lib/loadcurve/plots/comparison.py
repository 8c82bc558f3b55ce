"""Plots that compare two servers: their runs, their ratio by every method, and the coverage of the methods."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MultipleLocator, NullLocator

from loadcurve.errors import NotMeasuredError
from loadcurve.plots._axes import axes_or_new, label_end, palette_of, percent_axis, throughput_axis
from loadcurve.plots.style import COLOURS, PALETTE, colours, figure_of
from loadcurve.tables.curves import check_points


def plot_throughput_by_block(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run by block, with runs of one load joined: conditions of a block affect all its runs.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of the table ``runs`` of one variant, with ``repeat``, ``connections`` and ``throughput_rps``.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": 8, "repeat": [1, 2, 3], "throughput_rps": [100.0, 120, 110]})
    >>> ax = plot_throughput_by_block(runs)
    >>> ax.get_xlabel(), ax.texts[0].get_text()
    ('Block of the study', 'N = 8')
    """
    check_points(runs, ["connections"])
    if runs["repeat"].isna().all() and len(runs):
        raise NotMeasuredError("The blocks of these runs are unknown", "number the repeats as `repeat` in factors.csv")
    ax = axes_or_new(ax, runs=runs)
    loads = sorted(runs["connections"].unique())
    # The first load has the variant's colour, further loads the next colours.
    own = next(iter(palette_of(runs).values()))
    others = itertools.cycle([c for c in PALETTE if c != own])
    palette = {load: next(others) if place else own for place, load in enumerate(loads)}
    for load, rows in runs.sort_values("repeat").groupby("connections"):
        ax.plot(rows["repeat"], rows["throughput_rps"], "o-", color=palette[load])
        label_end(ax, rows["repeat"].iloc[-1], rows["throughput_rps"].iloc[-1], f"N = {load}", palette[load])
    ax.set_xticks(sorted(runs["repeat"].unique()))
    ax.set_ylim(0, 1.08 * runs["throughput_rps"].max())
    ax.set_xlabel("Block of the study")
    throughput_axis(ax.yaxis)
    return ax


def plot_ratios(ratios: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the ratio of A to B with its interval, a line for each method; the dashed line is no difference.

    An interval without an upper end is a line that ends in an arrow.

    Parameters
    ----------
    ratios : pandas.DataFrame
        ``method ratio lo hi``, one row for each method, such as from `summarise_ratios`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> ratios = pd.DataFrame({"method": ["paired", "Fieller"], "ratio": 1.1, "lo": [1.0, 0.9], "hi": [1.2, 1.3]})
    >>> ax = plot_ratios(ratios)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['paired', 'Fieller']
    """
    ax = axes_or_new(ax, ratios=ratios)
    ax.axvline(1, color=COLOURS["limit"], linestyle="--", zorder=1)
    places = range(len(ratios), 0, -1)
    right = 1.1 * ratios[["ratio", "lo", "hi"]].astype(float).replace(np.inf, np.nan).max(axis=None)
    for place, row in zip(places, ratios.itertuples(), strict=True):
        ax.plot([row.lo, min(row.hi, right)], [place, place], color=PALETTE[0], linewidth=2.4, alpha=0.55)
        ax.plot(row.ratio, place, "o", color=PALETTE[0])
        if pd.isna(row.lo):
            label_end(ax, row.ratio, place, "no interval", PALETTE[0])
        elif np.isinf(row.hi):
            ax.plot(right, place, ">", color=PALETTE[0])
    ax.set_yticks(list(places), ratios["method"])
    ax.set_ylim(0.4, len(ratios) + 0.6)
    figure_of(ax).set_figheight(1.1 + 0.4 * len(ratios))
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("Ratio of A to B")
    return ax


def plot_coverage(coverage: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the coverage of intervals by number of runs: for each method, the distribution with the worst coverage.

    Parameters
    ----------
    coverage : pandas.DataFrame
        ``shape runs method level_ratio coverage_ratio``, such as from `summarise_coverage`; the dashed line is the
        nominal level of the intervals.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> coverage = pd.DataFrame({"shape": "normal", "runs": [3, 5], "method": "paired", "level_ratio": 0.95,
    ...                          "coverage_ratio": [0.94, 0.95]})
    >>> plot_coverage(coverage).get_ylabel()
    'Intervals that hold the truth'
    """
    ax = axes_or_new(ax, coverage=coverage)
    ax.axhline(coverage["level_ratio"].iloc[0], color=COLOURS["limit"], linestyle="--", zorder=1)
    palette = colours(coverage["method"].unique())
    for method, rows in coverage.groupby("method", sort=False):
        worst = rows.groupby("runs")["coverage_ratio"].min()
        ax.plot(worst.index, worst, "o-", color=palette[method], label=method)
    ax.set_xscale("log")
    ax.set_xticks(sorted(coverage["runs"].unique()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Runs of each server")
    ax.yaxis.set_major_locator(MultipleLocator(0.05))
    percent_axis(ax.yaxis, "Intervals that hold the truth")
    ax.legend(title=None, fontsize="small")
    return ax
