"""Faults of packets: segments that are dropped by their flags, and links that lose or delay packets."""

from typing import Annotated, Literal

from loadcurve.lab.faults.fault import Fault, FaultKind, Shape, Steer, Table
from loadcurve.lab.hosts.network.conditions import DELAY_S, LinkConditions
from loadcurve.lab.servers.settings import check_count
from loadcurve.study.section import Range

_RATIO = Range(gt=0, le=1)
_RATE_BPS = Range(ge=8000, unit="bit/s")
_RATE_PPS = Range(10, 10_000_000, unit="packets/s")
_PROCESSOR = Range(0, 31)
# RFC 9293, 3.1: the flags of a segment that opens a connection, and of one that closes it.
_OPENS, _CLOSES = "tcp flags & (syn | ack) == syn", "tcp flags & fin == fin"


def drop_syn(port: int) -> Fault:
    """Return the fault that drops each first segment of a connection to a port."""
    check_count("port", port, 1, 65535)
    return Fault("drop_syn", "S", (Table("fault_syn", "input", (f"tcp dport {port} {_OPENS} counter drop",)),))


def drop_fin(port: int) -> Fault:
    """Return the fault that drops the segments by which a server closes connections of a port."""
    check_count("port", port, 1, 65535)
    return Fault("drop_fin", "S", (Table("fault_fin", "output", (f"tcp sport {port} {_CLOSES} counter drop",)),))


def lose_clients(port: int) -> Fault:
    """Return the fault that drops all packets to a port, so that the clients are gone without a FIN or RST."""
    check_count("port", port, 1, 65535)
    return Fault("lose_clients", "S", (Table("fault_clients", "input", (f"tcp dport {port} counter drop",)),))


def lose_packets(ratio: float, role: str = "S") -> Fault:
    """Return the fault that drops a share of the packets of a host's links."""
    _RATIO.check("ratio", ratio)
    return Fault("lose_packets", role, link=LinkConditions(loss_ratio=ratio))


def delay_packets(delay_s: float, role: str = "S") -> Fault:
    """Return the fault that delays a host's packets in each direction."""
    return Fault("delay_packets", role, link=LinkConditions(delay_s=delay_s))


def slow_link(rate_bps: float, role: str = "S") -> Fault:
    """Return the fault that limits the rate at which a host sends on its first link."""
    _RATE_BPS.check("rate_bps", rate_bps)
    return Fault("slow_link", role, (Shape(float(rate_bps)),))


def limit_packets(rate_pps: int, role: str = "S") -> Fault:
    """Return the fault that drops the packets that a host receives beyond a rate; a tenth of a second may be above."""
    _RATE_PPS.check("rate_pps", rate_pps, whole=True)
    rule = f"limit rate over {rate_pps}/second burst {rate_pps // 10} packets counter drop"
    return Fault("limit_packets", role, (Table("fault_rate", "input", (rule,)),))


def steer_packets(processor: int, role: str = "S") -> Fault:
    """Return the fault that lets one processor handle all packets that a host receives on its first link."""
    _PROCESSOR.check("processor", processor, whole=True)
    return Fault("steer_packets", role, (Steer(processor),))


DROP_SYN = FaultKind(
    "drop_syn",
    "Segments that open a connection to the servers are lost.",
    "No new connection opens. A client retransmits its SYN; wrk prints no error and runs far beyond its duration.",
    Literal[True],
    lambda _, target: drop_syn(target.port),
    acts_on="port",
)
DROP_FIN = FaultKind(
    "drop_fin",
    "Segments by which a server closes a connection are lost.",
    "The client waits, and the server's end stays in FIN-WAIT-1. Where closing the connection ends a response, wrk "
    "counts 0 requests and no error.",
    Literal[True],
    lambda _, target: drop_fin(target.port),
    acts_on="port",
)
LOSE_CLIENTS = FaultKind(
    "lose_clients",
    "All packets of clients to the servers are lost: the clients are gone without a FIN or RST.",
    "The server keeps the connections open until its own timeout, such as nginx's `keepalive_timeout`; then they are "
    "orphans in FIN-WAIT-1. wrk counts 0 requests in that time.",
    Literal[True],
    lambda _, target: lose_clients(target.port),
    acts_on="port",
)
LOSE_PACKETS = FaultKind(
    "lose_packets",
    "Share of a server's packets that is lost in each direction.",
    "The kernel retransmits, and response times get a long tail.",
    Annotated[float, _RATIO],
    lambda ratio, target: lose_packets(ratio, target.role or "S"),
)
DELAY_PACKETS = FaultKind(
    "delay_packets",
    "Delay of a server's packets in each direction.",
    "No response is faster than twice the delay.",
    Annotated[float, DELAY_S],
    lambda delay_s, target: delay_packets(delay_s, target.role or "S"),
)
SLOW_LINK = FaultKind(
    "slow_link",
    "Bits per second that a server sends on its first link, which must have no `rate_bps` of its own.",
    "While it lasts, throughput is the rate divided by the frame bytes of a response, and response times grow with the "
    "queue. A fault that begins in the middle of the load is a change point; with `every_s` the throughput oscillates.",
    Annotated[float, _RATE_BPS],
    lambda rate_bps, target: slow_link(rate_bps, target.role or "S"),
)
LIMIT_PACKETS = FaultKind(
    "limit_packets",
    "Packets per second that a server's host receives; what is above is dropped, as by the limit of a cloud instance.",
    "Throughput stays at the limit divided by the packets of a request, at any response size, and TCP retransmits. "
    "Neither the link nor a processor is saturated.",
    Annotated[int, _RATE_PPS],
    lambda rate_pps, target: limit_packets(rate_pps, target.role or "S"),
)
STEER_PACKETS = FaultKind(
    "steer_packets",
    "Number of the processor that handles all packets that a server's host receives (`rps_cpus`), as with a network "
    "card of one queue.",
    "The softirq time of this processor grows, and the others stay as they were. Packets that come faster than it "
    "handles them are dropped from its queue of `net.core.netdev_max_backlog` packets.",
    Annotated[int, _PROCESSOR],
    lambda processor, target: steer_packets(processor, target.role or "S"),
)
