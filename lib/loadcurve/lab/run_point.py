"""One run: hosts, servers, monitors and generators started together, stopped in order, everything they said kept."""

import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab import neighbours, reserve
from loadcurve.lab.arrangement import Arrangement, arrange
from loadcurve.lab.clocks import both_clocks, clock_step
from loadcurve.lab.guard import check_target, targets
from loadcurve.lab.interrupts import interrupted
from loadcurve.lab.plan import Point
from loadcurve.lab.programs import Programs
from loadcurve.lab.recording import Record, closed, factors_of, named, without_report
from loadcurve.lab.scene import Scene
from loadcurve.lab.sections import StudyFile
from loadcurve.lab.shortfall import ended_early
from loadcurve.lab.ssh import Connection
from loadcurve.lab.stage import sites_of, staged
from loadcurve.manifest import list_run
from loadcurve.records import write_run
from loadcurve.study import Run, Study


@dataclass(frozen=True)
class Around:
    """What all runs of a launch share.

    Attributes
    ----------
    here : dict
        Facts of this machine.
    block : str
        Addresses of the laboratory's own networks.
    programs : Programs
        Where programs are that have no one name.
    afar : mapping of str to Programs
        The same on machines by ssh, by their URLs.
    logins : mapping of str to Connection
        Machines that are logged in to.
    public : bool
        Whether targets that the study names may be public addresses.
    judge : callable
        As in `Eyes`.
    """

    here: dict[str, Any]
    block: str
    programs: Programs
    afar: Mapping[str, Programs] = field(default_factory=dict)
    logins: Mapping[str, Connection] = field(default_factory=dict)
    public: bool = False
    judge: Callable[..., tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())


def run_point(study: Study, settings: StudyFile, point: Point, folder: Path, around: Around) -> Run:
    """One run, from an empty folder to a `run.json` that says how it ended.

    A run is finished when every generator ended as planned and left its report, the report can be read and has a
    successful response, the servers outlived them, there was room on the disk, and nobody set the clock meanwhile.  A
    monitor that ended early or wrote nothing leaves a warning: the load was real, but something that should have
    watched it did not.

    Raises
    ------
    LabError
        When there is no room on the disk to begin it.
    KeyboardInterrupt
        After all is ended and the run is marked interrupted, also where cleaning up failed.
    Exception
        Whatever nobody foresaw, after the run is marked failed for it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    arrangement = arrange(settings, sites_of(settings, around.block), around.programs, around.afar)
    factors = factors_of(settings, point, arrangement)
    run = Run(study.study, point.run_id, "running", factors, around.here, warnings=_beforehand(settings, arrangement))
    try:
        with reserve.told():
            write_run(run, folder)
            reserve.take(folder)
            list_run(folder.parent, run.run_id)
    except LabError:
        shutil.rmtree(folder)  # nothing was begun
        raise
    record, clocks = Record(), both_clocks()
    status, reason = "interrupted", ""
    try:
        with reserve.told():
            status, reason = _run(study, settings, arrangement, folder, around, record)
        if status == "finished" and (lacking := without_report(arrangement, record, folder)):
            status, reason = "failed", lacking
    except Exception as error:
        if by := interrupted():
            record.warnings.append(f"interrupted, and then: {error}")
            raise KeyboardInterrupt(by) from error
        status, reason = "failed", str(error)
        if not isinstance(error, LabError):
            reason = f"{type(error).__name__}: {error}"
            raise
    finally:
        reserve.release(folder)
        if status == "interrupted":
            reason = f"the launcher was interrupted by {signal.Signals(interrupted() or signal.SIGINT).name}"
        elif record.full:
            status, reason = "failed", f"{reserve.FULL}: what the tools wrote may be cut"
        if step := clock_step(clocks, both_clocks()):
            record.warnings.append(_unfit(step))
        judge = partial(around.judge, meant=_breaks(settings))
        run = closed(replace(run, status=status, reason=reason), record, folder, judge)
    return run


def _breaks(settings: StudyFile) -> bool:
    """Whether the study means to bring the server to where it gives no response: then that is a result."""
    return bool(settings.fault.kind) or (settings.search is not None and settings.search.capacity is not None)


def _beforehand(settings: StudyFile, arrangement: Arrangement) -> tuple[str, ...]:
    if settings.topology.machines or not arrangement.services or len(os.sched_getaffinity(0)) > 1:
        return ()
    return ("one processor: server and generator share it, so the curve is that of both",)


def _unfit(step: str) -> str:
    return f"{step} during the run: times before and after do not fit each other"


def _run(
    study: Study, settings: StudyFile, arrangement: Arrangement, folder: Path, around: Around, record: Record
) -> tuple[str, str]:
    """Make the hosts, start everything, wait for the load; return the run's status and reason."""
    folders = [name for _, service in arrangement.services for name in service.folders]
    if arrangement.balanced and arrangement.balanced.service:
        folders += arrangement.balanced.service.folders
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(staged(settings, arrangement, folder, around.logins))
        for place in {id(place): place for place in stage.watch.values()}.values():
            stack.callback(place.fetch, folders)
        stack.callback(record.look_for_room, folder)
        for url in targets(arrangement):
            check_target(url, study.allow_targets, networks=stage.own, public=around.public)
        stack.callback(lambda: record.hosts.update(stage.facts()))
        scene = Scene(settings, arrangement, stage, folder, record, stack, study.warm_up_s)
        begun = stage.far_clocks()
        scene.serve()
        stack.callback(record.look_for_room, folder)  # servers remove files of theirs when they end
        watching = scene.watch()
        scene.warm_up()
        before, used = stage.far_clocks() | {"": both_clocks()}, neighbours.sample(stage)
        done = scene.load(arrangement.loaders, "generator")
        record.background = neighbours.between(settings, arrangement, stage, used, neighbours.sample(stage))
        record.warnings += neighbours.warnings(record.background)
        verdict = scene.verdict(done)
        record.warnings += ended_early((command for _, command in done), settings.load.seconds)
        after = stage.far_clocks() | {"": both_clocks()}
        for name in dict.fromkeys(loader.host if loader.host in after else "" for loader in arrangement.loaders):
            if step := clock_step(before[name], after[name], name):  # wrk and ab take it for the time of their load
                verdict = "failed", f"{step} while the load ran: what the generators say of its time is wrong"
        record.warnings += [_unfit(step) for name in begun if (step := clock_step(begun[name], after[name], name))]
        for started in watching:
            if started.process.poll() is not None:
                record.warnings.append(f"{named(started.command)} ended before the load did")
    return verdict
