"""One run: hosts, servers, monitors and generators started together, stopped in order, everything they said kept."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab import monitors, reserve
from loadcurve.lab.arrangement import Arrangement, arrange
from loadcurve.lab.arrangement.loads import Loader, loaders
from loadcurve.lab.arrangement.site import with_role
from loadcurve.lab.balancers.load import loaded
from loadcurve.lab.faults import injected
from loadcurve.lab.generators import common_instant_ns, start_at
from loadcurve.lab.guard import check_target
from loadcurve.lab.network.commands import Invocation
from loadcurve.lab.places import Place
from loadcurve.lab.plan import Point
from loadcurve.lab.process import Started
from loadcurve.lab.programs import Programs
from loadcurve.lab.ready import last_words, wait_until_it_answers
from loadcurve.lab.sections import StudyFile
from loadcurve.lab.service import Service, packed
from loadcurve.lab.ssh import Connection
from loadcurve.lab.stage import Stage, processors, sites_of, staged
from loadcurve.lab.tools import version
from loadcurve.records import fingerprint, write_run
from loadcurve.study import Command, Run, Study

# The monitors' first sample must stand before the load's first second.
_MONITOR_LEAD_S = 0.3
# Servers and monitors outlast the load by what stands around it: starts, warm-up, a fault's end.
_AROUND_S = 40.0
# A clock that is kept by NTP is slewed by at most 500 ppm (RFC 5905, 11.3); what is more was a step.
_STEP_S, _SLEW = 0.05, 0.0005
_PYTHON = "python3"


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
    logins : mapping of str to Connection
        Machines that are logged in to.
    public : bool
        Whether targets that the study names may be public addresses.
    """

    here: dict[str, Any]
    block: str
    programs: Programs
    logins: Mapping[str, Connection] = field(default_factory=dict)
    public: bool = False


@dataclass
class _Record:
    """What is known of a run so far."""

    commands: list[tuple[int, Command]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)
    hosts: dict[str, Any] = field(default_factory=dict)
    begun: int = 0

    def number(self) -> int:
        """Place of a command in the order of start: the wall clock may be set meanwhile."""
        self.begun += 1
        return self.begun


def run_point(study: Study, settings: StudyFile, point: Point, folder: Path, around: Around) -> Run:
    """One run, from an empty folder to a `run.json` that says how it ended.

    A run is finished when every generator ended as planned and the servers outlived them.  A monitor that ended early
    or wrote nothing leaves a warning: the load was real, but something that should have watched it did not.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    arrangement = arrange(settings, sites_of(settings, around.block), around.programs)
    factors = factors_of(settings, point, arrangement)
    run = Run(study.study, point.run_id, "running", factors, around.here, warnings=_beforehand(settings, arrangement))
    try:
        with reserve.told():
            write_run(run, folder)
            reserve.take(folder)
    except LabError:
        shutil.rmtree(folder)  # nothing was begun
        raise
    record, clocks = _Record(), (time.time(), time.monotonic())
    status, reason = "interrupted", "the launcher was interrupted"
    try:
        with reserve.told():
            status, reason = _run(study, settings, arrangement, folder, around, record)
    except LabError as error:
        status, reason = "failed", str(error)
    finally:
        if reserve.release(folder) and status != "interrupted":
            status, reason = "failed", f"{reserve.FULL}: what the tools wrote may be cut"
        record.warnings += _clock_step(clocks)
        run = _closed(replace(run, status=status, reason=reason), record, folder)
    return run


def factors_of(settings: StudyFile, point: Point, arrangement: Arrangement) -> dict[str, Any]:
    """What `run.json` says of a run's factors."""
    load, sites = settings.load, arrangement.sites
    pins = {
        role: processors(settings, sites, host, role)
        for role, host in (("S1", with_role(sites, "S")[0].name), ("C1", with_role(sites, "C")[0].name))
    }
    urls = list(dict.fromkeys(loader.url for loader in arrangement.loaders))
    return {
        "variant": point.variant,
        "connections": load.connections,
        "repeat": point.repeat,
        "order": point.order,
        "threads": load.threads,
        "seconds": load.seconds,
        "url": " ".join(urls),
        "server_cpu": pins["S1"][0] if len(pins["S1"]) == 1 and arrangement.services else None,
        "generator_cpu": pins["C1"][0] if len(pins["C1"]) == 1 else None,
        "levels": dict(point.levels),
        "settings": dict(point.settings),
    }


