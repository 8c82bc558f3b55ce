"""Start a tool so that it cannot outlive its time or its launcher, and stop it so that its output is whole."""

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from loadcurve.lab.hosts.signals import ends
from loadcurve.lab.hosts.tools import SEARCH_PATH
from loadcurve.study import Command

# How long a tool may take to write its last lines after it was told to stop, before it is killed.
_GRACE_S = 3.0
# How long sar or mpstat may take to start, or to print what it is printing, before it is interrupted all the same.
_QUIET_S = 0.25
# Who dies before setpriv has asked for the signal is not missed any more.  So afterwards it is looked whether the
# parent is still the launcher; and for the tool, whether it is still timeout, which leads the session, and which
# (coreutils 9.1) forgets the tool when the signal comes while it forks.  Nothing of a study is read by the shell.
_WITH_LAUNCHER = ("setpriv", "--pdeathsig", "TERM", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
_OF_SESSION = 'read -r _ _ _ parent _ session _ < /proc/$$/stat; [ "$parent" = "$session" ] && exec "$@"'
_WITH_TIMEOUT = ("setpriv", "--pdeathsig", "TERM", "sh", "-c", _OF_SESSION, "sh")


@dataclass
class Started:
    """A command that runs, and the processes behind it."""

    command: Command
    process: subprocess.Popen


def guarded(argv: tuple[str, ...], limit_s: float, cpu: int | None = None) -> tuple[str, ...]:
    """`argv` under an outer time limit, ended with its launcher, and pinned where `cpu` is given.

    ``setpriv --pdeathsig`` ends the tool when the launcher dies, however it dies; ``timeout`` passes the signal on to
    the tool and ends it when the limit is over.  In the foreground mode of ``timeout`` the signal reaches the tool
    alone, so that the sampler can let the ss that is printing finish.

    Examples
    --------
    >>> " ".join(guarded(("wrk", "-d1s"), 5, cpu=1))
    'setpriv --pdeathsig TERM timeout --foreground -k 2 5 taskset -c 1 wrk -d1s'
    """
    pin = ("taskset", "-c", str(cpu)) if cpu is not None else ()
    return (
        "setpriv",
        "--pdeathsig",
        "TERM",
        "timeout",
        "--foreground",
        "-k",
        "2",
        f"{limit_s:g}",
        *pin,
        *argv,
    )


def now() -> str:
    """UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def start(command: Command, folder: Path) -> Started:
    """Start `command` in `folder`, its streams going to the files it names; it ends with this process."""
    env = {**os.environ, "PATH": SEARCH_PATH, **command.env}
    with (folder / command.stdout).open("wb") as out, (folder / command.stderr).open("wb") as err:
        begun = now()
        process = subprocess.Popen(
            _surely(command.argv),
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    return Started(replace(command, started_at=begun), process)


def _surely(argv: tuple[str, ...]) -> tuple[str, ...]:
    """What `guarded` returned, so that no tool is left whenever the launcher is killed: also while it starts."""
    tool = len(guarded((), 0))
    return (*_WITH_LAUNCHER, str(os.getpid()), *argv[:tool], *_WITH_TIMEOUT, *argv[tool:])


def wait(started: Started) -> Command:
    """Wait until the tool ends by itself; its ``timeout`` sees to it that it does."""
    ends(started.process, started.command.limit_s + 2 * _GRACE_S)
    ended = now()
    _end_group(started.process.pid)
    return replace(started.command, ended_at=ended, exit_code=started.process.wait())


def stop(started: Started) -> Command:
    """Ask the tool to end, wait for its last lines, then end whatever is left of its processes.

    sar and mpstat are interrupted, since they print what they hold on SIGINT; all others are terminated.
    """
    process, tool = started.process, started.command.tool
    if process.poll() is None:
        if tool in ("sar", "mpstat"):
            _interrupt(process, tool)
        else:
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE_S)
    _end_group(process.pid)
    process.wait()
    return replace(started.command, ended_at=now(), exit_code=process.returncode)


def _interrupt(guard: subprocess.Popen, tool: str) -> None:
    """Interrupt sar or mpstat once, while it prints nothing.

    sar prints a newline in the handler of the signal (sysstat 12.6, ``sar.c``), so that a second signal, or one while a
    line is printed, breaks that line.  Its sadc passes its own signal on to sar, and ends; interrupted alone, sar waits
    for sadc's next second.
    """
    import psutil  # of the extra [lab]

    names = ("sadc", "sar") if tool == "sar" else (tool,)
    deadline = time.monotonic() + _QUIET_S
    told: subprocess.Popen | psutil.Process = guard
    with contextlib.suppress(psutil.NoSuchProcess):
        while time.monotonic() < deadline and guard.poll() is None:
            below = {p.name(): p for p in psutil.Process(guard.pid).children(recursive=True)}
            chain = [below[name] for name in names if name in below]
            told = chain[0] if chain else guard
            if len(chain) == len(names) and all(p.status() == psutil.STATUS_SLEEPING for p in chain):
                break
            time.sleep(0.001)
    with contextlib.suppress(psutil.NoSuchProcess):
        told.send_signal(signal.SIGINT)


def _end_group(leader: int) -> None:
    """End whatever a tool left behind, such as the sadc of sar."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
