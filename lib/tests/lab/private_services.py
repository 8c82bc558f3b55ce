"""Start services of the laboratory for a test, ask them, and see that nothing of them is left."""

import contextlib
import http.server
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from events import wait_until

from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import environment, which
from loadcurve.lab.tools.servers.server import Service
from loadcurve.lab.tools.servers.settings import Endpoint

LIMIT_S = 30.0


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes


def need(*programs: str) -> None:
    """Skips where a program is missing."""
    if missing := [program for program in programs if which(program) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (sh lib/loadcurve/lab/system.sh install lab-test)")


def free_endpoint(address: str = "127.0.0.1") -> Endpoint:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return Endpoint(address, probe.getsockname()[1])


def ask(url: str, *options: str, host: Host = LOCAL, limit_s: float = 5.0) -> Answer:
    """One request by curl from a host; status 0 where nobody answers."""
    argv = ("curl", "-q", "-s", "-i", "--noproxy", "*", "--max-time", f"{limit_s:g}", *options, url)
    done = subprocess.run(
        guarded(host.argv(argv), limit_s + 5),
        capture_output=True,
        env=environment(),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if done.returncode not in (0, 18) or not first.startswith("HTTP/"):
        return Answer(0, {}, b"")
    headers = dict(line.lower().split(": ", 1) if ": " in line else (line, "") for line in lines)
    return Answer(int(first.split()[1]), headers, body)


@contextlib.contextmanager
def answering(answer: Callable[..., None], kind=http.server.HTTPServer) -> Iterator[http.server.HTTPServer]:
    """Yield a server on loopback in a thread of this process, which calls `answer` for each GET and POST."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if kind is http.server.ThreadingHTTPServer else "HTTP/1.0"

        def do_GET(self):
            answer(self)

        do_POST = do_GET

        def log_message(self, *args):
            pass

    with kind(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextlib.contextmanager
def running(folder: Path, *services: Service, host: Host = LOCAL) -> Iterator[list[subprocess.Popen]]:
    """Services in a run's folder, for as long as the context; afterwards their processes and folders must be gone."""
    folder.mkdir(exist_ok=True)
    started = []
    try:
        for service in services:
            started.append(_start(folder, service, host))
            _wait(service, started[-1], folder, host)
        yield started
    finally:
        for service, process in reversed(list(zip(services, started, strict=False))):
            _stop(service, process)
        for service in services:
            for name in service.folders:
                shutil.rmtree(folder / name)
    left = [p for p in Path("/proc").glob("[0-9]*/cwd") if _within(p, folder)]
    assert not left, f"processes left: {[(p.parent / 'cmdline').read_bytes() for p in left]}"


def listeners(*endpoints: Endpoint) -> list[Endpoint]:
    """Endpoints of this machine at which somebody still listens."""
    found = []
    for endpoint in endpoints:
        with socket.socket() as probe:
            if probe.connect_ex((endpoint.address, endpoint.port)) == 0:
                found.append(endpoint)
    return found


def worker_cpu_s(folder: Path) -> float:
    """Processor time of all processes that run in a folder."""
    ticks = 0
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        if _within(cwd, folder):
            fields = (cwd.parent / "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _start(folder: Path, service: Service, host: Host) -> subprocess.Popen:
    for name in service.folders:
        (folder / name).mkdir()
    for name, text in service.files.items():
        (folder / name).write_text(text, "utf-8")
    with (folder / f"{service.name}.out").open("wb") as out:
        return subprocess.Popen(
            guarded(host.argv(service.argv), LIMIT_S),
            cwd=folder,
            env=environment(service.env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _wait(service: Service, process: subprocess.Popen, folder: Path, host: Host) -> None:
    def said() -> str:
        return f"{service.name}: {(folder / f'{service.name}.out').read_text('utf-8', 'replace')[-2000:]}"

    def answers() -> bool:
        assert process.poll() is None, said()
        return 0 < ask(service.url, host=host).status < 500

    if service.url:
        wait_until(answers, said)


def listens(port: int) -> bool:
    """Whether something accepts connections at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _stop(service: Service, process: subprocess.Popen) -> None:
    process.send_signal(signal.Signals[f"SIG{service.stop}"])
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise AssertionError(f"{service.name} did not end on SIG{service.stop}") from None


def _within(cwd: Path, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return cwd.resolve().is_relative_to(folder) and int(cwd.parent.name) != os.getpid()
    return False
