"""Faults of processes: servers that are killed or stopped, a killed generator, others that take the processors."""

from typing import Annotated, Literal

from loadcurve.lab.faults.fault import Fault, FaultKind, Send, Start
from loadcurve.lab.servers.settings import Endpoint
from loadcurve.study.section import Range

_BACKLOG = Range(1, 65_535)
_AFTER_S = Range(0.1, 3600, unit="s")
_PROCESSES = Range(1, 256)
_FILE_BYTES = Range(1, 16 * 1024 * 1024)  # as large as the laboratory's files get
# Reads without end from memory, so it uses one processor and no disk.
_BURNER = ("sha256sum", "/dev/zero")


def kill_worker(service: str) -> Fault:
    """Return the fault that kills the first worker of a server."""
    return Fault("kill_worker", "S", (Send(service, "KILL", "worker"),))


def kill_server(service: str) -> Fault:
    """Return the fault that kills all processes of a server."""
    return Fault("kill_server", "S", (Send(service, "KILL"),))


def kill_generator(after_s: float) -> Fault:
    """Return the fault that kills the load generator some seconds after its start."""
    _AFTER_S.check("after_s", after_s)
    return Fault("kill_generator", "C", wrap=("timeout", "--foreground", "--signal=KILL", f"{after_s:g}"))


def busy_processors(count: int, role: str = "S") -> Fault:
    """Return the fault that starts processes beside a host's own, each of which uses a processor."""
    _PROCESSES.check("count", count, whole=True)
    return Fault("busy_processors", role, (Start(_BURNER),) * count)


def other_transfer(address: str, port: int, size_bytes: int) -> Fault:
    """Return the fault that downloads a file of a server on a client's host, again and again, beside the load."""
    _FILE_BYTES.check("size_bytes", size_bytes, whole=True)
    url = f"http://{Endpoint(address, port)}/{size_bytes}.bin"
    return Fault("other_transfer", "C", (Start(("wrk", "-t1", "-c1", "-d86400s", "--timeout", "60s", url)),))


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
KILL_SERVER = FaultKind(
    "kill_server",
    "The server is killed, with all its processes; nothing starts it again.",
    "Open connections are reset and new ones refused, which wrk counts as read and connect errors. A balancer fails "
    "the server's share of the requests, or reports the server as down.",
    Literal[True],
    lambda _, target: kill_server(target.service),
    acts_on="process",
)
KILL_GENERATOR = FaultKind(
    "kill_generator",
    "Time in s after which the load generator is killed, as by a build's time limit or for lack of memory.",
    "The output ends where the tool had printed last: wrk leaves its heading, and ab and hey leave nothing. The exit "
    "code is 137.",
    Annotated[float, _AFTER_S],
    lambda after_s, _: kill_generator(after_s),
)
BUSY_PROCESSORS = FaultKind(
    "busy_processors",
    "Number of other processes that use the processors of a server's host; with `host`, of that host.",
    "Throughput falls while the server's own CPU time falls too: `pidstat` lists the other processes, and the load "
    "average exceeds the number of processors. On a virtual machine a neighbour shows as steal time instead.",
    Annotated[int, _PROCESSES],
    lambda count, target: busy_processors(count, target.role or "S"),
)
OTHER_TRANSFER = FaultKind(
    "other_transfer",
    "Size in bytes of a file of the server (`files`) that another process on the client's host downloads all the time.",
    "The interfaces carry more bytes for each response than it takes, and the load has only a part of the link.",
    Annotated[int, _FILE_BYTES],
    lambda size_bytes, target: other_transfer(target.address, target.port, size_bytes),
    acts_on="port",
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
