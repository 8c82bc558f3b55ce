"""Plots of shares: the connections that each server received, and the used share of each limit."""

import pandas as pd
from matplotlib.axes import Axes

from loadcurve.plots._axes import axes_or_new, label_end, percent_axis
from loadcurve.plots.style import COLOURS, PALETTE, colours, figure_of


def plot_dealt(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot a stacked bar for each server, with the count of every part and the total; or a bar with its count.

    Parameters
    ----------
    counts : pandas.DataFrame
        ``server part count``, one row for each server and part, in the order in which they are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> counts = pd.DataFrame({"server": ["S1", "S2"], "part": "active", "count": [60, 40]})
    >>> [label.get_text() for label in plot_dealt(counts).get_yticklabels()]
    ['S1', 'S2']
    """
    ax = axes_or_new(ax, counts=counts)
    servers = list(counts["server"].unique())
    palette = colours(counts["part"].unique())
    several = len(palette) > 1
    for place, server in enumerate(servers):
        left = 0.0
        for row in counts[counts["server"] == server].itertuples():
            color = palette[row.part]
            ax.barh(place, row.count, 0.55, left, color=(color, 0.22), edgecolor=color, linewidth=1.2)
            if several:
                words = f"{row.count:,.0f}\n{row.part}"
                ax.text(left + row.count / 2, place, words, ha="center", va="center", fontsize=9)
            left += row.count
        label_end(ax, left, place, f"= {left:,.0f}" if several else f"{left:.4g} {row.part}", PALETTE[0])
    ax.set_yticks(range(len(servers)), servers)
    ax.set_ylim(len(servers) - 0.5, -0.5)
    ax.set_xlim(0, 1.16 * counts.groupby("server")["count"].sum().max())
    figure_of(ax).set_figheight(0.9 + (0.7 if several else 0.3) * len(servers))
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(length=0)
    return ax


def plot_used(used: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the share of each limit that a load used, as a bar from 0; the dashed line is the limit.

    Parameters
    ----------
    used : pandas.DataFrame
        ``limit load used_ratio``, one row for each limit and load, in the order in which they are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> used = pd.DataFrame({"limit": ["link", "ports"], "load": "1 KB", "used_ratio": [0.3, 0.9]})
    >>> plot_used(used).get_xlabel()
    'Part of the limit'
    """
    ax = axes_or_new(ax, used=used)
    ax.axvline(1, color=COLOURS["limit"], linestyle="--", zorder=1)
    palette = colours(used["load"].unique())
    for place, row in enumerate(used.itertuples()):
        ax.plot([0, row.used_ratio], [place, place], color=palette[row.load], linewidth=7, solid_capstyle="butt")
        label_end(ax, row.used_ratio, place, f"{row.used_ratio:.0%}", palette[row.load])
    for load, color in palette.items():
        ax.plot([], [], color=color, linewidth=7, label=load)
    ax.set_yticks(range(len(used)), used["limit"])
    ax.set_ylim(len(used) - 0.4, -0.6)
    ax.set_xlim(0, 1.02 * max(1.0, used["used_ratio"].max()))
    figure_of(ax).set_figheight(1.2 + 0.36 * len(used))
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    percent_axis(ax.xaxis, "Part of the limit")
    ax.legend(loc="lower right", bbox_to_anchor=(0.95, 0), fontsize="small", handlelength=1.2)
    return ax
