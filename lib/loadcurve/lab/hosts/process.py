"""Start a tool so that it ends at its time limit and with its launcher; stop it so that its output is complete."""

import contextlib
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, AnyStr

from loadcurve.lab.hosts.tools import FIXED, environment
from loadcurve.runtime.signals import interruptible
from loadcurve.study import Command

# Time for a tool to write its last lines after the signal to stop; then it is killed.
_GRACE_S = 3.0
INTERRUPTED = ("sar", "mpstat", "pidstat")
"""Tools that print their averages and end on SIGINT."""

# Longest wait until one of them sleeps between two samples; then it is interrupted anyway.
_QUIET_S = 0.25
# setpriv misses a parent that dies before its prctl call.  So the shell then checks that the parent is still the
# launcher, and for the tool that it is still timeout, the session leader: timeout (coreutils 9.1) forgets the tool if a
# signal arrives while it forks.  The shell evaluates nothing that comes from a study.
_WITH_LAUNCHER = ("setpriv", "--pdeathsig", "TERM", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
_OF_SESSION = 'read -r _ _ _ parent _ session _ < /proc/$$/stat; [ "$parent" = "$session" ] && exec "$@"'
_WITH_TIMEOUT = ("setpriv", "--pdeathsig", "TERM", "sh", "-c", _OF_SESSION, "sh")


def pipe(stream: IO[AnyStr] | None) -> IO[AnyStr]:
    """Return a stream of a process that was started with `subprocess.PIPE` for it."""
    if stream is None:
        raise ValueError("the stream is not a pipe")
    return stream


def ends(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Whether a process ends within a time limit; a signal raises KeyboardInterrupt."""
    if process.returncode is not None:
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        with interruptible():
            ended.poll(limit_s * 1000)
    finally:
        os.close(descriptor)
    return process.poll() is not None


@dataclass
class Started:
    """A running command and its process."""

    command: Command
    process: subprocess.Popen[bytes]


def guarded(argv: tuple[str, ...], limit_s: float) -> tuple[str, ...]:
    """Return `argv` with a time limit, and ended with its launcher.

    ``setpriv --pdeathsig`` ends the tool when the launcher dies for any reason; ``timeout`` forwards the signal to the
    tool, and ends it at the limit.  In its foreground mode the signal reaches the tool alone, so that the sampler can
    let a running ss finish.

    Examples
    --------
    >>> " ".join(guarded(("wrk", "-d1s"), 5))
    'setpriv --pdeathsig TERM timeout --foreground -k 2 5 wrk -d1s'
    """
    return ("setpriv", "--pdeathsig", "TERM", "timeout", "--foreground", "-k", "2", f"{limit_s:g}", *argv)


def now() -> str:
    """Return the current time in UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def start(command: Command, folder: Path) -> Started:
    """Start `command` in `folder` with its output going to the files it names; it ends with this process."""
    command = replace(command, env={**FIXED, **command.env})
    with (folder / command.stdout).open("wb") as out, (folder / command.stderr).open("wb") as err:
        begun = now()
        process = subprocess.Popen(
            _with_launcher(command.argv),
            cwd=folder,
            env=environment(command.env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    return Started(replace(command, started_at=begun), process)


def _with_launcher(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Extend the argv of `guarded`, so that no tool survives a launcher that is killed while the tool starts."""
    tool = len(guarded((), 0))
    return (*_WITH_LAUNCHER, str(os.getpid()), *argv[:tool], *_WITH_TIMEOUT, *argv[tool:])


def wait(started: Started) -> Command:
    """Wait until the tool ends, at its time limit at the latest."""
    ends(started.process, started.command.limit_s + 2 * _GRACE_S)
    ended = now()
    _end_group(started.process.pid)
    return replace(started.command, ended_at=ended, exit_code=started.process.wait())


def stop(started: Started) -> Command:
    """Ask the tool to end, wait for its last lines, then kill its remaining processes.

    The tools of `INTERRUPTED` get SIGINT, on which they print their averages; all others get SIGTERM.
    """
    process, tool = started.process, started.command.tool
    if process.poll() is None:
        if tool in INTERRUPTED:
            _interrupt(process, tool)
        else:
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE_S)
    _end_group(process.pid)
    process.wait()
    return replace(started.command, ended_at=now(), exit_code=process.returncode)


def _interrupt(guard: subprocess.Popen[bytes], tool: str) -> None:
    """Send SIGINT to a tool of sysstat once, while it prints nothing.

    sar prints a newline in its signal handler (sysstat 12.6, ``sar.c``), so a second signal, or one that arrives while
    sar prints a line, breaks that line.  sadc forwards its signal to sar and exits; sar alone would wait for the next
    sample of sadc.
    """
    import psutil  # of the extra [lab]

    names = ("sadc", "sar") if tool == "sar" else (tool,)
    deadline = time.monotonic() + _QUIET_S
    target: subprocess.Popen[bytes] | psutil.Process = guard
    with contextlib.suppress(psutil.NoSuchProcess):
        while time.monotonic() < deadline and guard.poll() is None:
            below = {p.name(): p for p in psutil.Process(guard.pid).children(recursive=True)}
            chain = [below[name] for name in names if name in below]
            target = chain[0] if chain else guard
            if len(chain) == len(names) and all(p.status() == psutil.STATUS_SLEEPING for p in chain):
                break
            time.sleep(0.001)
    with contextlib.suppress(psutil.NoSuchProcess):
        target.send_signal(signal.SIGINT)


def _end_group(leader: int) -> None:
    """Kill what a tool left behind, such as the sadc of sar."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
