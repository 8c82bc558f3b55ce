"""Launch a study, and report how it ended: statuses, distinct warnings with their counts, the verdict of the audit.

The next run of a search depends on what the runs show, and so does whether a run has failed.
"""

import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve import lab
from loadcurve.analysis.levels import add_quantiles
from loadcurve.audit.registry import all_rules, audit
from loadcurve.audit.settings import study_settings
from loadcurve.audit.verdict import verdict_of_each, verdict_sentences
from loadcurve.errors import LabError, LoadcurveError, ParseError
from loadcurve.files.paths import shown
from loadcurve.ingest.folder import read_reports
from loadcurve.lab import Feedback, Measured
from loadcurve.lab.hosts.network import clean
from loadcurve.lab.schedule.feedback import read_answers
from loadcurve.lab.schedule.feedback import sentence as answer_sentence
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.study_file import read_checked, settings_of
from loadcurve.models import wire
from loadcurve.runtime.jupyter import in_kernel
from loadcurve.runtime.output import echo
from loadcurve.runtime.signals import signal_of
from loadcurve.stats import summarise_balance, summarise_merged, summarise_stopping
from loadcurve.study import BUSY_RATIO, Run, Study
from loadcurve.study.records import STATUSES, read_run, run_folders
from loadcurve.tables import merge_generators
from loadcurve.tables.schemas.failures import count_failures, count_unopened, error_ratio
from loadcurve.units import format_quantity

# Width of `100,000 requests/s`, so that the lines of all runs have columns.
_RATE_WIDTH = 18


def describe(run: Run, folder: Path) -> str:
    """Return throughput, 99th percentile and share of failed requests of a run, or why it did not finish."""
    if run.status != "finished":
        return f"{run.status}: {' '.join(run.reason.split())}"
    if run.is_functional:
        return "functional test ended; `loadcurve accept` judges it"
    try:
        tables = read_reports(folder, run).tables
    except LoadcurveError as error:
        return f"not read: {error}"
    rows = add_quantiles(merge_generators(tables["runs"]), tables["latency"])
    rows = rows.assign(failed_ratio=error_ratio(rows))
    names = ["throughput_rps", "latency_p99_s", "latency_mean_s", "failed_ratio"]
    throughput, p99, mean, failed = rows.reindex(columns=names).astype(float).iloc[0]
    parts = [f"{format_quantity(throughput, 'rps'):>{_RATE_WIDTH}}"]
    parts += [f"{name} {format_quantity(time, 's')}" for name, time in (("p99", p99), ("mean", mean)) if time > 0][:1]
    if failed > 0:
        parts.append(f"{format_quantity(failed, 'ratio', 2)} failed")
    return "  ".join(parts)


# Column of errors → its words in a message.
_ERRORS = {
    "errors_status": "with an error status",
    "errors_connect": "connections not opened",
    "errors_read": "errors while reading",
    "errors_write": "errors while writing",
    "errors_timeout": "timeouts",
    "errors_other": "other errors",
}


def feedback(log: Callable[[str], None] = echo) -> Feedback:
    """Return how a study with a search or a stop rule measures its runs; `log` as in `launch`.

    Examples
    --------
    >>> feedback(print).report("the search ends at 64 connections")
    the search ends at 64 connections
    """
    return Feedback(measure, summarise_stopping, log, judge, describe)


def judge(run: Run, folder: Path, meant: bool) -> tuple[str, tuple[str, ...]]:
    """Return why a run has failed although its tools ended well (empty if it has not), and warnings.

    `meant` is whether the study breaks the server on purpose, by a fault or by a search for its capacity: a run without
    a successful response is then a result, with a warning.
    """
    if run.is_functional:
        return "", ()
    try:
        tables = read_reports(folder, run).tables
    except ParseError as error:
        return f"the report of a generator cannot be read: {error}", ()
    runs = tables["runs"]
    counts = count_failures(runs.drop(columns="errors_timeout"))  # a late response is one
    if (counts["sent"] > counts["failed"]).any():
        return "", () if meant else _uneven(tables["balancer"])
    requests = int(runs["requests"].fillna(0).sum())
    errors = {words: int(runs[name].fillna(0).sum()) for name, words in _ERRORS.items()}
    received = ", ".join([f"{requests:,} responses", *(f"{n:,} {words}" for words, n in errors.items() if n)])
    fault = f"no successful response: {received}"
    return ("", (fault,)) if meant else (fault, ())


def _uneven(balancer: pd.DataFrame) -> tuple[str, ...]:
    """Return a warning where the shares of the servers differ from those of the balancer's scheduler."""
    shares = summarise_balance(balancer)
    if shares["ok"].all():
        return ()
    got, expected = (", ".join(f"{ratio:.0%}" for ratio in shares[f"{name}share_ratio"]) for name in ("", "expected_"))
    return (
        f"the balancer gave its servers {got} of {shares['connections'].sum():.0f} connections, expected {expected}: "
        "compare the number of clients with the scheduler, and the throughput of each client",
    )


