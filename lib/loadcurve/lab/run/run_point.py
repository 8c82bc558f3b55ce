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
from loadcurve.lab.deployment import Deployment, deploy
from loadcurve.lab.deployment.host_slot import host_slots
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.clock import both_clocks, clock_step
from loadcurve.lab.hosts.signals import interrupted
from loadcurve.lab.hosts.ssh import Connection
from loadcurve.lab.preflight.allowed_targets import check_target, targets
from loadcurve.lab.run import background_load, disk_reserve
from loadcurve.lab.run.early_exit import ended_early
from loadcurve.lab.run.environment import prepared
from loadcurve.lab.run.record import Record, closed, factors_of, named, without_report
from loadcurve.lab.run.session import RunSession
from loadcurve.lab.schedule.background_warnings import warnings_of_run
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import StudyFile
from loadcurve.manifest import list_run
from loadcurve.records import write_run
from loadcurve.study import Run, Study


@dataclass(frozen=True)
class LaunchContext:
    """What all runs of a launch share.

    Attributes
    ----------
    here : dict
        Facts of this machine.
    block : str
        Addresses of the laboratory's own networks.
    programs : Programs
        Where programs are that have no one name.
    remote : mapping of str to Programs
        The same on machines by ssh, by their URLs.
    logins : mapping of str to Connection
        Machines that are logged in to.
    public : bool
        Whether targets that the study names may be public addresses.
    judge : callable
        As in `Feedback`.
    """

    here: dict[str, Any]
    block: str
    programs: Programs
    remote: Mapping[str, Programs] = field(default_factory=dict)
    logins: Mapping[str, Connection] = field(default_factory=dict)
    public: bool = False
    judge: Callable[..., tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())


def run_point(study: Study, settings: StudyFile, point: Point, folder: Path, around: LaunchContext) -> Run:
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
    deployment = deploy(settings, host_slots(settings, around.block), around.programs, around.remote)
    factors = factors_of(settings, point, deployment)
    run = Run(study.study, point.run_id, "running", factors, around.here, warnings=_beforehand(settings, deployment))
    try:
        with disk_reserve.told():
            write_run(run, folder)
            disk_reserve.take(folder)
            list_run(folder.parent, run.run_id)
    except LabError:
        shutil.rmtree(folder)  # nothing was begun
        raise
    record, clocks = Record(), both_clocks()
    status, reason = "interrupted", ""
    try:
        with disk_reserve.told():
            status, reason = _run(study, settings, deployment, folder, around, record)
        if status == "finished" and (lacking := without_report(deployment, record, folder)):
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
        disk_reserve.release(folder)
        if status == "interrupted":
            reason = f"the launcher was interrupted by {signal.Signals(interrupted() or signal.SIGINT).name}"
        elif record.full:
            status, reason = "failed", f"{disk_reserve.FULL}: what the tools wrote may be cut"
        if step := clock_step(clocks, both_clocks()):
            record.warnings.append(_unfit(step))
        judge = partial(around.judge, meant=_breaks(settings))
        run = closed(replace(run, status=status, reason=reason), record, folder, judge)
    return run


def _breaks(settings: StudyFile) -> bool:
    """Whether the study means to bring the server to where it gives no response: then that is a result."""
    return bool(settings.fault.kind) or (settings.search is not None and settings.search.capacity is not None)


def _beforehand(settings: StudyFile, deployment: Deployment) -> tuple[str, ...]:
    if settings.topology.machines or not deployment.services or len(os.sched_getaffinity(0)) > 1:
        return ()
    return ("one processor: server and generator share it, so the curve is that of both",)


def _unfit(step: str) -> str:
    return f"{step} during the run: times before and after do not fit each other"


def _run(
    study: Study, settings: StudyFile, deployment: Deployment, folder: Path, around: LaunchContext, record: Record
) -> tuple[str, str]:
    """Make the hosts, start everything, wait for the load; return the run's status and reason."""
    folders = [name for _, service in deployment.services for name in service.folders]
    if deployment.balanced and deployment.balanced.service:
        folders += deployment.balanced.service.folders
    with contextlib.ExitStack() as stack:
        environment = stack.enter_context(prepared(settings, deployment, folder, around.logins))
        for place in {id(place): place for place in environment.watch.values()}.values():
            stack.callback(place.fetch, folders)
        stack.callback(record.look_for_room, folder)
        for url in targets(deployment):
            check_target(url, study.allow_targets, networks=environment.own, public=around.public)
        stack.callback(lambda: record.hosts.update(environment.facts()))
        session = RunSession(settings, deployment, environment, folder, record, stack, study.warm_up_s)
        begun = environment.remote_clocks()
        session.serve()
        stack.callback(record.look_for_room, folder)  # servers remove files of theirs when they end
        watching = session.watch()
        session.warm_up()
        before, used = environment.remote_clocks() | {"": both_clocks()}, background_load.sample(environment)
        done = session.load(deployment.loaders, "generator")
        record.background = background_load.between(
            settings, deployment, environment, used, background_load.sample(environment)
        )
        record.warnings += warnings_of_run(record.background)
        verdict = session.verdict(done)
        record.warnings += ended_early((command for _, command in done), settings.load.seconds)
        after = environment.remote_clocks() | {"": both_clocks()}
        for name in dict.fromkeys(loader.host if loader.host in after else "" for loader in deployment.loaders):
            if step := clock_step(before[name], after[name], name):  # wrk and ab take it for the time of their load
                verdict = "failed", f"{step} while the load ran: what the generators say of its time is wrong"
        record.warnings += [_unfit(step) for name in begun if (step := clock_step(begun[name], after[name], name))]
        for started in watching:
            if started.process.poll() is not None:
                record.warnings.append(f"{named(started.command)} ended before the load did")
    return verdict
