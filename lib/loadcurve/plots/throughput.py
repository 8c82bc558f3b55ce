"""Plots of throughput and response time against connections, with fitted laws."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullLocator

from loadcurve.models import Fit, asymptotic_throughput_rps
from loadcurve.plots._axes import (
    axes_or_new,
    connections_axis,
    known_points,
    label_end,
    name_ends,
    name_line,
    palette_of,
    panel_column,
    points_and_mean,
    seconds_axis,
    write,
)
from loadcurve.plots.style import COLOURS, INK, figure_of
from loadcurve.stats import Estimate, summarise_repeats
from loadcurve.tables import axis_label
from loadcurve.tables.curves import curves

# Share of the highest throughput.  A variant with half of its levels below would seem to lie on the zero line.
_LOW = 0.05


def plot_throughput_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run against connections, and the mean of the repeats, one colour for each variant.

    - `runs`: the table ``runs``.
    - `ax`: Axes to draw on; by default, those of a new figure, or the last of its panels: each variant has one
      where a variant would otherwise lie on the zero line.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "throughput_rps": [100.0, 300.0, 400.0]})
    >>> ax = plot_throughput_by_connections(runs)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Connections', 'Throughput [requests/s]')
    """
    panels = _panels(runs, ax)
    _means_by_connections(runs, "throughput_rps", panels)
    return _finish(panels)