def measure(run_folder: Path, quantile: float) -> Measured | None:
    """Return what a finished run showed, of all its generators together; None for a run that did not finish.

    The latency is that of a quantile, 0 < quantile < 1.  Raises `ParseError` when a file of the run does not hold what
    its tool writes.
    """
    if read_run(run_folder).status != "finished":
        return None
    tables = read_reports(run_folder).tables
    runs = tables["runs"]
    answered, counts = runs[runs["requests"].fillna(0) > 0], count_failures(runs).sum()
    totals = runs[["throughput_rps", "received_bytes_per_s"]].to_numpy(float, na_value=np.nan).sum(axis=0)
    never_opened = count_unopened(runs).sum() / max(runs["connections"].sum(), 1)
    return Measured(
        throughput_rps=float(totals[0]),
        latency_mean_s=_mean(answered),
        received_bytes_per_s=float(totals[1]),
        failed_ratio=float(np.fmax(counts["failed"] / counts["sent"], never_opened)),
        latency_s=_latency_s(answered, tables["histogram"], tables["latency"], quantile),
        frame_bytes_per_s=_frame_bytes_per_s(answered),
        cpu_other_ratio=float(runs["cpu_other_ratio"].max()),
        cpu_steal_ratio=float(runs["cpu_steal_ratio"].max()),
    )


def _frame_bytes_per_s(answered: pd.DataFrame) -> float:
    """Return the bytes per second of the frames that carried the responses of all generators."""
    payload = answered["received_bytes"] / answered["requests"]
    frames = wire.frame_bytes(payload.to_numpy(float, na_value=np.nan))
    return float((frames * answered["throughput_rps"].to_numpy(float, na_value=np.nan)).sum()) if len(answered) else 0.0


def _mean(answered: pd.DataFrame) -> float:
    """Return the mean response time over all generators, weighted by their numbers of responses."""
    means, responses = (answered[name].to_numpy(float, na_value=np.nan) for name in ("latency_mean_s", "requests"))
    return float(np.average(means, weights=responses)) if len(answered) else np.nan


def _latency_s(answered: pd.DataFrame, histogram: pd.DataFrame, printed: pd.DataFrame, quantile: float) -> float:
    """Return the latency at a quantile as the only generator printed it; of several, the most that it may be."""
    # Where a tool prints both, use what is corrected for coordinated omission.
    same = printed[printed["generator"].isin(answered["generator"]) & np.isclose(printed["quantile"], quantile)]
    own = (
        same.assign(corrected=same["corrected"].fillna(False))
        .sort_values("corrected")
        .drop_duplicates("generator", keep="last")
    )
    most = float(own["latency_s"].max()) if len(own) and set(own["generator"]) == set(answered["generator"]) else np.nan
    if len(answered) == 1 and not np.isnan(most):  # a class of oha or hey is as wide as a tenth of the longest time
        return most
    histogram = histogram[histogram["corrected"].eq(histogram["corrected"].max())]
    if set(answered["generator"]) == set(histogram["generator"]) and len(histogram):
        merged = summarise_merged(answered, histogram, [quantile])
        (upper,) = (name for name in merged if name.startswith("latency_") and name.endswith("_upper_s"))
        return float(np.fmin(most, merged[upper].iloc[0]))
    return most


def launch(
    study: Study,
    folder: Path,
    *,
    public: bool = False,
    quiet: bool = False,
    again: bool = False,
    trusted: bool = True,
    log: Callable[[str], None] = echo,
    report: Callable[[str], None] = echo,
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
    again : bool
        Whether this holds for the finished runs of the folder too.
    trusted : bool
        Whether the caller answers for the programs of the study and the hosts that it loads, as in `lab.launch`.
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
        runs = lab.launch(
            study, folder, public=public, quiet=quiet, again=again, trusted=trusted, feedback=feedback(log)
        )
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
    so_far = "".join(f"; so far {answer_sentence(answer)}" for answer in read_answers(folder)[-1:])
    return (
        f"interrupted by {by}: {finished}{of} runs finished, kept in {shown(folder)}; all processes and networks of "
        f"this launch are removed; launch again to finish the remaining runs{show}{so_far}"
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
    """Return what `study.yml` asks of a load, as `loadcurve analyse --objective` takes it.

    Examples
    --------
    >>> objectives_of(Study("shop", "How many?", objective={"latency_s": 0.05}))
    ['p99=50ms', 'errors=0%']
    """
    own = study.objective
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
    failed = [(run.run_id, run.reason) for run in runs.values() if run.status == "failed"]
    lines = [_statuses(folder, runs.values())]
    lines += [f"  failed: {_names(names)}: {reason}" for reason, names in _grouped(failed).items()]
    if reports:
        rows = pd.concat(reports, ignore_index=True)
        totals = rows.groupby("run_id", sort=False)["requests"].sum(min_count=0)
        if silent := list(totals.index[totals == 0]):
            lines.append(f"  without a response: {_names(silent)}")
        lines += [_failed(rows), *_taken(rows)]
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


def _failed(rows: pd.DataFrame) -> str:
    counts = count_failures(rows)
    of = counts.groupby(rows["run_id"], sort=False).sum().eval("failed / sent")
    some = of[of > 0]
    requests = int(rows["requests"].fillna(0).sum())
    if some.empty:
        unopened = int(count_unopened(rows).sum())
        return f"  failed requests: none of {requests:,}" + f"; {unopened:,} connections did not open" * bool(unopened)
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
            + (": launch with --again to measure them again, unless a search chose them" if over else "")
        )


def _distinct(warnings: list[str]) -> Iterator[str]:
    if not warnings:
        yield "  warnings: none"
        return
    grouped = _grouped((text, text) for text in warnings)
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
