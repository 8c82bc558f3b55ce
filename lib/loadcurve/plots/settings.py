"""Plots that compare settings, resources and servers: rates, shares in use, and connections that each received."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullLocator

from loadcurve.plots._axes import (
    axes_or_new,
    label_end,
    log_ticks,
    name_ends,
    name_line,
    percent_axis,
    throughput_axis,
    write,
)
from loadcurve.plots.style import COLOURS, PALETTE, colours, figure_of
from loadcurve.stats import find_mean

# Rates that differ by more have a logarithmic axis: on a linear one, the small ones would lie on its zero.
_WIDE = 50


def plot_busy_rates(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of each setting (full point), and its throughput if the processor were fully busy (open point).

    `rates`: ``setting throughput_rps busy_rps note``, a row for each setting from top to bottom; the note is
    printed at the right of its row and may be empty.  ``busy_rps`` is throughput divided by the busy share of the
    processor.

    Examples
    --------
    >>> rates = pd.DataFrame({"setting": ["log on", "log off"], "throughput_rps": [800.0, 1000.0],
    ...                       "busy_rps": [900.0, 1000.0], "note": ""})
    >>> ax = plot_busy_rates(rates)
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['reported', 'if fully busy']
    """
    ax = axes_or_new(ax, rates=rates)
    made, could = PALETTE[0], PALETTE[1]
    places = range(len(rates), 0, -1)
    for place, row in zip(places, rates.itertuples(), strict=True):
        ax.plot([row.throughput_rps, row.busy_rps], [place, place], color=COLOURS["limit"], linewidth=1.2, zorder=1)
        ax.plot(row.busy_rps, place, "o", color=could, markerfacecolor="none", markersize=8, zorder=2)
        ax.plot(row.throughput_rps, place, "o", color=made, zorder=3)
        if row.note:
            label_end(ax, max(row.throughput_rps, row.busy_rps), place, row.note, COLOURS["limit"])
    # Label both points in the row where they are furthest apart; near 0 there is no room on the left.
    gap = (rates["busy_rps"] - rates["throughput_rps"]).to_numpy()
    at, place = rates.iloc[gap.argmax()], len(rates) - gap.argmax()
    side = "left" if at["throughput_rps"] < 0.2 * rates["busy_rps"].max() else "right"
    offset = (-6 if side == "left" else 6, -5)
    write(ax, "reported", (at["throughput_rps"], place), offset, made, ha=side, va="top", fontsize="small")
    write(ax, "if fully busy", (at["busy_rps"], place), (-6, 5), could, ha="left", va="bottom", fontsize="small")
    ax.set_yticks(list(places), rates["setting"])
    ax.set_ylim(0.5, len(rates) + 0.7)
    ax.set_xlim(0, 1.05 * rates["busy_rps"].max())
    ax.grid(visible=False, axis="y")
    throughput_axis(ax.xaxis)
    return ax


