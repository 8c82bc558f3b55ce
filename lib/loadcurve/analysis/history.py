"""One metric over measurements at different dates, and where it changed.

Measurements at different dates are independent, unlike the samples of one run, which
`loadcurve.stats.summarise_segments` takes.  So the levels are those of least squares, as many as the criterion of N. R.
Zhang and D. O. Siegmund allows ("A Modified Bayes Information Criterion", Biometrics 63, 2007): each step costs 3 ln n.
In simulations of 10 to 60 measurements, it found a step where there was none in 2 to 8 %, and a step of three standard
deviations in more than 90 %.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve.analysis.answer import Analysis
from loadcurve.analysis.cells import range_text
from loadcurve.analysis.compare import match_curves, match_load, metrics_of
from loadcurve.analysis.curve import Curve
from loadcurve.blocks import Block, Grid, Items, to_display, to_text
from loadcurve.errors import LoadcurveError
from loadcurve.stats import Estimate, find_geometric_ratio, find_mean
from loadcurve.stats.arrays import Array
from loadcurve.units import format_quantity, unit_of_column

_SHORTEST = 5
"""Values of a level; fewer are an episode or an outlier."""
FEWEST = 2 * _SHORTEST
"""Values from which steps are looked for."""
_MOST_STEPS = 9


def starts_of_levels(values: Array) -> list[int]:
    """Return the index of the first value of each level, 0 first."""
    number = len(values)
    sums, squares = (np.concatenate([[0.0], np.cumsum(part)]) for part in (values, values**2))
    most = min(number // _SHORTEST, _MOST_STEPS + 1)
    least = np.full((most + 1, number + 1), np.inf)  # residual sum of squares of k levels over the first j values
    starts = np.zeros((most + 1, number + 1), int)
    least[0, 0] = 0.0
    for k in range(1, most + 1):
        for j in range(k * _SHORTEST, number + 1):
            i = np.arange(j - _SHORTEST + 1)
            within = squares[j] - squares[i] - (sums[j] - sums[i]) ** 2 / (j - i)
            total = least[k - 1, i] + np.maximum(within, 0.0)
            starts[k, j] = int(np.argmin(total))
            least[k, j] = total[starts[k, j]]
    # Values that are all equal leave no scatter to compare with.
    floor = np.finfo(float).eps * max(squares[-1], 1.0)
    score = number * np.log((least[1:, number] + floor) / number) + 3 * np.log(number) * np.arange(most)
    level, end, found = int(np.argmin(score)) + 1, number, []
    while level:
        end = int(starts[level, end])
        found.append(end)
        level -= 1
    return found[::-1]


_LISTED = 3  # measurements in a warning
_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?:[T_ -]?(\d{2})[:-]?(\d{2})(?:[:-]?(\d{2}))?)?(?!\d)")


@dataclass(frozen=True)
class Change:
    """A step of the metric between two measurements."""

    source: str  # First measurement after the step
    time: pd.Timestamp  # Its date
    ratio: Estimate  # Level after the step over the level before it, over the measurements of both


@dataclass(frozen=True, repr=False)
class History:
    """A metric over time."""

    metric: str  # Column of the runs
    # Load at which all measurements are compared, such as `connections = 64`; after the name of the variant if there
    # are several.
    load: str
    # One row for each measurement, by date: `time` (UTC), `dated_by` (`report`, `name` or `file`), `source`, `runs`,
    # `value`, `lo`, `hi` (missing with one run).
    points: pd.DataFrame
    changes: tuple[Change, ...]  # Steps between levels of at least 5 measurements, by date
    warnings: tuple[str, ...]  # What was left out, and why there may be no changes

    def __str__(self) -> str:
        return to_text(self.blocks())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display(self.blocks())

    def blocks(self) -> list[Block]:
        """Return what the history says: a row for each measurement, the changes, and the warnings."""
        unit = unit_of_column(self.metric)
        rows = [
            [
                f"{row['time']:%Y-%m-%d %H:%M}",
                row["source"],
                str(row["runs"]),
                format_quantity(row["value"], unit),
                range_text(row["lo"], row["hi"], unit),
            ]
            for row in self.points.to_dict("records")
        ]
        caption = f"{self.metric} at {self.load}, {len(rows)} measurements (times in UTC)"
        headings = ["date", "source", "runs", "mean", "interval"]
        values = self.points["value"].to_list()
        changes = [
            f"{_percent(change.ratio.value)} % [{_percent(change.ratio.lo)} to {_percent(change.ratio.hi)}] "
            f"from {change.source} on"
            for change in self.changes
        ]
        none = ["no change found"] if not self.warnings else []
        return [
            Grid(headings, rows, caption, left=2, bars=values, bars_title="mean"),
            Items("Changes", changes or none, numbered=True),
            Items("Warnings", self.warnings, numbered=True),
        ]


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}".replace("-", "−")


def compare_over_time(
    measurements: Sequence[Analysis],
    metric: str = "throughput_rps",
    *,
    at: float | None = None,
    variant: str = "",
    level: float = 0.95,
) -> History:
    """Return a metric of several measurements by date, and the steps in it.

    A date is that of the first report, else that in the name, else that of the file.  A measurement without the
    variant, the load or the metric is left out, with a warning.

    - `metric`: column of the runs, > 0.
    - `at`: load at which to compare; by default, of the loads that most measurements have, the one with the highest
      throughput in the first of them.
    - `variant`: one of `common_variants`; by default the only one.

    Raises LoadcurveError when there are fewer than two measurements, several variants of which none is named, no
    common load, or no such metric.
    """
    matched, _ = _match(measurements)
    if not variant and len(matched) == 1:
        (variant,) = matched
    if variant not in matched:
        raise LoadcurveError(f"variant must be one of {', '.join(matched)}, got {variant!r}")
    curves = matched[variant]
    values = [_values(curve, metric) if curve else {} for curve in curves]
    if not any(values):
        known = sorted({name for curve in curves if curve for name in metrics_of(curve)})
        raise LoadcurveError(f"metric must be one of {', '.join(known)}, got {metric!r}")
    load = next(curve.load for curve in curves if curve)
    if at is None:
        at = _common_load(values, load)
    points, warnings = _points(measurements, values, load, at, metric, level)
    changes: tuple[Change, ...] = ()
    if len(points) < FEWEST:
        warnings.append(f"{len(points)} measurements: at least {FEWEST} are needed to find a change")
    else:
        changes = tuple(_changes(points, level))
    words = f"{variant}, {load} = {at:g}" if len(matched) > 1 else f"{load} = {at:g}"
    return History(metric, words, points, changes, tuple(warnings))


def common_variants(measurements: Sequence[Analysis]) -> tuple[list[str], list[str]]:
    """Return the variants that at least two measurements have, and warnings about all others.

    Raises LoadcurveError when there are fewer than two measurements, or none has a variant of another.
    """
    matched, warnings = _match(measurements)
    return list(matched), warnings


def _match(measurements: Sequence[Analysis]) -> tuple[dict[str, list[Curve | None]], list[str]]:
    if len(measurements) < 2:
        raise LoadcurveError(f"history must have at least 2 measurements, got {len(measurements)}")
    return match_curves(measurements)


def _values(curve: Curve, metric: str) -> dict[float, Array]:
    if metric not in curve.runs:
        return {}
    known = curve.runs[curve.runs[metric].notna()]
    return {float(at): group[metric].to_numpy(float) for at, group in known.groupby(curve.load)}


def _points(
    measurements: Sequence[Analysis],
    values: Sequence[Mapping[float, Array]],
    load: str,
    at: float,
    metric: str,
    level: float,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table `History.points`, and warnings about what was left out and about dates of files."""
    rows, warnings = [], []
    for one, of_load in zip(measurements, values, strict=True):
        if (own := match_load(at, of_load, load)) is None:
            loads = ", ".join(f"{each:g}" for each in of_load) or "no load"
            warnings.append(f"{one.source}: left out, it has no {metric} at {load} = {at:g}, but at {loads}")
            continue
        mean = find_mean(of_load[own], level)
        rows.append((*_date(one), one.source, len(of_load[own]), mean.value, mean.lo, mean.hi))
    if not rows:
        raise LoadcurveError(f"a measurement must have {load} = {at:g}, got none: {'; '.join(warnings)}")
    names = ["time", "dated_by", "source", "runs", "value", "lo", "hi"]
    points = pd.DataFrame(rows, columns=names).sort_values("time", kind="stable", ignore_index=True)
    if by_file := list(points.loc[points["dated_by"] == "file", "source"]):
        listed = ", ".join(by_file[:_LISTED]) + (", …" if len(by_file) > _LISTED else "")
        warnings.append(
            f"{listed}: dated by the last change of the files, which copying may alter: name each folder by its date, "
            "such as 2026-11-22"
        )
    return points, warnings


