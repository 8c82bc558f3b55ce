"""What the runs of a launch show: the next run of a search depends on it, and so does whether a run has failed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from loadcurve.analysis.levels import add_quantiles
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.folder import read_reports
from loadcurve.lab import Feedback, Measured
from loadcurve.models import wire
from loadcurve.stats import summarise_balance, summarise_merged, summarise_stopping
from loadcurve.study import Run
from loadcurve.study.records import read_run
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


def feedback(log: Callable[[str], None] = tqdm.write) -> Feedback:
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
    never_opened = count_unopened(runs).sum() / max(runs["connections"].sum(), 1)
    return Measured(
        throughput_rps=float(runs["throughput_rps"].sum(min_count=1)),
        latency_mean_s=_mean(answered),
        received_bytes_per_s=float(runs["received_bytes_per_s"].sum(min_count=1)),
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
    """Return the latency at a quantile: from the histograms of all generators, or as the only generator printed it."""
    # Where a tool prints both histograms, use the one corrected for coordinated omission.
    histogram = histogram[histogram["corrected"].eq(histogram["corrected"].max())]
    if set(answered["generator"]) == set(histogram["generator"]) and len(histogram):
        merged = summarise_merged(answered, histogram, [quantile])
        (upper,) = (name for name in merged if name.startswith("latency_") and name.endswith("_upper_s"))
        return float(merged[upper].iloc[0])
    if len(answered) == 1:
        printed = printed[printed["generator"].eq(answered["generator"].iloc[0])]
        same = printed[np.isclose(printed["quantile"], quantile)]
        if len(same):
            return float(same["latency_s"].iloc[0])
    return np.nan
