"""Run the tools that create networks: with a time limit, ended with the launcher, several at the same time."""

import contextlib
import re
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass

from loadcurve.errors import LabError
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import environment

# Each of these tools needs a few ms; 10 s leave room for a machine under load.
_LIMIT_S = 10.0
_FAILED_LINE = re.compile(r"^Command failed -:([0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class Invocation:
    """A tool with its argv and its standard input."""

    argv: tuple[str, ...]
    stdin: str = ""  # Standard input: the lines of a batch
    # Whether it keeps running as long as the resource that it creates; `run_together` runs only tools that end.
    stays: bool = False


def run_together(invocations: Iterable[Invocation], holding: int | None = None) -> list[str]:
    """Run several tools at the same time and return what each printed; their order does not matter.

    They keep the file descriptor `holding` open: the lock of the ledger, so that `clean` waits for the tools of a
    killed launcher.  Raises LabError when one of them fails, after the others have ended.
    """
    started: list[tuple[Invocation, subprocess.Popen]] = []
    failed, printed = [], []
    deadline = time.monotonic() + _LIMIT_S + 3  # `timeout` kills 2 s after its first signal
    try:
        # One by one, so that the `finally` ends those that run when a later one cannot be started.
        started.extend((invocation, _start(invocation, holding)) for invocation in invocations)
        for invocation, process in started:
            out, err = process.communicate(invocation.stdin, timeout=max(0.1, deadline - time.monotonic()))
            printed.append(out)
            if process.returncode:
                failed.append(f"{' '.join(invocation.argv)}: {_reason(err, process.returncode, invocation.stdin)}")
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(error.cmd)} did not end within {_LIMIT_S:g} s") from None
    finally:
        for _, process in started:
            _end(process)
    if failed:
        raise LabError(failed[0])
    return printed


def run(argv: tuple[str, ...], text: str = "", holding: int | None = None) -> str:
    """Run one tool and return what it printed; see `run_together`."""
    return run_together([Invocation(argv, text)], holding)[0]


def _start(invocation: Invocation, holding: int | None) -> subprocess.Popen:
    try:
        return subprocess.Popen(
            guarded(invocation.argv, _LIMIT_S),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that Ctrl-C reaches only the launcher, which ends the tools
            pass_fds=() if holding is None else (holding,),
        )
    except FileNotFoundError as error:
        raise LabError(f"{error.filename} is not installed (apt-get install util-linux coreutils)") from None


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()  # `timeout` forwards the signal
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
    for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
        with contextlib.suppress(OSError):
            stream.close()


def _reason(stderr: str, code: int, text: str) -> str:
    """Return the first line of a tool's error output, and the line of the batch that it refers to."""
    lines = [line for line in stderr.strip().splitlines() if not _FAILED_LINE.match(line)]
    number = _FAILED_LINE.search(stderr)  # `ip` and `tc` print the line number after the reason
    about = f" ({text.splitlines()[int(number[1]) - 1]})" if number else ""
    return (lines[0] if lines else f"exit code {code}") + about
