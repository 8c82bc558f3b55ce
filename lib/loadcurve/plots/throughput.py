"""Plots of throughput and response time against connections, with fitted laws."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullLocator

from loadcurve.models import Fit, asymptotic_throughput_rps
from loadcurve.plots._axes import (
    IN_THE_MIDDLE,
    axes_or_new,
    connections_axis,
    known_points,
    label_end,
    palette_of,
    points_and_mean,
    seconds,
)
from loadcurve.plots.style import COLOURS
from loadcurve.stats import Estimate, summarise_repeats
from loadcurve.tables import axis_label
from loadcurve.tables.curves import curves


def plot_throughput_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run against connections, and the mean of the repeats, one colour for each variant.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "throughput_rps": [100.0, 300.0, 400.0]})
    >>> ax = plot_throughput_by_connections(runs)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Connections', 'Throughput [requests/s]')
    """
    ax = _means_by_connections(runs, "throughput_rps", ax)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    return ax


def plot_latency_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot mean response time of every run against connections, and the mean of the repeats, on a logarithmic axis.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "latency_mean_s": [0.01, 0.013, 0.04]})
    >>> ax = plot_latency_by_connections(runs)
    >>> ax.get_ylabel(), ax.get_yscale()
    ('Mean response time [s]', 'log')
    """
    ax = _means_by_connections(runs, "latency_mean_s", ax)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(seconds())
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
    # Label the law below its first third, away from the labels of the runs.
    named = band.iloc[len(band) // 4]
    ax.annotate(
        fit.law.upper(),
        (named["connections"], named["throughput_rps"]),
        xytext=(8, -14),
        textcoords="offset points",
        color=COLOURS["law"],
    )
    ax.set_ylim(bottom=0)
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
    ax.annotate(
        f"N* = {saturation.value:.3g}",
        (saturation.value, limit),
        xytext=(-6, 6),
        textcoords="offset points",
        ha="right",
    )
    ax.set_ylim(0, 1.15 * max(limit, float(runs["throughput_rps"].max())))
    return ax


def plot_records(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of several records of one study against connections: a colour per variant, a line per record.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs`` with the column ``record``, the name of the record in the legend.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 16], "throughput_rps": [100.0, 300.0, 400.0]})
    >>> here = runs.assign(throughput_rps=2 * runs["throughput_rps"])
    >>> ax = plot_records(pd.concat([runs.assign(record="old"), here.assign(record="new")]))
    >>> ax.get_legend_handles_labels()[1]
    ['cpu, old', 'cpu, new']
    """
    ax = axes_or_new(ax, runs=runs)
    palette = palette_of(runs)
    styles = dict(zip(runs["record"].unique(), itertools.cycle(("-", "--", ":", "-.")), strict=False))
    for variant, of_variant in curves(runs):
        for record, rows in of_variant.groupby("record", sort=False):
            points_and_mean(ax, rows, "throughput_rps", palette[variant], styles[record], f"{variant}, {record}")
    connections_axis(ax)
    ax.set_ylim(bottom=0)
    ax.set_ylabel(axis_label("runs", "throughput_rps"))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    ax.legend(**IN_THE_MIDDLE)
    return ax


def _means_by_connections(runs: pd.DataFrame, column: str, ax: Axes | None) -> Axes:
    ax = axes_or_new(ax, runs=runs)
    known = known_points(runs, column)
    palette = palette_of(known)
    for variant, rows in curves(known):
        color = palette[variant]
        ax.scatter(rows["connections"], rows[column], color=color, alpha=0.45, s=22, lw=0.3, edgecolors="white")
        means = summarise_repeats(rows, by="connections", column=column)
        ax.plot(means["connections"], means[column], color=color)
        label_end(ax, means["connections"].iloc[-1], means[column].iloc[-1], variant, color)
    connections_axis(ax)
    ax.set_ylabel(axis_label("runs", column))
    return ax