def plot_latency_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot mean response time of every run against connections, and the mean of the repeats, on a logarithmic axis.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "latency_mean_s": [0.01, 0.013, 0.04]})
    >>> ax = plot_latency_by_connections(runs)
    >>> ax.get_ylabel(), ax.get_yscale()
    ('Mean response time', 'log')
    """
    ax = axes_or_new(ax, runs=runs)
    _means_by_connections(runs, "latency_mean_s", dict.fromkeys(palette_of(runs), ax))
    ax.set_yscale("log")
    seconds_axis(ax.yaxis, axis_label("runs", "latency_mean_s"))
    ax.yaxis.set_minor_locator(NullLocator())
    return ax


def plot_throughput_law(runs: pd.DataFrame, fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run of one variant, and a fitted law with the confidence band of its mean.

    Examples
    --------
    >>> from loadcurve.models import fit_usl
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 8, 16], "throughput_rps": [100.0, 370, 660, 1000]})
    >>> ax = plot_throughput_law(runs, fit_usl(runs["connections"], runs["throughput_rps"]))
    >>> [text.get_text() for text in ax.texts]
    ['cpu', 'USL']
    """
    ax = plot_throughput_by_connections(runs, ax=ax)
    grid = np.geomspace(fit.connections.min(), fit.connections.max(), 200)
    band = fit.band(grid)
    ax.plot(band["connections"], band["throughput_rps"], color=COLOURS["law"], linestyle="--")
    ax.fill_between(
        band["connections"], band["lo"].clip(lower=0), band["hi"], color=COLOURS["law"], alpha=0.18, linewidth=0
    )
    ax.set_ylim(bottom=0)
    name_line(ax, band[["connections", "throughput_rps"]].iloc[len(band) // 4 :], fit.law.upper(), COLOURS["law"])
    return ax


def plot_asymptotic_bounds(
    runs: pd.DataFrame, demand: Estimate, latency_min: Estimate, saturation: Estimate, *, ax: Axes | None = None
) -> Axes:
    """Plot throughput of one variant with asymptotes N/R_min and 1/D, the interval of 1/D, and their crossing N*.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "throughput_rps": [100.0, 300.0, 400.0]})
    >>> demand, least = (Estimate(value, np.nan, np.nan, 0.95, "given") for value in (0.0025, 0.01))
    >>> crossing = Estimate(4.0, np.nan, np.nan, 0.95, "given")  # N* = R_min / D
    >>> [text.get_text() for text in plot_asymptotic_bounds(runs, demand, least, crossing).texts]
    ['cpu', 'N* = 4']
    """
    ax = plot_throughput_by_connections(runs, ax=ax)
    limit = 1 / demand.value
    grid = np.geomspace(1, float(runs["connections"].max()), 200)
    bound = asymptotic_throughput_rps(grid, demand.value, latency_min.value)
    ax.plot(grid, bound, color=COLOURS["limit"], linestyle="--", zorder=1)
    if np.isfinite([demand.lo, demand.hi]).all():
        ax.axhspan(1 / demand.hi, 1 / demand.lo, color=COLOURS["limit"], alpha=0.12, linewidth=0, zorder=0)
    ax.plot(saturation.value, limit, marker="D", color=COLOURS["limit"], linestyle="none")
    write(ax, f"N* = {saturation.value:.3g}", (saturation.value, limit), (0, 7), INK, ha="center", va="baseline")
    ax.set_ylim(0, 1.15 * max(limit, float(runs["throughput_rps"].max())))
    return ax


def plot_records(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of several records of one study against connections: a colour per variant, a line per record.

    - `runs`: the table ``runs`` with the column ``record``, the name of the record at its line.
    - `ax`: Axes to draw on; by default, as for `plot_throughput_by_connections`.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "throughput_rps": [100.0, 300.0, 400.0]})
    >>> here = runs.assign(throughput_rps=2 * runs["throughput_rps"])
    >>> ax = plot_records(pd.concat([runs.assign(record="old"), here.assign(record="new")]))
    >>> [text.get_text() for text in ax.texts]
    ['cpu, old', 'cpu, new']
    """
    panels = _panels(runs, ax)
    palette = palette_of(runs)
    styles = dict(zip(runs["record"].unique(), itertools.cycle(("-", "--", ":", "-.")), strict=False))
    ends: dict[Axes, list[tuple[float, float, str, str]]] = {one: [] for one in panels.values()}
    for variant, of_variant in curves(runs):
        for record, rows in of_variant.groupby("record", sort=False):
            name = f"{variant}, {record}"
            one, color = panels[variant], palette[variant]
            end = points_and_mean(one, rows, "throughput_rps", color, styles[record], name)
            ends[one].append((*end, name, color))
    last = _finish(panels)
    for one, of_panel in ends.items():
        name_ends(one, of_panel)
    return last


def _panels(runs: pd.DataFrame, ax: Axes | None) -> dict[str, Axes]:
    """Return the Axes of each variant: one for all, or one each where a variant would lie on the zero line."""
    names = list(palette_of(runs))
    known = [rows.groupby("connections")["throughput_rps"].mean() for _, rows in curves(runs)]
    low = _LOW * runs["throughput_rps"].max()
    if ax is not None or not any((means < low).mean() >= 0.5 for means in known):
        return dict.fromkeys(names, axes_or_new(ax, runs=runs))
    return dict(zip(names, panel_column(len(names), 0.7 + 1.6 * len(names)), strict=True))


def _finish(panels: dict[str, Axes]) -> Axes:
    """Set the axes of all panels, and return the last one."""
    every = list(dict.fromkeys(panels.values()))
    for one in every:
        connections_axis(one)
        one.set_ylim(bottom=0)
        one.yaxis.set_major_formatter(EngFormatter(sep=""))
        one.set_xlabel("")
    every[-1].set_xlabel(axis_label("runs", "connections"))
    label = axis_label("runs", "throughput_rps")
    if len(every) == 1:
        every[0].set_ylabel(label)
    else:  # it is longer than a panel is high
        figure_of(every[0]).supylabel(label, fontsize=every[0].yaxis.label.get_fontsize())
    return every[-1]


def _means_by_connections(runs: pd.DataFrame, column: str, panels: dict[str, Axes]) -> None:
    known = known_points(runs, column)
    palette = palette_of(known)
    for variant, rows in curves(known):
        color, ax = palette[variant], panels[variant]
        ax.scatter(rows["connections"], rows[column], color=color, alpha=0.45, s=22, lw=0)
        means = summarise_repeats(rows, by="connections", column=column)
        ax.plot(means["connections"], means[column], color=color)
        label_end(ax, means["connections"].iloc[-1], means[column].iloc[-1], variant, color)
        connections_axis(ax)
