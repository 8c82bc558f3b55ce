"""From tables to an answer: its first lines, verdict of the audit, curves with results, what to measure next."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve.analysis.advice import HELD, advise
from loadcurve.analysis.bottlenecks import why_no_usage
from loadcurve.analysis.cells import (
    FACTOR,
    connections_words,
    interval_words,
    level_cells,
    objective_words,
    range_text,
    shown,
)
from loadcurve.analysis.curve import LEVELS, Curve, Draw, Result
from loadcurve.analysis.levels import add_quantiles, without_failures
from loadcurve.analysis.models_of_curve import analyse_curve
from loadcurve.analysis.objective import parse_objectives
from loadcurve.analysis.sentences.levels import at_load
from loadcurve.analysis.sources import name_of, read_sources
from loadcurve.audit import Verdict
from loadcurve.audit.registry import all_rules, audit
from loadcurve.audit.run_tables import by_run, merge_samples
from loadcurve.audit.settings import default_settings
from loadcurve.audit.verdict import finding_sentences, unchecked_count
from loadcurve.blocks import Block, Grid, Items, Paragraph, Section, to_display, to_text
from loadcurve.errors import LoadcurveError, check_type
from loadcurve.ingest.fact_columns import Factors
from loadcurve.ingest.grouping import GROUPED, other_facts
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.raw_file import NOT_ATTACHED
from loadcurve.models.capacity import Objective
from loadcurve.reading import NOT_READ, as_parsed, require_report
from loadcurve.tables import check, merge_generators
from loadcurve.tables.curves import SAME_RATE, name_loops
from loadcurve.tables.curves import curves as each_curve
from loadcurve.tables.schemas.derived import HOLD_A_RATE
from loadcurve.tables.schemas.failures import error_ratio
from loadcurve.units import group_lines

_TRUST = {
    "error": "Do not rely on it: see the verdict.",
    "warning": "Use it with care: see the verdict.",
    "unchecked": "Nothing could be checked.",
}
_LOADS = {"connections": ("number", "of connections"), "target_rate_rps": ("offered rate", "")}


def answer_sentence(curves: Sequence[Curve], verdict: Verdict) -> str:
    """Return the capacity or the highest throughput, what limits it, and how far to trust it."""
    name = "capacity_throughput" if any("capacity_throughput" in curve for curve in curves) else "peak"
    known = [curve for curve in curves if name in curve]
    if not known:
        served = pd.concat([curve.runs["throughput_rps"] for curve in curves]).dropna()
        return f"{_served(served)}Their load is not known: see Not used."
    best = max(known, key=lambda curve: curve[name].value)
    result = next(each for each in best.results if each.name == name)
    several = len(curves) > 1
    part = f"{len(known)} of " * (len(known) < len(curves))
    where = f" of {part}{len(curves)} curves, by {best.variant}" if several else ""
    missed = all("capacity" in curve and curve["capacity"].value == 0 for curve in curves)
    limit = best.bottleneck or "What limits it was not measured"
    limit = "What limits it is not known: see Bottleneck" if limit.lower().startswith("not known") else limit
    if name == "peak":
        served = without_failures(best.levels)
        at = served.loc[served["throughput_rps"].idxmax(), best.load]
        few = _few_repeats(best, at, several)
        most = f"Highest throughput{where}: {_at_least(best, at)}{_with_interval(result)}"
        said = f"{most} at {_along(best, at)}{at_load(at, best.load)}{few}{_enough(curves, best)}."
        said = f"No load keeps the objective. {said}" if missed else said
        if best.load != "connections" and result.estimate.value >= HELD * best.levels[best.load].max():
            limit = best.bottleneck or "No limit was reached: this is the highest rate offered"
    else:
        capacity = next(each for each in best.results if each.name == "capacity")
        at = capacity.estimate.value
        goals = objective_words(capacity.label).partition(" under ")[2]
        few = _few_repeats(best, at, several)
        more = "at least " if np.isinf(capacity.estimate.hi) and at == best.levels[best.load].iloc[-1] else ""
        there = f"{more}{at_load(at, best.load)}, {_at_least(best, at)}{_with_interval(result)}"
        said = f"Capacity under {goals}{where}: {there}{few}."
    trust = _TRUST.get(verdict.severity, "")
    return " ".join(filter(None, [said, f"{limit[0].upper()}{limit[1:]}.", trust]))


def grouping_sentence(curves: Sequence[Curve], origins: Iterable[str]) -> str:
    """Return how many runs each point has, and what distinguishes them, with the options that change it."""
    measured = [curve for curve in curves if len(curve.levels)]
    notes = [line.removeprefix(GROUPED) for line in origins if line.startswith(GROUPED)]
    if not measured:
        number = _number(sum(len(curve.runs) for curve in curves), "run")
        others = [note for note in notes if not note.startswith("repeats")]
        return "; ".join([f"{number} without a known load", *others])
    repeats = pd.concat([curve.levels["runs"] for curve in measured])
    levels = max(len(curve.levels) for curve in measured)
    noun, of = _LOADS[measured[0].load]
    least, most = int(repeats.min()), int(repeats.max())
    each = f"{least}" if least == most else f"{least} to {most}"
    points = f"{_number(len(measured), 'curve')} × {_number(levels, noun)} {of}".strip()
    counted = f"{points}; repeats of each: {each}"
    return "; ".join([counted, *notes])


def not_used_sentences(
    finished: pd.DataFrame, runs: pd.DataFrame, curves: Sequence[Curve], warnings: Iterable[str], not_read: int
) -> Iterator[str]:
    """Yield a sentence for everything that was read or named and does not count, with what would make it count."""
    used = {row for curve in curves if len(curve.levels) for row in curve.runs["row"]}
    for tool, rows in finished[~finished["row"].isin(used)].groupby(finished["tool"].fillna("an unknown tool")):
        yield f"{_number(len(rows), 'run')} of {tool}: {_why_unused(str(tool), rows)}"
    status = runs["status"].fillna("finished")
    for name, rows in runs[status.ne("finished")].groupby(status):
        reasons = rows["reason"].dropna() if "reason" in rows else pd.Series(dtype=str)
        why = f": {reasons.iloc[0]}" if len(reasons) else ""
        yield f"{_number(len(rows), 'run')} {name}{why}"
    yield from (line for line in warnings if line.startswith(NOT_ATTACHED))
    if not_read:
        yield f"{_number(not_read, 'file')} could not be read: see Not read"


def _why_unused(tool: str, rows: pd.DataFrame) -> str:
    if not rows["throughput_rps"].gt(0).fillna(False).any():
        return "the report prints no throughput"
    is_open = tool in HOLD_A_RATE
    column, letter = ("target_rate_rps", "R") if is_open else ("connections", "c")
    why = f"{tool} sends at a rate, which the report does not print" if is_open else f"{tool} prints no connections"
    if "source" not in rows or rows["source"].isna().all():
        return f"fill the column {column}"
    return (
        f"{why}: put the number into the file names and add --factor '{column}={letter}([0-9]+)', or name it in the "
        f"column {column} of a factors.csv"
    )


def _served(throughput: pd.Series) -> str:
    if throughput.empty:
        return ""
    return f"{_number(len(throughput), 'run')} served {range_text(throughput.min(), throughput.max(), 'rps')[1:-1]}. "


def _few_repeats(curve: Curve, at: float, several: bool) -> str:
    runs = int(curve.levels.loc[curve.levels[curve.load] == at, "runs"].iloc[0])
    order = ", which does not establish the order of the curves" if several and runs == 1 else ""
    return "" if runs > 2 else f" (measured {'once' if runs == 1 else 'twice'}{order})"


def _with_interval(result: Result) -> str:
    estimate = result.estimate
    narrow = not np.isnan(estimate.lo)
    return f"{shown(estimate.value, result.unit)}{f' {interval_words(estimate, result.unit)}' if narrow else ''}"


def _at_least(curve: Curve, at: float) -> str:
    """Return ``at least `` where the load generator was full: the server may serve more."""
    return "at least " if curve.generator_full[curve.levels[curve.load] == at].any() else ""


def _enough(curves: Sequence[Curve], best: Curve) -> str:
    """Return from which curve on the intervals overlap with that of the highest, where one number orders the curves."""
    ordered = sorted((curve for curve in curves if "peak" in curve), key=lambda curve: _by_number(curve.variant))
    numbers = [[part for kind, *part in _by_number(curve.variant) if kind] for curve in ordered]
    differing = sum(len(set(map(str, column))) > 1 for column in zip(*numbers, strict=False))
    texts = {re.sub(r"\d+(?:\.\d+)?", "", curve.variant) for curve in ordered}
    overlap = [curve["peak"].hi >= best["peak"].lo for curve in ordered]  # False for a missing end
    if len(texts) > 1 or differing != 1 or len(ordered) < _FEWEST_OF_NUMBER or not overlap[-1]:
        return ""
    first = ordered[-next((i for i, near in enumerate(reversed(overlap)) if not near), len(overlap))]
    return f"; from {first.variant} on, the intervals overlap with it" if first is not ordered[-1] else ""


_FEWEST_OF_NUMBER = 3  # of two curves one is the highest, and the other says nothing about an optimum


def _along(curve: Curve, at: float) -> str:
    """Return the levels of factors that change along the load: ``servers = 8, ``."""
    row = curve.levels.loc[curve.levels[curve.load] == at].iloc[0]
    names = [name for name in curve.levels if name.startswith(FACTOR)]
    return "".join(f"{name.removeprefix(FACTOR)} = {row[name]}, " for name in names)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


@dataclass(frozen=True, repr=False)
class Analysis:
    """The answer to what was measured; a notebook shows it as tables, and `print` as text.

    Attributes
    ----------
    source : str
        Path or name of the data.
    verdict : Verdict
        Whether the measurement can be used, from the checks that ran.
    curves : tuple of Curve
        One for each combination of factor levels, sorted by name: different variants are never averaged.
    findings : pandas.DataFrame
        The table ``findings``.
    next_steps : tuple of str
        What to measure next, the most useful first.
    warnings : tuple of str
        Of the reports that were read.
    objectives : tuple of Objective
        What the capacity has to keep.
    tables : mapping of str to pandas.DataFrame
        The tables that were analysed.
    origins : tuple of str
        Facts that no report prints, each with where it comes from (`Parsed`).
    not_used : tuple of str
        What was read and does not count, each with the reason and what would make it count.
    """

    source: str
    verdict: Verdict
    curves: tuple[Curve, ...]
    findings: pd.DataFrame
    next_steps: tuple[str, ...]
    warnings: tuple[str, ...]
    objectives: tuple[Objective, ...]
    tables: Mapping[str, pd.DataFrame]
    origins: tuple[str, ...] = ()
    not_used: tuple[str, ...] = ()

    def __str__(self) -> str:
        return to_text([Paragraph(self.source, self.summary), *self.blocks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display([Paragraph(self.source, self.summary), *self.blocks()])

    @property
    def summary(self) -> str:
        """What was read, in one line: ``12 runs (12 of wrk 4.1.0), 1 failed; also read: cpu``."""
        status = self.tables["runs"]["status"].fillna("finished")
        runs = self.tables["runs"][status.eq("finished")]
        ended = "".join(f", {count} {name}" for name, count in status[status.ne("finished")].value_counts().items())
        tools = (runs["tool"].fillna("unknown tool") + " " + runs["tool_version"].fillna("")).str.strip()
        named = ", ".join(f"{count} of {tool}" for tool, count in tools.value_counts(sort=False).items())
        named = f" ({named})" if runs["tool"].notna().any() else ""
        others = ", ".join(name for name in self.tables if name not in ("runs", "latency", "factors", "histogram"))
        number = f"{len(runs)} run{'s' * (len(runs) != 1)}{named}{ended}"
        return number + (f"; also read: {others}" if others else "")

    def blocks(self, draw: Draw | None = None) -> list[Block]:
        """Return everything the analysis says, in the order of a report; ``draw`` returns the figures of a curve."""
        several = len(self.curves) > 1
        return [
            Paragraph("Verdict", str(self.verdict), self.verdict.severity),
            Paragraph("Answer", self.answer),
            Paragraph("Runs", self.grouping),
            Items("Not used", self.not_used),
            *(_of_curves(self.curves, draw) if several else self.curves[0].blocks(draw)),
            Items("Measure next", self.next_steps, numbered=True),
            Items("Settings of the audit", self.findings.attrs.get("settings", ())),
            Items("Findings", list(finding_sentences(self.findings))),
            Items("Not checked", list(unchecked_count(self.findings))),
            Items("Not read", self.not_read, numbered=True),
            Items("Warnings", group_lines(w for w in self.warnings if not w.startswith((NOT_READ, NOT_ATTACHED)))),
            Items("Facts that no report prints", other_facts(self.origins)),
        ]

    @property
    def answer(self) -> str:
        """Capacity or highest throughput, what limits it, and how far to trust it."""
        return answer_sentence(self.curves, self.verdict)

    @property
    def grouping(self) -> str:
        """How many runs each point has, and what distinguishes them."""
        return grouping_sentence(self.curves, self.origins)

    @property
    def main_curve(self) -> Curve:
        """The curve with the most loads; of several, the first."""
        return max(self.curves, key=lambda curve: len(curve.levels))

    @property
    def not_read(self) -> list[str]:
        """What could not be read: where, what was expected, and what was found; one line for all that are alike."""
        return group_lines(warning.removeprefix(NOT_READ) for warning in self.warnings if warning.startswith(NOT_READ))

    @property
    def levels(self) -> pd.DataFrame:
        """Levels of all curves, with the column `variant` first."""
        parts = [curve.levels.assign(variant=curve.variant) for curve in self.curves]
        whole = pd.concat(parts, ignore_index=True)
        return whole[["variant", *whole.columns.drop("variant")]]

    @property
    def results(self) -> pd.DataFrame:
        """Results of all curves: ``variant, quantity, label, value, lo, hi, unit, level_ratio, method, warnings``."""
        rows = [
            (c.variant, r.name, r.label, e.value, e.lo, e.hi, r.unit, e.level, e.method, "; ".join(e.warnings))
            for c in self.curves
            for r in c.results
            for e in [r.estimate]
        ]
        names = ["variant", "quantity", "label", "value", "lo", "hi", "unit", "level_ratio", "method", "warnings"]
        return pd.DataFrame(rows, columns=names)


def _of_curves(curves: Sequence[Curve], draw: Draw | None) -> list[Block]:
    """Return the curves side by side, what is missing in all of them once, and a section for each with a shape.

    Of many curves, the main ones: those with most levels, of these the fastest.
    """
    many = len(curves) >= _MANY
    sentence = (
        f"{len(curves):,} curves, of which the report shows {_MAIN}: those with most levels, then highest throughput.  "
        "-o FILE.json holds all.  To narrow: name fewer files, or pool repeats with --repeats REGEX"
    )
    if many:
        curves = sorted(curves, key=lambda each: (-len(each.levels), -each.levels["throughput_rps"].max()))[:_MAIN]
    curves = sorted(curves, key=lambda curve: _by_number(curve.variant))
    plain = [curve for curve in curves if len(curve.levels) == 1 and len(curve.results) == 1 and not curve.bottleneck]
    absent = [curve.absent() for curve in curves]
    shared = [line for line in absent[0] if all(line in each for each in absent)]
    blocks: list[Block] = [_overview(curves)]
    if len(plain) == len(curves) and len({curve.load for curve in curves}) == 1:
        levels = pd.concat([curve.levels for curve in curves], ignore_index=True).assign(gain_ratio=np.nan)
        headings, cells = level_cells(levels, curves[0].load)
        rows = [[curve.variant, *row] for curve, row in zip(curves, cells, strict=True)]
        throughput = levels["throughput_rps"].to_list()
        blocks = [Grid(["curve", *headings], rows, LEVELS, left=1, bars=throughput, bars_title="throughput")]
    sections = [Section(curve.variant, curve.blocks(draw, shared)) for curve in curves if curve not in plain]
    first = [Paragraph("Curves", sentence)] if many else []
    of_all = "the curves shown" if many else "any curve"
    return [*first, *blocks, *sections, Items(f"Not computed for {of_all}", shared)]


_MANY = 200  # curves, of which a table fills several screens
_MAIN = 40


def _by_number(name: str) -> list[tuple[int, float, str]]:
    """Sort names by their numbers: ``children=4`` before ``children=16``."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(i % 2, float(part) if i % 2 else 0.0, "" if i % 2 else part) for i, part in enumerate(parts)]


