"""What the monitors cost: CPU seconds of their processes for each second of watching, alone and all together.

The host has a private nginx that nobody loads; ss costs more where there are more sockets to list.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from report import say

_SECONDS = 5.0
# The kernel tells the time of ended processes in ticks of 10 ms, so snapshots are taken this often a second, where they
# can be, and their cost is divided by it.
_TIMES = 10
# An nginx that answers at its limit keeps one CPU busy; the monitors may take 2 % of one, so that it keeps 98 %.
_ALLOWED_RATIO = 0.02


def monitors(folder: Path) -> None:
    """Each monitor once a second, then all of them."""
    from loadcurve.lab.tools.monitors import kinds
    from loadcurve.lab.tools.monitors.monitor import watchers
    from loadcurve.lab.tools.servers.nginx import Nginx, nginx_service
    from loadcurve.lab.tools.servers.responses import Status
    from loadcurve.lab.tools.servers.settings import Endpoint

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = Endpoint("127.0.0.1", probe.getsockname()[1])
    with _nginx(folder, nginx_service(Nginx("S1", (endpoint,), Status()))):
        often = _snapshots(kinds, endpoint, 1 / _TIMES)
        for monitor in often:
            _say(monitor.name, _cost(folder, watchers([monitor])) / _TIMES)
        _say("all of these", _cost(folder, watchers(often)) / _TIMES)
        alone = [kinds.sar(), kinds.mpstat()]
        for monitor in alone:
            _say(monitor.name, _cost(folder, watchers([monitor])))
        _say("all", _cost(folder, watchers([*alone, *_snapshots(kinds, endpoint, 1)])))


def _snapshots(kinds, endpoint, interval_s: float) -> list:
    ports = (endpoint.port,)
    sockets = [kind(ports, interval_s) for kind in (kinds.ss_connections, kinds.ss_details)]
    status = kinds.stub_status(endpoint, interval_s=interval_s)
    return [kinds.ss_summary(interval_s), *sockets, kinds.nstat(interval_s), kinds.proc(interval_s), status]


def _say(what: str, ratio: float) -> None:
    say(f"monitors: {what}, 1 s", f"{ratio * 1000:.1f} ms of CPU a second", f"≤ {_ALLOWED_RATIO * 1000:.0f} ms/s",
        ratio <= _ALLOWED_RATIO)  # fmt: skip


@contextlib.contextmanager
def _nginx(folder: Path, service) -> Iterator[None]:
    for name in service.folders:
        (folder / name).mkdir()
    for name, text in service.files.items():
        (folder / name).write_text(text, "utf-8")
    with _started(folder, service.argv, {}, "nginx.out", 120, "TERM"):
        time.sleep(0.5)
        yield


def _cost(folder: Path, watchers: tuple) -> float:
    """CPU seconds of the watchers for each second, from 1 s after their start on."""
    with contextlib.ExitStack() as stack:
        for watcher in watchers:
            for name, text in watcher.files.items():
                (folder / name).write_text(text, "utf-8")
            out = watcher.stdout or watcher.stderr
            stack.enter_context(_started(folder, watcher.argv, dict(watcher.env), out, 30, watcher.stop))
        time.sleep(1.0)
        family = [child for child in psutil.Process().children(recursive=True) if not _is_over_or_nginx(child)]
        before, begun = sum(map(_cpu_s, family)), time.monotonic()
        time.sleep(_SECONDS)
        return (sum(map(_cpu_s, family)) - before) / (time.monotonic() - begun)


def _is_over_or_nginx(process: psutil.Process) -> bool:
    """Tools that print a snapshot come and go; their time is then their parent's."""
    try:
        return process.name() == "nginx" or "nginx" in " ".join(process.cmdline())
    except psutil.Error:
        return True


def _cpu_s(process: psutil.Process) -> float:
    """CPU seconds of a process, which the scheduler counts in ns, and of its children that have ended."""
    times = process.cpu_times()
    own_ns = int(Path(f"/proc/{process.pid}/schedstat").read_text("ascii").split()[0])
    return own_ns / 1e9 + times.children_user + times.children_system


@contextlib.contextmanager
def _started(folder: Path, argv: tuple, env: dict, out: str, limit_s: float, stop: str) -> Iterator[None]:
    from loadcurve.lab.hosts.process import guarded
    from loadcurve.lab.hosts.tools import SEARCH_PATH

    with (folder / out).open("wb") as stream:
        process = subprocess.Popen(guarded(argv, limit_s), cwd=folder, stdin=subprocess.DEVNULL, stdout=stream,
                                   stderr=stream, env=os.environ | {"PATH": SEARCH_PATH} | env,
                                   start_new_session=True)  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.Signals[f"SIG{stop}"])
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


CASES = {"monitors": monitors}
