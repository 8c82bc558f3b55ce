"""The faults: of limits, of packets and links, and of processes."""

from typing import Annotated, Literal

from loadcurve.lab.hosts.network.conditions import DELAY_S, LinkConditions
from loadcurve.lab.tools.faults.fault import Fault, FaultKind, Send, Shape, Start, Steer, Sysctl, Table
from loadcurve.lab.tools.servers.settings import Endpoint, check_count
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
    _ENTRIES.check("entries", entries, whole=True)
    return _dropping("cap_connections", port, "fault_cap", f"tcp dport {port} ct state new ct count over {entries}")


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


_RATIO = Range(gt=0, le=1)
_RATE_BPS = Range(ge=8000, unit="bit/s")
_RATE_PPS = Range(10, 10_000_000, unit="packets/s")
_PROCESSOR = Range(0, 31)
# RFC 9293, 3.1: the flags of a segment that opens a connection, and of one that closes it.
_OPENS, _CLOSES = "tcp flags & (syn | ack) == syn", "tcp flags & fin == fin"


def _dropping(name: str, port: int, table: str, rule: str, hook: str = "input") -> Fault:
    """A fault that drops the packets of a port that a rule matches."""
    check_count("port", port, 1, 65535)
    return Fault(name, "S", (Table(table, hook, (f"{rule} counter drop",)),))


def drop_syn(port: int) -> Fault:
    """Return the fault that drops each first segment of a connection to a port."""
    return _dropping("drop_syn", port, "fault_syn", f"tcp dport {port} {_OPENS}")


def drop_fin(port: int) -> Fault:
    """Return the fault that drops the segments by which a server closes connections of a port."""
    return _dropping("drop_fin", port, "fault_fin", f"tcp sport {port} {_CLOSES}", "output")


def lose_clients(port: int) -> Fault:
    """Return the fault that drops all packets to a port, so that the clients are gone without a FIN or RST."""
    return _dropping("lose_clients", port, "fault_clients", f"tcp dport {port}")


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