def _overview(curves: Iterable[Curve]) -> Grid:
    """The main results of every curve side by side."""
    columns = {
        "highest throughput": "peak",
        "N* [connections]": "saturation",
        "USL peak [connections]": "usl.peak",
        "capacity": "capacity",
        "throughput there": "capacity_throughput",
    }
    cells = [[curve.variant, *(_value(curve, name) for name in columns.values())] for curve in curves]
    for row, curve in zip(cells, curves, strict=True):
        if "peak" in curve and (interval := interval_words(curve["peak"], "rps")):
            row[1] += f" {interval}"
    kept = [0, *(i for i in range(1, len(columns) + 1) if any(row[i] for row in cells))]
    headings = ["curve", *columns]
    return Grid([headings[i] for i in kept], [[row[i] for i in kept] for row in cells], "All curves", left=1)


def _value(curve: Curve, name: str) -> str:
    if name == "capacity" and name in curve and curve.load == "connections":
        return connections_words(curve[name].value)
    return next((shown(result.estimate.value, result.unit) for result in curve.results if result.name == name), "")


def analyse(
    data: "str | Path | Sequence[str | Path] | Parsed | pd.DataFrame | Mapping[str, pd.DataFrame]",
    *,
    objectives: str | Objective | Iterable[str | Objective] = (),
    factors: Factors = None,
    source: str = "",
    level: float = 0.95,
    timezone: str = "UTC",
    follow: bool = False,
) -> Analysis:
    """Analyse runs: audit them, fit a model to each curve, find its capacity and its bottleneck.

    Parameters
    ----------
    data : str, pathlib.Path, several of them, Parsed, pandas.DataFrame or mapping of str to pandas.DataFrame
        A file or a folder; several, whose runs are never averaged; what `loadcurve.read` returns; a table ``runs``; or
        tables by name, of which only ``runs`` is required: all others add to the answer.  Words in further columns of
        ``runs``, such as ``server``, are levels of factors.
    objectives : str, Objective, or several of them
        Such as ``p99=200ms`` (`parse_objective`); a load counts as capacity if every run at it keeps all of them.
    factors : mapping of str to str, path or GivenFactors, optional
        Of paths: facts about the runs, as `loadcurve.read` takes them.
    source : str
        Name of the data in the report, also of one path in the names of its files; by default the path.
    level : float
        Confidence level of all intervals, 0 < level < 1.
    timezone : str
        Of paths: IANA name of the time zone of local times in the files, such as those of sar.
    follow : bool
        Of paths: whether links are read that lead out of a folder.

    Raises
    ------
    LoadcurveError
        When there is no finished run of a load generator, an objective is none, or a path cannot be read.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c", "d"], "tool": "wrk", "connections": [1, 2, 4, 8], "status":
    ...                      "finished", "throughput_rps": [100.0, 195.0, 370.0, 380.0], "latency_mean_s": 0.01})
    >>> found = analyse({"runs": runs})
    >>> len(found.curves), round(found.curves[0]["saturation"].value, 1)
    (1, 3.8)
    """
    asked = _objectives(objectives)  # before minutes of reading
    paths: Sequence[str | Path] = ()
    if isinstance(data, Parsed | pd.DataFrame | Mapping):
        parsed = as_parsed(data)
    else:
        paths = _paths(data)
        parsed = read_sources(paths, factors, timezone, follow)
        parsed = parsed.renamed(str(paths[0]), source.rstrip("/")) if source and len(paths) == 1 else parsed
        source = source or name_of(paths)
    settings = default_settings(all_rules(), Path(paths[0]) if len(paths) == 1 else None, follow=follow)
    require_report(parsed, source)
    checked = {name: check(name, table, extra=True) for name, table in parsed.tables.items()}
    runs = _finished_runs(checked["runs"], source)
    runs = runs.assign(row=range(len(runs)), error_ratio=error_ratio(runs))
    # What is the same for all curves is computed once: a folder may have thousands of them.
    watched = ("cpu", "disks", "network")
    monitors = {name: merge_samples(name, table) for name, table in checked.items() if name in watched}
    unwatched = why_no_usage(monitors, runs.head(0))
    own = by_run(monitors | {name: table for name, table in checked.items() if name == "factors"})
    curves = tuple(
        analyse_curve(variant, rows, own(rows), load=load, objectives=asked, level=level, unwatched=unwatched)
        for load, variant, rows in _named_curves(runs, checked)
    )
    if any(len(curve.levels) for curve in curves):
        curves = tuple(curve for curve in curves if len(curve.levels))
    findings = audit(checked, settings)
    not_read = sum(warning.startswith(NOT_READ) for warning in parsed.warnings)
    return Analysis(
        source,
        findings.verdict,
        curves,
        findings,
        tuple(advise(curves, findings, checked, findings.attrs["beyond"])),
        parsed.warnings,
        asked,
        checked,
        (*parsed.origins, *_grouped_rates(runs, curves)),
        tuple(not_used_sentences(runs, checked["runs"], curves, parsed.warnings, not_read)),
    )


