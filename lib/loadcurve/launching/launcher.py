"""Launch a study, and report how it ended."""

import signal
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from loadcurve import lab
from loadcurve.errors import LabError
from loadcurve.lab.hosts.network import clean
from loadcurve.lab.hosts.signals import signal_of
from loadcurve.launching.run_feedback import feedback
from loadcurve.launching.summary import describe_launch
from loadcurve.paths import shown
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders


def launch(
    study: Study,
    folder: Path,
    *,
    public: bool = False,
    log: Callable[[str], None] = tqdm.write,
    report: Callable[[str], None] = tqdm.write,
) -> list[Path]:
    """Remove what killed launches left, run a study, and report its runs at the end.

    A study with a search or a stop rule chooses each run by the results of the earlier ones.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study.
    public : bool
        Whether targets that the study names may be public addresses.
    log : callable
        Receives sentences for the user: what a killed launch left, and how a search or a stop ends.  By default they
        are printed above the progress bar.
    report : callable
        Receives each line of the summary (`describe_launch`), also when runs failed.

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


def _records(folder: Path) -> dict[Path, int]:
    """Return when each `run.json` was written."""
    return {path: (path / "run.json").stat().st_mtime_ns for path in run_folders(folder)}


def _report(folder: Path, report: Callable[[str], None]) -> None:
    for line in describe_launch(folder):
        report(line)
