"""Launch a study, or measure one point from Python.

Finished runs are kept; the next launch of the same folder repeats the others, and unpacks packed runs before it does.
"""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from tqdm import tqdm  # a line of text: `tqdm.auto` warns in every notebook that has no ipywidgets

from loadcurve.errors import LabError, LoadcurveError
from loadcurve.files import paths
from loadcurve.files.paths import shown
from loadcurve.lab.hosts import capabilities, facts, ssh
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network import unused_block
from loadcurve.lab.run.allowed_targets import check_targets
from loadcurve.lab.run.environment import log_in
from loadcurve.lab.run.obstacles import deployments, first_points, list_obstacles, packages_of
from loadcurve.lab.run.own_programs import check_trusted
from loadcurve.lab.run.quiet import disturbance, wait_until_quiet
from loadcurve.lab.run.record import translate_disk_full
from loadcurve.lab.run.resume import (
    as_written,
    check_folder,
    check_same_machine,
    folder_for,
    is_finished,
    lock_folder,
    put_in_place,
)
from loadcurve.lab.run.run_point import LaunchContext, run_point
from loadcurve.lab.schedule.feedback import Feedback
from loadcurve.lab.schedule.order import max_points, points_of
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import TopologySection, check_study, read_checked, settings_of
from loadcurve.lab.study_file.study_file import settings_of_point
from loadcurve.runtime.jupyter import progress_stream
from loadcurve.runtime.output import visible
from loadcurve.runtime.signals import deferred, pause
from loadcurve.study import Run, Study
from loadcurve.study.archive import opened, unpack
from loadcurve.study.manifest import list_run
from loadcurve.study.records import fingerprint, read_run, read_study, run_folders

_FORM = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


class LaunchProgress:
    """Number of runs so far, with the time left, on a terminal or in a notebook; elsewhere only a line for each run."""

    def __init__(self, name: str, runs: int, adaptive: bool, feedback: Feedback | None) -> None:
        self._feedback, self._longest = feedback, 0
        self._most, self._of = runs, "of at most" if adaptive else "of"
        stream = progress_stream()
        self._bar = tqdm(
            total=runs, desc=visible(name), unit="run", bar_format=_FORM, file=stream, disable=stream is None
        )
        self._ended = 0

    def __enter__(self) -> "LaunchProgress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        if kind is None:
            self._bar.total = self._ended
        self._bar.set_postfix_str("")
        self._bar.close()

    def begin(self, run_id: str) -> None:
        """Show which run has begun."""
        self._bar.set_postfix_str(visible(run_id))

    def repeat(self, run: Run, folder: Path) -> None:
        """Report a run that is measured again, as other processes disturbed it."""
        if self._feedback is not None:
            again = f"measured again: {disturbance(run.background)}"
            self._feedback.report(f"{run.run_id}  {self._feedback.describe(run, folder)}; {again}")

    def end(self, run: Run, folder: Path) -> None:
        """Count a run that ended, and report what it measured."""
        self._ended += 1
        if self._feedback is not None:
            self._longest = max(self._longest, len(run.run_id))
            number = f"run {self._ended:{len(str(self._most))}} {self._of} {self._most}"
            self._feedback.report(f"{number}  {run.run_id:{self._longest}}  {self._feedback.describe(run, folder)}")
        self._bar.update()


