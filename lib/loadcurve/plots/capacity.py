"""Plots for capacity: runs against an objective, knees, utilisation, bottlenecks, and scale-out."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from loadcurve.analysis.cells import percentile
from loadcurve.models import Fit
from loadcurve.models.capacity import Objective
from loadcurve.plots._axes import (
    axes_or_new,
    connections_axis,
    known_points,
    label_end,
    log_seconds_axis,
    name_ends,
    name_line,
    palette_of,
    percent_axis,
    points_and_mean,
    seconds_axis,
    throughput_axis,
    write,
)
from loadcurve.plots.style import COLOURS, INK, PALETTE, colours
from loadcurve.stats import Estimate
from loadcurve.tables.curves import check_points

# Decisions differ in both shape and colour.
_DECISIONS = {"kept": ("o", PALETTE[2]), "undecided": ("s", PALETTE[4]), "broken": ("X", PALETTE[1])}
# Source of each knee: the crossing of the bounds, the fitted law, or by default the measured levels.
_KNEES = {"saturation N*": "limit", "maximum curvature": "law", "maximum power": "law"}
# A saturation throughput above this multiple of the measured throughput is not shown: the points would be too small.
_FURTHEST = 4.0


def plot_capacity(
    runs: pd.DataFrame, decisions: pd.DataFrame, capacity: Estimate, objective: Objective, *, ax: Axes | None = None
) -> Axes:
    """Plot an objective's value in every run against its load, marked by the decision about each load.

    - `runs`: the load (``connections`` or ``target_rate_rps``) and the objective's column.
    - `decisions`: the load and ``decision``, from `summarise_objectives`.
    - `capacity`: from `find_capacity`, the shaded interval.
    - `objective`: in s, the dashed line.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [1, 1, 8, 8], "latency_p99_s": [0.005, 0.006, 0.03, 0.04]})
    >>> decisions = pd.DataFrame({"connections": [1, 8], "decision": ["kept", "broken"]})
    >>> capacity = Estimate(1.0, 1.0, 8.0, 0.95, "exact")
    >>> ax = plot_capacity(runs, decisions, capacity, Objective("latency_p99_s", 0.02))
    >>> [text.get_text() for text in ax.texts]
    ['kept', 'broken', 'objective: 20 ms']
    """
    ax = axes_or_new(ax, runs=runs)
    load = "connections" if "connections" in decisions else "target_rate_rps"
    check_points(runs, [load])
    known = known_points(runs, objective.column, load)
    first, last = float(runs[load].min()), float(runs[load].max())
    lo, hi = max(capacity.lo, min(first, 1.0)), min(capacity.hi, last)
    ax.axvspan(lo, hi, color=COLOURS["limit"], alpha=0.15, linewidth=0, zorder=0)
    ax.axhline(objective.maximum, color=COLOURS["limit"], linestyle="--", zorder=1)
    for decision in _DECISIONS:
        loads = decisions.loc[decisions["decision"] == decision, load]
        _draw_decision(ax, known[known[load].isin(loads)], loads, objective.column, decision)
    objective_label = f"objective: {EngFormatter(unit='s')(objective.maximum)}"
    write(ax, objective_label, (first, objective.maximum), (0, 4), COLOURS["limit"], va="baseline")
    is_mean = objective.column == "latency_mean_s"
    quantity = "Mean response time" if is_mean else f"Response time, {percentile(objective.column)}"
    seconds_axis(ax.yaxis, quantity)
    highest = max(known[objective.column].max(), objective.maximum)
    if load == "connections":
        connections_axis(ax)
        ax.set_ylim(0, 1.2 * highest)  # room for the decisions' names
    else:  # beyond the capacity, response times are of another order of magnitude
        ax.set_xlabel("Offered rate [requests/s]")
        ax.set_yscale("log")
        ax.set_ylim(top=2 * highest)
        log_seconds_axis(ax, quantity)
    return ax


def _draw_decision(ax: Axes, runs: pd.DataFrame, loads: pd.Series, column: str, decision: str) -> None:
    """Mark the runs of all loads with one decision, and name it above the middle of these loads."""
    marker, color = _DECISIONS[decision]
    load = str(loads.name)
    ax.scatter(runs[load], runs[column], marker=marker, color=color, alpha=0.8, s=30, lw=0)
    if loads.empty:
        return
    ends = float(loads.min()), float(loads.max())
    middle = np.sqrt(ends[0] * ends[1]) if load == "connections" else sum(ends) / 2
    ax.annotate(
        decision, (middle, 0.89 if decision == "undecided" else 0.97), xycoords=ax.get_xaxis_transform(),
        ha="center", va="top", color=color,  # undecided loads are few: their neighbours' words are near
    )  # fmt: skip


def plot_knees(runs: pd.DataFrame, fit: Fit, knees: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of one variant with a fitted law, and below the curve each knee with its interval and name.

    - `runs`: rows of the table ``runs`` of one variant.
    - `fit`: fitted law from which the knees of a law were computed.
    - `knees`: table from `summarise_knees`; knees that are NaN are left out.

    Examples
    --------
    >>> from loadcurve.models import fit_usl
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4, 8, 16], "throughput_rps": [100.0, 370, 660, 1000]})
    >>> knees = pd.DataFrame({"definition": ["maximum power"], "connections": [20.0], "lo": [np.nan], "hi": [np.nan]})
    >>> ax = plot_knees(runs, fit_usl(runs["connections"], runs["throughput_rps"]), knees)
    >>> [text.get_text() for text in ax.texts]
    ['cpu', 'maximum power, 20']
    """
    ax = axes_or_new(ax, runs=runs)
    check_points(runs, ["connections"])
    (variant, own), *_ = palette_of(runs).items()
    points_and_mean(ax, runs, "throughput_rps", own, "-", variant)
    mean = runs.groupby("connections")["throughput_rps"].mean().dropna()
    label_end(ax, mean.index[-1], mean.iloc[-1], variant, own)
    grid = np.geomspace(fit.connections.min(), fit.connections.max(), 200)
    ax.plot(grid, fit.predict(grid), color=COLOURS["law"], linestyle="--")
    known = knees.dropna(subset=["connections"]).sort_values("connections", ascending=False)
    for place, knee in enumerate(known.itertuples()):
        color = COLOURS[_KNEES[knee.definition]] if knee.definition in _KNEES else own
        y = 0.05 + 0.08 * place
        if np.isfinite([knee.lo, knee.hi]).all():
            ax.plot([knee.lo, knee.hi], [y, y], color=color, transform=ax.get_xaxis_transform(), lw=2.4, alpha=0.55)
        ax.plot(knee.connections, y, "D", color=color, transform=ax.get_xaxis_transform(), linestyle="none")
        text, end = f"{knee.definition}, {knee.connections:.3g}", np.nanmax([knee.hi, knee.connections])
        write(ax, text, (end, y), (8, 0), color, xycoords=ax.get_xaxis_transform(), fontsize="small")
    connections_axis(ax)
    ax.set_ylim(0, 1.08 * runs["throughput_rps"].max())
    throughput_axis(ax.yaxis)
    return ax


