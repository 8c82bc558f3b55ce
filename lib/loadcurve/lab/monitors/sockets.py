"""Sockets as ss(8) lists them."""

from collections.abc import Iterable

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.monitors.monitor import Monitor, MonitorKind
from loadcurve.lab.servers.settings import check_count

TOOL = Tool("ss", "sockets", "-V", "iproute2", group="lab-tools")


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


SUMMARY = MonitorKind("ss_summary", "Numbers of sockets.", lambda interval_s, host: ss_summary(interval_s))
CONNECTIONS = MonitorKind(
    "ss_connections",
    "Connections of the servers' ports, with their queues.",
    lambda interval_s, host: ss_connections(host.ports, interval_s),
)
DETAILS = MonitorKind(
    "ss_details",
    "Connections of the servers' ports with their TCP state: windows, round trips, retransmissions.",
    lambda interval_s, host: ss_details(host.ports, interval_s),
)
