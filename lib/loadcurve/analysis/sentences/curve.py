"""Captions and alt texts of the figures of one curve."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import LOADS, objective_words, percentile, shown
from loadcurve.analysis.sentences.levels import at_load, latency_words, throughput_words

if TYPE_CHECKING:
    from loadcurve.analysis.curve import Curve

_DRAWN = ("mean", "p50", "p90", "p99", "p99.9")


def throughput_caption(curve: "Curve") -> str:
    """What throughput over load shows: where it is highest, and what it does after that.

    Examples
    --------
    >>> from loadcurve.analysis import analyse
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c"], "connections": [1, 2, 4], "latency_mean_s": 0.01,
    ...                      "throughput_rps": [100.0, 190.0, 95.0]})
    >>> throughput_caption(analyse({"runs": runs}).curves[0])
    'Throughput is highest at 2 connections (190 requests/s) and falls by 50 % up to 4 connections.'
    """
    return throughput_words(curve.levels, curve.load)


def throughput_key(curve: "Curve") -> str:
    """How to read the figure of throughput over load."""
    parts = ["Points: runs", "solid line: their mean"]
    if curve.generator_full.any():
        parts.append("triangles: the load generator is full, and the server may serve more")
    if curve.fit is not None:
        level = f"{curve.fit.level:.0%}".replace("%", " %")
        parts.append(f"USL: Universal Scalability Law with the {level} band of its mean")
    if "saturation" in curve:
        demand = curve["demand"]
        shaded = ", with the interval of 1/D shaded" if np.isfinite([demand.lo, demand.hi]).all() else ""
        parts.append(f"grey dashes: bounds N/R_min and 1/D, which cross at N*{shaded}")
    parts += [
        f"dotted line: {objective_words(result.label).replace('Capacity in connections', 'capacity')}, "
        f"{at_load(result.estimate.value, curve.load)}"
        for result in curve.results
        if result.name == "capacity" and result.estimate.value > 0
    ]
    return "; ".join(parts) + "."


def throughput_alt(curve: "Curve") -> str:
    """Describe the figure of throughput over load for readers who cannot see it."""
    levels = curve.levels
    first, last = levels.iloc[0], levels.iloc[-1]
    parts = [
        f"Throughput over {LOADS[curve.load]}, {len(curve.runs)} runs at {len(levels)} loads: "
        f"{shown(first['throughput_rps'], 'rps')} at {at_load(first[curve.load], curve.load)}, "
        f"{shown(last['throughput_rps'], 'rps')} at {at_load(last[curve.load], curve.load)}."
    ]
    if "saturation" in curve:
        parts.append(f"The asymptotic bounds cross at N* = {shown(curve['saturation'].value, '')}.")
    if "usl.peak" in curve:
        peak = curve["usl.peak"].value
        law = f"peaks at {shown(peak, '')} connections" if np.isfinite(peak) else "has no finite peak"
        parts.append(f"The fitted Universal Scalability Law {law}.")
    if "capacity" in curve:
        parts.append(f"The capacity under the objective is {at_load(curve['capacity'].value, curve.load)}.")
    return " ".join(parts)


def latency_caption(curve: "Curve") -> str:
    """What response times over load show: the highest statistic at the lowest and at the highest load."""
    return latency_words(curve.levels, curve.load, highest_statistic(curve.levels))


def latency_alt(curve: "Curve") -> str:
    """Describe the figure of response times over load."""
    words = ", ".join("mean" if name == "latency_mean_s" else percentile(name) for name in statistics(curve.levels))
    return f"Response time ({words}) over {LOADS[curve.load]}, logarithmic. {latency_caption(curve)}"


def usage_caption(curve: "Curve") -> str:
    """Which resource was busiest, and how busy."""
    means = curve.usage.groupby(["resource", curve.load])["utilisation_ratio"].mean()
    resource, at = means.idxmax()
    return f"The busiest resource is {resource}: {shown(means.max(), 'ratio')} busy at {at_load(at, curve.load)}."


def usage_alt(curve: "Curve") -> str:
    """Describe the figure of utilisation over throughput."""
    resources = ", ".join(curve.usage["resource"].unique())
    return f"Utilisation over throughput of {resources}, with a line for each. {usage_caption(curve)}"


def statistics(levels: pd.DataFrame) -> list[str]:
    """Columns of the response times that a figure shows: the mean, the median, and usual percentiles above it."""
    names = ["latency_mean_s", *levels.filter(regex=r"^latency_p[0-9_]+_s$")]
    known = [name for name in names if name in levels and levels[name].notna().any()]
    usual = [name for name in known if percentile(name) in _DRAWN]
    return usual or known[:1]


def highest_statistic(levels: pd.DataFrame) -> str:
    """Column of the highest percentile that is known, else of the mean."""
    return statistics(levels)[-1]