def plot_utilisation(usage: pd.DataFrame, demands: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot utilisation of each resource against throughput, its line, and the interval of throughput at saturation.

    - `usage`: ``resource throughput_rps utilisation_ratio``, one row for each run and resource.
    - `demands`: table from `summarise_demands`.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "cpu", "throughput_rps": [100.0, 200], "utilisation_ratio": [0.1, 0.2]})
    >>> demands = pd.DataFrame({"resource": ["cpu"], "demand_per_server_s": 0.001, "background_ratio": 0.0,
    ...                         "saturation_rps": 1000.0, "saturation_lo": 900.0, "saturation_hi": 1100.0,
    ...                         "line_saturation_rps": np.nan})
    >>> ax = plot_utilisation(usage, demands)
    >>> ax.get_ylabel(), ax.texts[0].get_text()
    ('Utilisation', 'cpu')
    """
    ax = axes_or_new(ax, usage=usage)
    ax.axhline(1, color=COLOURS["limit"], linestyle="--", linewidth=1, zorder=1)
    palette = colours(usage["resource"].unique())
    end_of_axis = _FURTHEST * usage["throughput_rps"].max()
    for place, line in enumerate(demands.itertuples()):
        color, rows = palette[line.resource], usage[usage["resource"] == line.resource]
        ax.scatter(rows["throughput_rps"], rows["utilisation_ratio"], color=color, alpha=0.65, s=18, lw=0)
        reached = line.saturation_rps if np.isnan(line.line_saturation_rps) else line.line_saturation_rps
        end = min(reached, end_of_axis)
        background = np.nan_to_num(line.background_ratio)
        top = background + line.demand_per_server_s * end
        ax.plot([0, end], [background, top], color=color)
        if np.isfinite(line.saturation_hi) and line.saturation_hi <= end_of_axis:
            target = background + line.demand_per_server_s * reached
            ax.plot([line.saturation_lo, line.saturation_hi], [target, target], color=color, lw=6, alpha=0.4)
        # Label the first resource to saturate left of its line's end, the next to the right, and the others higher.
        write(ax, line.resource, (end, top), ((-4, 4)[place % 2], 8 + 13 * (place // 2)), color, va="baseline")
    ax.set_xlim(left=0)
    ax.set_ylim(0, 1.15)
    throughput_axis(ax.xaxis)
    percent_axis(ax.yaxis, "Utilisation")
    return ax


def plot_efficiency(scale_out: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot efficiency against size, a line for each curve; the dashed line is linear scaling from the smallest size.

    `scale_out`: ``curve`` (its name) and ``units efficiency_ratio``, such as from `summarise_scale_out`.

    Examples
    --------
    >>> scale_out = pd.DataFrame({"curve": "sockets", "units": [1, 2], "efficiency_ratio": [1.0, 0.9]})
    >>> ax = plot_efficiency(scale_out)
    >>> ax.get_ylabel(), ax.texts[0].get_text()
    ('Efficiency', 'sockets')
    """
    ax = axes_or_new(ax, scale_out=scale_out)
    ends = [scale_out["units"].min(), scale_out["units"].max()]
    ax.plot(ends, [1, 1], color=COLOURS["limit"], linestyle="--", zorder=1)
    palette = colours(scale_out["curve"].unique())
    for curve, rows in scale_out.groupby("curve", sort=False):
        ax.plot(rows["units"], rows["efficiency_ratio"], "o-", color=palette[curve])
    _units_axis(ax)
    ax.set_ylim(0, 1.15 * max(1.0, scale_out["efficiency_ratio"].max()))  # room for names
    longest = scale_out.groupby("curve", sort=False).tail(1).query("units == units.max()")
    name_ends(ax, [(row.units, row.efficiency_ratio, row.curve, palette[row.curve]) for row in longest.itertuples()])
    for curve, rows in scale_out.groupby("curve", sort=False):
        if curve not in set(longest["curve"]):  # another line may run on the right
            name_line(ax, rows[["units", "efficiency_ratio"]].iloc[::-1], str(curve), palette[curve])
    percent_axis(ax.yaxis, "Efficiency")
    return ax