def _common_load(values: Iterable[Mapping[float, Array]], load: str) -> float:
    """Return the load that most measurements have; of several, the one at which the first of them is fastest."""
    every = [each for each in values if each]
    uses = {at: sum(match_load(at, other, load) is not None for other in every) for each in every for at in each}
    most = max(uses.values())
    if most == 1:
        loads = "; ".join(", ".join(f"{at:g}" for at in each) for each in every)
        raise LoadcurveError(f"measurements must have a load in common, got {load} = {loads}")
    first = next(each for each in every if any(uses[at] == most for at in each))
    return max((at for at in first if uses[at] == most), key=lambda at: first[at].mean())


def _changes(points: pd.DataFrame, level: float) -> list[Change]:
    values = points["value"].to_numpy(float)
    starts = [*starts_of_levels(np.log(values)), len(values)]
    found = []
    for before, first, end in zip(starts[:-2], starts[1:-1], starts[2:], strict=True):
        ratio = find_geometric_ratio(values[first:end], values[before:first], level)
        found.append(Change(points["source"][first], points["time"][first], ratio))
    return found


def _date(analysis: Analysis) -> tuple[pd.Timestamp, str]:
    """Date of a measurement, and where it comes from."""
    started = analysis.tables["runs"]["started_at"].dropna()
    if len(started):
        return started.min(), "report"
    if found := _DATE.search(analysis.source):
        try:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return pd.Timestamp(datetime(year, month, day, hour, minute, second, tzinfo=UTC)), "name"
        except ValueError:
            pass
    files = [Path(source) for source in analysis.tables["runs"]["source"].dropna().unique()]
    times = [file.stat().st_mtime for file in files if file.is_file()]
    if not times:
        raise LoadcurveError(f"{analysis.source} must have a date in its reports, its name or its files, got none")
    return pd.Timestamp(min(times), unit="s", tz="UTC"), "file"