def _paths(data: "str | Path | Sequence[str | Path]") -> Sequence[str | Path]:
    """Return one path or several as a sequence; anything else is refused."""
    accepted = "a path, several paths, what loadcurve.read returns, a table of runs, or a mapping of names to tables"
    check_type("data", data, str | Path | Sequence, accepted)
    paths = [data] if isinstance(data, str | Path | bytes) else data
    for path in paths:
        check_type("data", path, str | Path, accepted)
    return paths


def _finished_runs(runs: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the finished runs, the generators of each as one; raise if there is none."""
    merged = merge_generators(runs)
    finished = merged[merged["status"].fillna("finished").isin(["finished"])]
    if len(finished):
        return finished
    reasons = runs["reason"].dropna().unique() if "reason" in runs else []
    said = f": {reasons[0]}" if len(reasons) else " or were cut"
    each = "1 run that failed" if len(runs) == 1 else f"{len(runs)} runs that failed"
    raise LoadcurveError(f"{source or 'runs'}: expected a finished run, got {each}{said}")


def _grouped_rates(runs: pd.DataFrame, curves: Iterable[Curve]) -> list[str]:
    """One line if measured offered rates were grouped into levels."""
    used = {rate for curve in curves if curve.load == "target_rate_rps" for rate in curve.runs[curve.load]}
    measured = set(runs["target_rate_rps"].dropna()) if used else set()
    if measured <= used:
        return []
    shown = ", ".join(f"{rate:,g}" for rate in sorted(used)[:_MOST_SHOWN]) + (", …" if len(used) > _MOST_SHOWN else "")
    return [
        f"offered rates {shown} requests/s: from {len(measured)} measured rates; those that differ by less than "
        f"{100 * SAME_RATE:g} % count as one level"
    ]


_MOST_SHOWN = 8  # rates in a sentence


def _named_curves(runs: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield the load, the name and the runs of each curve; closed and open loops are never one curve."""
    for load, named in name_loops(runs, tables.get("factors")):
        rows = add_quantiles(named, tables["latency"]) if "latency" in tables else named
        for variant, group in each_curve(rows):
            yield load, variant, group


def _objectives(given: str | Objective | Iterable[str | Objective]) -> tuple[Objective, ...]:
    several = [given] if isinstance(given, str | Objective) else given
    return tuple(
        objective
        for each in several
        for objective in ([each] if isinstance(each, Objective) else parse_objectives([each]))
    )
