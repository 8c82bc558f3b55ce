"""One measurement against another: the ratio of a metric at each load that both have.

A ratio is that of B to the baseline A.  Runs of one level are compared by the geometric means over the runs, with
Welch's t interval on the logarithms; the intervals of several levels hold together (Bonferroni), so that looking at
many levels finds no more differences by chance.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from loadcurve.analysis.advice import HELD
from loadcurve.analysis.answer import Analysis
from loadcurve.analysis.curve import Curve
from loadcurve.analysis.objective import Gate
from loadcurve.blocks import Block, Grid, Items, Paragraph, to_display, to_text
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.grouping import other_facts
from loadcurve.stats import Estimate, find_geometric_ratio, find_paired_ratio, summarise_equivalence
from loadcurve.stats.arrays import Array
from loadcurve.tables.curves import LOOPS, SAME_RATE, UNNAMED
from loadcurve.tables.schemas.derived import half_digit
from loadcurve.units import format_quantity, unit_of_column


@dataclass(frozen=True, repr=False)
class Comparison:
    """B against the baseline A, by one metric."""

    metric: str  # Column of the runs
    baseline: str  # Name of A
    other: str  # Name of B
    # One row for each variant and load that both have: `variant`, a column for each kind of load (`connections`,
    # `target_rate_rps`), `baseline_runs`, `other_runs`, `baseline` and `other` (geometric means), `ratio`, `lo`, `hi`
    # and `verdict`: `equivalent within ±2 %`, `different` or `undecided`.
    levels: pd.DataFrame
    overall: Estimate  # Geometric mean of the ratios of all levels
    warnings: tuple[str, ...] = ()  # What only one of the two has, and what weakens the overall ratio

    def __str__(self) -> str:
        return to_text(self.blocks())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display(self.blocks())

    def blocks(self) -> list[Block]:
        """Return what the comparison says: the overall ratio, a row for each level, and the warnings."""
        ratio = f"B / A = {ratio_words(self.overall)}, {100 * self.overall.level:g} % interval"
        headings, rows = self.cells()
        levels = Grid(headings, rows, "Ratio at each level", left=int(headings[0] == "variant"))
        title = Paragraph(self.metric, self.title)
        return [title, Paragraph("All levels", ratio), levels, Items("Warnings", self.warnings)]

    @property
    def title(self) -> str:
        """What is compared."""
        named = (
            f"{side} = {name}" if name != side else side for side, name in (("B", self.other), ("A", self.baseline))
        )
        return f"{' against '.join(named)} (geometric means over the runs)"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows, with units, of the table of levels."""
        unit = unit_of_column(self.metric)
        loads = [name for name in LOOPS if name in self.levels]
        several = self._has_variants()
        at = loads[0] if len(loads) == 1 else "load"
        headings = [*(["variant"] if several else []), at, "runs", "A", "B", "B / A", "interval", "verdict"]
        rows = [
            [
                *([row["variant"]] if several else []),
                f"{row[at]:,g}" if len(loads) == 1 else _load_words(row),
                f"{row['baseline_runs']}, {row['other_runs']}",
                format_quantity(row["baseline"], unit),
                format_quantity(row["other"], unit),
                f"{row['ratio']:.3f}",
                _ends(row["lo"], row["hi"]),
                row["verdict"],
            ]
            for row in self.levels.to_dict("records")
        ]
        return headings, rows

    def judge(self, gate: Gate) -> Iterator[tuple[str, Estimate, str]]:
        """Yield name, ratio and verdict for the overall ratio and for each level that has an interval."""
        yield "all levels", self.overall, gate.judge(self.overall)
        for row in self.levels.to_dict("records"):
            if not np.isnan(row["lo"]):
                ratio = Estimate(row["ratio"], row["lo"], row["hi"], self.overall.level, "geometric means over runs")
                yield self._name_of(row), ratio, gate.judge(ratio)

    def _name_of(self, row: dict[str, Any]) -> str:
        variant = f"{row['variant']}, " if self._has_variants() else ""
        return f"{variant}{_load_words(row)}"

    def _has_variants(self) -> bool:
        return len(self.levels["variant"].unique()) > 1


