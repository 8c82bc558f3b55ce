"""The monitors: counters of the kernel and of servers, sockets, tracked connections, and the tools of sysstat."""

from collections.abc import Iterable

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.tools.monitors.monitor import Monitor, MonitorKind
from loadcurve.lab.tools.servers.settings import Endpoint, check_count

NSTAT_TOOL = Tool("nstat", "kernel counters", "-V", "iproute2")
# Per namespace are net/*; stat, softirqs and interrupts are machine-wide, in every namespace.
PROC_FILES = ("stat", "net/dev", "net/snmp", "net/netstat", "net/sockstat", "softirqs", "interrupts")


def nstat(interval_s: float = 1) -> Monitor:
    """Return nstat: the namespace's counters of TCP and IP since its start; nstat writes no history file."""
    return Monitor("nstat", "nstat", "", interval_s, ("nstat", "-a", "-s", "-z"))


def proc(interval_s: float = 1, files: Iterable[str] = PROC_FILES) -> Monitor:
    """Return snapshots of files in ``/proc``: processors, interfaces, TCP, sockets, interrupts."""
    chosen = tuple(files)
    paths = tuple(f"/proc/{name}" for name in PROC_FILES if name in chosen)
    return Monitor("proc", "proc", "", interval_s, paths=paths)


def stub_status(endpoint: Endpoint, path: str = "/", interval_s: float = 1) -> Monitor:
    """Return the page of nginx's connection counters; reading it takes one connection and one request."""
    return Monitor("stub-status", "nginx", "stub_status", interval_s, page=(endpoint, path))


def counters(tool: str, argv: tuple[str, ...], interval_s: float = 1) -> Monitor:
    """Return the counters of a balancer, by the command that prints them for each server."""
    return Monitor(tool, tool, "", interval_s, argv)


NSTAT = MonitorKind("nstat", "Counters of the kernel's network stack.", lambda interval_s, host: nstat(interval_s))
PROC = MonitorKind("proc", "Counters of the kernel in files of `/proc`.", lambda interval_s, host: proc(interval_s))
STUB_STATUS = MonitorKind(
    "stub_status",
    "Connections of nginx servers, from a page of their own.",
    lambda interval_s, host: stub_status(host.status, interval_s=interval_s) if host.status else None,
)
COUNTERS = MonitorKind(
    "counters",
    "Connections or requests that the balancer counted for each server: nft, ipvs and haproxy.",
    lambda interval_s, host: counters(*host.counters, interval_s) if host.counters[1] else None,
)

SS_TOOL = Tool("ss", "sockets", "-V", "iproute2", group="lab-tools")


def ss_summary(interval_s: float = 1) -> Monitor:
    """Return ``ss -s``: counts of sockets.  `orphaned` and the total are machine-wide, also in a namespace."""
    return Monitor("ss-summary", "ss", "summary", interval_s, ("ss", "-s"))


def ss_connections(ports: Iterable[int], interval_s: float = 2) -> Monitor:
    """Return ``ss -tan``: every TCP socket of some ports.  A snapshot is long, so the default interval is 2 s."""
    return Monitor("ss-connections", "ss", "connections", interval_s, ("ss", "-tan", *_of_ports(ports)))


def ss_details(ports: Iterable[int], interval_s: float = 2) -> Monitor:
    """Return ``ss -tin``: TCP state of every connection of some ports, such as its round-trip time."""
    # Ingestion recognises a list of ss by its rows, with details or without: both have the same variant.
    return Monitor("ss-details", "ss", "connections", interval_s, ("ss", "-tin", *_of_ports(ports)))


def _of_ports(ports: Iterable[int]) -> tuple[str, ...]:
    """Filter of ss(8); each word is an argument."""
    checked = [check_count("ports", port, 1, 65535) for port in ports]
    words = [f"sport = :{port} or dport = :{port}" for port in checked]
    return ("(", *" or ".join(words).split(), ")") if words else ()


SS_SUMMARY = MonitorKind("ss_summary", "Numbers of sockets.", lambda interval_s, host: ss_summary(interval_s))
SS_CONNECTIONS = MonitorKind(
    "ss_connections",
    "Connections of the servers' ports, with their queues.",
    lambda interval_s, host: ss_connections(host.ports, interval_s),
)
SS_DETAILS = MonitorKind(
    "ss_details",
    "Connections of the servers' ports with their TCP state: windows, round trips, retransmissions.",
    lambda interval_s, host: ss_details(host.ports, interval_s),
)


SAR_TOOL = Tool("sar", "machine", "-V", "sysstat", group="lab-tools")
SADF_TOOL = Tool("sadf", "binary sa files", "-V", "sysstat")
MPSTAT_TOOL = Tool("mpstat", "processors", "-V", "sysstat")
PIDSTAT_TOOL = Tool("pidstat", "threads", "-V", "sysstat")


def _sysstat(tool: str, options: str, interval_s: float) -> Monitor:
    """A tool that prints samples itself, and on SIGINT those that it holds."""
    argv = (tool, *options.split(), f"{interval_s:g}")
    return Monitor(tool, tool, interval_s=interval_s, argv=argv, repeats=True, stop="INT")


def sar(interval_s: float = 1) -> Monitor:
    """Return sar: processors, memory, interfaces and drops, TCP, sockets."""
    return _sysstat("sar", "-u ALL -P ALL -r ALL -n DEV -n EDEV -n TCP -n ETCP -n SOCK", interval_s)


def mpstat(interval_s: float = 1) -> Monitor:
    """Return mpstat: time shares of each processor."""
    return _sysstat("mpstat", "-P ALL", interval_s)


def pidstat(interval_s: float = 1) -> Monitor:
    """Return pidstat: processor time of each thread that ran, so that one busy thread among idle processors is seen."""
    return _sysstat("pidstat", "-u -t", interval_s)


def conntrack(interval_s: float = 1) -> Monitor:
    """Return ``sysctl`` of the number of tracked connections and its maximum; empty where nothing is tracked."""
    settings = ("net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max")
    return Monitor("conntrack", "sysctl", "", interval_s, ("sysctl", "-e", *settings))


SAR = MonitorKind(
    "sar",
    "Processors, memory, interfaces and their drops, TCP and sockets.",
    lambda interval_s, _: sar(interval_s),
    whole_seconds=True,
)
MPSTAT = MonitorKind(
    "mpstat", "Each processor by itself.", lambda interval_s, _: mpstat(interval_s), whole_seconds=True
)
PIDSTAT = MonitorKind(
    "pidstat",
    "Processor time of each thread, such as those of the load generator.",
    lambda interval_s, _: pidstat(interval_s),
    whole_seconds=True,
)
CONNTRACK = MonitorKind(
    "conntrack", "Tracked connections of the host and their maximum.", lambda interval_s, _: conntrack(interval_s)
)
