"""Wait until a load is worked off: nothing of it may be left in the measurement that follows."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.lab.deployment import Deployment
from loadcurve.lab.deployment.host_slot import with_role
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.signals import pause
from loadcurve.lab.run import in_flight
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.run.readiness import asked
from loadcurve.lab.study_file import StudyFile

_PROGRAM = Path(in_flight.__file__).read_text("utf-8")
_PAUSE_S = 0.05
# A host counts as idle when it is seen so twice: between both looks a proxy's last requests reach its servers.
_LOOKS = 2
# For the start of a Python on a busy machine, be it in a session of ssh.
_ASKING_S = 10.0
# Requests of the lab's own servers that wait for nothing take some ms each; the rest is room for a busy machine.
_LEAST_S, _EACH_S, _MOST_S = 30.0, 0.1, 600.0


@dataclass(frozen=True)
class _Watched:
    """A host, and what of its sockets is looked at: the parameters of `in_work.look`."""

    host: str
    ports: tuple[int, ...]
    open_too: bool
    folders: tuple[str, ...] = ()


def limit_s(settings: StudyFile) -> float:
    """How long is waited at most, in s: a request on each connection, one after the other.

    Parameters
    ----------
    settings : StudyFile
        Sections of the point.
    """
    each_s = _EACH_S + settings.server.work_s
    return min(_MOST_S, _LEAST_S + settings.load.connections * each_s)


def wait_until_idle(settings: StudyFile, deployment: Deployment, environment: Environment) -> Iterator[str]:
    """Wait until the balancer and the servers have no request in work or queued.

    First the balancer, since what it holds goes to the servers; then each server.  A server that runs already, on a
    host where nobody can look, gets one request instead: where it handles requests in turn, that response comes last.

    Parameters
    ----------
    settings : StudyFile
        Sections of the point.
    deployment : Deployment
        What runs.
    environment : Environment
        On which hosts.

    Yields
    ------
    str
        Each host that was not idle in time: a sentence.
    """
    deadline = time.monotonic() + limit_s(settings)
    for watched in _watched(settings, deployment):
        executor, idle, left = environment.watch[watched.host], 0, 0
        while idle < _LOOKS:
            left = _look(executor, watched)
            if left is None:  # a server of the study that listens no more has ended, which is told elsewhere
                if settings.server.url is not None and (
                    said := _asked_once(settings, deployment, environment, deadline)
                ):
                    yield said
                break
            idle = 0 if left else idle + 1
            if idle < _LOOKS and time.monotonic() > deadline:
                yield f"{left} requests were still in work or queued on {watched.host} after {limit_s(settings):g} s"
                break
            pause(_PAUSE_S)


def _watched(settings: StudyFile, deployment: Deployment) -> Iterator[_Watched]:
    program = deployment.balanced.service if deployment.balanced else None
    if program is not None:
        yield _Watched(deployment.balancer, (deployment.balanced.endpoint.port,), True, program.folders)
    for host, served in deployment.served.items():
        folders = tuple(name for service in served.services for name in service.folders)
        ports = tuple(dict.fromkeys(endpoint.port for endpoint in served.endpoints))
        yield _Watched(host, ports, program is None, folders)
    if settings.server.url is not None:
        parts = urlsplit(settings.server.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        for site in with_role(deployment.slots, "S"):
            yield _Watched(site.name, (port,), False)


def _look(executor: Executor, watched: _Watched) -> int | None:
    asked_for = {"ports": watched.ports, "open_too": watched.open_too, "folders": watched.folders}
    if executor.is_here and not executor.host.prefix:
        return in_flight.look(**asked_for)
    argv = ("python3", "-I", "-S", "-c", _PROGRAM, json.dumps(asked_for))
    return json.loads(executor.check_output(argv, _ASKING_S))


def _asked_once(settings: StudyFile, deployment: Deployment, environment: Environment, deadline: float) -> str:
    """Send one request to a server that runs already; return what went wrong."""
    patience_s = max(1.0, deadline - time.monotonic())
    status, said = asked(environment.watch[deployment.loaders[0].host], settings.server.url, patience_s)
    return "" if status else f"{settings.server.url} did not respond within {patience_s:.0f} s ({said})"
