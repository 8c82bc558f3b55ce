"""The monitors of the laboratory: functions from settings to a `Monitor`."""

from collections.abc import Iterable

from loadcurve.lab.monitors.monitor import Monitor
from loadcurve.lab.servers.settings import Endpoint, check_count, check_name

# Per namespace are net/*; stat, softirqs and interrupts are the whole machine's, from wherever they are read.
PROC = ("stat", "net/dev", "net/snmp", "net/netstat", "net/sockstat", "softirqs", "interrupts")


def sar(interval_s: int = 1) -> Monitor:
    """Return sar: processors, interfaces, TCP and sockets; it prints what it holds on INT."""
    kinds = ("-u", "ALL", "-P", "ALL", "-n", "DEV", "-n", "TCP", "-n", "ETCP", "-n", "SOCK")
    argv = ("sar", *kinds, f"{interval_s:g}")
    return Monitor("sar", "sar", interval_s=interval_s, argv=argv, repeats=True, stop="INT")


def mpstat(interval_s: int = 1) -> Monitor:
    """Return mpstat: each processor's shares."""
    argv = ("mpstat", "-P", "ALL", f"{interval_s:g}")
    return Monitor("mpstat", "mpstat", interval_s=interval_s, argv=argv, repeats=True, stop="INT")


def ss_summary(interval_s: float = 1) -> Monitor:
    """Return ``ss -s``: counts of sockets; `orphaned` and the total are the whole machine's in a namespace."""
    return Monitor("ss-summary", "ss", "summary", interval_s, ("ss", "-s"))


def ss_connections(ports: Iterable[int], interval_s: float = 2) -> Monitor:
    """Return ``ss -tan``: every TCP socket of some ports; a snapshot is long, so it is taken less often."""
    return Monitor("ss-connections", "ss", "connections", interval_s, ("ss", "-tan", *_of_ports(ports)))


def ss_details(ports: Iterable[int], interval_s: float = 2) -> Monitor:
    """Return ``ss -tin``: what the kernel knows of every connection of some ports, such as its round-trip time."""
    # By its rows a text of ss is told to be a list, with details or without: both are of one form.
    return Monitor("ss-details", "ss", "connections", interval_s, ("ss", "-tin", *_of_ports(ports)))


def nstat(interval_s: float = 1) -> Monitor:
    """Return nstat: the namespace's counters of TCP and IP, from their beginning, no history of its own written."""
    return Monitor("nstat", "nstat", "", interval_s, ("nstat", "-a", "-s", "-z"))


def proc(interval_s: float = 1, files: Iterable[str] = PROC) -> Monitor:
    """Return snapshots of files in ``/proc``: processors, interfaces, TCP, sockets, interrupts."""
    chosen = tuple(files)
    return Monitor("proc", "proc", "", interval_s, paths=tuple(f"/proc/{name}" for name in PROC if name in chosen))


def stub_status(endpoint: Endpoint, path: str = "/", interval_s: float = 1) -> Monitor:
    """Return the page on which nginx counts its connections; reading it is one connection and one request itself."""
    return Monitor("stub-status", "nginx", "stub_status", interval_s, page=(endpoint, path))


def ipvsadm(interval_s: float = 1) -> Monitor:
    """Return what IPVS has counted for each service and server."""
    return Monitor("ipvsadm", "ipvsadm", "", interval_s, ("ipvsadm", "-L", "-n", "--stats", "--exact"))


def nft(balancer: str, interval_s: float = 1) -> Monitor:
    """Return the counters in the table of an `NftBalancer` of this name."""
    table = check_name("balancer", balancer).lower().replace("-", "_")
    return Monitor("nft", "nft", "", interval_s, ("nft", "--numeric", "list", "table", "ip", table))


def _of_ports(ports: Iterable[int]) -> tuple[str, ...]:
    """Filter of ss(8); each word an argument of its own."""
    checked = [check_count("ports", port, 1, 65535) for port in ports]
    words = [f"sport = :{port} or dport = :{port}" for port in checked]
    return ("(", *" or ".join(words).split(), ")") if words else ()