def _load_words(row: Mapping[str, Any]) -> str:
    return next(f"{name} = {row[name]:g}" for name in LOOPS if name in row and not np.isnan(row[name]))


def ratio_words(ratio: Estimate) -> str:
    """A ratio with its interval: ``0.950 [0.940, 0.960]``."""
    return f"{ratio.value:.3f} {_ends(ratio.lo, ratio.hi) or '(no interval)'}"


def _ends(lo: float, hi: float) -> str:
    return "" if np.isnan(lo) or np.isnan(hi) else f"[{lo:.3f}, {hi:.3f}]"


_MOST = 6  # loads in a message
_METRICS = "^(throughput|goodput|latency|error|received)"


def match_curves(measurements: Sequence[Analysis]) -> tuple[dict[str, list[Curve | None]], list[str]]:
    """Match the curves of several measurements by the column of the load and the name of the variant."""
    loads = list(dict.fromkeys(curve.load for one in measurements for curve in one.curves))
    shared = [load for load in loads if sum(any(c.load == load for c in one.curves) for one in measurements) > 1]
    if not shared:
        found = ", ".join(f"{' and '.join(_loads(one))} ({one.source})" for one in measurements)
        raise LoadcurveError(f"load must be the same column in all measurements, got {found}")
    matched: dict[str, list[Curve | None]] = {}
    warnings: list[str] = []
    for load in shared:
        curves_of_each = [{_name(c): c for c in one.curves if c.load == load} for one in measurements]
        for curves in _groups(curves_of_each):
            known = [curve.variant for curve in curves if curve]
            if len(known) > 1:
                name = next((variant for variant in known if variant != UNNAMED), UNNAMED)
                matched[f"{LOOPS[load]}, {name}" if name in matched else name] = curves
        if any(len(each) > 1 for each in curves_of_each):
            unnamed = [one.source for each, one in zip(curves_of_each, measurements, strict=True) if list(each) == [""]]
            warnings += [f"{name} names no variant: it is compared with each variant of the others" for name in unnamed]
    used = {id(curve) for curves in matched.values() for curve in curves}
    for one in measurements:
        warnings += [f"only {one.source} has {c.variant}" for c in one.curves if id(c) not in used]
    if not matched:
        found = "; ".join(f"{', '.join(c.variant for c in one.curves)} ({one.source})" for one in measurements)
        raise LoadcurveError(
            f"measurements must have a variant in common, got {found}: name the folder of one variant of each"
        )
    return matched, warnings


def _groups(curves_of_each: Sequence[Mapping[str, Curve]]) -> list[list[Curve | None]]:
    """Return curves that are compared, one or none of each measurement, from the curves of each by name.

    Where no measurement has several curves, names do not matter.  A measurement whose only curve has no name is
    compared under every name.
    """
    if all(len(each) <= 1 for each in curves_of_each):
        return [[next(iter(each.values()), None) for each in curves_of_each]]
    names = dict.fromkeys(name for each in curves_of_each for name in each if name)
    return [[each.get("" if list(each) == [""] else name) for each in curves_of_each] for name in names]


def match_load(at: float, loads: Iterable[float], load: str) -> float | None:
    """Return the load that is compared with another measurement's `at`: the same, or the closest offered rate.

    Examples
    --------
    >>> match_load(250.0, [249.0, 500.0], "target_rate_rps"), match_load(250.0, [249.0], "connections")
    (249.0, None)
    """
    every = list(loads)
    if at in every:
        return at
    near = [other for other in every if load == "target_rate_rps" and abs(np.log(other / at)) <= np.log1p(SAME_RATE)]
    return min(near, key=lambda other: abs(other - at), default=None)


