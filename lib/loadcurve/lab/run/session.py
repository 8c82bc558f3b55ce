"""One run in progress: its servers, monitors and generators on their hosts."""

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.host import pinned
from loadcurve.lab.hosts.network.conditions import Invocation
from loadcurve.lab.hosts.process import Started, now
from loadcurve.lab.hosts.tools import Tool, version, version_in
from loadcurve.lab.hosts.unprivileged import User, lent
from loadcurve.lab.known_tools import tool_named
from loadcurve.lab.run.deployment import Deployment, Loader, processors, warm_ups
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.run.readiness import (
    LEAD_LOCAL_S,
    LEAD_REMOTE_S,
    RESPONSE_S,
    check_port_free,
    idle_limit_s,
    last_line,
    probe,
    wait_for_samples,
    wait_until_idle,
    wait_until_ready,
)
from loadcurve.lab.run.record import Record, tool_on_host
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.tools.balancers.kernel import loaded
from loadcurve.lab.tools.faults.fault import Fault
from loadcurve.lab.tools.faults.inject import Event, injected, why_not
from loadcurve.lab.tools.generators.generator import common_instant_ns, start_at
from loadcurve.lab.tools.monitors.monitor import watchers
from loadcurve.lab.tools.servers.server import Service, packed
from loadcurve.runtime.signals import pause
from loadcurve.study import Command

# Tools print their version to either stream, and some exit with an error code.
_ASK = (
    "import subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, timeout=10); "
    "sys.stdout.buffer.write(done.stdout + done.stderr)"
)
_LIMIT_S = 15.0
# Versions on remote hosts by URL, tool and program, determined once per launch.
_known: dict[tuple[str, str, str], str] = {}


def version_at(executor: Executor, tool: Tool, program: str = "", user: User | None = None) -> str:
    """Return the version that a tool prints on a host, as `tools.version` does on this machine."""
    own = "" if program == tool.name else program
    if executor.is_here:
        return version(tool, own, user.argv(()) if user else ())
    if not tool.version_option:
        return ""
    key = (executor.url, tool.name, own)
    if key not in _known:
        argv = ("python3", "-I", "-S", "-c", _ASK, own or tool.name, tool.version_option)
        try:
            _known[key] = version_in(executor.check_output(argv, _LIMIT_S))
        except LabError:
            return ""  # starting the tool reports that it is missing
    return _known[key]


# Servers and monitors run longer than the load by the time of all starts and of the end of a fault.
_OVERHEAD_S = 40.0
_PYTHON = "python3"


