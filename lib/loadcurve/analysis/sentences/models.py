"""Captions of figures and tables that show what models say about a curve."""

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import connections_words, objective_words, shown
from loadcurve.analysis.sentences.levels import at_load, change_words, percent, saturation_words
from loadcurve.analysis.sentences.runs import of_curve
from loadcurve.models import Fit
from loadcurve.models.capacity import Objective
from loadcurve.stats import Estimate

_NEAR = 0.9  # share of a ceiling that counts as reaching it
_FITS = 0.1  # residual with which a law counts as near a level


def bounds_caption(runs: pd.DataFrame, demand: Estimate, saturation: Estimate, curve: str = "") -> str:
    """Where the two bounds cross, and what the load there costs.

    `runs` are of one curve, `demand` and `saturation` from `find_demand` and `find_saturation`.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [1, 2, 4], "throughput_rps": [100.0, 190.0, 200.0]})
    >>> bounds_caption(runs, *(Estimate(x, x, x, 0.95, "given") for x in (0.005, 2.0)), "cpu")
    'The bounds of cpu cross at N* = 2; the ceiling 1/D is 200 requests/s. Beyond N*, requests must queue; it is \
no limit for the load. At 2 connections, nearest to N*, throughput is 95 % of the highest and N/X is 1.05 times R_min.'
    """
    means = runs.groupby("connections")["throughput_rps"].mean().reset_index()
    costs = saturation_words(means, saturation.value, demand.value * saturation.value)
    cross = f"cross at N* = {shown(saturation.value, '')}; the ceiling 1/D is {shown(1 / demand.value, 'rps')}"
    return f"The bounds{of_curve(curve)} {cross}. {costs}"


def gain_caption(gain: pd.DataFrame, enough: float = _NEAR, curve: str = "") -> str:
    """What more connections cost beyond those that give the share `enough` of the best mean throughput.

    `gain` is as `loadcurve.models.summarise_gain` returns it.

    Examples
    --------
    >>> gain = pd.DataFrame({"connections": [1, 2, 4], "throughput_rps": [100.0, 180.0, 200.0],
    ...                      "latency_by_little_s": [0.01, 0.0105, 0.02]})
    >>> gain_caption(gain)
    'From 2 to 4 connections, throughput rises by 11 %, and the response time by Little’s law is 1.90 times as long.'
    """
    best = gain["throughput_rps"].max()
    few, most = gain[gain["throughput_rps"] >= enough * best].iloc[0], gain.iloc[-1]
    subject = f"throughput{of_curve(curve)}"
    if few["connections"] == most["connections"]:
        at = connections_words(most["connections"])
        return (
            f"Only the highest load, {at}, reaches {percent(enough)} of the best {subject}: measure more connections."
        )
    rate = most["throughput_rps"] / few["throughput_rps"]
    wait = shown(most["latency_by_little_s"] / few["latency_by_little_s"], "")
    return (
        f"From {few['connections']:,g} to {connections_words(most['connections'])}, {subject} {change_words(rate)}, "
        f"and the response time by Little’s law is {wait} times as long."
    )


def law_caption(fit: Fit, subject: str, load: str = "connections") -> str:
    """How far a fitted law is from the levels, and where the distance is largest.

    `subject` is what was fitted, `load` the noun of the load, in the plural.

    Examples
    --------
    >>> from loadcurve.models import fit_usl
    >>> law_caption(fit_usl([1, 2, 4, 8, 16], [100.0, 195.0, 370.0, 640.0, 900.0]), "throughput of cpu")
    'USL is within 10 % of 5 of 5 levels of throughput of cpu; its largest miss is 0.167 % (connections = 2).'
    """
    misses = fit.residuals().set_index("connections")["miss_ratio"].abs()
    near = f"within {percent(_FITS)} of {int((misses <= _FITS).sum())} of {len(misses)} levels of {subject}"
    worst = f"{shown(misses.max(), 'ratio')} ({load} = {misses.idxmax():,g})"
    return f"{fit.law.upper()} is {near}; its largest miss is {worst}."


def residuals_caption(residuals: pd.DataFrame, load: str = "connections") -> str:
    """The largest residual of a law above and below the levels, and its error at levels left out of the fit.

    `residuals` are as `Fit.residuals` returns them, `load` is the noun of the load, in the plural.

    Examples
    --------
    >>> residuals = pd.DataFrame({"connections": [1, 2], "miss_ratio": [0.1, -0.2], "leave_one_out": [0.3, 0]})
    >>> residuals_caption(residuals)
    'The law is up to 10 % too high (connections = 1) and up to 20 % too low (connections = 2); predicted from the \
other levels alone, it is off by up to 30 % (connections = 1).'
    """
    table = residuals.set_index("connections")
    miss, left_out = table["miss_ratio"], table["leave_one_out"].abs()
    parts = []
    for sign, word in ((1, "high"), (-1, "low")):
        if (sign * miss).max() > 0:
            at = (sign * miss).idxmax()
            parts.append(f"up to {percent(abs(miss[at]))} too {word} ({load} = {at:,g})")
    fitted = f"The law is {' and '.join(parts)}" if parts else "The law meets every level"
    if left_out.isna().all():
        return f"{fitted}."
    worst = left_out.idxmax()
    most = f"{percent(left_out[worst])} ({load} = {worst:,g})"
    return f"{fitted}; predicted from the other levels alone, it is off by up to {most}."