def launch(
    study: Study,
    folder: Path,
    *,
    public: bool = False,
    quiet: bool = False,
    again: bool = False,
    trusted: bool = True,
    feedback: Feedback | None = None,
) -> list[Path]:
    """Run every point of `study` that is not finished in `folder`; return all run folders.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study, which bears its name; created with its `study.yml` where it does not exist.
    public : bool
        Whether targets that the study names may be public addresses.
    quiet : bool
        Whether to wait until other processes leave the processors, and to measure runs again that they disturbed.
    again : bool
        Whether this holds for the finished runs of `folder` too.
    trusted : bool
        Whether the caller answers for the programs of the study and the hosts that it loads; pass False for a file of
        somebody else, so that it runs only what a design has or ``loadcurve launch --trust`` has recorded.
    feedback : Feedback, optional
        How a study with a search or a stop rule measures its runs; see `loadcurve.launching`.

    Raises
    ------
    LoadcurveError
        Before anything is started: one line for each error in the study.
    LabError
        Before anything is started: when a tool is missing, a remote host cannot be reached or has no module that it
        needs, a target is not allowed, the folder holds another study or runs of another machine, or another launch
        writes into it, or, if `quiet`, other processes keep using the processors.  At the end: when a run failed.
    KeyboardInterrupt
        After the processes of the current run have ended and the run is marked interrupted.

    Examples
    --------
    >>> launch(Study("quick", "Does it start?", repeats=1), Path("data/studies/quick"))  # doctest: +SKIP
    [PosixPath('data/studies/quick/c0001-r1')]
    """
    check_study(study)
    if not trusted:
        check_trusted(study)
    settings = settings_of(study)
    if (adaptive := settings.search is not None or settings.stop is not None) and again:
        raise LabError("each run is chosen by the runs before it: launch the study under another name instead")
    addresses = check_targets(study, public=public)
    obstacles = list_obstacles(study)
    if not obstacles.empty:
        packages = packages_of(obstacles)
        ways = [f"{row.obstacle}: {row.remedy}" for row in obstacles.itertuples()]
        if len(packages) > 1:
            ways.append(
                f"all of them: apt-get install --no-install-recommends {' '.join(packages)}, or launch with --install"
            )
        raise LabError("; ".join(ways))
    topologies = _topologies(study)
    points = points_of(study, settings, folder, feedback)
    check_folder(study, folder)
    here = facts.facts()
    with deferred(), lock_folder(folder), log_in(topologies) as logins, _remote_executors(logins, folder) as executors:
        with translate_disk_full():
            put_in_place(folder)  # what a launch that was killed had measured again
        check_same_machine(folder, here, {url: executor.facts() for url, executor in executors.items()})
        remote = {url: capabilities.there(executor) for url, executor in executors.items()}
        for _ in deployments(study, capabilities.here(), remote) if remote else ():
            pass  # raises for a remote host without a program, before anything is started
        block = unused_block() if any(topology.recipe != "loopback" for topology in topologies) else ""
        context = LaunchContext(here, block, capabilities.here(), remote, logins, public, addresses)
        context = replace(context, judge=feedback.judge) if feedback is not None else context
        runs = [read_run(run) for run in run_folders(folder)]
        finished = sum(run.status == "finished" and not (again and disturbance(run.background)) for run in runs)
        left = max(max_points(study, settings) - finished, 0)
        if quiet and left:
            wait_until_quiet()
        if finished and feedback is not None:
            following = (
                "continuing the study" if adaptive else f"launching the other {left}" if left else "none is left"
            )
            held = f"{finished} run{'s are' if finished > 1 else ' is'} finished"
            feedback.report(f"{shown(folder)}: {held}; {following}")
        with LaunchProgress(study.study, left, adaptive, feedback) as progress:
            failed, made = _run_all(study, points, folder, context, progress, _TRIES if quiet else 1, again)
    if failed:
        raise LabError(f"{len(failed)} of {made} runs failed: {', '.join(failed)}; launch again to repeat them")
    return run_folders(folder)


_TRIES = 3
"""Of a run that other processes disturb: one that is disturbed three times shows what this machine is like."""


def _run_all(
    study: Study,
    points: Iterator[Point],
    folder: Path,
    context: LaunchContext,
    progress: LaunchProgress,
    tries: int,
    again: bool,
) -> tuple[list[str], int]:
    """Run the points that are not finished; return the failed runs with their reasons, and the number of runs."""
    failed: dict[str, str] = {}
    made = 0
    for point in points:
        own = folder / point.run_id
        if is_finished(point, held := opened(own)) and not (again and disturbance(read_run(held).background)):
            list_run(folder, point.run_id, read_run(held).seal)
            continue
        unpack(folder)
        progress.begin(point.run_id)
        pause(study.rest_s if made else 0.0)
        for left in reversed(range(tries)):
            with translate_disk_full():
                place = folder_for(folder, point.run_id)
            try:
                run = run_point(study, settings_of_point(study, dict(point.settings)), point, place, context)
            finally:
                with translate_disk_full():
                    put_in_place(folder)
            with translate_disk_full():
                list_run(folder, point.run_id, read_run(own).seal)
            made += 1
            if run.status != "finished" or not left or not disturbance(run.background):
                break
            progress.repeat(run, own)
        progress.end(run, own)
        failed.pop(run.run_id, None)
        if run.status != "finished":
            kept = "; the earlier measurement is kept, --again repeats it" if place != own else ""
            failed[run.run_id] = f"{run.run_id} ({run.reason}{kept})"
    return list(failed.values()), made


