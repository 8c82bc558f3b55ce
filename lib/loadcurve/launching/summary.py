"""The summary at the end of a launch: statuses, distinct warnings with their counts, and the verdict of the audit."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from loadcurve.audit.registry import audit
from loadcurve.audit.verdict import verdict_of_each, verdict_sentences
from loadcurve.errors import LoadcurveError
from loadcurve.files.paths import shown
from loadcurve.ingest.folder import read_reports
from loadcurve.study import BUSY_RATIO, Run, Study
from loadcurve.study.record_rules import STATUSES
from loadcurve.study.records import read_run, run_folders
from loadcurve.tables.schemas.failures import count_failures

# Number of runs that a line names.
_NAMED = 3
# Warnings that differ in numbers only are one warning.  Digits in names such as S1 and p99 are not numbers.
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.-])\d[\d,]*(?:\.\d+)?")


def objectives_of(study: Study) -> list[str]:
    """Return what `study.yml` asks of a load, as `loadcurve analyse --objective` takes it; a search answers by itself.

    Examples
    --------
    >>> objectives_of(Study("shop", "How many?", objective={"latency_s": 0.05}))
    ['p99=50ms', 'errors=0%']
    """
    own = {} if study.search else study.objective
    latency_s, failed_ratio = own.get("latency_s"), own.get("failed_ratio")
    texts = [f"p{100 * own.get('quantile', 0.99):.10g}={1000 * latency_s:.10g}ms"] if latency_s is not None else []
    return [*texts, f"errors={100 * (failed_ratio or 0):.10g}%"] if own else []


def describe_launch(folder: Path) -> list[str]:
    """Return lines about the runs in a study's folder: each fact, each distinct warning, the audit's verdict.

    Parameters
    ----------
    folder : pathlib.Path
        Of the study.
    """
    runs = {path: read_run(path) for path in run_folders(folder)}
    reports, warnings = [], []
    for path, run in runs.items():
        found, weaknesses = _report(path, run) if run.status == "finished" else (None, [])
        reports += [found] if found is not None else []
        warnings += [*run.warnings, *(text for text in weaknesses if text not in run.warnings)]
    lines = [_statuses(folder, runs.values()), *_reasons(runs.values())]
    if reports:
        rows = pd.concat(reports, ignore_index=True)
        lines += [*_silent(rows), _failed(rows), *_taken(rows)]
    return [*lines, *_distinct(warnings), *(_audited(folder) if runs else ())]


def _report(path: Path, run: Run) -> tuple[pd.DataFrame | None, list[str]]:
    if run.is_functional:
        return None, []
    try:
        found = read_reports(path, run)
    except LoadcurveError as error:
        return None, [f"not read: {error}"]
    # A warning of a reader begins with the name of the file, which contains the name of the run.
    return found.tables["runs"], [text.partition(": ")[2] for text in found.warnings]


def _statuses(folder: Path, runs: Iterable[Run]) -> str:
    counts = Counter(run.status for run in runs)
    counted = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"{shown(folder)}: {_count(counts.total())}, {counted}" if counted else f"{shown(folder)}: no run"


def _reasons(runs: Iterable[Run]) -> Iterator[str]:
    of = [(run.run_id, run.reason) for run in runs if run.status == "failed"]
    for reason, names in _grouped(of).items():
        yield f"  failed: {_names(names)}: {reason}"


def _silent(rows: pd.DataFrame) -> Iterator[str]:
    totals = rows.groupby("run_id", sort=False)["requests"].sum(min_count=0)
    if names := list(totals.index[totals == 0]):
        yield f"  without a response: {_names(names)}"


def _failed(rows: pd.DataFrame) -> str:
    counts = count_failures(rows)
    of = counts.groupby(rows["run_id"], sort=False).sum().eval("failed / sent")
    some = of[of > 0]
    requests = int(rows["requests"].fillna(0).sum())
    if some.empty:
        return f"  failed requests: none of {requests:,}"
    most, every = some.idxmax(), counts["failed"].sum() / counts["sent"].sum()
    return f"  failed requests: {every:.2%} of all, in {len(some)} of {len(of)} runs; most in {most}: {some[most]:.2%}"


def _audited(folder: Path) -> Iterator[str]:
    """The verdict on all runs, which runs have another, and the command that prints the findings."""
    try:
        findings = audit(folder)
    except LoadcurveError as error:  # the runs are recorded, whatever can be read of them
        yield f"  audit: not done: {error}"
        return
    yield f"  audit: {findings.verdict}"
    yield from (f"    {sentence}" for sentence in verdict_sentences(verdict_of_each(findings)))
    yield from (f"    {sentence}" for sentence in findings.attrs["settings"])
    if findings.verdict.severity in ("error", "warning"):
        yield f"    each finding, and what to do: loadcurve audit {shown(folder)}"


def _taken(rows: pd.DataFrame) -> Iterator[str]:
    """What others than the run took of its processors."""
    for column, who in {"cpu_other_ratio": "other processes", "cpu_steal_ratio": "steal by the hypervisor"}.items():
        ratios = rows.groupby("run_id", sort=False)[column].max().dropna()
        if ratios.empty:
            yield f"  {who}: not recorded"
            continue
        most, over = ratios.idxmax(), int((ratios > BUSY_RATIO).sum())
        yield (
            f"  {who}: up to {ratios[most]:.1%} of a run's processors ({most}), "
            f"over {BUSY_RATIO:.0%} in {over} of {len(ratios)} runs"
        )


def _distinct(warnings: list[str]) -> Iterator[str]:
    if not warnings:
        yield "  warnings: none"
        return
    grouped: dict[str, list[str]] = {}
    for text in warnings:
        grouped.setdefault(_NUMBER.sub("#", text), []).append(text)
    for texts in sorted(grouped.values(), key=len, reverse=True):
        others = f" (and {len(set(texts)) - 1} with other numbers)" if len(set(texts)) > 1 else ""
        yield f"  warning in {_count(len(texts))}: {texts[0]}{others}"


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return names by text; of texts that differ in numbers only, the first."""
    shown: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for name, text in pairs:
        found.setdefault(shown.setdefault(_NUMBER.sub("#", text), text), []).append(name)
    return found


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _count(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"