def _beforehand(settings: StudyFile, arrangement: Arrangement) -> tuple[str, ...]:
    if settings.topology.machines or not arrangement.services or len(os.sched_getaffinity(0)) > 1:
        return ()
    return ("one processor: server and generator share it, so the curve is that of both",)


def _run(
    study: Study, settings: StudyFile, arrangement: Arrangement, folder: Path, around: Around, record: _Record
) -> tuple[str, str]:
    """Make the hosts, start everything, wait for the load; return the run's status and reason."""
    folders = [name for _, service in arrangement.services for name in service.folders]
    if arrangement.balanced and arrangement.balanced.service:
        folders += arrangement.balanced.service.folders
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(staged(settings, arrangement, folder, around.logins))
        for place in {id(place): place for place in stage.watch.values()}.values():
            stack.callback(place.fetch, folders)
        for url in dict.fromkeys(loader.url for loader in arrangement.loaders):
            check_target(url, study.allow_targets, networks=stage.own, public=around.public)
        stack.callback(lambda: record.hosts.update(stage.facts()))
        scene = _Scene(settings, arrangement, stage, folder, record, stack)
        scene.serve()
        watching = scene.watch()
        time.sleep(_MONITOR_LEAD_S if watching else 0.0)
        if study.warm_up_s:
            scene.load(_warm_ups(study, settings, arrangement), "warm_up")
        done = scene.load(arrangement.loaders, "generator")
        verdict = scene.verdict(done)
        for started in watching:
            if started.process.poll() is not None:
                record.warnings.append(f"{_named(started.command)} ended before the load did")
    return verdict


