"""Wait until a server responds before the load, and until its connections are gone after it."""

import json
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.files.secrets import reveal
from loadcurve.lab.hosts import one_request
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.process import Started
from loadcurve.lab.run import in_flight
from loadcurve.lab.run.deployment import Deployment, with_role
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.tools.generators.generator import port_of
from loadcurve.runtime.signals import interruptible, pause

# A server responds within a few ms of its start, a database after one or two seconds, and WordPress creates its tables
# first; the rest allows for a busy machine.  The configured work for each response comes on top.
START_LIMIT_S = 30.0
RESPONSE_S = 5.0
_PAUSE_S = 0.02
# sar and mpstat do not report their start.  Measured: a tool starts in 20 ms, the sampler in 30 to 220 ms.  A remote
# host first opens an ssh session, and its samples cannot be seen from here.
LEAD_LOCAL_S, LEAD_REMOTE_S = 0.1, 0.3
MAX_SAMPLE_WAIT_S = 2.0
_PROBE_S = 2.0
# Allows for the start of Python on a busy machine, also in an ssh session.
_PYTHON_START_S = 5.0
_REQUEST = Path(one_request.__file__).read_text("utf-8")
_CONNECT = """\
import socket, sys
with socket.socket() as probe:
    probe.settimeout(float(sys.argv[3]))
    print(probe.connect_ex((sys.argv[1], int(sys.argv[2]))))
"""


def check_port_free(executor: Executor, url: str) -> None:
    """Check that the port of a URL is free, so that the load does not go to another program.

    Raises LabError when a program listens there, or the host cannot be reached.
    """
    if "netns" in executor.host.prefix:
        return  # the namespace is private
    parts = urlsplit(url)
    if executor.is_here:
        with socket.socket() as probe:
            probe.settimeout(_PROBE_S)
            code = probe.connect_ex((parts.hostname, parts.port))
    else:
        argv = ("python3", "-I", "-S", "-c", _CONNECT, str(parts.hostname), str(parts.port), f"{_PROBE_S:g}")
        code = int(executor.check_output(argv, _PYTHON_START_S + _PROBE_S))
    if code == 0:
        raise LabError(f"{parts.netloc} is taken: another program listens there already")


def wait_until_ready(executor: Executor, started: Started, url: str, words: str, work_s: float = 0.0) -> None:
    """Send requests to a server until it responds with a status below 500: a proxy's 502 and PHP's 503 mean not ready.

    `words` names the file in the run's folder with its standard error; `work_s` is the configured work for each
    response.  Raises LabError, with the last line of its standard error, when it ended, even if another program
    responds on its port, or did not respond in time.
    """
    deadline, problem = time.monotonic() + START_LIMIT_S + work_s, ""
    while time.monotonic() < deadline and started.process.poll() is None:
        status, problem = probe(executor, url, RESPONSE_S + work_s)
        if 0 < status < 500:
            if started.process.poll() is None:
                return
            problem = ""
        pause(_PAUSE_S)
    last = last_line(executor, words)
    raise LabError(f"the private {started.command.tool} did not respond ({problem or 'it ended'}){last}")


def wait_for_samples(files: Iterable[Path], min_s: float) -> None:
    """Wait until the sampler wrote a first sample to each file, so that sampling starts before the load.

    It waits at least `min_s`, for the monitors whose start cannot be seen in a file.
    """
    deadline = time.monotonic() + MAX_SAMPLE_WAIT_S
    pause(min_s)
    for file in files:
        while time.monotonic() < deadline and not (file.is_file() and file.stat().st_size):
            pause(_PAUSE_S / 4)


def last_line(executor: Executor, name: str) -> str:
    """Return the last line of a file in the run's folder, after a colon; empty where there is none."""
    file = executor.folder / name
    lines = file.read_text("utf-8", "replace").strip().splitlines() if name and file.is_file() else []
    return f": {lines[-1]}" if lines else ""


def probe(executor: Executor, url: str, patience_s: float, address: str = "") -> tuple[int, str]:
    """Send one request from a host; return status and problem; status 0 means no response within `patience_s`.

    `address` is where the connection goes when the host of the URL is a name.
    """
    url = reveal(url)
    if executor.is_here and not executor.host.prefix:
        with interruptible():
            return one_request.probe(url, address, patience_s)
    argv = ("python3", "-I", "-S", "-c", _REQUEST, url, address, f"{patience_s:g}")
    try:
        status, problem = json.loads(executor.check_output(argv, _PYTHON_START_S + patience_s))
        return status, problem
    except LabError as error:
        return 0, str(error)


