"""What each figure shows: ``plot_x(data, *, ax=None) -> Axes``, tables and fits in, one style, nothing saved.

Repeats first, then their mean, then a law with its band.  Throughput starts at 0, connections stand on a log₂ axis,
and the same entity has the same colour everywhere.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, NullLocator, PercentFormatter

from loadcurve.models import Fit, asymptotic_throughput_rps
from loadcurve.stats import Estimate, summarise_repeats
from loadcurve.style import COLOURS, colours, use
from loadcurve.tables import axis_label

use()


def plot_throughput_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Throughput of every run against connections, and the mean of the repeats, one colour for each variant.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _means_by_connections(runs, "throughput_rps", ax)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    return ax


def plot_latency_by_connections(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Mean response time of every run against connections, and the mean of the repeats, on a logarithmic axis."""
    ax = _means_by_connections(runs, "latency_mean_s", ax)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(_seconds())
    ax.yaxis.set_minor_locator(NullLocator())
    return ax


def plot_throughput_law(runs: pd.DataFrame, fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Throughput of every run of one variant, and a fitted law with the band of its mean."""
    ax = plot_throughput_by_connections(runs, ax=ax)
    grid = np.geomspace(fit.connections.min(), fit.connections.max(), 200)
    band = fit.band(grid)
    ax.plot(band["connections"], band["throughput_rps"], color=COLOURS["law"], linestyle="--")
    ax.fill_between(
        band["connections"], band["lo"].clip(lower=0), band["hi"], color=COLOURS["law"], alpha=0.18, linewidth=0
    )
    # Named below its first third, where the runs' own labels are not.
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
    """Throughput of one variant and its asymptotes N/R_min and 1/D, with the interval of 1/D and their crossing N*."""
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


def plot_deviation_from_law(deviation: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Relative deviation of measured throughput from a law, by connections, with the band of ±3 %.

    Parameters
    ----------
    deviation : pandas.DataFrame
        ``connections``, ``law`` (its name) and ``deviation_ratio``, one row for each run and law.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _axes(ax)
    ax.axhspan(-0.03, 0.03, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    palette = colours(deviation["law"].unique())
    for law, rows in deviation.groupby("law", sort=False):
        mean = rows.groupby("connections")["deviation_ratio"].mean()
        ax.plot(rows["connections"], rows["deviation_ratio"], "o", color=palette[law], alpha=0.45, markersize=4)
        ax.plot(mean.index, mean, color=palette[law])
        _label(ax, mean.index[-1], mean.iloc[-1], str(law).replace("_min", "ₘᵢₙ"), palette[law])
    _connections_axis(ax)
    ax.set_ylabel("Measured / law − 1")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return ax


def plot_effective_concurrency(findings: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Requests in flight by Little's law, as a share of the connections asked for; the band is the rule's ok range.

    Parameters
    ----------
    findings : pandas.DataFrame
        Findings of the rule effective-concurrency with the column ``variant`` of their runs.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _axes(ax)
    ax.axhspan(0.9, 1.1, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    checked = findings.dropna(subset=["observed", "expected"])
    palette = _palette(checked)
    for variant, rows in checked.groupby("variant"):
        ax.plot(rows["expected"], rows["observed"] / rows["expected"], "o", color=palette[variant], alpha=0.7)
        top = rows.loc[rows["expected"].idxmax()]
        _label(ax, top["expected"], top["observed"] / top["expected"], variant, palette[variant])
    _connections_axis(ax)
    ax.set_ylabel("X·R / N")
    return ax


def plot_cpu_by_connections(busy: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Busy share of the server's and the generator's processor against connections, a colour for each variant.

    Parameters
    ----------
    busy : pandas.DataFrame
        ``variant``, ``connections``, ``role``, ``busy_ratio``, one row for each run and processor.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _axes(ax)
    palette = _palette(busy)
    for (variant, role), rows in busy[busy["role"] != ""].groupby(["variant", "role"]):
        _points_and_mean(ax, rows, "busy_ratio", palette[variant], _ROLE_STYLE[role], f"{variant}, {role}")
    _connections_axis(ax)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("Processor busy")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend(**_IN_THE_MIDDLE)
    return ax


def plot_established_by_connections(established: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Connections that ss saw established on the server's side, against those asked for; the line is equality.

    Parameters
    ----------
    established : pandas.DataFrame
        ``variant``, ``connections`` (asked for), ``established``: one row for each run.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _axes(ax)
    ends = [established["connections"].min(), established["connections"].max()]
    ax.plot(ends, ends, color=COLOURS["limit"], linestyle="--", zorder=1)
    sns.scatterplot(
        established, x="connections", y="established", hue="variant", style="variant", palette=_palette(established),
        s=45, ax=ax,
    )  # fmt: skip
    _connections_axis(ax)
    ax.set_yscale("symlog", base=2, linthresh=1)  # as log₂ from 1 on, with room for 0
    ax.set_ylim(-0.4, 1.6 * max(ends[1], established["established"].max()))
    ax.set_yticks([0, *(4**k for k in range(8) if 4**k <= ends[1])])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_ylabel("Established at the server")
    ax.legend(title=None)
    return ax


def plot_records(runs: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Throughput by connections of several records of one study: a colour for each variant, a line for each record.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs`` with the column ``record``, the record's name as the reader knows it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without it.
    """
    ax = _axes(ax)
    palette = _palette(runs)
    styles = dict(zip(runs["record"].unique(), itertools.cycle(("-", "--", ":", "-.")), strict=False))
    for (variant, record), rows in runs.groupby(["variant", "record"]):
        _points_and_mean(ax, rows, "throughput_rps", palette[variant], styles[record], f"{variant}, {record}")
    _connections_axis(ax)
    ax.set_ylim(bottom=0)
    ax.set_ylabel(axis_label("runs", "throughput_rps"))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    ax.legend(**_IN_THE_MIDDLE)
    return ax


def _means_by_connections(runs: pd.DataFrame, column: str, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    known = runs.dropna(subset=["connections", column])
    palette = _palette(known)
    sns.scatterplot(
        known, x="connections", y=column, hue="variant", palette=palette, ax=ax, legend=False, alpha=0.45, s=22
    )
    means = summarise_repeats(known, by=["variant", "connections"], column=column)
    for variant, rows in means.groupby("variant"):
        ax.plot(rows["connections"], rows[column], color=palette[variant])
        _label(ax, rows["connections"].iloc[-1], rows[column].iloc[-1], variant, palette[variant])
    _connections_axis(ax)
    ax.set_ylabel(axis_label("runs", column))
    return ax


# Where neither an early plateau nor a late rise runs.
_IN_THE_MIDDLE = {"loc": "center", "bbox_to_anchor": (0.5, 0.42), "fontsize": "small"}

# The server's line is whole: it is the one that the study is about.
_ROLE_STYLE = {"server": "-", "generator": "--"}


def _points_and_mean(ax: Axes, rows: pd.DataFrame, column: str, color: str, style: str, label: str) -> None:
    known = rows.dropna(subset=["connections", column])
    ax.scatter(known["connections"], known[column], color=color, alpha=0.35, s=16)
    mean = known.groupby("connections")[column].mean()
    ax.plot(mean.index, mean, style, color=color, label=label)


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots()[1] if ax is None else ax


def _palette(frame: pd.DataFrame) -> dict[str, str]:
    return colours(sorted(frame["variant"].dropna().unique()))


def _connections_axis(ax: Axes) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(axis_label("runs", "connections"))


def _seconds() -> EngFormatter:
    return EngFormatter(unit="s")


def _label(ax: Axes, x: float, y: float, text: str, color: str) -> None:
    """Write what a line is at its end, in its own colour."""
    ax.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color)
