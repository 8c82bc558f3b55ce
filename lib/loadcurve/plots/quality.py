"""Plots of measurement quality: laws that must hold, requests in flight, connections and busy processors."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from loadcurve.errors import NotMeasuredError
from loadcurve.plots._axes import (
    axes_or_new,
    connections_axis,
    label_end,
    name_ends,
    name_line,
    palette_of,
    percent_axis,
    points_and_mean,
    seconds_axis,
    write,
)
from loadcurve.plots.style import COLOURS, PALETTE, colours
from loadcurve.stats import Estimate
from loadcurve.tables.curves import UNNAMED, check_points, curves

# The server, the subject of the study, has a solid line.
_ROLE_STYLE = {"server": "-", "generator": "--", "all CPUs": "--"}


def plot_deviation_from_law(deviation: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the relative deviation of measured throughput from a law against connections, with a band of ±3 %.

    `deviation`: ``connections``, ``law`` (its name) and ``deviation_ratio``, one row for each run and law.

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

    `findings`: findings of the rule effective-concurrency, with the column ``variant`` of their runs.

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

    `busy`: ``variant``, ``connections``, ``role``, ``busy_ratio``, one row for each run and processor.

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

    `established`: ``variant``, ``connections`` (requested), ``established``: one row for each run.

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


def plot_law_by_delay(drawn: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot measured over predicted values against the delay of the server, a colour for each law, with a band of ±3 %.

    `drawn`: ``delay_s`` (> 0), ``law`` (its name) and ``measured_ratio``, one row for each run and law.

    Examples
    --------
    >>> drawn = pd.DataFrame({"delay_s": [0.001, 0.01], "law": "X · R", "measured_ratio": [1.0, 0.99]})
    >>> plot_law_by_delay(drawn).get_ylabel()
    'Measured / predicted'
    """
    ax = axes_or_new(ax, drawn=drawn)
    ax.axhspan(0.97, 1.03, color=COLOURS["limit"], alpha=0.15, linewidth=0)
    palette = colours(drawn["law"].unique())
    for law, rows in drawn.groupby("law", sort=False):
        mean = rows.groupby("delay_s")["measured_ratio"].mean()
        ax.scatter(rows["delay_s"], rows["measured_ratio"], color=palette[law], alpha=0.45, s=16)
        ax.plot(mean.index, mean, color=palette[law])
    ax.margins(y=0.15)
    ax.set_xscale("log")
    for law, rows in drawn.groupby("law", sort=False):
        places = rows.groupby("delay_s", as_index=False)["measured_ratio"].mean().to_numpy()
        between = np.column_stack([np.sqrt(places[1:, 0] * places[:-1, 0]), (places[1:, 1] + places[:-1, 1]) / 2])
        name_line(ax, np.vstack([between, places]), str(law), palette[law])
    ax.xaxis.set_major_locator(FixedLocator(sorted(drawn["delay_s"].unique())))
    ax.xaxis.set_minor_locator(NullLocator())
    seconds_axis(ax.xaxis, "Delay of the server")
    ax.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))  # whole per cent
    percent_axis(ax.yaxis, "Measured / predicted")
    return ax


def plot_throughput_by_threads(
    runs: pd.DataFrame, law: pd.DataFrame, optimum: Estimate, *, ax: Axes | None = None
) -> Axes:
    """Plot measured throughput against threads, with the formula, two models that queue, and the measured optimum.

    - `runs`: ``threads`` and ``throughput_rps``, one row for each run.
    - `law`: as `loadcurve.models.summarise_threads` returns it, for the same processor and wait.
    - `optimum`: threads at which the line of few threads meets the plateau, drawn with its interval; NaN without a
      plateau.

    Examples
    --------
    >>> from loadcurve.models import summarise_threads
    >>> runs = pd.DataFrame({"threads": [1, 10, 40], "throughput_rps": [22.0, 218.0, 490.0]})
    >>> found = Estimate(22.0, 21.0, 23.0, 0.95, "given")
    >>> [text.get_text() for text in plot_throughput_by_threads(runs, summarise_threads(0.002, 0.042), found).texts]
    ['optimum: 22', 'formula', 'with queueing', 'in lockstep', 'measured']
    """
    ax = axes_or_new(ax, runs=runs, law=law)
    demand = law["utilisation_ratio"].iloc[0] / law["throughput_rps"].iloc[0]
    formula = law["bound_ratio"] / demand
    lines = [("formula", formula, PALETTE[1], "-"), ("with queueing", law["throughput_rps"], COLOURS["law"], "--")]
    lines += [("in lockstep", law["least_ratio"] / demand, COLOURS["limit"], ":")]
    for _, rates, color, style in lines:
        ax.plot(law["threads"], rates, style, color=color, linewidth=1.4)
    mean = runs.groupby("threads")["throughput_rps"].mean()
    ax.plot(runs["threads"], runs["throughput_rps"], "o", color=PALETTE[0], alpha=0.45, markersize=4)
    ax.plot(mean.index, mean, color=PALETTE[0])
    top = float(mean.max())
    if np.isfinite(optimum.value):
        ax.axvspan(optimum.lo, optimum.hi, color=COLOURS["limit"], alpha=0.15, linewidth=0)
        ax.plot(optimum.value, top, "D", color=PALETTE[0], linestyle="none")
        text = f"optimum: {optimum.value:.3g}"
        write(ax, text, (optimum.value, top), (-6, 8), PALETTE[0], va="baseline")
    connections_axis(ax)
    ax.set_xlabel("Threads")
    ax.set_ylabel("Throughput [requests/s]")
    ax.set_ylim(0, 1.2 * max(top, float(formula.max())))
    ends = [(law["threads"].iloc[-1], rates.iloc[-1], name, color) for name, rates, color, _ in lines]
    name_ends(ax, [*ends, (mean.index[-1], mean.iloc[-1], "measured", PALETTE[0])])
    return ax