@dataclass
class _Scene:
    """A run while it lasts."""

    settings: StudyFile
    arrangement: Arrangement
    stage: Stage
    folder: Path
    record: _Record
    stack: contextlib.ExitStack
    servers: dict[str, tuple[Place, Started]] = field(default_factory=dict)

    @property
    def limit_s(self) -> float:
        """Outer time limit of servers and monitors."""
        return max(loader.generator.limit_s for loader in self.arrangement.loaders) + _AROUND_S

    def serve(self) -> None:
        """Start servers and what stands before them, each when those behind it answer."""
        fault, faulty = self.arrangement.fault, self.arrangement.faulty
        for host, argv in self.arrangement.before:
            place, making = self.stage.work[host], self.stage.making
            place.check_output(argv, 10.0)
            making.note([Invocation(place.host.argv(argv))])
        self.stage.making.keep(self.folder)
        for host, service in self.arrangement.services:
            wrap = fault.wrap if fault and fault.role == "S" and host == faulty else ()
            self._serve(host, service, "S1", "server", wrap)
        for _, service in self.arrangement.services:
            if service.url:
                place, started = self.servers[service.name]
                wait_until_it_answers(place, started, service.url, started.command.stderr)
        balanced = self.arrangement.balanced
        if balanced and balanced.service:
            host, service = self.arrangement.balancer, balanced.service
            self._serve(host, service, "LB", "balancer", ())
            place, started = self.servers[service.name]
            wait_until_it_answers(place, started, service.url, started.command.stderr)
        elif balanced:
            command = self.stack.enter_context(loaded(balanced.rules, self.stage.work[self.arrangement.balancer]))
            self.record.commands.append((self.record.number(), command))

    def watch(self) -> list[Started]:
        """Start the monitors of every host."""
        watching = []
        for host, chosen in self.arrangement.monitors.items():
            place, by_name = self.stage.watch[host], {monitor.name: monitor for monitor in chosen}
            for watcher in monitors.watchers(chosen, host, _PYTHON):
                place.put(watcher.files)
                argv = place.argv(watcher.argv, self.limit_s)
                texts = [
                    Command(
                        "collector", by_name[name].tool, argv, file, watcher.stderr, self.limit_s,
                        variant=by_name[name].variant, version=version(by_name[name].tool), host=host,
                        env=dict(watcher.env),
                    )
                    for name, file in watcher.outputs.items()
                ]  # fmt: skip
                started, number = place.start(texts[0]), self.record.number()
                watching.append(started)
                self.stack.callback(self._keep, number, place, started, texts)
        return watching

    def load(self, sending: tuple[Loader, ...], role: str) -> list[tuple[Place, Command]]:
        """Start generators at one instant, make the fault before or meanwhile, and wait for their end."""
        section, running = self.settings.fault, []
        faulty = role == "generator" and self.arrangement.fault is not None and bool(self.arrangement.fault.begin)
        with contextlib.ExitStack() as wrong:
            if faulty and not section.after_s:
                wrong.enter_context(self._fault())
            instant_ns = common_instant_ns(len(sending)) if len(sending) > 1 else 0
            running = [self._send(loader, role, instant_ns) for loader in sending]
            if faulty and section.after_s:
                _while_running(running, section.after_s)
                wrong.enter_context(self._fault())
            if faulty:
                _while_running(running, section.lasts_s or float("inf"))
        done = []
        for number, place, started in running:
            ended = place.wait(started)
            self.record.commands.append((number, ended))
            done.append((place, ended))
        return done

    def verdict(self, done: list[tuple[Place, Command]]) -> tuple[str, str]:
        """Whether generators and servers did their work; what the numbers are worth is the audit's business."""
        for place, started in self.servers.values():
            if started.process.poll() is not None:
                code, words = started.process.returncode, last_words(place, started.command.stderr)
                return "failed", f"{_named(started.command)} ended during the run with exit code {code}{words}"
        for place, load in done:
            if load.exit_code == 124:
                return "failed", f"{_named(load)} was ended at its limit of {load.limit_s:g} s"
            if load.exit_code != 0:
                said = last_words(place, load.stderr) or last_words(place, load.stdout)
                return "failed", f"{_named(load)} ended with exit code {load.exit_code}{said}"
        return "finished", ""

    def _serve(self, host: str, service: Service, role: str, kind: str, wrap: tuple[str, ...]) -> None:
        place, name = self.stage.work[host], f"{service.name}.{service.tool}"
        place.put(service.files, service.folders)
        argv = place.argv((*_pin(self._cpus(host, role)), *wrap, *service.argv), self.limit_s)
        command = Command(
            kind, service.tool, argv, f"{name}.txt", f"{name}.err", self.limit_s,
            version=version(service.tool), host=host, env=dict(service.env), folders=tuple(service.folders),
            unpacked=packed(service, self.folder),
        )  # fmt: skip
        started, number = place.start(command), self.record.number()
        self.servers[service.name] = place, started
        self.stack.callback(self._keep, number, place, started, [command])

    def _send(self, loader: Loader, role: str, instant_ns: int) -> tuple[int, Place, Started]:
        place, made = self.stage.work[loader.host], loader.generator
        if instant_ns:
            made = start_at(made, place.instant_ns(instant_ns), loader.stem, _PYTHON)
        place.put(made.files)
        fault = self.arrangement.fault
        wrap = fault.wrap if fault and fault.role == "C" and loader.host == self.arrangement.faulty else ()
        argv = place.argv((*_pin(self._cpus(loader.host, "C1")), *wrap, *made.argv), made.limit_s)
        command = Command(
            role, made.tool, argv, f"{loader.stem}.{made.tool}.txt", f"{loader.stem}.{made.tool}.err", made.limit_s,
            version=version(made.tool), host=loader.host,
        )  # fmt: skip
        started, number = place.start(command), self.record.number()
        # Where the wait below is not reached, as when someone interrupts.
        self.stack.callback(self._end, number, place, started)
        return number, place, started

    @contextlib.contextmanager
    def _fault(self) -> Iterator[None]:
        """Make the fault, and write down what was done even if it cannot be undone."""
        pids = {name: started.process.pid for name, (_, started) in self.servers.items()}
        host, events = self.stage.watch[self.arrangement.faulty].host, []
        try:
            with injected(self.arrangement.fault, host, pids) as events:
                yield
        finally:
            on = self.arrangement.faulty
            self.record.events += [{"at": event.at, "host": on, "what": event.what} for event in events]

    def _cpus(self, host: str, role: str) -> tuple[int, ...]:
        return processors(self.settings, self.arrangement.sites, host, role)

    def _keep(self, number: int, place: Place, started: Started, texts: list[Command]) -> None:
        """One process as it ran, once for each text that it wrote."""
        ended = place.stop(started)
        times = {name: getattr(ended, name) for name in ("started_at", "ended_at", "exit_code")}
        self.record.commands += [(number, replace(text, **times)) for text in texts]

    def _end(self, number: int, place: Place, started: Started) -> None:
        if number not in dict(self.record.commands):
            self.record.commands.append((number, place.stop(started)))


