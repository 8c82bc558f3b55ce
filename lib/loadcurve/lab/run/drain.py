"""Wait until servers have handled all requests of the last load, so that none falls into the next measurement."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.lab.deployment import Deployment
from loadcurve.lab.deployment.host_slot import with_role
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.run import in_flight
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.run.readiness import probe
from loadcurve.lab.study_file import StudyFile
from loadcurve.runtime.signals import pause

_PROGRAM = Path(in_flight.__file__).read_text("utf-8")
_PAUSE_S = 0.05
# A host is idle when two samples in a row show no request: between them the last requests of a proxy reach its servers.
_IDLE_SAMPLES = 2
# Allows for the start of Python on a busy machine, also in an ssh session.
_PYTHON_START_S = 10.0
# A request to a server of the laboratory takes some ms; the rest allows for a busy machine.
MIN_LIMIT_S, _REQUEST_S, MAX_LIMIT_S = 30.0, 0.1, 600.0


@dataclass(frozen=True)
class _Watched:
    """A host, and the parameters of `in_flight.count_requests` for it."""

    host: str
    ports: tuple[int, ...]
    open_too: bool
    folders: tuple[str, ...] = ()


def limit_s(settings: StudyFile) -> float:
    """Return the longest wait for a point, in s: one request on each connection, one after the other."""
    each_s = _REQUEST_S + settings.server.work_s
    return min(MAX_LIMIT_S, MIN_LIMIT_S + settings.load.connections * each_s)


def wait_until_idle(settings: StudyFile, deployment: Deployment, environment: Environment) -> Iterator[str]:
    """Wait until the balancer and the servers have no request in flight or queued.

    The balancer comes first, because its requests go on to the servers; then each server.  An existing server on a
    host whose sockets cannot be read gets one request instead: if it handles requests in order, that response is last.
    Yields a sentence for each host that was not idle in time.
    """
    deadline = time.monotonic() + limit_s(settings)
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
                yield f"{left} requests were still in flight or queued on {watched.host} after {limit_s(settings):g} s"
                break
            pause(_PAUSE_S)


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
        parts = urlsplit(settings.server.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        for slot in with_role(deployment.slots, "S"):
            yield _Watched(slot.name, (port,), False)


def _count(executor: Executor, watched: _Watched) -> int | None:
    asked_for = {"ports": watched.ports, "open_too": watched.open_too, "folders": watched.folders}
    if executor.is_here and not executor.host.prefix:
        return in_flight.count_requests(**asked_for)
    argv = ("python3", "-I", "-S", "-c", _PROGRAM, json.dumps(asked_for))
    return json.loads(executor.check_output(argv, _PYTHON_START_S))


def _send_one_request(url: str, deployment: Deployment, environment: Environment, deadline: float) -> str:
    """Send one request to an existing server; return what went wrong."""
    patience_s = max(1.0, deadline - time.monotonic())
    address = deployment.addresses.get(urlsplit(url).netloc, "")
    status, problem = probe(environment.watch[deployment.loaders[0].host], url, patience_s, address)
    return "" if status else f"{url} did not respond within {patience_s:.0f} s ({problem})"
