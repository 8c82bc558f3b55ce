"""Apply the models to the runs of one variant: each result with its interval, or the reason why there is none."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from loadcurve import models
from loadcurve.analysis.bottlenecks import GENERATOR, NO_SAMPLE, TOO_SHORT, summarise_usage
from loadcurve.analysis.cells import FACTOR, percentile
from loadcurve.analysis.curve import Curve, Result
from loadcurve.analysis.levels import still_rises, summarise_load_levels, without_failures
from loadcurve.analysis.objective import check_measured
from loadcurve.errors import LoadcurveError
from loadcurve.models import Fit, capacity, scaling
from loadcurve.models.capacity import Objective
from loadcurve.stats import Estimate, find_mean
from loadcurve.tables.curves import SATURATED_RATIO, confounded_factors, factors_along
from loadcurve.tables.schemas.derived import digit_of
from loadcurve.tables.schemas.failures import FEW_ERRORS
from loadcurve.units import format_quantity

MIN_LEVELS = 6
"""Fewest levels of connections to which a law of three parameters is fitted: two for each parameter."""
MIN_BOUND_LEVELS = 4
"""Fewest levels from which N* is computed: two for each of R_min and D."""
_NEAR_MOST = 1.1  # of the highest throughput measured, above which the peak of a law is no result
_FLAT = 0.10  # relative range of throughput within which a curve has no shape; repeats of one load scatter by as much
_HIGHEST = 1.05  # the highest of several means lies above their plateau by as much as repeats of one load scatter
_SAME_LATENCY = 0.05  # relative difference of N/X at two loads below which no request waits for another
_STREAMS = 1.5  # requests in flight on each connection above which tools send several at once (HTTP/2, pipelining)
_WAITING_TOOLS = ("gatling", "jmeter", "k6", "locust")  # their users may wait between two requests
_IN_FLIGHT = 0.9  # share of the users with a request in flight below which they wait


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
        if name != "capacity" and (np.isinf([estimate.value, estimate.lo, estimate.hi]).any()):
            why = "; ".join(estimate.warnings) or "its interval has no upper end"
            self.missing[label] = f"{why}: measure more levels, each at least three times"
            return None
        if unit == "rps" and estimate.lo < 0:  # no throughput is negative
            reaches = "the interval reaches 0, because it is of few runs: repeat this load"
            estimate = replace(estimate, lo=0.0, warnings=(*estimate.warnings, reaches))
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
    unwatched: str = NO_SAMPLE,
) -> Curve:
    """Return what the models say about the runs of one variant.

    `runs` have an ``error_ratio``.  `tables` are the rows of these runs: of monitors, and of ``factors``, which show
    what else changes along the load.  `unwatched` is why a run without samples has none.
    """
    measured = runs[load].notna() & (runs[load] > 0) & (runs["throughput_rps"] > 0)
    known = runs if measured.all() else runs[measured]
    levels = summarise_load_levels(known, load, level)
    found = _Found()
    if levels.empty:
        lacks = {"connections": "a number of connections", "target_rate_rps": "an offered rate"}[load]
        found.missing["Throughput over load"] = f"no run has both a throughput and {lacks}: Not used names what to do"
        nothing = pd.DataFrame()
        return Curve(variant, load, runs, levels, (), None, nothing, nothing, nothing, "", found.missing)
    along = factors_along(known, tables.get("factors"), load)
    for name, values in along.items():
        levels[f"{FACTOR}{name}"] = levels[load].map(values.groupby(known[load]).first())
    served = without_failures(levels)
    _highest_throughput(known, levels, served.loc[served["throughput_rps"].idxmax(), load], load, level, found)
    within = known[known[load].isin(served[load])]
    fit = _closed_loop(within, served, level, found) if load == "connections" and not along else None
    for name, values in along.items():
        _over_factor(name, values, known, level, found)
    if objectives:
        _capacity(known, levels, load, objectives, found)
    monitors = {name: rows for name, rows in tables.items() if name != "factors"}
    usage = summarise_usage(monitors, known)
    if usage.empty:
        found.missing["Bottleneck"] = TOO_SHORT if any(map(len, monitors.values())) else unwatched
    elif len(generator := usage[usage["resource"].astype(str).str.endswith(GENERATOR)]):
        levels["generator_ratio"] = levels[load].map(generator.groupby(load)["utilisation_ratio"].max())
    limits = _limits(usage, levels, load, level, found)
    return Curve(variant, load, known, levels, tuple(found.results), fit, usage, *limits, found.missing)


def _over_factor(name: str, values: pd.Series, runs: pd.DataFrame, level: float, found: _Found) -> None:
    """Add what a factor says that changes along the load: the efficiency of more servers, and of others why no law."""
    listed = ", ".join(dict.fromkeys(values.dropna().astype(str)))
    found.missing["Saturation N*, model"] = (
        f"{name} changes with the load ({listed}), so no law over the load holds: compare the levels"
    )
    units = pd.to_numeric(values, errors="coerce")
    if name != "servers" or units.isna().any():
        return
    table = capacity.summarise_scale_out(units, runs["throughput_rps"].astype(float), level=level)
    first, before, last = table.iloc[0], table.iloc[-2], table.iloc[-1]
    warnings = (str(last["warnings"]),) if last["warnings"] else ()

    def add(result: str, label: str, unit: str, column: str) -> None:
        value, lo, hi = (last[f"{column}_{end}"] for end in ("rps" if unit == "rps" else "ratio", "lo", "hi"))
        found.add(result, label, unit, lambda: Estimate(value, lo, hi, level, "scale-out", warnings))

    one, most = (f"{size:g} server{'' if size == 1 else 's'}" for size in (first["units"], last["units"]))
    add("scale_out.efficiency", f"Efficiency of {most} against {one}", "ratio", "efficiency")
    add("scale_out.marginal", f"Throughput of each server beyond {before['units']:g}", "rps", "marginal")


def _highest_throughput(
    runs: pd.DataFrame, levels: pd.DataFrame, best: float, load: str, level: float, found: _Found
) -> None:
    """Add the mean throughput at the load where it is highest."""
    where = f"connections = {best:g}" if load == "connections" else f"{format_quantity(best, 'rps')} offered"
    peak = find_mean(runs.loc[runs[load] == best, "throughput_rps"].astype(float), level)
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
        f"up to {share} of the requests failed, or of the connections never opened (at {load} = {at:g}): throughput "
        "and response times are not those of this load"
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
    if len(levels) == 1:
        found.missing["Saturation N*, peak, model"] = (
            f"1 level of connections: measure at least {MIN_LEVELS}, each twice the one before"
        )
        return None
    rates = levels["throughput_rps"].astype(float)
    if rates.max() - rates.min() <= _FLAT * rates.max():
        found.missing["Saturation N*, model"] = (
            f"throughput is the same within {100 * _FLAT:g} % at all {len(levels)} levels: it was saturated at "
            f"{levels['connections'].iloc[0]:g} connections, or something else limits it; measure fewer connections"
        )
        return None
    _bounds(runs, levels, level, found)
    return _law(runs, levels, level, found)


def _bounds(runs: pd.DataFrame, levels: pd.DataFrame, level: float, found: _Found) -> None:
    """Add the asymptotic bounds: the demand D, the response time without queueing R_min, and N* = R_min/D."""
    axes = runs["connections"].astype(float), runs["throughput_rps"].astype(float)
    label = "Service demand of the limiting resource, D"
    demand = found.add("demand", label, "s", lambda: models.find_demand(*axes, level))
    if waiting := _waiting_users(runs):
        found.missing["Response time without queueing, R_min, and N*"] = waiting
        return
    alone = _is_without_queueing(levels)
    label = "Response time without queueing, R_min" if alone else "Lowest N/X (requests may have waited)"
    least = found.add("latency_min", label, "s", lambda: models.find_latency_min(*axes, level))
    if len(levels) < MIN_BOUND_LEVELS:
        found.missing["Saturation N*"] = f"{len(levels)} levels of connections: measure at least {MIN_BOUND_LEVELS}"
    elif not alone:
        found.missing["Saturation N*"] = (
            f"requests may have waited for each other at {levels['connections'].iloc[0]:g} connections already: "
            "measure 1 connection"
        )
    elif still_rises(levels):
        found.missing["Saturation N*"] = "throughput still rises at the last level: measure more connections"
    elif least and demand:
        label = "Saturation N* = R_min/D, connections"
        found.add("saturation", label, "", lambda: models.find_saturation_of_runs(*axes, level))


def _law(runs: pd.DataFrame, levels: pd.DataFrame, level: float, found: _Found) -> Fit | None:
    """Add the parameters of the Universal Scalability Law, and its peak."""
    if len(levels) < MIN_LEVELS:
        found.missing["Universal Scalability Law"] = (
            f"{len(levels)} levels of connections: measure at least {MIN_LEVELS}"
        )
        return None
    points = scaling.summarise_points(runs["connections"].astype(float), runs["throughput_rps"].astype(float))
    try:
        fit = models.fit_usl(points["connections"], points["throughput_rps"], level, points["weight"])
    except LoadcurveError as error:
        found.missing["Universal Scalability Law"] = str(error)
        return None
    first = levels["connections"].iloc[0]
    below = f" (extrapolated below {first:g} connections)" if first > 1 else ""
    labels = {
        "unit_throughput_rps": (f"USL throughput of one connection γ{below}", "rps"),
        "contention": ("USL contention α", ""),
        "coherency": ("USL coherency β", ""),
    }
    for name, estimate in fit.parameters.items():
        found.add(f"usl.{name}", *labels[name], lambda estimate=estimate: estimate)  # type: ignore[misc]
    _peak_of_law(fit, runs, levels, found)
    return fit


def _peak_of_law(fit: Fit, runs: pd.DataFrame, levels: pd.DataFrame, found: _Found) -> None:
    """Add where the law peaks, and the throughput there if connections beyond the peak were measured."""
    peak, last = models.find_peak(fit), levels["connections"].iloc[-1]
    beyond = f" (extrapolated beyond {last:g} connections)" if peak.value > last else ""
    if not found.add("usl.peak", f"USL peak, connections{beyond}", "", lambda: peak) or beyond:
        return
    highest, most = models.find_peak_throughput(fit), runs["throughput_rps"].astype(float).max()
    if highest.value > _NEAR_MOST * most:
        found.missing["USL peak, throughput"] = (
            f"the law has {format_quantity(highest.value, 'rps')} there, but at most "
            f"{format_quantity(most, 'rps')} were measured: it does not fit around the peak"
        )
    elif highest.lo > 0:
        found.add("usl.peak_throughput", "USL peak, throughput", "rps", lambda: highest)
    else:
        found.missing["USL peak, throughput"] = "its interval reaches 0: repeat the levels around the peak"


def _is_without_queueing(levels: pd.DataFrame) -> bool:
    """Whether the lowest load had no queue: one connection, or as short an N/X as the next load."""
    number, rate = levels["connections"].astype(float), levels["throughput_rps"].astype(float)
    first, second = (number / rate).iloc[:2]
    return bool(number.iloc[0] == 1 or abs(second / first - 1) <= _SAME_LATENCY)


def _waiting_users(runs: pd.DataFrame) -> str:
    """Return why N/X is no response time, where users wait between requests; empty where they do not."""
    if "tool" not in runs or "latency_mean_s" not in runs:
        return ""
    if "latency_corrected" in runs:
        measured = runs[~runs["latency_corrected"].fillna(False).astype(bool)]
        flying = (measured["throughput_rps"] * measured["latency_mean_s"] / measured["connections"]).astype(float)
        if flying.median() > _STREAMS:
            return f"some {flying.median():.2g} requests are in flight on each connection: N/X is no response time"
    may = runs[runs["tool"].isin(_WAITING_TOOLS) & runs["latency_mean_s"].notna()].astype({"connections": float})
    share = (may["throughput_rps"] * may["latency_mean_s"] / may["connections"]).astype(float)
    if not share.min() < _IN_FLIGHT:
        return ""
    return (
        f"users of {may['tool'].iloc[0]} wait between requests (only {share.min():.0%} of them had a request in "
        "flight): N/X holds this think time"
    ).replace("%", " %")


def _capacity(
    runs: pd.DataFrame, levels: pd.DataFrame, load: str, objectives: Sequence[Objective], found: _Found
) -> None:
    """Add the highest load at which every run keeps the objectives, and the throughput there."""
    quantity = "Capacity in connections" if load == "connections" else "Capacity"
    label = f"{quantity} under {' and '.join(map(str, objectives))}"
    try:
        check_measured(objectives, runs)
    except LoadcurveError as error:
        found.missing[label] = str(error)
        return
    if not any(objective.column == "error_ratio" for objective in objectives):
        objectives = [*objectives, Objective("error_ratio", FEW_ERRORS)]  # a failed request meets no response time
        runs = runs.assign(error_ratio=runs["error_ratio"].fillna(0.0))
    unit = "" if load == "connections" else "rps"
    lowest = capacity.summarise_objectives(runs, objectives, load=load).iloc[0]
    if lowest["coarse"] and not lowest["broken"]:
        found.missing[label] = (
            f"at {load} = {lowest[load]:g}, the printed digits are too coarse for it (the generator prints "
            f"{_printed(runs, [objective.column for objective in objectives])}): state a longer time, or measure with "
            "a generator that prints shorter ones, such as wrk --latency"
        )
        return
    most = found.add("capacity", label, unit, lambda: capacity.find_capacity(runs, objectives, load=load))
    if most and most.value > 0:
        row = levels[levels[load] == most.value].iloc[0]
        there = Estimate(
            row["throughput_rps"], row["throughput_lo"], row["throughput_hi"], 0.95, "mean over the runs at that load"
        )
        found.add("capacity_throughput", "Throughput at that load", "rps", lambda: there)


def _printed(runs: pd.DataFrame, columns: Iterable[str]) -> str:
    """Return to what unit the columns are printed that have one."""
    digits = {column: digit_of(runs, column).max() for column in columns}
    return " and ".join(f"{percentile(name)} to {format_quantity(at, 's', 1)}" for name, at in digits.items() if at)


def _limits(
    usage: pd.DataFrame, levels: pd.DataFrame, load: str, level: float, found: _Found
) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the demand of each resource, their ranking, and the verdict in a sentence."""
    if usage.empty:
        return pd.DataFrame(), pd.DataFrame(), ""
    busiest = usage.groupby("resource")["utilisation_ratio"].mean().max()
    if usage[load].eq(usage[load].iloc[0]).all() and busiest < SATURATED_RATIO:
        found.missing["Bottleneck"] = "one load that saturates nothing has no plateau and no slope: measure more loads"
        return pd.DataFrame(), pd.DataFrame(), ""
    try:
        demands = capacity.summarise_demands(usage, load=load, level=level)
        ranked = capacity.summarise_bottlenecks(usage, load=load, level=level)
        verdict = capacity.bottleneck_verdict(usage, load=load, level=level)
    except LoadcurveError as error:
        found.missing["Bottleneck"] = str(error)
        return pd.DataFrame(), pd.DataFrame(), ""
    first, best = ranked.iloc[0], levels.loc[levels["throughput_rps"].idxmax()]
    allowed = np.fmax(first["saturation_rps"], first["saturation_hi"])
    may_be_scatter = best["throughput_rps"] <= _HIGHEST * allowed and best["throughput_lo"] <= allowed
    if may_be_scatter or not best["throughput_rps"] > allowed:
        return demands, ranked, verdict
    watched = "" if usage[load].eq(best[load]).any() else ", where no monitor watched"
    found.missing["Bottleneck"] = (
        f"by its utilisation, {first['resource']} allows {format_quantity(allowed, 'rps')}, but "
        f"{format_quantity(best['throughput_rps'], 'rps')} were measured at {load} = {best[load]:g}{watched}: its use "
        "does not grow in proportion to the load, or its samples are of another time; watch each load from start to end"
    )
    return demands, pd.DataFrame(), ""