@contextlib.contextmanager
def _remote_executors(logins: Mapping[str, ssh.Connection], folder: Path) -> Iterator[dict[str, ssh.RemoteExecutor]]:
    """Yield ssh URL → an executor on that host, for commands that concern the whole launch."""
    with contextlib.ExitStack() as stack:
        executors = {}
        for url, connection in logins.items():
            executors[url] = ssh.open_executor(connection, Host(url, ssh.parse_url(url).host), folder)
            stack.callback(executors[url].close)
        yield executors


def _topologies(study: Study) -> list[TopologySection]:
    """The distinct topologies of the points, since variants and levels may change it."""
    points = {repr(point.settings["topology"]): point for point in first_points(study)}
    return [settings_of_point(study, dict(point.settings)).topology for point in points.values()]


@dataclass(frozen=True)
class Measurement:
    """The result of `measure_here`.

    Attributes
    ----------
    folder : pathlib.Path
        The study's folder under ``build/studies``.
    finished : int
        Number of finished runs in it.
    reason : str
        Why runs are missing (a missing tool, a failed run); empty when every run finished.

    Examples
    --------
    >>> Measurement(Path("build/studies/here"), finished=12, reason="").finished
    12
    """

    folder: Path
    finished: int
    reason: str


def measure_here(
    study: str | Path,
    *,
    name: str,
    seconds: float,
    repeats: int,
    afresh: bool = False,
    feedback: Feedback | None = None,
) -> Measurement:
    """Launch a study under another name with another duration and number of repeats.

    What this machine cannot run is reported in the result and raises no error.

    Parameters
    ----------
    study : str or pathlib.Path
        Name of a study, its folder, or its `study.yml`.
    name : str
        The copy's name, and that of its folder under ``build/studies``.
    seconds : float
        Duration of the load at each point, in s, at least 1.
    repeats : int
        Repeats of each point, at least 1.
    afresh : bool
        Whether a copy of that name is removed first if it has other settings, or was changed or damaged.
    feedback : Feedback, optional
        How a study with a search or a stop rule measures its runs; see `loadcurve.launching`.

    Raises
    ------
    ParseError, LoadcurveError
        When the study does not exist or is invalid, or the copy is of another study and `afresh` is False.

    Examples
    --------
    >>> here = measure_here("connections_on_loopback", name="here", seconds=1, repeats=1)  # doctest: +SKIP
    >>> here.finished, here.reason  # doctest: +SKIP
    (20, '')
    """
    recorded = read_checked(paths.study_folder(study))
    short = replace(recorded, study=name, load={**recorded.load, "duration_s": float(seconds)}, repeats=repeats)
    folder = paths.build() / "studies" / name
    if folder.exists() and not _holds(folder, short):
        if not afresh:
            raise LoadcurveError(
                f"{paths.shown(folder)} holds another study, or one with other seconds, repeats or settings: "
                "give another name, or remove the folder"
            )
        shutil.rmtree(folder)
    try:
        launch(short, folder, trusted=False, feedback=feedback)
        reason = ""
    except LabError as error:
        reason = str(error)
    finished = sum(read_run(run).status == "finished" for run in run_folders(folder))
    return Measurement(folder, finished, reason)


def _holds(folder: Path, study: Study) -> bool:
    """Whether a folder holds this study, with every run as it was recorded."""
    try:
        return as_written(read_study(folder)) == as_written(study) and all(map(_is_as_recorded, run_folders(folder)))
    except LoadcurveError:
        return False


def _is_as_recorded(folder: Path) -> bool:
    files = read_run(folder).files
    return all((folder / name).is_file() and fingerprint(folder / name) == known for name, known in files.items())