_PROGRAM = Path(in_flight.__file__).read_text("utf-8")
_DRAIN_PAUSE_S = 0.05
# A host is idle when two samples in a row show no request: between them the last requests of a proxy reach its servers.
_IDLE_SAMPLES = 2
# Allows for the start of Python on a busy machine, also in an ssh session.
_DRAIN_PYTHON_START_S = 10.0
# A request to a server of the laboratory takes some ms; the rest allows for a busy machine.
MIN_LIMIT_S, _REQUEST_S, MAX_LIMIT_S = 30.0, 0.1, 600.0


@dataclass(frozen=True)
class _Watched:
    """A host, and the parameters of `in_flight.count_requests` for it."""

    host: str
    ports: tuple[int, ...]
    open_too: bool
    folders: tuple[str, ...] = ()


def idle_limit_s(settings: StudyFile) -> float:
    """Return the longest wait for a point, in s: one request on each connection, one after the other."""
    each_s = _REQUEST_S + settings.server.work_s
    return min(MAX_LIMIT_S, MIN_LIMIT_S + settings.load.connections * each_s)


def wait_until_idle(settings: StudyFile, deployment: Deployment, environment: Environment) -> Iterator[str]:
    """Wait until the balancer and the servers have no request in flight or queued.

    The balancer comes first, because its requests go on to the servers; then each server.  An existing server on a
    host whose sockets cannot be read gets one request instead: if it handles requests in order, that response is last.
    Yields a sentence for each host that was not idle in time.
    """
    deadline = time.monotonic() + idle_limit_s(settings)
    for watched in _watched(settings, deployment):
        executor, idle = environment.watch[watched.host], 0
        while idle < _IDLE_SAMPLES:
            left = _count(executor, watched)
            if left is None:  # nothing listens: a server of the study has ended, and `RunSession` reports that
                url = settings.server.url
                if url is not None and (problem := _send_one_request(url, deployment, environment, deadline)):
                    yield problem
                break
            idle = 0 if left else idle + 1
            if idle < _IDLE_SAMPLES and time.monotonic() > deadline:
                late = f"after {idle_limit_s(settings):g} s"
                yield f"{left} requests were still in flight or queued on {watched.host} {late}"
                break
            pause(_DRAIN_PAUSE_S)


def _watched(settings: StudyFile, deployment: Deployment) -> Iterator[_Watched]:
    balanced = deployment.balanced
    program = balanced.service if balanced else None
    if balanced and program:
        yield _Watched(deployment.balancer, (balanced.endpoint.port,), True, program.folders)
    for host, served in deployment.served.items():
        folders = tuple(name for service in served.services for name in service.folders)
        ports = tuple(dict.fromkeys(endpoint.port for endpoint in served.endpoints))
        yield _Watched(host, ports, program is None, folders)
    if settings.server.url is not None:
        for slot in with_role(deployment.slots, "S"):
            yield _Watched(slot.name, (port_of(settings.server.url),), False)


def _count(executor: Executor, watched: _Watched) -> int | None:
    asked_for: dict[str, Any] = {"ports": watched.ports, "open_too": watched.open_too, "folders": watched.folders}
    if executor.is_here and not executor.host.prefix:
        return in_flight.count_requests(**asked_for)
    argv = ("python3", "-I", "-S", "-c", _PROGRAM, json.dumps(asked_for))
    count: int | None = json.loads(executor.check_output(argv, _DRAIN_PYTHON_START_S))
    return count


def _send_one_request(url: str, deployment: Deployment, environment: Environment, deadline: float) -> str:
    """Send one request to an existing server; return what went wrong."""
    patience_s = max(1.0, deadline - time.monotonic())
    address = deployment.addresses.get(urlsplit(url).netloc, "")
    status, problem = probe(environment.watch[deployment.loaders[0].host], url, patience_s, address)
    return "" if status else f"{url} did not respond within {patience_s:.0f} s ({problem})"
