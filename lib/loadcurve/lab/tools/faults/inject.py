"""Make a fault on a host for as long as a context lasts, and undo it even after an error."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadcurve.errors import LabError
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network.conditions import run
from loadcurve.lab.hosts.process import guarded, now
from loadcurve.lab.hosts.tools import environment
from loadcurve.lab.tools.faults.fault import FIRST_LINK, Fault, Send, Shape, Start, Steer, Step, Sysctl, Table

# Longer than any load of a study file; the guard of a program ends it with the launcher as well.
_LONGEST_S = 86_400.0


@dataclass(frozen=True)
class Event:
    """A step that was done, for the record of a run."""

    at: str  # UTC, ISO 8601
    what: str  # The step, in words


@contextlib.contextmanager
def injected(fault: Fault, host: Host, services: Mapping[str, int] | None = None) -> Iterator[list[Event]]:
    """Make a fault, and undo it at the end in reverse.

    A launcher that is killed meanwhile undoes nothing: settings, tables and rate limits disappear with the namespace,
    `clean` ends the processes that were stopped there, and programs end with the launcher.  The host is in a namespace
    that the laboratory made; `services` has the process id that this process started for each service: its time limit,
    see `guarded`.  The run session applies the fault's `wrap`, `sysctls` and `link`.  Yields the steps done so far,
    complete after the context.  Raises LabError when the host is not in such a namespace, a service is not one that
    this process started, or the kernel refuses.
    """
    events: list[Event] = []
    if fault.begin and host.prefix[:3] != ("ip", "netns", "exec"):
        raise LabError(f"fault {fault.name} is made only in a namespace of the laboratory, not on host {host.name}")
    with contextlib.ExitStack() as stack:
        for step in reversed(fault.end):
            stack.callback(_undo, step, host, services or {}, events)
        for step in fault.begin:
            _do(step, host, services or {}, events, stack)
        yield events


def why_not(fault: Fault, host: Host) -> str:
    """Return why a fault cannot be made on a host; empty where it can.

    Such as ``the kernel gives a namespace no net.netfilter.nf_conntrack_max of its own``.
    """
    for step in (*fault.begin, *(Sysctl(*setting) for setting in fault.sysctls.items())):
        if isinstance(step, Sysctl):
            try:
                run(host.argv(("test", "-w", f"/proc/sys/{step.name.replace('.', '/')}")))
            except LabError:
                return f"the kernel gives a namespace no {step.name} of its own"
        if isinstance(step, Table):
            try:
                run(host.argv(("nft", "--check", "-f", "-")), step.text)
            except LabError as error:
                return f"nft refuses it: {error}"
    return ""


def _do(step: Step, host: Host, services: Mapping[str, int], events: list[Event], stack: contextlib.ExitStack) -> None:
    if isinstance(step, Sysctl):
        before = " ".join(run(host.argv(("sysctl", "-n", step.name))).split())
        stack.callback(_set, host, step.name, before, events)
        _set(host, step.name, step.value, events)
    elif isinstance(step, Table):
        run(host.argv(("nft", "-f", "-")), step.text)
        stack.callback(_remove, host, step, events)
        events.append(Event(now(), f"table {step.name} loaded"))
    elif isinstance(step, Shape):
        run(host.argv(("tc", "-batch", "-")), step.text)
        stack.callback(_unshape, host, events)
        events.append(Event(now(), step.text.strip()))
    elif isinstance(step, Steer):
        stack.callback(_write, host, step.path, "0", events)
        _write(host, step.path, step.mask, events)
    elif isinstance(step, Start):
        _start(step, host, events, stack)
    else:
        _send(step, services, events)


def _undo(step: Step, host: Host, services: Mapping[str, int], events: list[Event]) -> None:
    with contextlib.ExitStack() as nothing_more:
        _do(step, host, services, events, nothing_more)


def _set(host: Host, name: str, value: str, events: list[Event]) -> None:
    run(host.argv(("sysctl", "-q", "-w", f"{name}={value}")))
    # sysctl(8) ends with 0 also where the kernel refuses what it writes.
    if (held := " ".join(run(host.argv(("sysctl", "-n", name))).split())) != value:
        raise LabError(f"{name} was to be {value}, but the kernel keeps it at {held}")
    events.append(Event(now(), f"{name} = {value}"))


def _remove(host: Host, table: Table, events: list[Event]) -> None:
    counted = run(host.argv(("nft", "list", "table", "inet", table.name)))
    run(host.argv(("nft", "delete", "table", "inet", table.name)))
    counters = [line.strip() for line in counted.splitlines() if "counter packets" in line]
    events.append(Event(now(), f"table {table.name} removed; {'; '.join(counters)}"))


def _unshape(host: Host, events: list[Event]) -> None:
    counted = run(host.argv(("tc", "-s", "qdisc", "show", "dev", FIRST_LINK))).split("Sent", 1)[-1]
    run(host.argv(("tc", "qdisc", "del", "dev", FIRST_LINK, "root")))
    events.append(Event(now(), f"qdisc del dev {FIRST_LINK} root; Sent {' '.join(counted.split(')')[0].split())})"))


def _write(host: Host, path: str, value: str, events: list[Event]) -> None:
    run(host.argv(("tee", path)), value)
    events.append(Event(now(), f"{path} = {value}"))


def _start(step: Start, host: Host, events: list[Event], stack: contextlib.ExitStack) -> None:
    command = guarded(host.argv(step.argv), _LONGEST_S)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, env=environment(), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    stack.callback(_end, process, step, events)
    events.append(Event(now(), f"{' '.join(step.argv)} started: {process.pid}"))


def _end(process: subprocess.Popen[bytes], step: Start, events: list[Event]) -> None:
    if process.poll() is not None:
        raise LabError(f"{' '.join(step.argv)} ended during the fault with exit code {process.returncode}")
    process.terminate()  # its guard forwards the signal
    process.wait()
    events.append(Event(now(), f"{' '.join(step.argv)} ended: {process.pid}"))


def _send(step: Send, services: Mapping[str, int], events: list[Event]) -> None:
    """Signal the processes below a guard of this process; the guard itself continues and keeps the time limit."""
    import psutil  # of the extra [lab]

    if step.service not in services:
        raise LabError(f"no service {step.service!r} was started; there are: {', '.join(services) or 'none'}")
    try:
        guard = psutil.Process(services[step.service])
        if guard.ppid() != os.getpid():
            raise LabError(f"service {step.service} was not started by this process")
        below = guard.children(recursive=True)
        if step.whom == "worker":
            masters = {child.pid for child in guard.children()}
            below = sorted((p for p in below if p.ppid() in masters), key=lambda p: p.pid)[:1]
    except psutil.NoSuchProcess:
        below = []
    if not below:
        if step.signal == "CONT":
            return  # it has ended meanwhile, and the run reports that
        raise LabError(f"service {step.service} has no process to send {step.signal} to")
    for process in below:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.Signals[f"SIG{step.signal}"])
    pids = " ".join(str(process.pid) for process in below)
    events.append(Event(now(), f"{step.signal} sent to {step.service}: {pids}"))
