"""Counters of the kernel, of nginx and of balancers."""

from collections.abc import Iterable

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.monitors.monitor import Monitor, MonitoredHost, MonitorKind
from loadcurve.lab.servers.settings import Endpoint

TOOL = Tool("nstat", "kernel counters", "-V", "iproute2")
# Per namespace are net/*; stat, softirqs and interrupts are machine-wide, in every namespace.
PROC_FILES = ("stat", "net/dev", "net/snmp", "net/netstat", "net/sockstat", "softirqs", "interrupts")


def nstat(interval_s: float = 1) -> Monitor:
    """Return nstat: the namespace's counters of TCP and IP since its start; nstat writes no history file."""
    return Monitor("nstat", "nstat", "", interval_s, ("nstat", "-a", "-s", "-z"))


def proc(interval_s: float = 1, files: Iterable[str] = PROC_FILES) -> Monitor:
    """Return snapshots of files in ``/proc``: processors, interfaces, TCP, sockets, interrupts."""
    chosen = tuple(files)
    return Monitor(
        "proc", "proc", "", interval_s, paths=tuple(f"/proc/{name}" for name in PROC_FILES if name in chosen)
    )


def stub_status(endpoint: Endpoint, path: str = "/", interval_s: float = 1) -> Monitor:
    """Return the page of nginx's connection counters; reading it takes one connection and one request."""
    return Monitor("stub-status", "nginx", "stub_status", interval_s, page=(endpoint, path))


def counters(tool: str, argv: tuple[str, ...], interval_s: float = 1) -> Monitor:
    """Return the counters of a balancer, by the command that prints them for each server."""
    return Monitor(tool, tool, "", interval_s, argv)


def _status_page(interval_s: float, host: MonitoredHost) -> Monitor | None:
    return stub_status(host.status, "/", interval_s) if host.status else None


def _counters(interval_s: float, host: MonitoredHost) -> Monitor | None:
    tool, argv = host.counters
    return counters(tool, argv, interval_s) if argv else None


NSTAT = MonitorKind("nstat", "Counters of the kernel's network stack.", lambda interval_s, host: nstat(interval_s))
PROC = MonitorKind("proc", "Counters of the kernel in files of `/proc`.", lambda interval_s, host: proc(interval_s))
STUB_STATUS = MonitorKind("stub_status", "Connections of nginx servers, from a page of their own.", _status_page)
COUNTERS = MonitorKind(
    "counters", "Connections or requests that the balancer counted for each server: nft, ipvs and haproxy.", _counters
)
