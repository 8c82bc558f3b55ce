"""The faults of the laboratory: functions from settings to a `Fault`; each says what it looks like."""

import math

from loadcurve.errors import ValueRuleError
from loadcurve.lab.faults.fault import Fault, Send, Sysctl, Table
from loadcurve.lab.hosts.network.conditions import LinkConditions
from loadcurve.lab.servers.settings import check_count

# RFC 9293, 3.1: the flags of a segment that opens a connection, and of one that closes it.
_OPENS, _CLOSES = "tcp flags & (syn | ack) == syn", "tcp flags & fin == fin"


def narrow_ports(count: int, low: int = 40000) -> Fault:
    """Return a fault that leaves a client few ephemeral ports: no more connections than these to each server.

    wrk ends well with connect errors, or, where no connection is had at all, with "0 requests"; ab ends with code 99.
    """
    check_count("count", count, 1, 20_000)
    check_count("low", low, 1024, 65535 - count)
    setting = Sysctl("net.ipv4.ip_local_port_range", f"{low} {low + count - 1}")
    return Fault("narrow_ports", "C", (setting,))


def few_descriptors(count: int, role: str = "C") -> Fault:
    """Return a fault that leaves a process few file descriptors, each of its connections being one.

    wrk ends well with connect errors, its heading still names all connections; ab ends with code 24.
    """
    check_count("count", count, 16, 1_000_000)
    return Fault("few_descriptors", role, wrap=("prlimit", f"--nofile={count}:{count}"))


def drop_syn(port: int) -> Fault:
    """Return a fault that loses each first segment of a connection to a port: nobody connects any more.

    A client waits and repeats; wrk says nothing of it and lasts far longer than it was told.
    """
    check_count("port", port, 1, 65535)
    return Fault("drop_syn", "S", (Table("fault_syn", "input", (f"tcp dport {port} {_OPENS} counter drop",)),))


def drop_fin(port: int) -> Fault:
    """Return a fault that loses what a server says when it closes: the other end waits, its own end is in FIN-WAIT-1.

    wrk counts 0 requests and no error where the end of a response is told by closing.
    """
    check_count("port", port, 1, 65535)
    return Fault("drop_fin", "S", (Table("fault_fin", "output", (f"tcp sport {port} {_CLOSES} counter drop",)),))


def lose_packets(ratio: float, role: str = "S") -> Fault:
    """Return a fault that loses a share of the packets of a host's links: retransmissions, and a long tail."""
    _check_ratio("ratio", ratio)
    return Fault("lose_packets", role, link=LinkConditions(loss_ratio=ratio))


def delay_packets(delay_s: float, role: str = "S") -> Fault:
    """Return a fault that delays a host's packets in each direction: no response is faster than twice of it."""
    return Fault("delay_packets", role, link=LinkConditions(delay_s=delay_s))


def kill_worker(service: str) -> Fault:
    """Return a fault that kills the first worker of a server: its connections are reset, its master starts another."""
    return Fault("kill_worker", "S", (Send(service, "KILL", "worker"),))


def stop_server(service: str) -> Fault:
    """Return a fault that stops a server's processes: connections are still accepted by the kernel, none is answered.

    wrk counts 0 requests in that time; a timeout counts only when the late reply arrives.
    """
    return Fault("stop_server", "S", (Send(service, "STOP"),), (Send(service, "CONT"),))


def fill_accept_queue(service: str, backlog: int) -> Fault:
    """Return a fault that stops a server whose accept queue is short: the kernel drops what comes to a full queue.

    `listen_overflows` and `listen_drops` grow; ss shows as many in Recv-Q of the listening socket as its Send-Q allows.
    """
    check_count("backlog", backlog, 1, 65535)
    short = {"net.core.somaxconn": f"{backlog}"}  # listen(2): the backlog is cut to it
    return Fault("fill_accept_queue", "S", (Send(service, "STOP"),), (Send(service, "CONT"),), sysctls=short)


def fill_conntrack(entries: int) -> Fault:
    """Return a fault that leaves a host's connection tracking few entries: a packet that needs a new one is dropped.

    No connection is opened any more, and those that are open go on.  Where a kernel lets no namespace have a limit of
    its own, `cap_connections` does the same.
    """
    check_count("entries", entries, 1, 1_000_000)
    # Nothing is tracked before a rule asks for a connection's state.
    tracked = Table("fault_track", "input", ("ct state new counter accept",))
    return Fault("fill_conntrack", "S", (tracked, Sysctl("net.netfilter.nf_conntrack_max", f"{entries}")))


def cap_connections(port: int, entries: int) -> Fault:
    """Return a fault that drops what opens a connection beyond some tracked ones, as a full conntrack table does.

    Those beyond are never opened: their SYNs are repeated, and wrk does not say so.
    """
    check_count("port", port, 1, 65535)
    check_count("entries", entries, 1, 1_000_000)
    rule = f"tcp dport {port} ct state new ct count over {entries} counter drop"
    return Fault("cap_connections", "S", (Table("fault_cap", "input", (rule,)),))


def _check_ratio(name: str, value: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and 0 < value <= 1):
        raise ValueRuleError(name, "a number over 0, up to 1", value)
