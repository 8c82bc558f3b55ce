"""Plots of connections and sockets as counted by several tools."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from loadcurve.plots._axes import axes_or_new, name_line, panel_column, percent_axis, write
from loadcurve.plots.style import COLOURS, colours, figure_of

# Minimum width of a part of a bar that has room for its number.
_ROOM = 0.08
# Ratio of two counts whose distance has room for a number.
_NEAR = 5


def plot_counts(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the counts of several tools as labelled points on a logarithmic axis, a block for each run.

    `counts`: ``run`` (heading of a block), ``what`` (tool and counted item), ``count`` (> 0); the first row of a
    run is the number requested, and a vertical line starts from it.

    Examples
    --------
    >>> counts = pd.DataFrame({"run": "400 requested", "what": ["requested", "ss saw"], "count": [400, 380]})
    >>> [label.get_text() for label in plot_counts(counts).get_yticklabels()]
    ['requested', 'ss saw']
    """
    ax = axes_or_new(ax, counts=counts)
    palette = colours(counts["run"].unique())
    places, names, y = [], [], 0.0
    for run, rows in counts.groupby("run", sort=False):
        color = palette[run]
        write(ax, run, (0, y), (5, 0), color, xycoords=ax.get_yaxis_transform(), weight="bold")
        requested = float(rows["count"].iloc[0])
        ax.plot(
            [requested, requested], [y - 0.6, y - len(rows) - 0.3], "--", color=COLOURS["limit"], linewidth=1, zorder=1
        )
        for row in rows.itertuples():
            y -= 1
            places.append(y)
            names.append(row.what)
            ax.plot(row.count, y, "o", color=color, markersize=7)
            # A count beyond the line, or so near that its number would cross it, has its number on the inner side.
            inside = row.count >= requested / _NEAR
            write(ax, f"{row.count:,.0f}", (row.count, y), (-8 if inside else 8, 0), color)
        y -= 1.2
    ax.set_xscale("log")
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.set_ylim(y + 0.5, 0.6)
    ax.set_xlim(counts["count"].min() / 2, counts["count"].max() * 1.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Connections, requests or sockets")
    figure_of(ax).set_figheight(0.8 + 0.3 * -y)
    return ax


def plot_sockets(places: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the TCP sockets of each machine by place, as shares of all allocated sockets, with their numbers.

    `places`: ``machine`` (its name), ``place`` (here in a state, or elsewhere) and ``count``.

    Examples
    --------
    >>> places = pd.DataFrame({"machine": "server", "place": ["established", "TIME_WAIT"], "count": [100, 900]})
    >>> plot_sockets(places).get_legend_handles_labels()[1]
    ['established', 'TIME_WAIT']
    """
    ax = axes_or_new(ax, places=places)
    palette = colours(places["place"].unique())
    machines = list(places["machine"].unique())
    for y, machine in enumerate(machines):
        rows, left = places[places["machine"] == machine], 0.0
        for row in rows.itertuples():
            share = row.count / rows["count"].sum()
            ax.barh(y, share, left=left, height=0.62, **_bar(palette[row.place]))
            if share >= _ROOM:
                ax.text(left + share / 2, y, f"{row.count:,.0f}", ha="center", va="center")
            left += share
    for place, color in palette.items():
        ax.barh(0, 0, label=place, **_bar(color))
    ax.set_yticks(range(len(machines)), machines)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.set_xlim(0, 1)
    percent_axis(ax.xaxis, "Share of the machine's TCP sockets")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(palette), fontsize="small", borderaxespad=0.2)
    return ax


def _bar(color: str) -> dict[str, Any]:
    """Return the style of a bar that is light enough for text on it, in both colour schemes."""
    return {"color": (color, 0.25), "edgecolor": color, "linewidth": 1.2}


def plot_sockets_over_time(counted: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot established connections and orphans over time, a panel for each variant and a line for each run.

    - `counted`: ``run_id variant elapsed_s established orphans``, as `loadcurve.analysis.count_orphans` returns it.
    - `ax`: Axes for the last panel; by default a new figure with all panels.

    Examples
    --------
    >>> counted = pd.DataFrame({"run_id": "a", "variant": "timeout 1 s", "elapsed_s": [0.0, 1.0, 2.0],
    ...                         "established": [64, 64, 0], "orphans": [0, 0, 64]})
    >>> [text.get_text() for text in plot_sockets_over_time(counted).texts]
    ['timeout 1 s', 'established', 'orphans']
    """
    panels = list(counted.groupby("variant", sort=False))
    several = ax is None and len(panels) > 1
    all_axes = panel_column(len(panels), 1.1 + 1.5 * len(panels)) if several else [axes_or_new(ax, counted=counted)]
    columns = ["established", "orphans"]
    palette = colours(columns)
    for place, (one, (variant, rows)) in enumerate(zip(all_axes, panels[-len(all_axes) :], strict=True)):
        one.text(0, 1.03, str(variant), transform=one.transAxes, weight="bold", va="bottom")
        # One line with a gap after each run takes less room than a line for each.
        runs = [run.reset_index(drop=True).reindex(range(len(run) + 1)) for _, run in rows.groupby("run_id")]
        drawn = pd.concat(runs)[["elapsed_s", *columns]].astype(float)
        for column in columns:
            one.plot(drawn["elapsed_s"], drawn[column], color=palette[column], linewidth=1.2)
        one.set_ylim(0, 1.3 * max(1.0, float(rows[columns].max().max())))
        if place == 0:
            for column in columns:
                highest_first = rows.sort_values(column, ascending=False, kind="stable")
                name_line(one, highest_first[["elapsed_s", column]], column, palette[column])
        one.yaxis.set_major_locator(MaxNLocator(4))
        one.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        one.set_ylabel("Sockets")
    all_axes[-1].set_xlabel("Time since the load started [s]")
    return all_axes[-1]
