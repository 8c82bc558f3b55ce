"""One run: start hosts, servers, monitors and generators, stop them in reverse order, and record all they printed."""

import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.lab.hosts import background
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL, both_clocks, clock_step
from loadcurve.lab.hosts.ssh import Connection
from loadcurve.lab.run.allowed_targets import check_target, is_on_this_machine, targets
from loadcurve.lab.run.deployment import Deployment, deploy, host_slots, processors
from loadcurve.lab.run.environment import Environment, prepared
from loadcurve.lab.run.record import (
    FULL,
    Record,
    factors_of,
    finish,
    missing_reports,
    release,
    reserve,
    tool_on_host,
    translate_disk_full,
)
from loadcurve.lab.run.session import RunSession
from loadcurve.lab.schedule.background_warnings import warnings_of_run
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.tools.balancers.functions import FunctionTest
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.runtime.signals import interrupted
from loadcurve.study import Command, Run, Study
from loadcurve.study.manifest import list_run
from loadcurve.study.records import write_run
from loadcurve.study.run import FUNCTIONS

_END = "end.txt"


def run_functions(test: FunctionTest, folder: Path, record: Record) -> tuple[str, str]:
    """Run a functional test in the folder of a run; return the run's status and reason.

    Whether the functions work is judged later, from the files; a run is finished when the test reached its end.
    """
    executor = LocalExecutor(LOCAL, folder)
    executor.put(test.files)
    (folder / "functions.sh").chmod(0o755)  # the first process of another kernel
    argv = executor.argv(test.argv(), test.limit_s)
    command = Command(FUNCTIONS, test.balancer, argv, "functions.console.txt", "functions.err", test.limit_s)
    started = executor.start(command)
    number = record.number()
    try:
        ended = executor.wait(started)
    except BaseException:
        record.commands.append((number, executor.stop(started)))
        raise
    record.commands.append((number, ended))
    if not (folder / _END).is_file():
        return "failed", f"the functional test did not reach its end (exit code {ended.exit_code}), see errors.txt"
    return "finished", ""


# Tools check the clock after each response, and start their load shortly after their process starts.
_MIN_RATIO = 0.95


def ended_early(generators: Iterable[Command], seconds: float) -> list[str]:
    """Return a warning for each generator that sent its load for less than the requested duration.

    `seconds` is how long each was to last; 0 where requests end them.
    """
    found = []
    for command in generators:
        begun, ended = (datetime.fromisoformat(at) for at in (command.started_at, command.ended_at))
        lasted_s = (ended - begun).total_seconds()
        if command.exit_code == 0 and lasted_s < _MIN_RATIO * seconds:
            most = GENERATORS[command.tool].max_requests if command.tool in GENERATORS else 0
            why = f": it sends at most {most:,} requests" if most else ""
            found.append(f"{tool_on_host(command)} ended after {lasted_s:.1f} s of a load of {seconds:g} s{why}")
    return found


# Wall clock and monotonic clock, in s, of each remote host; of this machine, the name is empty.
_Clocks = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class LaunchContext:
    """What all runs of a launch share."""

    here: dict[str, Any]  # Facts of this machine, see `hosts.facts`
    block: str  # Address block of the networks that the laboratory creates
    programs: Programs  # Paths of programs whose names differ between distributions
    remote: Mapping[str, Programs] = field(default_factory=dict)  # ssh URL of each remote host → the same there
    logins: Mapping[str, Connection] = field(default_factory=dict)  # ssh URL of each remote host → its connection
    public: bool = False  # Whether targets that the study names may be public addresses
    addresses: Mapping[str, str] = field(default_factory=dict)  # As `check_targets` returned them
    judge: Callable[..., tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())  # As in `Feedback`


def run_point(study: Study, settings: StudyFile, point: Point, folder: Path, context: LaunchContext) -> Run:
    """Run one point, from an empty folder to a `run.json` that records how it ended.

    A run is finished when every generator ended as planned and wrote a readable report with a successful response, the
    servers were still running then, the disk was not full, and the clock was not set.  A monitor that ended early or
    wrote nothing leaves only a warning, because the load itself was sent.

    Raises LabError when the disk is full before the run starts; KeyboardInterrupt after all processes have ended and
    the run is marked interrupted, even if the clean-up failed; any other error after the run is marked failed with it.
    """
    slots = host_slots(settings, context.block)
    deployment = deploy(settings, slots, context.programs, context.remote, context.addresses)
    factors = factors_of(settings, point, deployment)
    warnings = _warnings_before(settings, deployment)
    run = Run(study.study, point.run_id, "running", factors, context.here, warnings=warnings)
    try:
        with translate_disk_full():
            list_run(folder.parent, run.run_id)  # first, so that no reader finds a folder that is not listed
            _empty(folder)
            write_run(run, folder)
            reserve(folder)
    except LabError:
        shutil.rmtree(folder, ignore_errors=True)  # nothing was started
        raise
    secrets = dict.fromkeys(name for loader in deployment.loaders for name in loader.load.secrets)
    record, clocks = Record(secrets=tuple(secrets)), both_clocks()
    status, reason = "interrupted", ""
    try:
        with translate_disk_full():
            status, reason = _run(study, settings, deployment, folder, context, record)
        if status == "finished" and (missing := missing_reports(deployment, record, folder)):
            status, reason = "failed", missing
    except Exception as error:
        if by := interrupted():
            record.warnings.append(f"interrupted, and then: {error}")
            raise KeyboardInterrupt(by) from error
        status, reason = "failed", str(error)
        if not isinstance(error, LabError):
            reason = f"{type(error).__name__}: {error}"
            raise
    finally:
        release(folder)
        if status == "interrupted":
            reason = f"the launcher was interrupted by {signal.Signals(interrupted() or signal.SIGINT).name}"
        elif record.full:
            status, reason = "failed", f"{FULL}: what the tools wrote may be cut"
        if step := clock_step(clocks, both_clocks()):
            record.warnings.append(_clock_warning(step))
        # A run without any response is valid where the study searches for the capacity, or injects a fault.
        meant = bool(settings.fault.kind) or (settings.search is not None and settings.search.capacity is not None)
        judge = partial(context.judge, meant=meant)
        run = finish(replace(run, status=status, reason=reason), record, folder, judge)
    return run


