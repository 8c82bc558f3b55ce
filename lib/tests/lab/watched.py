"""Run watchers for a test as the runner does: in a run's folder, guarded, stopped by their own signal."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from events import HANG_S

from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import environment
from loadcurve.lab.tools.monitors.monitor import Watcher


def start(watcher: Watcher, folder: Path, host: Host = LOCAL, limit_s: float = 300) -> subprocess.Popen:
    for name, text in watcher.files.items():
        (folder / name).write_text(text, "utf-8")
    with (folder / (watcher.stdout or watcher.stderr)).open("wb") as out, (folder / watcher.stderr).open("wb") as err:
        return subprocess.Popen(
            guarded(host.argv(watcher.argv), limit_s),
            cwd=folder,
            env=environment(watcher.env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


@contextlib.contextmanager
def watching(folder: Path, watchers: Iterable[Watcher], host: Host = LOCAL) -> Iterator[list[subprocess.Popen]]:
    """Watchers for as long as the context."""
    folder.mkdir(exist_ok=True)
    chosen = tuple(watchers)
    started = [start(watcher, folder, host) for watcher in chosen]
    try:
        yield started
    finally:
        for watcher, process in zip(chosen, started, strict=True):
            process.send_signal(signal.Signals[f"SIG{watcher.stop}"])
        for process in started:
            try:
                process.wait(HANG_S)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # sadc, which sar leaves to find out at its next sample
                process.wait()