def plot_rates_by_setting(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the throughput of each run, the mean of each setting with its interval, and a model's prediction.

    - `rates`: ``setting throughput_rps``, a row for each run, the settings from top to bottom in the order of the
      runs; and optionally ``model_rps``, the prediction for the setting, NaN where no model gives one.  Rates that
      differ by more than a factor of 50 get a logarithmic axis.
    - `ax`: Axes to draw on; by default, those of a new figure, as high as the settings need.

    Examples
    --------
    >>> rates = pd.DataFrame({"setting": ["log on", "log on", "log off"], "throughput_rps": [800.0, 840.0, 1000.0],
    ...                       "model_rps": [float("nan"), float("nan"), 1010.0]})
    >>> ax = plot_rates_by_setting(rates)
    >>> [text.get_text() for text in ax.texts]
    ['820', '1k', 'model']
    """
    groups = dict(list(rates.groupby("setting", sort=False)))
    if ax is None:  # a figure with room for all settings
        ax = axes_or_new(None, rates=rates)
        figure_of(ax).set_size_inches(5.4, max(2.2, 0.75 + 0.3 * len(groups)))
    places = range(len(groups), 0, -1)
    predicted = []
    for place, rows in zip(places, groups.values(), strict=True):
        model = float(rows["model_rps"].iloc[0]) if "model_rps" in rows else math.nan
        _draw_setting(ax, place, rows["throughput_rps"], model)
        if not math.isnan(model):
            predicted.append((model, place))
    if predicted:
        write(ax, "model", predicted[0], (0, 7), COLOURS["law"], ha="center", va="bottom")
    ax.set_yticks(places, list(groups))
    ax.set_ylim(0.5, len(groups) + 0.8)
    drawn = [*rates["throughput_rps"], *(model for model, _ in predicted)]
    if max(drawn) > _WIDE * min(drawn):
        ax.set_xscale("log")
        ax.set_xlim(min(drawn) / 2, 3 * max(drawn))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.set_xlim(0, 1.15 * max(drawn))
    throughput_axis(ax.xaxis)
    ax.grid(visible=False)  # the numbers are written, and a line would cross them
    return ax


def _draw_setting(ax: Axes, place: int, throughput_rps: pd.Series, model_rps: float) -> None:
    """Plot in one row every run, their mean with its interval and number, and what a model predicts, if one does."""
    mean = find_mean(throughput_rps)
    ax.plot(throughput_rps, [place] * len(throughput_rps), "o", color=PALETTE[0], alpha=0.35, markersize=5)
    ax.plot([mean.lo, mean.hi], [place, place], color=PALETTE[0], linewidth=2)
    ax.plot(mean.value, place, "|", color=PALETTE[0], markersize=14, markeredgewidth=2)
    if not math.isnan(model_rps):
        ax.plot(model_rps, place, "D", color=COLOURS["law"], markerfacecolor="none", markersize=8, zorder=4)
    right = max(value for value in (throughput_rps.max(), mean.hi, model_rps) if not math.isnan(value))
    number = EngFormatter(sep="", places=None)(float(f"{mean.value:.3g}"))
    write(ax, number, (right, place), (9, 0), PALETTE[0])


def plot_shares_by_size(shares: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the used share of each resource against the size of the response; a cross marks an impossible share.

    `shares`: ``resource payload_bytes used_ratio``: name, size of the response with its header, and used share; a
    share above 1 is impossible.

    Examples
    --------
    >>> shares = pd.DataFrame({"resource": "link", "payload_bytes": [100, 10_000], "used_ratio": [0.2, 0.98]})
    >>> plot_shares_by_size(shares).get_xlabel()
    'Response with its header [bytes]'
    """
    ax = axes_or_new(ax, shares=shares)
    sizes = shares["payload_bytes"].min(), shares["payload_bytes"].max()
    ax.plot(sizes, [1, 1], color=COLOURS["limit"], linestyle="--", linewidth=1, zorder=1)
    palette = colours(shares["resource"].unique())
    for resource, rows in shares.sort_values("payload_bytes").groupby("resource", sort=False):
        color, over = palette[resource], rows["used_ratio"] > 1
        ax.plot(rows["payload_bytes"], rows["used_ratio"], color=color)
        ax.plot(rows["payload_bytes"][~over], rows["used_ratio"][~over], "o", color=color)
        ax.plot(rows["payload_bytes"][over], rows["used_ratio"][over], "X", color=color, markersize=8)
    ax.set_xscale("log")
    log_ticks(ax.xaxis, *sizes)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlabel("Response with its header [bytes]")
    ax.set_ylim(0, 1.15 * max(1.0, shares["used_ratio"].max()))
    ends = shares.sort_values("payload_bytes").groupby("resource", sort=False).tail(1)
    last = ends["payload_bytes"] == ends["payload_bytes"].max()
    columns = ["payload_bytes", "used_ratio", "resource"]
    name_ends(ax, [(*end, palette[end[-1]]) for end in ends[last][columns].itertuples(index=False, name=None)])
    for resource in ends["resource"][~last]:  # another line may run on the right
        rows = shares[shares["resource"] == resource].sort_values("payload_bytes", ascending=False)
        name_line(ax, rows[columns[:2]], str(resource), palette[resource])
    percent_axis(ax.yaxis, "Share in use")
    return ax


def plot_dealt(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot a stacked bar for each server, with the count of every part and the total; or a bar with its count.

    `counts`: ``server part count``, one row for each server and part, in the order in which they are drawn.

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

    `used`: ``limit load used_ratio``, one row for each limit and load, in the order in which they are drawn.

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
