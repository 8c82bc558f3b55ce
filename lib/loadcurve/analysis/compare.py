"""One measurement against another: the ratio of a metric at each load that both have, and a gate on it.

A ratio is that of B to the baseline A.  Runs of one level are compared by the geometric means over the runs, with
Welch's t interval on the logarithms; the intervals of several levels hold together (Bonferroni), so that looking at
many levels finds no more differences by chance.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from loadcurve.analysis.answer import Analysis
from loadcurve.analysis.curve import Curve
from loadcurve.analysis.matching import loads_words, match_curves, match_load, metrics_of
from loadcurve.arrays import Array
from loadcurve.blocks import Block, Grid, Items, Paragraph, to_display, to_text
from loadcurve.errors import LoadcurveError
from loadcurve.stats import Estimate, find_geometric_ratio, find_paired_ratio, summarise_equivalence
from loadcurve.tables.loads import LOOPS
from loadcurve.units import format_quantity, unit_of_column

MARGIN_RATIO = 0.02
"""Difference that does not matter, by default: what two quiet machines of one kind differ by."""
_SETTINGS = ("tool", "threads", "document_bytes", "tls")
"""Columns that A and B should have in common, so that the ratio is that of the systems; a URL may name another host."""
_GATE = re.compile(
    r"\s*(?P<metric>[a-z][a-z0-9_]*)\s*(?P<operator>[<>])=?\s*(?P<limit>[0-9]*\.?[0-9]+)\s*(?P<percent>%)?\s*"
)


@dataclass(frozen=True)
class Gate:
    """A condition on the ratio of a metric under which a comparison fails.

    Attributes
    ----------
    metric : str
        Column of the runs: ``throughput_rps``, ``latency_p99_s``.
    operator : {"<", ">"}
        A ratio below or above the limit fails.
    limit : float
        Ratio, > 0.

    Examples
    --------
    >>> print(Gate("throughput_rps", "<", 0.95))
    throughput_rps < 0.95
    """

    metric: str
    operator: Literal["<", ">"]
    limit: float

    def __str__(self) -> str:
        return f"{self.metric} {self.operator} {self.limit:g}"

    def judge(self, ratio: Estimate) -> Literal["pass", "fail", "undecided"]:
        """Return what an estimated ratio says: a verdict needs its whole interval on one side of the limit.

        Without an interval, as with one run of each, the value decides.
        """
        ends = [ratio.value if np.isnan(end) else end for end in (ratio.lo, ratio.hi)]
        beyond = [end < self.limit if self.operator == "<" else end > self.limit for end in ends]
        return "fail" if all(beyond) else "undecided" if any(beyond) else "pass"


def parse_gate(text: str) -> Gate:
    """Return the gate that a text states, such as ``throughput_rps < 0.95`` or ``latency_p99_s > 110%``.

    Raises
    ------
    LoadcurveError
        When the text is no gate.

    Examples
    --------
    >>> parse_gate("latency_p99_s>110%")
    Gate(metric='latency_p99_s', operator='>', limit=1.1)
    """
    found = _GATE.fullmatch(text)
    limit = float(found["limit"]) / (100 if found["percent"] else 1) if found else 0.0
    if not found or not limit > 0:
        raise LoadcurveError(
            f"gate must be METRIC < RATIO or METRIC > RATIO, such as throughput_rps < 0.95, got {text!r}"
        )
    return Gate(found["metric"], "<" if found["operator"] == "<" else ">", limit)


@dataclass(frozen=True, repr=False)
class Comparison:
    """B against the baseline A, by one metric.

    Attributes
    ----------
    metric : str
        Column of the runs.
    baseline, other : str
        Names of A and B.
    levels : pandas.DataFrame
        One row for each variant and load that both have: ``variant``, a column for each kind of load (``connections``,
        ``target_rate_rps``), ``baseline_runs``,
        ``other_runs``, ``baseline`` and ``other`` (geometric means), ``ratio``, ``lo``, ``hi`` and ``verdict``:
        ``equivalent within ±2 %``, ``different`` or ``undecided``.
    overall : Estimate
        Geometric mean of the ratios of all levels.
    warnings : tuple of str
        What only one of the two has, and what weakens the overall ratio.
    """

    metric: str
    baseline: str
    other: str
    levels: pd.DataFrame
    overall: Estimate
    warnings: tuple[str, ...] = ()

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
        title = Paragraph(self.metric, f"B = {self.other} against A = {self.baseline}")
        return [title, Paragraph("All levels", ratio), levels, Items("Warnings", self.warnings)]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows, with units, of the table of levels."""
        unit = unit_of_column(self.metric)
        loads = [name for name in LOOPS if name in self.levels]
        several = len(self.levels["variant"].unique()) > 1
        at = loads[0] if len(loads) == 1 else "load"
        headings = [*(["variant"] if several else []), at, "runs", "A", "B", "B / A", "interval", "verdict"]
        rows = [
            [
                *([row["variant"]] if several else []),
                f"{row[at]:,g}" if len(loads) == 1 else load_words(row),
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
                yield self.name_of(row), ratio, gate.judge(ratio)

    def name_of(self, row: dict) -> str:
        """Name of a level: variant and load."""
        variant = f"{row['variant']}, " if len(self.levels["variant"].unique()) > 1 else ""
        return f"{variant}{load_words(row)}"


def load_words(row: Mapping[str, Any]) -> str:
    """Load of a level: ``connections = 64``."""
    return next(f"{name} = {row[name]:g}" for name in LOOPS if name in row and not np.isnan(row[name]))


def ratio_words(ratio: Estimate) -> str:
    """A ratio with its interval: ``0.950 [0.940, 0.960]``."""
    return f"{ratio.value:.3f} {_ends(ratio.lo, ratio.hi) or '(no interval)'}"


def _ends(lo: float, hi: float) -> str:
    return "" if np.isnan(lo) or np.isnan(hi) else f"[{lo:.3f}, {hi:.3f}]"


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
    warnings += [warning for pair in pairs.values() for warning in _unlike(*pair)]
    points: list[_Point] = []
    for name, (first, second) in pairs.items():
        if without := [side for side in (first, second) if not _has(metric, side)]:
            _check_metric(metric, pairs.values())
            warnings.append(
                f"{name}: left out, {baseline.source if without[0] is first else other.source} has no {metric}"
            )
            continue
        load, of_a, of_b = first.load, _by_load(first, metric), _by_load(second, metric)
        found = {at: there for at in of_a if (there := match_load(at, of_b, load)) is not None}
        points += [_Point(name, load, at, of_a[at], of_b[there]) for at, there in found.items()]
        for source, loads, known in ((baseline.source, of_a, found), (other.source, of_b, found.values())):
            if alone := [f"{at:g}" for at in loads if at not in known]:
                of = f"{name}, " if len(pairs) > 1 else ""
                warnings.append(f"only {source} has {of}{load} = {', '.join(alone)}")
    if not points:
        have = "; ".join(
            f"{loads_words(curve)} ({source})"
            for pair in pairs.values()
            for source, curve in zip((baseline.source, other.source), pair, strict=True)
        )
        raise LoadcurveError(f"{baseline.source} and {other.source} must have a load in common, got {have}")
    family = 1 - (1 - level) / len(points)  # Bonferroni
    rows = []
    for point in points:
        a, b = point.baseline, point.other
        verdict = summarise_equivalence(b, a, margin_ratio=margin_ratio, level=level).iloc[0]
        ratio = find_geometric_ratio(b, a, family)
        said = verdict["verdict"]
        if said == "different" and ratio.lo <= 1 <= ratio.hi:
            said = "undecided"  # not different after the correction for the number of levels
        row = {"variant": point.variant, **{load: point.at if load == point.load else np.nan for load in LOOPS}}
        row |= {"baseline_runs": len(a), "other_runs": len(b), "baseline": _geometric(a), "other": _geometric(b)}
        rows.append(row | {"ratio": ratio.value, "lo": ratio.lo, "hi": ratio.hi, "verdict": said})
    overall = _overall([(point.other, point.baseline) for point in points], level)
    levels = pd.DataFrame(rows)
    levels = levels.drop(columns=[load for load in LOOPS if levels[load].isna().all()])
    return Comparison(metric, baseline.source, other.source, levels, overall, (*warnings, *overall.warnings))


class _Point(NamedTuple):
    """Values of A and B at one load."""

    variant: str
    load: str
    at: float
    baseline: Array
    other: Array


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


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.log(np.asarray(list(values), float)).mean()))
