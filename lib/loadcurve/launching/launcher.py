"""Launch a study, and report how it ended: statuses, distinct warnings with their counts, the verdict of the audit."""

import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from loadcurve import lab
from loadcurve.audit.registry import all_rules, audit
from loadcurve.audit.settings import study_settings
from loadcurve.audit.verdict import verdict_of_each, verdict_sentences
from loadcurve.errors import LabError, LoadcurveError
from loadcurve.files.paths import shown
from loadcurve.ingest.folder import read_reports
from loadcurve.lab.hosts.network import clean
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.study_file import read_checked, settings_of
from loadcurve.launching.run_feedback import feedback
from loadcurve.runtime.jupyter import in_kernel
from loadcurve.runtime.signals import signal_of
from loadcurve.study import BUSY_RATIO, Run, Study
from loadcurve.study.records import STATUSES, read_run, run_folders
from loadcurve.tables.schemas.failures import count_failures


def launch(
    study: Study,
    folder: Path,
    *,
    public: bool = False,
    quiet: bool = False,
    log: Callable[[str], None] = tqdm.write,
    report: Callable[[str], None] = tqdm.write,
    results: Callable[[Path], None] = lambda folder: None,
) -> list[Path]:
    """Remove what killed launches left, run a study, report each run when it ends, and all runs at the end.

    A study with a search or a stop rule chooses each run by the results of the earlier ones.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study.
    public : bool
        Whether targets that the study names may be public addresses.
    quiet : bool
        Whether to wait until other processes leave the processors, and to measure runs again that they disturbed.
    log : callable
        Receives sentences for the user: what a killed launch left, what each run measured, and how a search or a stop
        ends.  By default they are printed above the progress bar.
    report : callable
        Receives each line of the summary (`describe_launch`), also when runs failed.
    results : callable
        Shows the results of the folder after the summary; called if a run is finished.

    Examples
    --------
    >>> study = Study("quick", "Does it start?", load={"duration_s": 1}, repeats=1)
    >>> launch(study, Path("data/studies/quick"))  # doctest: +SKIP
    [PosixPath('data/studies/quick/c0001-r1')]
    """
    study_settings(study, all_rules())  # raises for a rule that there is not, before minutes of load
    for sentence in clean():
        log(f"left by an earlier launch: {sentence}")
    before = _records(folder)
    try:
        runs = lab.launch(study, folder, public=public, quiet=quiet, feedback=feedback(log))
    except LabError:
        if _records(folder) != before:
            _report(folder, report, results)
        raise
    except KeyboardInterrupt as interrupt:
        if in_kernel():  # the command line prints it itself, without a traceback
            log(interruption(interrupt, folder))
        raise
    _report(folder, report, results)
    return runs


def interruption(interrupt: KeyboardInterrupt, folder: Path) -> str:
    """Return the last line of a launch that raised `interrupt`: the signal, what is kept, and what to do next."""
    by = signal.Signals(signal_of(interrupt)).name
    finished, of, show = _finished(folder) if folder.is_dir() else 0, "", ""
    if (folder / "study.yml").is_file():
        study = read_checked(folder)
        settings = settings_of(study)
        adaptive = settings.search is not None or settings.stop is not None
        of = f" of {'at most ' if adaptive else ''}{max_points(study, settings)}"
    if finished:
        show = f"; `loadcurve show {shown(folder)}` prints the results so far"
    return (
        f"interrupted by {by}: {finished}{of} runs finished, kept in {shown(folder)}; all processes and networks of "
        f"this launch are removed; launch again to finish the remaining runs{show}"
    )


def _finished(folder: Path) -> int:
    return sum(read_run(run).status == "finished" for run in run_folders(folder))


def _records(folder: Path) -> dict[Path, int]:
    """Return when each `run.json` was written."""
    return {path: (path / "run.json").stat().st_mtime_ns for path in run_folders(folder)}


def _report(folder: Path, report: Callable[[str], None], results: Callable[[Path], None]) -> None:
    for line in describe_launch(folder):
        report(line)
    if _finished(folder):
        try:
            results(folder)
        except LoadcurveError as error:  # the runs are recorded, whatever can be read of them
            report(f"no results: {error}")


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
    """Return lines about the runs in a study's folder: each fact, each distinct warning, the audit's verdict."""
    runs = {path: read_run(path) for path in run_folders(folder)}
    reports, warnings = [], []
    for path, run in runs.items():
        found, weaknesses = _read_report(path, run) if run.status == "finished" else (None, [])
        reports += [found] if found is not None else []
        warnings += [*run.warnings, *(text for text in weaknesses if text not in run.warnings)]
    lines = [_statuses(folder, runs.values()), *_reasons(runs.values())]
    if reports:
        rows = pd.concat(reports, ignore_index=True)
        lines += [*_silent(rows), _failed(rows), *_taken(rows)]
    return [*lines, *_distinct(warnings), *(_audited(folder) if runs else ())]


def _read_report(path: Path, run: Run) -> tuple[pd.DataFrame | None, list[str]]:
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
