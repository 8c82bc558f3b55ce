"""Launch a study, and report how it ended."""

import signal
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from loadcurve import lab
from loadcurve.audit.registry import all_rules
from loadcurve.audit.settings import study_settings
from loadcurve.errors import LabError, LoadcurveError
from loadcurve.files.paths import shown
from loadcurve.lab.hosts.network import clean
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.study_file import read_checked, settings_of
from loadcurve.launching.run_feedback import feedback
from loadcurve.launching.summary import describe_launch
from loadcurve.runtime.jupyter import in_kernel
from loadcurve.runtime.signals import signal_of
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders


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
    """Return the last line of an interrupted launch: the signal, what is kept, and what to do next.

    Parameters
    ----------
    interrupt : KeyboardInterrupt
        As `launch` raised it.
    folder : pathlib.Path
        Folder of the study.
    """
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
