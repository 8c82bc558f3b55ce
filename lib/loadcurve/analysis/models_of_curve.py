"""Apply the models to the runs of one variant: each result with its interval, or the reason why there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from loadcurve import models
from loadcurve.analysis.curve import Curve, Result
from loadcurve.analysis.levels import summarise_load_levels
from loadcurve.analysis.objective import check_measured
from loadcurve.analysis.usage import summarise_usage, why_no_usage
from loadcurve.errors import LoadcurveError
from loadcurve.models import Fit, capacity, scaling
from loadcurve.models.capacity import Objective
from loadcurve.schemas.failures import FEW_ERRORS, error_ratio
from loadcurve.stats import Estimate, find_mean
from loadcurve.tables.curves import confounded_factors
from loadcurve.units import format_quantity

MIN_LEVELS = 4
"""Levels of connections from which a law of three parameters has a degree of freedom left, and so an interval."""


@dataclass
class _Found:
    """Results found so far, and why others are missing: label → reason."""

    results: list[Result] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, label: str, unit: str, find: Callable[[], Estimate]) -> Estimate | None:
        """Add what `find` returns, or the reason why it raised."""
        try:
            estimate = find()
        except LoadcurveError as error:
            self.missing[label] = str(error)
            return None
        if unit == "rps":  # the t interval of few runs may reach below 0, which no throughput does
            estimate = replace(estimate, lo=float(np.maximum(estimate.lo, 0.0)))
        self.results.append(Result(name, label, unit, estimate))
        return estimate


def analyse_curve(
    variant: str,
    runs: pd.DataFrame,
    tables: "Mapping[str, pd.DataFrame]",
    *,
    load: str = "connections",
    objectives: Sequence[Objective] = (),
    level: float = 0.95,
) -> Curve:
    """Return what the models say about the runs of one variant.

    Parameters
    ----------
    variant : str
        Name of the curve.
    runs : pandas.DataFrame
        Its runs, with the columns that `add_quantiles` adds.
    tables : mapping of str to pandas.DataFrame
        Tables of monitors.
    load : str
        Column of the load.
    objectives : sequence of Objective
        What a run must keep to count for the capacity.
    level : float
        Confidence level of the intervals, 0 < level < 1.
    """
    known = runs[runs[load].notna() & (runs[load] > 0) & (runs["throughput_rps"] > 0)]
    known = known.assign(error_ratio=error_ratio(known))
    levels = summarise_load_levels(known, load, level)
    found = _Found()
    if levels.empty:
        lacks = {"connections": "a number of connections", "target_rate_rps": "an offered rate"}[load]
        found.missing["Throughput over load"] = (
            f"no run has both a throughput and {lacks}: note it in the column {load} of a factors.csv, or name the "
            f"files by it, as in c64.hey.txt, and add --factor '{load}=c([0-9]+)'"
        )
        nothing = pd.DataFrame()
        return Curve(variant, load, known, levels, (), None, nothing, nothing, nothing, "", found.missing)
    _highest_throughput(known, levels, load, level, found)
    fit = _closed_loop(known, levels, level, found) if load == "connections" else None
    if objectives:
        _capacity(known, levels, load, objectives, found)
    usage = summarise_usage(tables, known)
    if usage.empty:
        found.missing["Bottleneck"] = why_no_usage(tables, known)
    demands, ranked, verdict = _limits(usage, load, level, found)
    limits = demands, ranked, verdict + _exceeded(levels, usage, ranked, load)
    return Curve(variant, load, known, levels, tuple(found.results), fit, usage, *limits, found.missing)


def _highest_throughput(runs: pd.DataFrame, levels: pd.DataFrame, load: str, level: float, found: _Found) -> None:
    """Add the mean throughput at the load where it is highest."""
    best = levels.loc[levels["throughput_rps"].idxmax(), load]
    where = f"connections = {best:g}" if load == "connections" else f"{format_quantity(best, 'rps')} offered"
    peak = find_mean(runs[runs[load] == best]["throughput_rps"].astype(float), level)
    peak = replace(peak, warnings=(*_failed(levels, load), *_confounded(runs, load), *peak.warnings))
    found.add("peak", f"Highest mean throughput, at {where}", "rps", lambda: peak)


def _failed(levels: pd.DataFrame, load: str) -> list[str]:
    """One sentence where so many requests failed that throughput and response times are not those of good ones."""
    worst = levels["error_ratio"].astype(float)
    if not worst.max() > FEW_ERRORS:
        return []
    at = levels[load].iloc[int(worst.argmax())]
    share = f"{100 * worst.max():.0f} %"
    return [
        f"up to {share} of the requests failed (at {load} = {at:g}): throughput and response times hold failed requests"
    ]


def _confounded(runs: pd.DataFrame, load: str) -> list[str]:
    """One sentence for each factor that changes along the load of a curve."""
    words = "connections" if load == "connections" else "offered rates"
    return [
        f"{name} differs between {words} ({', '.join(levels)}), so the curve mixes its effect with that of the load: "
        f"analyse each {name} by itself"
        for name, levels in confounded_factors(runs, load).items()
    ]


def _closed_loop(runs: pd.DataFrame, levels: pd.DataFrame, level: float, found: _Found) -> Fit | None:
    """Add what throughput over connections says: the asymptotic bounds, and the Universal Scalability Law."""
    axes, add, missing = (
        (runs["connections"].astype(float), runs["throughput_rps"].astype(float)),
        found.add,
        found.missing,
    )
    if len(levels) == 1:
        missing["Saturation N*, peak, model"] = "1 level of connections: measure at least 4, each twice the one before"
        return None
    least = add(
        "latency_min", "Response time without queueing, R_min", "s", lambda: models.find_latency_min(*axes, level)
    )
    demand = add("demand", "Service demand of the limiting resource, D", "s", lambda: models.find_demand(*axes, level))
    if least and demand:
        name = "Saturation N* = R_min/D, connections"
        add("saturation", name, "", lambda: models.find_saturation_of_runs(*axes, level))
    if len(levels) < MIN_LEVELS:
        missing["Universal Scalability Law"] = f"{len(levels)} levels of connections: measure at least {MIN_LEVELS}"
        return None
    points = scaling.summarise_points(*axes)
    try:
        fit = models.fit_usl(points["connections"], points["throughput_rps"], level, points["weight"])
    except LoadcurveError as error:
        missing["Universal Scalability Law"] = str(error)
        return None
    units = {"unit_throughput_rps": "rps"}
    labels = {
        "unit_throughput_rps": "USL throughput of one connection γ",
        "contention": "USL contention α",
        "coherency": "USL coherency β",
    }
    for name, estimate in fit.parameters.items():
        add(f"usl.{name}", labels[name], units.get(name, ""), lambda estimate=estimate: estimate)  # type: ignore[misc]
    add("usl.peak", "USL peak, connections", "", lambda: models.find_peak(fit))
    add("usl.peak_throughput", "USL peak, throughput", "rps", lambda: models.find_peak_throughput(fit))
    return fit


def _capacity(
    runs: pd.DataFrame,
    levels: pd.DataFrame,
    load: str,
    objectives: Sequence[Objective],
    found: _Found,
) -> None:
    """Add the highest load at which every run keeps the objectives, and the throughput there."""
    quantity = "Capacity in connections" if load == "connections" else "Capacity"
    label = f"{quantity} under {' and '.join(map(str, objectives))}"
    try:
        check_measured(objectives, runs)
    except LoadcurveError as error:
        found.missing[label] = str(error)
        return
    unit = "" if load == "connections" else "rps"
    most = found.add("capacity", label, unit, lambda: capacity.find_capacity(runs, objectives, load=load))
    if most and most.value > 0:
        row = levels[levels[load] == most.value].iloc[0]
        there = Estimate(
            row["throughput_rps"], row["throughput_lo"], row["throughput_hi"], 0.95, "mean over the runs at that load"
        )
        found.add("capacity_throughput", "Throughput at that load", "rps", lambda: there)


def _limits(usage: pd.DataFrame, load: str, level: float, found: _Found) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the demand of each resource, their ranking, and the verdict in a sentence."""
    if usage.empty:
        return pd.DataFrame(), pd.DataFrame(), ""
    try:
        demands = capacity.summarise_demands(usage, load=load, level=level)
        ranked = capacity.summarise_bottlenecks(usage, load=load, level=level)
        return demands, ranked, capacity.bottleneck_verdict(usage, load=load, level=level)
    except LoadcurveError as error:
        found.missing["Bottleneck"] = str(error)
        return pd.DataFrame(), pd.DataFrame(), ""


def _exceeded(levels: pd.DataFrame, usage: pd.DataFrame, ranked: pd.DataFrame, load: str) -> str:
    """Return a clause if a load that nothing watched had more throughput than the first resource would allow."""
    if ranked.empty:
        return ""
    most = ranked["saturation_rps"].iloc[0]
    beyond = levels[~levels[load].isin(usage[load]) & (levels["throughput_rps"] > most)]
    if beyond.empty:
        return ""
    best = beyond.loc[beyond["throughput_rps"].idxmax()]
    return (
        f"; yet {format_quantity(best['throughput_rps'], 'rps')} were measured at {load} = {best[load]:g}, where no "
        "monitor watched: watch that load too, and do not use this extrapolation"
    )
