"""Plots of measurement quality: requests in flight, established connections and busy processors."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from loadcurve.errors import NotMeasuredError
from loadcurve.plots._axes import (
    axes_or_new,
    connections_axis,
    label_end,
    name_ends,
    palette_of,
    percent_axis,
    points_and_mean,
)
from loadcurve.plots.style import COLOURS, colours
from loadcurve.tables.curves import UNNAMED, check_points, curves

# The server, the subject of the study, has a solid line.
_ROLE_STYLE = {"server": "-", "generator": "--", "all CPUs": "--"}


def plot_deviation_from_law(deviation: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the relative deviation of measured throughput from a law against connections, with a band of ±3 %.

    Parameters
    ----------
    deviation : pandas.DataFrame
        ``connections``, ``law`` (its name) and ``deviation_ratio``, one row for each run and law.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> deviation = pd.DataFrame({"connections": [1, 8], "law": "N/R", "deviation_ratio": [0.01, -0.01]})
    >>> ax = plot_deviation_from_law(deviation)
    >>> ax.get_ylabel()
    'Measured / law − 1'
    """
    ax = axes_or_new(ax, deviation=deviation)
    ax.axhspan(-0.03, 0.03, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    palette = colours(deviation["law"].unique())
    for law, rows in deviation.groupby("law", sort=False):
        check_points(rows, ["connections"])
        mean = rows.groupby("connections")["deviation_ratio"].mean()
        ax.plot(rows["connections"], rows["deviation_ratio"], "o", color=palette[law], alpha=0.45, markersize=4)
        ax.plot(mean.index, mean, color=palette[law])
        label_end(ax, mean.index[-1], mean.iloc[-1], str(law).replace("_min", "ₘᵢₙ"), palette[law])
    connections_axis(ax)
    percent_axis(ax.yaxis, "Measured / law − 1")
    return ax


def plot_effective_concurrency(findings: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot requests in flight by Little's law as a share of the connections requested; the band is the rule's ok range.

    Parameters
    ----------
    findings : pandas.DataFrame
        Findings of the rule effective-concurrency, with the column ``variant`` of their runs.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> findings = pd.DataFrame({"variant": "cpu", "expected": [4, 16], "observed": [4.0, 12.0]})
    >>> ax = plot_effective_concurrency(findings)
    >>> ax.get_ylabel()
    'X·R / N'
    """
    checked = findings.dropna(subset=["observed", "expected"])
    if checked.empty:
        raise NotMeasuredError(
            f"None of {len(findings)} runs has connections, throughput and mean response time",
            "use a generator that reports all three, such as wrk, ab or k6",
        )
    ax = axes_or_new(ax)
    ax.axhspan(0.9, 1.1, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    palette = palette_of(checked)
    for variant, rows in curves(checked):
        ax.plot(rows["expected"], rows["observed"] / rows["expected"], "o", color=palette[variant], alpha=0.7)
        top = rows.loc[rows["expected"].idxmax()]
        label_end(ax, top["expected"], top["observed"] / top["expected"], variant, palette[variant])
    connections_axis(ax)
    ax.set_ylabel("X·R / N")
    return ax


def plot_cpu_by_connections(busy: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the busy share of processors against connections: a colour for each variant, a line style for each role.

    Parameters
    ----------
    busy : pandas.DataFrame
        ``variant``, ``connections``, ``role``, ``busy_ratio``, one row for each run and processor.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> busy = pd.DataFrame({"variant": "cpu", "connections": [1, 8] * 2, "role": ["server"] * 2 + ["generator"] * 2,
    ...                      "busy_ratio": [0.5, 1.0, 0.1, 0.3]})
    >>> [text.get_text() for text in plot_cpu_by_connections(busy).texts]
    ['cpu, generator', 'cpu, server']
    """
    ax = axes_or_new(ax, busy=busy)
    palette = palette_of(busy)
    ends = []
    for variant, of_variant in curves(busy[busy["role"] != ""]):
        for role, rows in of_variant.groupby("role"):
            name = f"{variant}, {role}"
            end = points_and_mean(ax, rows, "busy_ratio", palette[variant], _ROLE_STYLE.get(role, "-"), name)
            ends.append((*end, name, palette[variant]))
    connections_axis(ax)
    ax.set_ylim(0, 1.02)
    percent_axis(ax.yaxis, "Processor busy")
    name_ends(ax, ends)
    return ax


def plot_established_by_connections(established: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot connections established on the server, as counted by ss, against those requested; the line is equality.

    Parameters
    ----------
    established : pandas.DataFrame
        ``variant``, ``connections`` (requested), ``established``: one row for each run.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Raises
    ------
    NotMeasuredError
        When the table is empty: no run of the study was monitored by ``ss`` with its list of sockets.

    Examples
    --------
    >>> established = pd.DataFrame({"variant": "cpu", "connections": [1, 64], "established": [1, 60]})
    >>> plot_established_by_connections(established).get_ylabel()
    'Established at the server'
    """
    if established.empty:
        remedy = "record `ss -tan` on the server during each run"
        raise NotMeasuredError("No snapshot of ss shows the server's sockets of these runs", remedy)
    ax = axes_or_new(ax)
    ends = [established["connections"].min(), established["connections"].max()]
    ax.plot(ends, ends, color=COLOURS["limit"], linestyle="--", zorder=1)
    named = established.assign(variant=established["variant"].fillna(UNNAMED))
    palette = palette_of(named)
    sizes = dict.fromkeys(palette, 18) | {next(iter(palette)): 65}  # below a point of another variant, a rim is visible
    sns.scatterplot(named, x="connections", y="established", hue="variant", size="variant", sizes=sizes,
                    palette=palette, ax=ax)  # fmt: skip
    connections_axis(ax)
    ax.set_yscale("symlog", base=2, linthresh=1)  # log₂ from 1 on, linear below, so that 0 can be shown
    ax.set_ylim(-0.4, 1.6 * max(ends[1], established["established"].max()))
    ax.set_yticks([0, *(4**k for k in range(8) if 4**k <= ends[1])])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_ylabel("Established at the server")
    ax.legend(title=None, loc="upper left")
    return ax