def intervals_caption(intervals: pd.DataFrame) -> str:
    """Which quantity has the widest interval relative to its value, by each method.

    Examples
    --------
    >>> rows = [("peak", "t", 10.0, 8.0, 12.0), ("limit", "t", 5.0, 4.9, 5.1), ("peak", "profile", 10.0, 9.0, np.inf)]
    >>> intervals_caption(pd.DataFrame(rows, columns=["quantity", "method", "value", "lo", "hi"]))
    'The widest interval by method: t, peak, 80 % to 120 % of its value; profile, peak, 90 % or more of its value.'
    """
    relative = intervals.assign(lo=intervals["lo"] / intervals["value"], hi=intervals["hi"] / intervals["value"])
    relative["width"] = relative["hi"] - relative["lo"]
    parts = []
    for method, rows in relative.groupby("method", sort=False):
        known = rows.dropna(subset=["width"])
        if known.empty:
            parts.append(f"{method}, none")
            continue
        widest = known.loc[known["width"].idxmax()]
        ends = f"{percent(widest['lo'])} to {percent(widest['hi'])}" if np.isfinite(widest["hi"]) else ""
        name = str(widest["quantity"]).removesuffix("_rps").replace("_", " ")
        parts.append(f"{method}, {name}, {ends or percent(widest['lo']) + ' or more'} of its value")
    return f"The widest interval by method: {'; '.join(parts)}."


def capacity_caption(capacity: Estimate, objective: Objective, curve: str = "", load: str = "connections") -> str:
    """Between which loads the capacity under an objective lies.

    `capacity` is from `find_capacity`, `objective` the one that the figure draws, and `load` the column of the load.

    Examples
    --------
    >>> capacity_caption(Estimate(8, 8, 16, 0.75, "exact"), Objective("latency_p99_s", 0.02), "delay")
    'Every run of delay keeps p99 ≤ 20.0 ms up to 8 connections, and no run at 16 connections does: the capacity lies \
between.'
    """
    promise = objective_words(str(objective))
    if capacity.lo == 0:
        kept = f"Not every run{of_curve(curve)} at the lowest load keeps {promise}"
    else:
        kept = f"Every run{of_curve(curve)} keeps {promise} up to {at_load(capacity.lo, load)}"
    if np.isinf(capacity.hi):
        return f"{kept}, and at no load do all runs break it: the capacity has no measured upper end."
    return f"{kept}, and no run at {at_load(capacity.hi, load)} does: the capacity lies between."


def knees_caption(knees: pd.DataFrame, curve: str = "") -> str:
    """How far the definitions of the knee in a table of `summarise_knees` disagree.

    Examples
    --------
    >>> names = ["saturation N*", "Kneedle", "maximum power"]
    >>> knees = pd.DataFrame({"definition": names, "connections": [3.6, 32, None]})
    >>> knees_caption(knees)
    'The knee is between 3.60 (saturation N*) and 32 connections (Kneedle), depending on its definition; none by \
maximum power.'
    """
    known = knees.set_index("definition")["connections"].astype(float)
    none = ", ".join(known.index[known.isna()])
    known = known.dropna()
    if known.empty:
        return f"No definition finds a knee{of_curve(curve)}."
    least, most = known.idxmin(), known.idxmax()
    ends = f"{shown(known[least], '')} ({least}) and {shown(known[most], '')} connections ({most})"
    found = f"The knee{of_curve(curve)} is between {ends}, depending on its definition"
    return f"{found}; none by {none}." if none else f"{found}."


def usage_of_curve_caption(usage: pd.DataFrame, demands: pd.DataFrame, curve: str = "") -> str:
    """Which resource is busiest, and whether the lines end in measured or in extrapolated saturation.

    `usage` and `demands` are as `summarise_demands` takes and returns them.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "cpu", "connections": [1, 8], "utilisation_ratio": [0.1, 0.5]})
    >>> usage_of_curve_caption(usage, pd.DataFrame({"resource": ["cpu"], "saturated_points": [0]}))
    'The busiest resource is cpu, 50.0 % busy at 8 connections; no resource saturates, so the lines are extrapolated.'
    """
    means = usage.groupby(["resource", "connections"])["utilisation_ratio"].mean()
    resource, at = means.idxmax()
    full = demands.loc[demands["saturated_points"] > 0, "resource"]
    verdict = (
        f"saturated in some runs: {', '.join(full)}"
        if len(full)
        else "no resource saturates, so the lines are extrapolated"
    )
    busiest = f"{resource}, {shown(means.max(), 'ratio')} busy at {connections_words(at)}"
    return f"The busiest resource{of_curve(curve)} is {busiest}; {verdict}."
