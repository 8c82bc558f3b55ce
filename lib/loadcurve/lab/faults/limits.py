"""Faults of limits: ports, file descriptors, entries of connection tracking."""

from typing import Annotated

from loadcurve.lab.faults.fault import Fault, FaultKind, Sysctl, Table
from loadcurve.lab.servers.settings import check_count
from loadcurve.study.section import Range

_PORTS = Range(1, 20_000)
_DESCRIPTORS = Range(16, 1_000_000)
_ENTRIES = Range(1, 1_000_000)


def narrow_ports(count: int, low: int = 40000) -> Fault:
    """Return the fault that leaves a client few ephemeral ports, from `low` on."""
    _PORTS.check("count", count, whole=True)
    check_count("low", low, 1024, 65535 - count)
    setting = Sysctl("net.ipv4.ip_local_port_range", f"{low} {low + count - 1}")
    return Fault("narrow_ports", "C", (setting,))


def few_descriptors(count: int, role: str = "C") -> Fault:
    """Return the fault that limits the file descriptors of a process; each connection needs one."""
    _DESCRIPTORS.check("count", count, whole=True)
    return Fault("few_descriptors", role, wrap=("prlimit", f"--nofile={count}:{count}"))


def fill_conntrack(entries: int) -> Fault:
    """Return the fault that limits the entries of a host's connection tracking."""
    _ENTRIES.check("entries", entries, whole=True)
    # The kernel tracks nothing before a rule needs the state of a connection.
    tracked = Table("fault_track", "input", ("ct state new counter accept",))
    return Fault("fill_conntrack", "S", (tracked, Sysctl("net.netfilter.nf_conntrack_max", f"{entries}")))


def cap_connections(port: int, entries: int) -> Fault:
    """Return the fault that drops what opens further connections to a port, as a full conntrack table does."""
    check_count("port", port, 1, 65535)
    _ENTRIES.check("entries", entries, whole=True)
    rule = f"tcp dport {port} ct state new ct count over {entries} counter drop"
    return Fault("cap_connections", "S", (Table("fault_cap", "input", (rule,)),))


NARROW_PORTS = FaultKind(
    "narrow_ports",
    "Number of ephemeral ports that a client has.",
    "The client has at most this number of connections to each server. wrk ends with exit code 0 and connect errors, "
    "or with 0 requests where it gets no connection; ab ends with code 99.",
    Annotated[int, _PORTS],
    lambda count, _: narrow_ports(count),
)
FEW_DESCRIPTORS = FaultKind(
    "few_descriptors",
    "Limit of file descriptors of each of a client's processes; with `host`, of that host's servers.",
    "wrk ends with exit code 0 and connect errors, and its heading still names all connections; ab ends with code 24.",
    Annotated[int, _DESCRIPTORS],
    lambda count, target: few_descriptors(count, target.role or "C"),
)
FILL_CONNTRACK = FaultKind(
    "fill_conntrack",
    "Number of entries that the connection tracking of a server's host has; not every kernel can limit it.",
    "No new connection opens, and open ones continue. Where the kernel cannot limit a namespace, use "
    "`cap_connections`, which has the same effect.",
    Annotated[int, _ENTRIES],
    lambda entries, _: fill_conntrack(entries),
)
CAP_CONNECTIONS = FaultKind(
    "cap_connections",
    "Number of connections that a server's host accepts, as where connection tracking is full.",
    "Further connections never open: the client retransmits its SYNs, and wrk prints no error.",
    Annotated[int, _ENTRIES],
    lambda entries, target: cap_connections(target.port, entries),
    acts_on="port",
)