def metrics_of(curve: Curve) -> list[str]:
    """Return the columns of the runs in which measurements can be compared: quantities that some run has, > 0."""
    runs = curve.runs if len(curve.levels) else curve.runs.iloc[:0]
    found = runs.filter(regex=_METRICS).select_dtypes("number")
    return sorted(name for name in found if (found[name] > 0).any())


def loads_words(curve: Curve) -> str:
    """Return the loads of a curve for a message: ``connections = 1, 2, 4``."""
    loads = [f"{at:g}" for at in curve.levels[curve.load]]
    return f"{curve.load} = {', '.join(loads[:_MOST])}{', …' if len(loads) > _MOST else ''}"


def _loads(one: Analysis) -> list[str]:
    return list(dict.fromkeys(curve.load for curve in one.curves))


def _name(curve: Curve) -> str:
    """Name of the variant without the word for the loop, which only folders with both loops have; empty for none."""
    name = curve.variant.removeprefix(LOOPS[curve.load]).removeprefix(", ")
    return "" if name == UNNAMED else name


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

    Variants are matched by name.  If a side has only one curve and no name for it, it is compared with each variant of
    the other.  Offered rates that differ by less than 1 % count as equal.

    - `metric`: column of the runs, > 0, such as ``throughput_rps``, ``latency_mean_s`` or ``latency_p99_s``.
    - `margin_ratio`: largest difference that does not matter, > 0.
    - `level`: confidence level of all intervals of levels together, and of the overall one, 0.5 < level < 1.

    Raises LoadcurveError when A and B have no load in common, no run of one of them has the metric, or it is 0 in a
    run.
    """
    matched, warnings = match_curves([baseline, other])
    pairs = {name: (first, second) for name, (first, second) in matched.items() if first and second}
    sources = (baseline.source or "A", other.source or "B")
    for source, side in zip(sources, (baseline, other), strict=True):
        warnings += [f"{source}: {line}" for line in _of_side(side)]
    warnings += [warning for pair in pairs.values() for warning in _unlike(*pair)]
    if metric == "throughput_rps" and any(_is_held(*pair) for pair in pairs.values()):
        warnings.append("both held the offered rates, so their throughput is the rate: compare latency_p99_s")
    _check_above_zero(metric, pairs.values(), sources)
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
    overall = _overall([(point.other, point.baseline) for point in points], level)
    if coarse := [point for point in points if point.rounded > margin_ratio]:
        wide = float(np.exp(np.mean([point.rounded for point in points])))
        overall = replace(overall, lo=overall.lo / wide, hi=overall.hi * wide)
        worst = max(coarse, key=lambda point: point.rounded)
        warnings.append(
            f"{metric} is printed too coarsely for ±{100 * margin_ratio:g} % at {len(coarse)} of {len(points)} levels: "
            f"at {worst.load} = {worst.at:g}, the digits alone allow ±{100 * np.expm1(worst.rounded):.0f} %"
        )
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
        wide = np.exp(point.rounded) if point.rounded > margin_ratio else 1.0  # the printed digits allow that much
        rows.append(row | {"ratio": ratio.value, "lo": ratio.lo / wide, "hi": ratio.hi * wide, "verdict": verdict})
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


def _check_above_zero(metric: str, pairs: Iterable[tuple[Curve, Curve]], sources: tuple[str, str]) -> None:
    """Raise for a run whose metric is 0, as a ratio needs numbers above it."""
    for source, curve in ((source, curve) for pair in pairs for source, curve in zip(sources, pair, strict=True)):
        if metric in curve.runs and (zero := curve.runs[metric].eq(0).fillna(False)).any():
            at = curve.runs.loc[zero, curve.load].iloc[0]
            raise LoadcurveError(
                f"{metric} is 0 in {zero.sum()} runs of {source}, as at {curve.load} = {at:g}: compare another metric"
            )


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
