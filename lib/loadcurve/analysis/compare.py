"""One measurement against another: the ratio of a metric at each load that both have.

A ratio is that of B to the baseline A.  Runs of one level are compared by the geometric means over the runs, with
Welch's t interval on the logarithms; the intervals of several levels hold together (Bonferroni), so that looking at
many levels finds no more differences by chance.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from loadcurve.analysis.advice import HELD
from loadcurve.analysis.answer import Analysis
from loadcurve.analysis.comparison import Comparison
from loadcurve.analysis.curve import Curve
from loadcurve.analysis.matching import loads_words, match_curves, match_load, metrics_of
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.grouping import other_facts
from loadcurve.stats import Estimate, find_geometric_ratio, find_paired_ratio, summarise_equivalence
from loadcurve.stats.arrays import Array
from loadcurve.tables.curves import LOOPS
from loadcurve.tables.schemas.derived import half_digit

MARGIN_RATIO = 0.02
"""Difference that does not matter, by default: what two quiet machines of one kind differ by."""
_SETTINGS = ("tool", "threads", "document_bytes", "tls")
"""Columns that A and B should have in common, so that the ratio is that of the systems; a URL may name another host."""


def compare(
    baseline: Analysis,
    other: Analysis,
    metric: str = "throughput_rps",
    *,
    margin_ratio: float = MARGIN_RATIO,
    level: float = 0.95,
) -> Comparison:
    """Compare two measurements by a metric at each load that both have.

    Parameters
    ----------
    baseline, other : Analysis
        A and B, as `analyse` returns them.  Variants are matched by name.  If a side has only one curve and no name for
        it, it is compared with each variant of the other.  Offered rates that differ by less than 1 % count as equal.
    metric : str
        Column of the runs, > 0, such as ``throughput_rps``, ``latency_mean_s`` or ``latency_p99_s``.
    margin_ratio : float
        Largest difference that does not matter, > 0.
    level : float
        Confidence level of all intervals of levels together, and of the overall one, 0.5 < level < 1.

    Raises
    ------
    LoadcurveError
        When A and B have no load in common, or no run of one of them has the metric.
    """
    matched, warnings = match_curves([baseline, other])
    pairs = {name: (first, second) for name, (first, second) in matched.items() if first and second}
    sources = (baseline.source or "A", other.source or "B")
    for source, side in zip(sources, (baseline, other), strict=True):
        warnings += [f"{source}: {line}" for line in _of_side(side)]
    warnings += [warning for pair in pairs.values() for warning in _unlike(*pair)]
    if metric == "throughput_rps" and any(_is_held(*pair) for pair in pairs.values()):
        warnings.append("both held the offered rates, so their throughput is the rate: compare latency_p99_s")
    points: list[_Point] = []
    for name, pair in pairs.items():
        if without := [source for source, side in zip(sources, pair, strict=True) if not _has(metric, side)]:
            _check_metric(metric, pairs.values())
            warnings.append(f"{name}: left out, {without[0]} has no {metric}")
            continue
        found, alone = _points(name, pair, metric, sources)
        points += found
        of = f"{name}, " if len(pairs) > 1 else ""
        warnings += [f"only {source} has {of}{loads}" for source, loads in alone]
    if not points:
        have = "; ".join(
            f"{loads_words(curve)} ({source})"
            for pair in pairs.values()
            for source, curve in zip(sources, pair, strict=True)
        )
        raise LoadcurveError(f"{baseline.source} and {other.source} must have a load in common, got {have}")
    if coarse := [point for point in points if point.rounded > margin_ratio]:
        worst = max(coarse, key=lambda point: point.rounded)
        warnings.append(
            f"{metric} is printed too coarsely for ±{100 * margin_ratio:g} % at {len(coarse)} of {len(points)} levels: "
            f"at {worst.load} = {worst.at:g}, the digits alone allow ±{100 * np.expm1(worst.rounded):.0f} %"
        )
    overall = _overall([(point.other, point.baseline) for point in points], level)
    levels = _levels(points, margin_ratio, level)
    return Comparison(metric, *sources, levels, overall, (*warnings, *overall.warnings))


class _Point(NamedTuple):
    """Values of A and B at one load."""

    variant: str
    load: str
    at: float
    baseline: Array
    other: Array
    rounded: float
    """By how much the logarithm of the ratio may be off, because of the digits that both tools print."""


def _points(
    name: str, pair: tuple[Curve, Curve], metric: str, sources: tuple[str, str]
) -> tuple[list[_Point], list[tuple[str, str]]]:
    """Loads that both curves have, and the source and the loads of the curve that has others."""
    load = pair[0].load
    of_a, of_b = (_by_load(curve, metric) for curve in pair)
    found = {at: there for at in of_a if (there := match_load(at, of_b, load)) is not None}
    alone = [
        (source, f"{load} = {', '.join(rest)}")
        for source, loads, known in zip(sources, (of_a, of_b), (found, found.values()), strict=True)
        if (rest := [f"{at:g}" for at in loads if at not in known])
    ]
    digits = [_rounded(curve, metric) for curve in pair]
    return [
        _Point(name, load, at, of_a[at], of_b[there], digits[0][at] + digits[1][there]) for at, there in found.items()
    ], alone


def _levels(points: Sequence[_Point], margin_ratio: float, level: float) -> pd.DataFrame:
    """Return the table `Comparison.levels`; all intervals together have the confidence level."""
    family = 1 - (1 - level) / len(points)  # Bonferroni
    rows = []
    for point in points:
        a, b = point.baseline, point.other
        ratio = find_geometric_ratio(b, a, family)
        verdict = summarise_equivalence(b, a, margin_ratio=margin_ratio, level=level)["verdict"].iloc[0]
        if verdict == "different" and ratio.lo <= 1 <= ratio.hi:
            verdict = "undecided"  # not different after the correction for the number of levels
        if _may_be_rounding(verdict, ratio.value, point.rounded, margin_ratio):
            verdict = "undecided"
        row = {"variant": point.variant, **{load: point.at if load == point.load else np.nan for load in LOOPS}}
        row |= {"baseline_runs": len(a), "other_runs": len(b), "baseline": _geometric(a), "other": _geometric(b)}
        rows.append(row | {"ratio": ratio.value, "lo": ratio.lo, "hi": ratio.hi, "verdict": verdict})
    levels = pd.DataFrame(rows)
    return levels.drop(columns=[load for load in LOOPS if levels[load].isna().all()])


def _overall(points: Sequence[tuple[Array, Array]], level: float) -> Estimate:
    """Geometric mean of the ratios of all levels; its interval from repeats where each level has them."""
    if len(points) == 1:
        return find_geometric_ratio(*points[0], level)
    if any(min(len(b), len(a)) == 1 for b, a in points):
        # Its warnings are about repeats of one point; these are levels, which differ as they should.
        found = find_paired_ratio([_geometric(b) for b, _ in points], [_geometric(a) for _, a in points], level)
        weak = "levels without repeats: the interval takes the ratios of the levels as repeats of one ratio"
        return Estimate(found.value, found.lo, found.hi, level, found.method, (weak,))
    logs = np.array([np.log(b).mean() - np.log(a).mean() for b, a in points])
    parts = np.array([group.var(ddof=1) / len(group) for pair in points for group in map(np.log, pair)])
    freedom = np.array([len(group) - 1 for pair in points for group in pair])
    variance = parts.sum() / len(points) ** 2
    middle = logs.mean()
    if variance == 0:
        ends = (middle, middle)
    else:
        degrees = parts.sum() ** 2 / (parts**2 / freedom).sum()  # Welch–Satterthwaite
        half = scipy.special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance)
        ends = (middle - half, middle + half)
    method = "geometric mean over levels, Welch's t interval on the logarithms of the runs"
    return Estimate(float(np.exp(middle)), float(np.exp(ends[0])), float(np.exp(ends[1])), level, method)


def _has(metric: str, curve: Curve) -> bool:
    return metric in curve.runs and bool((curve.runs[metric] > 0).any())


def _check_metric(metric: str, pairs: Iterable[tuple[Curve, Curve]]) -> None:
    """Raise, naming the metrics that are known, unless both curves of one pair have the metric."""
    every = list(pairs)
    if any(_has(metric, first) and _has(metric, second) for first, second in every):
        return
    for side in every[0]:
        if not (known := metrics_of(side)):
            raise LoadcurveError(f"{side.variant} must have a run with a load and a throughput, got none")
        if metric not in known:
            raise LoadcurveError(f"metric must be one of {', '.join(known)}, got {metric!r}")


def _of_side(side: Analysis) -> Iterator[str]:
    """Yield what the audit found in a measurement, the loads that its names state, and what was not used."""
    if side.verdict.severity in ("warning", "error"):
        yield str(side.verdict)
    yield from (note for note in side.grouping.split("; ") if " printed none" in note)
    yield from (*side.not_used, *other_facts(side.origins))


def _is_held(*sides: Curve) -> bool:
    return all(
        side.load != "connections" and (side.levels["throughput_rps"] >= HELD * side.levels[side.load]).all()
        for side in sides
    )


def _unlike(first: Curve, second: Curve) -> Iterator[str]:
    """Yield what may explain a ratio besides the systems: other tools or settings, or that both are the same runs."""
    for name in _SETTINGS:
        levels = [
            ", ".join(sorted(map(str, side.runs[name].dropna().unique()))) if name in side.runs else ""
            for side in (first, second)
        ]
        if all(levels) and levels[0] != levels[1]:
            yield f"{name} of {first.variant}: {levels[0]} in A, {levels[1]} in B: the ratio holds the effect of both"
    columns = [first.load, "throughput_rps", "latency_mean_s"]
    if first.load == second.load and first.runs[columns].reset_index(drop=True).equals(
        second.runs[columns].reset_index(drop=True)
    ):
        yield f"{first.variant}: A and B have the same numbers in every run: they are one measurement, not two"


def _by_load(curve: Curve, metric: str) -> dict[float, Array]:
    known = curve.runs[curve.runs[metric].notna() & (curve.runs[metric] > 0)]
    return {float(at): group[metric].to_numpy(float) for at, group in known.groupby(curve.load)}


def _rounded(curve: Curve, metric: str) -> dict[float, float]:
    """Return by how much the logarithms of the runs at each load may be off as they are printed."""
    known = curve.runs[curve.runs[metric] > 0]
    share = pd.Series(half_digit(known, metric), known.index) / known[metric].astype(float)
    return {float(at): -float(np.log1p(-group.max())) for at, group in share.groupby(known[curve.load])}


def _may_be_rounding(verdict: str, ratio: float, rounded: float, margin_ratio: float) -> bool:
    """Whether another verdict would follow from numbers that are printed the same."""
    if verdict == "different":
        return bool(abs(np.log(ratio)) <= rounded)
    return verdict.startswith("equivalent") and rounded > margin_ratio


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.log(np.asarray(list(values), float)).mean()))
