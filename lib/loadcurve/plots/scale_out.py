"""Plots of reported scale-out: rates given as lower bounds, summed rates, and the time budget of each part."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from loadcurve.plots._axes import axes_or_new, connections_axis, label_end, seconds_axis, throughput_axis, write
from loadcurve.plots.style import COLOURS, INK, PALETTE, colours, figure_of
from loadcurve.units import format_quantity

_MOST_IN_A_FIGURE = 5  # bars whose labels keep apart at the usual height


def plot_reported_rates(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot rates of a report as bars from top to bottom; a bar for a lower bound is open to the right.

    `rates`: ``case`` (its name), ``throughput_rps`` and ``lower_bound``, 1 or True if the report says “at least”.

    Examples
    --------
    >>> rates = pd.DataFrame({"case": ["1 socket", "2 sockets"], "throughput_rps": [9e5, 1.7e6], "lower_bound": [0, 1]})
    >>> plot_reported_rates(rates).texts[0].get_text()
    '1 socket'
    """
    ax = axes_or_new(ax, rates=rates)
    most = rates["throughput_rps"].max()
    for place, row in enumerate(rates.itertuples()):
        at_least = row.lower_bound == 1
        ax.barh(place, row.throughput_rps, height=0.42, color=PALETTE[0], alpha=0.35 if at_least else 0.75)
        if at_least:
            ax.plot(row.throughput_rps + 0.02 * most, place, ">", color=PALETTE[0], markersize=7)
        text = f"{'≥ ' if at_least else ''}{format_quantity(row.throughput_rps, 'rps')}"
        write(ax, row.case, (0, place), (2, 15), INK)
        write(ax, text, (row.throughput_rps, place), (16 if at_least else 6, 0), PALETTE[0], weight="bold")
    ax.set_ylim(len(rates) - 0.6, -0.75)
    if len(rates) > _MOST_IN_A_FIGURE:
        figure_of(ax).set_figheight(0.6 + 0.6 * len(rates))
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.grid(visible=False, axis="y")
    ax.set_xlim(0, 1.22 * most)
    throughput_axis(ax.xaxis)
    return ax


def plot_overlap(overlap: pd.DataFrame, marks: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot bounds of the generators' total rate against the delay between their starts, with lines for comparison.

    - `overlap`: ``delay_s lo_rps hi_rps``, from `summarise_overlap`.
    - `marks`: ``name throughput_rps``: rates for comparison, drawn as dashed lines and labelled at the right end.

    Examples
    --------
    >>> overlap = pd.DataFrame({"delay_s": [0.0, 5.0], "lo_rps": [900.0, 500.0], "hi_rps": [1000.0, 1000.0]})
    >>> marks = pd.DataFrame({"name": ["one generator"], "throughput_rps": [500.0]})
    >>> plot_overlap(overlap, marks).get_xlabel()
    'Delay between the starts [s]'
    """
    ax = axes_or_new(ax, overlap=overlap)
    law, last = COLOURS["law"], overlap["delay_s"].iloc[-1]
    ax.fill_between(overlap["delay_s"], overlap["lo_rps"], overlap["hi_rps"], color=law, alpha=0.18, linewidth=0)
    for end, text, below in (("hi_rps", "sum of the rates", 0), ("lo_rps", "requests / time", 1)):
        ax.plot(overlap["delay_s"], overlap[end], color=law)
        middle = np.interp(0.5 * last, overlap["delay_s"], overlap[end])
        write(ax, text, (0.5 * last, middle), (0, -16 if below else 9), law, ha="right" if below else "center")
    for mark in marks.itertuples():
        ax.axhline(mark.throughput_rps, color=COLOURS["limit"], linestyle="--", linewidth=1.2, zorder=1)
        write(ax, mark.name, (last, mark.throughput_rps), (0, -8), COLOURS["limit"], ha="right")
    ax.set_xlim(0, last)
    ax.set_ylim(0, 1.12 * overlap["hi_rps"].max())
    ax.set_xlabel("Delay between the starts [s]")
    throughput_axis(ax.yaxis)
    return ax


def plot_budgets(budgets: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the time that one request may use of each part against units; it is constant if each unit has its own part.

    `budgets`: ``part`` (its name), ``units`` and ``budget_s``, such as from `service_demand_s` at full utilisation.

    Examples
    --------
    >>> budgets = pd.DataFrame({"part": "interrupts", "units": [1, 2], "budget_s": [1e-5, 1e-5]})
    >>> plot_budgets(budgets).get_ylabel()
    'Time for a request'
    """
    ax = axes_or_new(ax, budgets=budgets)
    palette = colours(budgets["part"].unique())
    for part, rows in budgets.groupby("part", sort=False):
        ax.plot(rows["units"], rows["budget_s"], "o-", color=palette[part])
        label_end(ax, rows["units"].iloc[-1], rows["budget_s"].iloc[-1], part, palette[part])
    connections_axis(ax)
    ax.set_xticks(sorted(budgets["units"].unique()))
    ax.set_yscale("log")
    ax.set_xlabel("Units")
    seconds_axis(ax.yaxis, "Time for a request")
    return ax