def _warm_ups(study: Study, settings: StudyFile, arrangement: Arrangement) -> tuple[Loader, ...]:
    """The same load, for the time of a warm-up, into files of their own."""
    section = replace(settings.load, duration_s=study.warm_up_s, requests=0, each_request=False)
    balanced, served = arrangement.balanced, arrangement.served.values()
    roots = (balanced.endpoint.url,) if balanced else tuple(e.url for one in served for e in one.endpoints)
    return loaders(section, with_role(arrangement.sites, "C"), roots or (settings.server.url,), 0.0, "-warm-up")


def _while_running(running: list[tuple[int, Place, Started]], most_s: float) -> None:
    """Wait for a time, or until the last generator has ended."""
    deadline = time.monotonic() + most_s
    while time.monotonic() < deadline and any(started.process.poll() is None for _, _, started in running):
        time.sleep(0.02)


def _pin(cpus: tuple[int, ...]) -> tuple[str, ...]:
    return ("taskset", "-c", ",".join(map(str, cpus))) if cpus else ()


def _named(command: Command) -> str:
    return command.tool if command.host == "local" else f"{command.tool} on {command.host}"


def _clock_step(clocks: tuple[float, float]) -> list[str]:
    """Say whether the wall clock was set since it was read together with the monotonic one."""
    lasted_s = time.monotonic() - clocks[1]
    step_s = time.time() - clocks[0] - lasted_s
    if abs(step_s) <= _STEP_S + _SLEW * lasted_s:
        return []
    return [f"the clock was set by {step_s:+.3f} s during the run: times before and after do not fit each other"]


def _closed(run: Run, record: _Record, folder: Path) -> Run:
    """Write the last word on a run: its commands in order of start, its files with their fingerprints."""
    kept, warnings = [], list(record.warnings)
    for _, command in sorted(record.commands, key=lambda item: item[0]):
        streams = {}
        for stream in ("stdout", "stderr"):
            file = folder / getattr(command, stream)
            if file.is_file() and file.stat().st_size == 0:
                file.unlink()
            if not file.is_file():
                streams[stream] = ""
        kept.append(replace(command, **streams))
        if command.role == "collector" and streams.get("stdout") == "":
            warnings.append(f"{_named(command)} wrote nothing")
    for path in sorted(folder.iterdir()):
        if path.is_dir():  # of a service that was ended before its folders were removed
            shutil.rmtree(path)
    files = {p.name: fingerprint(p) for p in sorted(folder.iterdir()) if not p.name.startswith("run.json")}
    machine = {**run.machine, "hosts": record.hosts} if record.hosts else run.machine
    run = replace(
        run, commands=tuple(kept), files=files, machine=machine, events=tuple(record.events),
        warnings=(*run.warnings, *warnings),
    )  # fmt: skip
    write_run(run, folder)
    return run
