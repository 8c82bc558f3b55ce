"""Plots for comparing: two servers, the ratio by every method, coverage and error rates, and the repeats it takes."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullLocator

from loadcurve.errors import NotMeasuredError
from loadcurve.plots._axes import axes_or_new, label_end, palette_of, percent_axis, throughput_axis
from loadcurve.plots.style import COLOURS, PALETTE, colours, figure_of
from loadcurve.tables.curves import check_points


def plot_throughput_by_block(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run by block, with runs of one load joined: conditions of a block affect all its runs.

    `runs`: rows of the table ``runs`` of one variant, with ``repeat``, ``connections`` and ``throughput_rps``.

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

    `ratios`: ``method ratio lo hi``, one row for each method, such as from `summarise_ratios`.

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

    `coverage`: ``shape runs method level_ratio coverage_ratio``, such as from `summarise_coverage`; the dashed line
    is the nominal level of the intervals.

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


CLAIMED = (0.93, 0.97)
"""Range of coverage required of a simulated 95 % interval."""
# Share of a method's row height that its dots occupy.
_SPREAD = 0.7


def plot_interval_coverage(coverage: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the coverage of each method, a dot with its interval for each size of the study, from top to bottom.

    The coverage required of a 95 % interval is shaded; the dashed line is 95 %.

    `coverage`: ``method size coverage lo hi``, one row for each method and size; ``size`` is the label of the dot,
    such as ``6 levels``.

    Examples
    --------
    >>> coverage = pd.DataFrame({"method": ["USL"], "size": "6 levels", "coverage": 0.95, "lo": 0.93, "hi": 0.97})
    >>> ax = plot_interval_coverage(coverage)
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('Intervals that hold the truth', ['USL'])
    """
    ax = axes_or_new(ax, coverage=coverage)
    ax.axvspan(*CLAIMED, color=COLOURS["limit"], alpha=0.18, linewidth=0, zorder=0)
    ax.axvline(sum(CLAIMED) / 2, color=COLOURS["limit"], linestyle="--", zorder=1)
    _draw_shares(ax, coverage.dropna(subset=["coverage"]))
    figure_of(ax).set_figheight(1.2 + 0.45 * coverage["method"].nunique())
    percent_axis(ax.xaxis, "Intervals that hold the truth")
    return ax


def plot_error_rates(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot precision and recall of each rule, a dot with its interval for each, from top to bottom.

    `rates`: ``rule measure share lo hi``, one row for each rule and measure; ``measure`` is the label of the dot,
    such as ``precision``.  A row without a share is left out.

    Examples
    --------
    >>> rates = pd.DataFrame({"rule": ["timeouts"], "measure": "recall", "share": 0.9, "lo": 0.8, "hi": 1.0})
    >>> ax = plot_error_rates(rates)
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('Share of the findings', ['timeouts'])
    """
    ax = axes_or_new(ax, rates=rates)
    known = rates.rename(columns={"rule": "method", "measure": "size", "share": "coverage"}).dropna(subset=["coverage"])
    _draw_shares(ax, known)
    figure_of(ax).set_figheight(1.4 + 0.3 * known["method"].nunique())
    ax.xaxis.set_major_locator(MultipleLocator(0.2))
    percent_axis(ax.xaxis, "Share of the findings")
    return ax


def _draw_shares(ax: Axes, known: pd.DataFrame) -> None:
    methods = list(known["method"].unique())
    palette = colours(known["size"].unique())
    for place, method in enumerate(reversed(methods)):
        rows = known[known["method"] == method]
        for turn, row in enumerate(rows.itertuples()):
            y = place + _SPREAD * (0.5 - (turn + 0.5) / len(rows))
            ax.plot([row.lo, row.hi], [y, y], color=palette[row.size], linewidth=2, alpha=0.5)
            ax.plot(row.coverage, y, "o", color=palette[row.size], markersize=4)
    for size in palette:
        ax.plot([], [], "o", color=palette[size], label=str(size))
    ax.set_yticks(range(len(methods)), [method.replace(", ", ",\n") for method in reversed(methods)])
    ax.set_ylim(-0.6, len(methods) - 0.4)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_locator(MultipleLocator(0.1))
    ax.legend(ncols=2, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), handletextpad=0)


def plot_repeats_by_scatter(plan: pd.DataFrame, marked: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the runs of each server that a verdict requires against the scatter of runs; some scatters are labelled.

    - `plan`: ``variation_ratio repeats``, sorted by scatter.
    - `marked`: ``name variation_ratio repeats`` of the scatters to label; may be empty.

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
