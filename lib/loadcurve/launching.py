"""Launch a study with eyes: what its runs show decides which one comes next, where it searches or stops.

The laboratory starts processes and reads nothing; ingestion reads and starts nothing; statistics know neither.  Here
they meet.
"""

import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from loadcurve import lab
from loadcurve.errors import LabError, ParseError
from loadcurve.ingest.folder import read_reports
from loadcurve.ingest.load.failed import failed_ratio, succeeded
from loadcurve.lab import Feedback, Measured
from loadcurve.lab.hosts.network import clean
from loadcurve.lab.hosts.signals import signal_of
from loadcurve.launch_summary import summarise_launch
from loadcurve.paths import shown
from loadcurve.records import read_run, run_folders
from loadcurve.stats import summarise_balance, summarise_merged, summarise_stopping
from loadcurve.study import Run, Study

# What may have come in place of responses, in the words of a reason.
_ERRORS = {
    "errors_status": "with an error status",
    "errors_connect": "connections not opened",
    "errors_read": "errors while reading",
    "errors_write": "errors while writing",
    "errors_timeout": "timeouts",
    "errors_other": "other errors",
}


def launch(
    study: Study,
    folder: Path,
    *,
    public: bool = False,
    log: Callable[[str], None] = tqdm.write,
    report: Callable[[str], None] = tqdm.write,
) -> list[Path]:
    """Run a study as `loadcurve.lab.launch` does, also one that searches or stops; report at the end what came of it.

    First it removes the networks, rules and cgroups of launches that were killed.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study.
    public : bool
        Whether targets that the study names may be public addresses.
    log : callable
        What to do with a sentence for the user: what was left by a killed launch, and how a search or a stop ends.  By
        default it is printed above the progress bar.
    report : callable
        What to do with each line of the summary, see `launch_summary`, which also comes where runs failed.

    Examples
    --------
    >>> study = Study("quick", "Does it start?", load={"duration_s": 1}, repeats=1)
    >>> launch(study, Path("data/studies/quick"))  # doctest: +SKIP
    [PosixPath('data/studies/quick/c0001-r1')]
    """
    for sentence in clean():
        log(f"left by an earlier launch: {sentence}")
    before = _records(folder)
    try:
        runs = lab.launch(study, folder, public=public, feedback=feedback(log))
    except LabError:
        if _records(folder) != before:
            _report(folder, report)
        raise
    _report(folder, report)
    return runs


def interruption(interrupt: KeyboardInterrupt, folder: Path) -> str:
    """Return the last line of an interrupted launch: the signal, what is kept, and what to do next.

    Parameters
    ----------
    interrupt : KeyboardInterrupt
        As `launch` raised it.
    folder : pathlib.Path
        Folder of the study.
    """
    finished = sum(read_run(run).status == "finished" for run in run_folders(folder)) if folder.is_dir() else 0
    runs = "1 finished run is" if finished == 1 else f"{finished} finished runs are"
    by = signal.Signals(signal_of(interrupt)).name
    return (
        f"interrupted by {by}: {runs} kept in {shown(folder)}, and all processes and networks of "
        "this launch are removed; run the same command again to launch the remaining runs"
    )


def feedback(log: Callable[[str], None] = tqdm.write) -> Feedback:
    """What a study that searches or stops sees its runs with; `log` as of `launch`."""
    return Feedback(measure, summarise_stopping, log, judge)


def judge(run: Run, folder: Path, meant: bool) -> tuple[str, tuple[str, ...]]:
    """Why a run whose tools ended well has failed all the same, empty where it has not, and warnings.

    Parameters
    ----------
    run : Run
        Its record, as finished.
    folder : pathlib.Path
        Of the run.
    meant : bool
        Whether the study means to break the server, by a fault or by a search for its capacity: then a run without a
        successful response is a result, with a warning.
    """
    try:
        tables = read_reports(folder, run).tables
    except ParseError as error:
        return f"what a generator reported cannot be read: {error}", ()
    runs = tables["runs"]
    if succeeded(runs):
        return "", () if meant else _uneven(tables["balancer"])
    requests = int(runs["requests"].fillna(0).sum())
    counts = {words: int(runs[name].fillna(0).sum()) for name, words in _ERRORS.items()}
    told = ", ".join([f"{requests:,} responses", *(f"{n:,} {words}" for words, n in counts.items() if n)])
    fault = f"no successful response: {told}"
    return ("", (fault,)) if meant else (fault, ())


def _uneven(balancer: pd.DataFrame) -> tuple[str, ...]:
    """Say where servers got other shares of the connections than the balancer's scheduler promises."""
    shares = summarise_balance(balancer)
    if shares["ok"].all():
        return ()
    got, expected = (", ".join(f"{ratio:.0%}" for ratio in shares[f"{name}share_ratio"]) for name in ("", "expected_"))
    return (
        f"the balancer gave its servers {got} of {shares['connections'].sum():.0f} connections, expected {expected}: "
        "compare the number of clients with the scheduler, and the throughput of each client",
    )


def measure(run_folder: Path, quantile: float) -> Measured | None:
    """What a finished run showed, of all its generators together; None where it did not finish.

    Parameters
    ----------
    run_folder : pathlib.Path
        With its `run.json`.
    quantile : float
        Of the latency, 0 < quantile < 1.

    Raises
    ------
    ParseError
        When a file of the run does not hold what its tool writes.
    """
    if read_run(run_folder).status != "finished":
        return None
    tables = read_reports(run_folder).tables
    runs = tables["runs"]
    answered = runs[runs["requests"].fillna(0) > 0]
    return Measured(
        throughput_rps=float(runs["throughput_rps"].sum(min_count=1)),
        latency_mean_s=_mean(answered),
        received_bytes_per_s=float(runs["received_bytes_per_s"].sum(min_count=1)),
        failed_ratio=failed_ratio(runs),
        latency_s=_latency_s(answered, tables["histogram"], tables["latency"], quantile),
        cpu_other_ratio=float(runs["cpu_other_ratio"].max()),
        cpu_steal_ratio=float(runs["cpu_steal_ratio"].max()),
    )


def _mean(answered: pd.DataFrame) -> float:
    """Mean of the responses of all generators that had any: each one's mean by its number of responses."""
    means, responses = (answered[name].to_numpy(float, na_value=np.nan) for name in ("latency_mean_s", "requests"))
    return float(np.average(means, weights=responses)) if len(answered) else np.nan


def _latency_s(answered: pd.DataFrame, histogram: pd.DataFrame, printed: pd.DataFrame, quantile: float) -> float:
    """Latency at a quantile: from the histograms of all generators with responses, else as the only one printed it."""
    # Where a tool gives both, the one that counts the requests which a stalled server kept from being sent.
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


def _records(folder: Path) -> dict[Path, int]:
    """When each record of a run was written."""
    return {path: (path / "run.json").stat().st_mtime_ns for path in run_folders(folder)}


def _report(folder: Path, report: Callable[[str], None]) -> None:
    for line in summarise_launch(folder):
        report(line)