def plot_projection(sizes: pd.DataFrame, projection: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of measured sizes, and the interval projected from them for larger sizes.

    - `sizes`: ``units throughput_rps`` and ``seen``, whether the projection used the size.
    - `projection`: ``units throughput_rps lo hi``, from `summarise_projection`; the throughput may be NaN.

    Examples
    --------
    >>> sizes = pd.DataFrame({"units": [1, 2, 4], "throughput_rps": [100.0, 190, 340], "seen": [True, True, False]})
    >>> projection = pd.DataFrame({"units": [2, 4], "throughput_rps": [190.0, 350], "lo": [180.0, 300],
    ...                            "hi": [200.0, 400]})
    >>> [text.get_text() for text in plot_projection(sizes, projection).texts]
    ['used', 'projected', 'held back']
    """
    ax = axes_or_new(ax, sizes=sizes)
    law = COLOURS["law"]
    ax.fill_between(projection["units"], projection["lo"], projection["hi"], color=law, alpha=0.18, linewidth=0)
    ax.plot(projection["units"], projection["throughput_rps"], "--", color=law)
    ends = [(projection["units"].iloc[-1], projection["throughput_rps"].iloc[-1], "projected", law)]
    for seen, face, name in ((True, PALETTE[0], "used"), (False, "none", "held back")):
        rows = sizes[sizes["seen"] == seen]
        ax.plot(rows["units"], rows["throughput_rps"], "o", color=PALETTE[0], markerfacecolor=face, zorder=3)
        if len(rows):  # above the smallest size, where no projection is
            first = rows.loc[rows["units"].idxmin()] if seen else rows.iloc[-1]
            at = first["units"], rows.loc[rows["units"] == first["units"], "throughput_rps"].max()
            if seen:
                write(ax, name, at, (-2, 10), PALETTE[0], ha="left")
            else:
                ends.append((*at, name, PALETTE[0]))
    _units_axis(ax)
    ax.set_ylim(bottom=0)
    throughput_axis(ax.yaxis)
    name_ends(ax, ends)
    return ax


def _units_axis(ax: Axes) -> None:
    connections_axis(ax)
    ax.set_xlabel("Units")


# What a resource allows beyond this multiple of the observed throughput is written, not drawn to scale.
_DRAWN_UP_TO = 3.0


def plot_bottlenecks(ranked: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the throughput that each resource allows, with its interval, and the observed plateau as a band.

    Filled points are measured at saturation; open points are extrapolated from the loads below it.

    `ranked`: table from `summarise_bottlenecks`.

    Examples
    --------
    >>> row = {"resource": "CPU", "saturated": True, "highest_rps": 410.0, "plateau_rps": 400.0, "plateau_lo": 390.0,
    ...        "plateau_hi": 410.0, "saturation_rps": 404.0, "saturation_lo": 390.0, "saturation_hi": 420.0,
    ...        "predicted_rps": 380.0, "predicted_lo": 350.0, "predicted_hi": 415.0}
    >>> [text.get_text() for text in plot_bottlenecks(pd.DataFrame([row])).texts]
    ['observed plateau']
    """
    ax = axes_or_new(ax, ranked=ranked)
    observed = float(ranked["plateau_rps"].fillna(ranked["highest_rps"]).iloc[0])
    end = _DRAWN_UP_TO * observed
    palette = colours(ranked["resource"])
    furthest = observed
    for place, row in enumerate(ranked.to_dict("records")):
        color = palette[row["resource"]]
        furthest = max(furthest, _point(ax, row, "saturation", place, end, color, filled=row["saturated"]))
        if row["saturated"] and not np.isnan(row["predicted_rps"]):
            furthest = max(furthest, _point(ax, row, "predicted", place + 0.25, end, color, filled=False))
    _observe(ax, ranked.iloc[0], observed)
    ax.set_yticks(range(len(ranked)), ranked["resource"])
    ax.set_ylim(len(ranked) - 0.5, -0.8)
    ax.set_xlim(0, 1.1 * furthest)
    throughput_axis(ax.xaxis)
    ax.grid(visible=False, axis="y")
    return ax


def _point(ax: Axes, row: dict[str, Any], name: str, y: float, end: float, color: str, *, filled: bool) -> float:
    """Draw what a resource allows, and return how far it reaches."""
    value, lo, hi = (float(row[f"{name}_{part}"]) for part in ("rps", "lo", "hi"))
    if value > end:
        text = f"{EngFormatter(places=0, sep='')(value)} →" if np.isfinite(value) else "no limit →"
        ax.annotate(text, (end, y), ha="right", va="center", color=color)
        return end
    reach = value
    if not np.isnan([lo, hi]).any():
        reach = min(hi, end)
        ax.plot([lo, reach], [y, y], color=color, linewidth=5 if filled else 2.5, alpha=0.45)
    ax.plot(
        value, y, "o" if filled else "D", color=color, markerfacecolor=color if filled else "none", linestyle="none"
    )
    return reach


def _observe(ax: Axes, row: pd.Series, observed: float) -> None:
    """Draw the plateau, or the highest throughput while it still rises."""
    if not np.isnan([row["plateau_lo"], row["plateau_hi"]]).any():
        ax.axvspan(row["plateau_lo"], row["plateau_hi"], color=COLOURS["limit"], alpha=0.18, linewidth=0, zorder=0)
    ax.axvline(observed, color=COLOURS["limit"], linestyle="--", linewidth=1, zorder=1)
    words = "highest throughput" if np.isnan(row["plateau_rps"]) else "observed plateau"
    write(ax, words, (observed, 1), (4, -3), INK, xycoords=ax.get_xaxis_transform(), va="top")