def _empty(folder: Path) -> None:
    """Remove what an unfinished run left, but its record, which the new one replaces: a reader always finds one."""
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "run.json":
            path.unlink()


def _warnings_before(settings: StudyFile, deployment: Deployment) -> tuple[str, ...]:
    if settings.topology.machines or not deployment.services or len(os.sched_getaffinity(0)) > 1:
        return ()
    return ("one processor: server and generator share it, so the curve is that of both",)


def _clock_warning(step: str) -> str:
    return f"{step} during the run: times before and after do not fit each other"


def _step_of_generators(deployment: Deployment, before: _Clocks, after: _Clocks) -> str:
    """Return which step the clock of a generator's host made in the load; wrk and ab measure with that clock."""
    hosts = dict.fromkeys(loader.host if loader.host in after else "" for loader in deployment.loaders)
    steps = [step for name in hosts if (step := clock_step(before[name], after[name], name))]
    return steps[-1] if steps else ""


def _run(
    study: Study, settings: StudyFile, deployment: Deployment, folder: Path, context: LaunchContext, record: Record
) -> tuple[str, str]:
    """Create the hosts, start everything, wait for the load; return the run's status and reason."""
    if deployment.functions is not None:
        return run_functions(deployment.functions, folder, record)
    folders = [name for _, service in deployment.services for name in service.folders]
    if deployment.balanced and deployment.balanced.service:
        folders += deployment.balanced.service.folders
    with contextlib.ExitStack() as stack:
        environment = stack.enter_context(prepared(settings, deployment, folder, context.logins))
        for executor in {id(executor): executor for executor in environment.watch.values()}.values():
            stack.callback(executor.fetch, folders)
        stack.callback(record.note_full_disk, folder)
        for url in (url for url in targets(deployment) if urlsplit(url).netloc not in deployment.addresses):
            check_target(url, study.allow_targets, networks=environment.own, public=context.public)
        stack.callback(lambda: record.hosts.update(environment.facts()))
        session = RunSession(settings, deployment, environment, folder, record, stack, study.warm_up_s)
        begun = environment.remote_clocks()
        session.start_servers()
        stack.callback(record.note_full_disk, folder)  # servers remove files when they end
        watching = session.start_monitors()
        session.warm_up()
        before, used = environment.remote_clocks() | {"": both_clocks()}, sample_background(environment)
        done = session.send_load(deployment.loaders, "generator")
        record.background = background_between(settings, deployment, environment, used, sample_background(environment))
        record.warnings += warnings_of_run(record.background)
        outcome = session.outcome(done)
        record.warnings += ended_early((command for _, command in done), settings.load.seconds)
        after = environment.remote_clocks() | {"": both_clocks()}
        if step := _step_of_generators(deployment, before, after):
            outcome = "failed", f"{step} while the load ran: what the generators say of its time is wrong"
        record.warnings += [
            _clock_warning(step) for name in begun if (step := clock_step(begun[name], after[name], name))
        ]
        for started in watching:
            if started.process.poll() is not None:
                record.warnings.append(f"{tool_on_host(started.command)} ended before the load did")
    return outcome


_ROLES = ("S1", "C1", "LB")  # on loopback each role has its own processors


def sample_background(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return the CPU time used so far on each machine: ``local`` and each remote host by name."""
    here = [executor for executor in environment.watch.values() if executor.is_here]
    found = {"local": here[0].processor_use()} if here else {}
    return found | {
        name: executor.processor_use() for name, executor in environment.watch.items() if not executor.is_here
    }


def background_between(
    settings: StudyFile,
    deployment: Deployment,
    environment: Environment,
    before: dict[str, dict[str, Any]],
    after: dict[str, dict[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Return the record of each machine between two samples of `sample`.

    An existing server on the same machine is not a process of the run and cannot be distinguished from others, so only
    steal is recorded there.
    """
    url = settings.server.url
    host = "" if url is None else str(urlsplit(url).hostname)
    address = "" if url is None else deployment.addresses.get(urlsplit(url).netloc, host)
    here = [name for name, executor in environment.watch.items() if executor.is_here]
    found = {}
    for machine in before:
        names = here if machine == "local" else [machine]
        used = _used(settings, deployment, names) or (os.sched_getaffinity(0) if machine == "local" else ())
        found[machine] = background.between(before[machine], after[machine], used)
        if url is not None and (machine != "local" or is_on_this_machine(address)):
            del found[machine]["other_cpu_s"]
    return found


def _used(settings: StudyFile, deployment: Deployment, names: list[str]) -> set[int]:
    """Processors that the hosts of a machine use; empty if one of them may use all."""
    roles = _ROLES if "local" in names else _ROLES[:1]
    each = [processors(settings, deployment.slots, name, role) for name in names for role in roles]
    return set().union(*each) if all(each) else set()