@dataclass
class RunSession:
    """One run in progress."""

    # `settings`, `deployment` and `environment`: what runs, and on which hosts.
    settings: StudyFile
    deployment: Deployment
    environment: Environment
    folder: Path
    record: Record  # What is recorded of the run
    stack: contextlib.ExitStack  # Stops everything in reverse order of start
    warm_up_s: float = 0.0  # Duration of the warm-up load, in s, which is not counted
    # Name of each service → its executor and its process.
    servers: dict[str, tuple[Executor, Started]] = field(default_factory=dict)

    @property
    def limit_s(self) -> float:
        """Outer time limit of servers and monitors, in whole s."""
        probed = sum(bool(service.url) for _, service in self.deployment.services) + bool(self.deployment.balanced)
        loading_s = max(loader.generator.limit_s for loader in self.deployment.loaders) + self.warm_up_s
        loading_s += idle_limit_s(self.settings) if self.warm_up_s else 0.0
        return float(math.ceil(loading_s + probed * self.settings.server.work_s + _OVERHEAD_S))

    def start_servers(self) -> None:
        """Start the servers, then the balancer; wait after each step until they respond."""
        fault, faulty, work_s = self.deployment.fault, self.deployment.faulty, self.settings.server.work_s
        if fault and (reason := why_not(fault, self.environment.watch[faulty].host)):
            raise LabError(f"fault {fault.name} on {faulty}: {reason}")
        for host, argv in self.deployment.before:
            executor, setup_log = self.environment.work[host], self.environment.setup_log
            executor.check_output(argv, 10.0)
            setup_log.note([Invocation(executor.host.argv(argv))])
        self.environment.setup_log.keep(self.folder)
        for host, service in self.deployment.services:
            self._serve(host, service, "S1", "server")
        watch = self.environment.watch  # outside the quota of a server's host, which the start of Python uses up
        for host, service in self.deployment.services:
            if service.url:
                _, started = self.servers[service.name]
                wait_until_ready(watch[host], started, service.url, started.command.stderr, work_s)
        balanced = self.deployment.balanced
        if balanced and balanced.service:
            host, service = self.deployment.balancer, balanced.service
            self._serve(host, service, "LB", "balancer")
            _, started = self.servers[service.name]
            wait_until_ready(watch[host], started, service.url, started.command.stderr, work_s)
        elif balanced and balanced.rules:
            executor = self.environment.work[self.deployment.balancer]
            command = self.stack.enter_context(loaded(balanced.rules, executor))
            self.record.commands.append((self.record.number(), command))

    def start_monitors(self) -> list[Started]:
        """Start the monitors of every host, and wait for their first samples."""
        watching, samples = [], []
        for host, chosen in self.deployment.monitors.items():
            executor, by_name = self.environment.watch[host], {monitor.name: monitor for monitor in chosen}
            for watcher in watchers(chosen, host, _PYTHON):
                executor.put(watcher.files)
                argv = executor.argv(watcher.argv, self.limit_s)
                texts = [
                    Command(
                        "collector", by_name[name].tool, argv, file, watcher.stderr, self.limit_s,
                        variant=by_name[name].variant, host=host, env=dict(watcher.env),
                        version=version_at(executor, tool_named(by_name[name].tool)),
                    )
                    for name, file in watcher.outputs.items()
                ]  # fmt: skip
                started, number = executor.start(texts[0]), self.record.number()
                watching.append(started)
                self.stack.callback(self._stop_and_record, number, executor, started, texts)
                if executor.is_here and not watcher.stdout:  # the sampler, which writes each sample at once
                    samples += [self.folder / file for file in watcher.outputs.values()]
        if watching:
            remote = not all(executor.is_here for executor in self.environment.watch.values())
            wait_for_samples(samples, LEAD_REMOTE_S if remote else LEAD_LOCAL_S)
        return watching

    def send_load(self, sending: tuple[Loader, ...], role: str) -> list[tuple[Executor, Command]]:
        """Start generators at one instant, inject the fault before or meanwhile, and wait until they end.

        What takes time on a remote host is done before the instant is chosen.
        """
        section, running = self.settings.fault, []
        versions = [self._prepare(loader, together=len(sending) > 1) for loader in sending]
        fault = self.deployment.fault if role == "generator" else None
        fault = fault if fault and fault.begin else None
        with contextlib.ExitStack() as injection:
            if fault and not section.after_s:
                injection.enter_context(self._injected(fault))
                begun = time.monotonic()
            instant_ns = common_instant_ns(len(sending)) if len(sending) > 1 else 0
            running = [self._send(*each, role, instant_ns) for each in zip(sending, versions, strict=True)]
            if fault and section.after_s:
                _while_running(running, section.after_s)
                injection.enter_context(self._injected(fault))
                begun = time.monotonic()
            if fault:
                _while_running(running, section.lasts_s or float("inf"))
        while fault and section.every_s and _while_running(running, begun + section.every_s - time.monotonic()):
            begun = time.monotonic()
            with self._injected(fault):
                _while_running(running, section.lasts_s)
        done = []
        for number, executor, started in running:
            ended = executor.wait(started)
            self.record.commands.append((number, ended))
            done.append((executor, ended))
        return done

    def warm_up(self) -> None:
        """Send the warm-up load into files of its own, and wait until the servers are idle again.

        An existing server may still handle requests of the previous run, so the wait applies to it without warm-up too.
        """
        if self.warm_up_s:
            self.send_load(warm_ups(self.warm_up_s, self.settings, self.deployment), "warm_up")
        elif self.settings.server.url is None:
            return
        if self.settings.server.url is not None:
            loader = self.deployment.loaders[0]
            address = self.deployment.addresses.get(urlsplit(loader.url).netloc, "")
            _, found = probe(self.environment.watch[loader.host], loader.url, RESPONSE_S, address)
            what = f"one request to {loader.url}: {found}"
            self.record.events.append({"at": now(), "host": loader.host, "what": what})
        begun = time.monotonic()
        for late in wait_until_idle(self.settings, self.deployment, self.environment):
            self.record.warnings.append(f"before the load, {late}: the measured load shares the server with them")
        if self.warm_up_s:
            what = f"idle {time.monotonic() - begun:.2f} s after the warm-up"
            self.record.events.append({"at": now(), "host": self.deployment.loaders[0].host, "what": what})

    def outcome(self, done: list[tuple[Executor, Command]]) -> tuple[str, str]:
        """Return status and reason: whether generators and servers ran as planned; the audit judges the results."""
        fault = self.deployment.fault
        for name, (executor, started) in self.servers.items():
            if started.process.poll() is not None and not (fault and name in fault.ends):
                code, words = started.process.returncode, last_line(executor, started.command.stderr)
                return "failed", f"{tool_on_host(started.command)} ended during the run with exit code {code}{words}"
        for executor, load in done:
            if load.exit_code == 124:
                return "failed", f"{tool_on_host(load)} was ended at its limit of {load.limit_s:g} s"
            if load.exit_code != 0:
                detail = last_line(executor, load.stderr) or last_line(executor, load.stdout)
                return "failed", f"{tool_on_host(load)} ended with exit code {load.exit_code}{detail}"
        return "finished", ""

    def _serve(self, host: str, service: Service, role: str, kind: str) -> None:
        executor, name = self.environment.work[host], f"{service.name}.{service.tool}"
        if service.url:
            check_port_free(executor, service.url)
        executor.put(service.files, service.folders)
        if service.user is not None:  # who may also open /dev/stderr
            self.stack.enter_context(lent(self.folder, (f"{name}.txt", f"{name}.err"), service.user))
        wrap = self.deployment.wrap(host, kind)
        argv = executor.argv((*pinned(self._cpus(host, role)), *wrap, *service.argv), self.limit_s)
        command = Command(
            kind, service.tool, argv, f"{name}.txt", f"{name}.err", self.limit_s,
            version=version_at(executor, tool_named(service.tool), service.program or service.argv[0], service.user),
            host=host, env=dict(service.env),
            folders=tuple(service.folders), unpacked=packed(service, self.folder),
        )  # fmt: skip
        started, number = executor.start(command), self.record.number()
        self.servers[service.name] = executor, started
        self.stack.callback(self._stop_and_record, number, executor, started, [command])

    def _prepare(self, loader: Loader, *, together: bool) -> str:
        """Write a generator's files on its host; return its version."""
        executor, named, made = self.environment.work[loader.host], loader.generator, loader.revealed
        if executor.is_here:  # the folder of a remote host is private
            written = (*made.outputs.values(), *loader.streams)
            self.stack.enter_context(lent(self.folder, (*made.files, *written), made.user))
        if made.files != named.files or loader.load.script:  # they held a value, or were of a program of the study
            self.stack.callback(executor.put, named.files)
        executor.put(start_at(made, 0, loader.stem, _PYTHON).files if together else made.files)
        return version_at(executor, tool_named(made.tool), user=made.user)

    def _send(self, loader: Loader, version: str, role: str, instant_ns: int) -> tuple[int, Executor, Started]:
        executor, made = self.environment.work[loader.host], loader.generator
        wrap, instant_ns = self.deployment.wrap(loader.host, role), instant_ns and executor.instant_ns(instant_ns)
        both = [made, loader.revealed]
        if instant_ns:
            both = [start_at(each, instant_ns, loader.stem, _PYTHON) for each in both]
        before = (*pinned(self._cpus(loader.host, "C1")), *wrap)
        argv, revealed = (executor.argv((*before, *each.argv), made.limit_s) for each in both)
        command = Command(
            role, made.tool, argv, *loader.streams, made.limit_s,
            version=version, host=loader.host, env=made.user.env if made.user else {},
        )  # fmt: skip
        started, number = executor.start(replace(command, argv=revealed)), self.record.number()
        started.command = replace(started.command, argv=argv)
        # For an interrupt before the wait in `send_load`.
        self.stack.callback(self._stop_unless_recorded, number, executor, started)
        return number, executor, started

    @contextlib.contextmanager
    def _injected(self, fault: Fault) -> Iterator[None]:
        """Inject the fault, and record its steps even if one cannot be undone."""
        pids = {name: started.process.pid for name, (_, started) in self.servers.items()}
        faulty = self.environment.watch[self.deployment.faulty].host
        host = replace(faulty, cpus=self._cpus(self.deployment.faulty, fault.role))
        events: list[Event] = []
        try:
            with injected(fault, host, pids) as events:
                yield
        finally:
            on = self.deployment.faulty
            self.record.events += [{"at": event.at, "host": on, "what": event.what} for event in events]

    def _cpus(self, host: str, role: str) -> tuple[int, ...]:
        return processors(self.settings, self.deployment.slots, host, role)

    def _stop_and_record(self, number: int, executor: Executor, started: Started, texts: list[Command]) -> None:
        """Stop a process and record it, once for each text that it wrote."""
        ended = executor.stop(started)
        times = {name: getattr(ended, name) for name in ("env", "started_at", "ended_at", "exit_code")}
        self.record.commands += [(number, replace(text, **times)) for text in texts]

    def _stop_unless_recorded(self, number: int, executor: Executor, started: Started) -> None:
        if number not in dict(self.record.commands):
            self.record.commands.append((number, executor.stop(started)))


def _while_running(running: list[tuple[int, Executor, Started]], max_s: float) -> bool:
    """Wait `max_s`, or until the last generator has ended; return whether one still runs."""
    deadline = time.monotonic() + max_s
    while runs := any(started.process.poll() is None for _, _, started in running):
        if time.monotonic() >= deadline:
            break
        pause(0.02)
    return runs
