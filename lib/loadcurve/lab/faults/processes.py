"""Faults of a server's processes: killed or stopped by a signal."""

from typing import Annotated, Literal

from loadcurve.lab.faults.fault import Fault, FaultKind, Send
from loadcurve.section import Range

_BACKLOG = Range(1, 65_535)


def kill_worker(service: str) -> Fault:
    """Return the fault that kills the first worker of a server."""
    return Fault("kill_worker", "S", (Send(service, "KILL", "worker"),))


def stop_server(service: str) -> Fault:
    """Return the fault that stops a server's processes (SIGSTOP) and continues them at its end."""
    return Fault("stop_server", "S", (Send(service, "STOP"),), (Send(service, "CONT"),))


def fill_accept_queue(service: str, backlog: int) -> Fault:
    """Return the fault that stops a server whose accept queue is short."""
    _BACKLOG.check("backlog", backlog, whole=True)
    short = {"net.core.somaxconn": f"{backlog}"}  # listen(2): the kernel cuts the backlog to it
    return Fault("fill_accept_queue", "S", (Send(service, "STOP"),), (Send(service, "CONT"),), sysctls=short)


KILL_WORKER = FaultKind(
    "kill_worker",
    "The first worker of the server is killed; its master starts another.",
    "The worker's connections are reset.",
    Literal[True],
    lambda _, target: kill_worker(target.service),
    acts_on="process",
)
STOP_SERVER = FaultKind(
    "stop_server",
    "The server is stopped (SIGSTOP): the kernel accepts connections, and no request gets a response.",
    "wrk counts 0 requests in that time; it counts a timeout only when the late response arrives.",
    Literal[True],
    lambda _, target: stop_server(target.service),
    acts_on="process",
)
FILL_ACCEPT_QUEUE = FaultKind(
    "fill_accept_queue",
    "The server is stopped, and its accept queue holds this number of connections.",
    "The kernel drops further connections: `listen_overflows` and `listen_drops` grow, and in ss the Recv-Q of the "
    "listening socket reaches its Send-Q.",
    Annotated[int, _BACKLOG],
    lambda backlog, target: fill_accept_queue(target.service, backlog),
    acts_on="process",
)
