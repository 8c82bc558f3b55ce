"""Run a study: every point of it, in its seeded order or as a search asks, each into a folder of its own.

What is finished stays as it is; what is not is done again by the next `launch` of the same folder.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm  # a line of text: `tqdm.auto` warns in every notebook that has no ipywidgets

from loadcurve.errors import LabError
from loadcurve.lab.hosts import capabilities, facts, ssh
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network import find_block
from loadcurve.lab.hosts.signals import deferred, pause
from loadcurve.lab.preflight.allowed_targets import check_targets
from loadcurve.lab.preflight.obstacles import deployments, find_obstacles, first_points
from loadcurve.lab.run import disk_reserve
from loadcurve.lab.run.environment import connections
from loadcurve.lab.run.resume import adopt, check_same_machine, is_finished, only_launcher
from loadcurve.lab.run.run_point import LaunchContext, run_point
from loadcurve.lab.schedule.order import Feedback, most_points, points_of
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import TopologySection, check_study, settings_of
from loadcurve.lab.study_file.study_file import settings_of_point
from loadcurve.manifest import list_run
from loadcurve.records import read_run, run_folders
from loadcurve.study import Study


def launch(study: Study, folder: Path, *, public: bool = False, feedback: Feedback | None = None) -> list[Path]:
    """Run every point of `study` that `folder` does not yet hold finished; return all its run folders.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study, of the study's name; made, with its `study.yml`, where there is none.
    public : bool
        Whether targets that the study names may be public addresses.
    feedback : Feedback, optional
        What a study that searches or stops sees its runs with; see `loadcurve.launching`.

    Raises
    ------
    LoadcurveError
        Before anything is started: for each fault of the study a line.
    LabError
        Before anything is started: when the machine lacks a tool, one by ssh lacks a module or cannot be reached, a
        target is not allowed, the folder holds another study or the record of another machine, or another launch is at
        work in it.  At the end: when a run failed.
    KeyboardInterrupt
        After the processes of the run at hand are ended and the run is marked interrupted.
    """
    check_study(study)
    settings = settings_of(study)
    check_targets(study, public=public)
    obstacles = find_obstacles(study)
    if not obstacles.empty:
        raise LabError("; ".join(f"{row.obstacle}: {row.remedy}" for row in obstacles.itertuples()))
    topologies = _topologies(study)
    points = points_of(study, settings, folder, feedback)
    adopt(study, folder)
    here = facts.facts()
    with deferred(), only_launcher(folder), connections(topologies) as logins, _afar(logins, folder) as executors:
        check_same_machine(folder, here, {url: executor.facts() for url, executor in executors.items()})
        remote = {url: capabilities.there(executor) for url, executor in executors.items()}
        for _ in deployments(study, capabilities.here(), remote) if remote else ():
            pass  # what a machine lacks is told before anything is started
        around = LaunchContext(here, _block(topologies), capabilities.here(), remote, logins, public)
        around = replace(around, judge=feedback.judge) if feedback is not None else around
        failed, made = _run_all(study, points, folder, around, most_points(study, settings))
    if failed:
        raise LabError(f"{len(failed)} of {made} runs failed: {', '.join(failed)}; launch again to repeat them")
    return run_folders(folder)


def _run_all(
    study: Study, points: Iterator[Point], folder: Path, around: LaunchContext, most: int
) -> tuple[list[str], int]:
    """Run what is not finished; return what failed, each with its reason, and how many runs were made."""
    failed: dict[str, str] = {}
    made = 0
    with tqdm(total=most, desc=study.study, unit="run") as bar:
        for point in points:
            if is_finished(point, folder / point.run_id):
                list_run(folder, point.run_id, read_run(folder / point.run_id).seal)
                bar.total -= 1
                bar.refresh()
                continue
            pause(study.rest_s if made else 0.0)
            run = run_point(study, settings_of_point(study, point.settings), point, folder / point.run_id, around)
            with disk_reserve.told():
                list_run(folder, point.run_id, read_run(folder / point.run_id).seal)
            made += 1
            bar.update()
            failed.pop(run.run_id, None)
            if run.status != "finished":
                failed[run.run_id] = f"{run.run_id} ({run.reason})"
        bar.total = bar.n
        bar.refresh()
    return list(failed.values()), made


@contextlib.contextmanager
def _afar(logins: Mapping[str, ssh.Connection], folder: Path) -> Iterator[dict[str, ssh.RemoteExecutor]]:
    """A place on each machine by ssh, by its URL, for the questions of a whole launch."""
    with contextlib.ExitStack() as stack:
        executors = {}
        for url, connection in logins.items():
            executors[url] = ssh.open_executor(connection, Host(url, ssh.parse_url(url).host), folder)
            stack.callback(executors[url].close)
        yield executors


def _topologies(study: Study) -> list[TopologySection]:
    """Each that a point has, once: variants and levels may name another one."""
    points = {repr(point.settings["topology"]): point for point in first_points(study)}
    return [settings_of_point(study, dict(point.settings)).topology for point in points.values()]


def _block(topologies: Iterable[TopologySection]) -> str:
    """Addresses for networks of the laboratory; empty where no point has one."""
    return find_block() if any(topology.recipe != "loopback" for topology in topologies) else ""
