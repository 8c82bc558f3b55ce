"""The faults: of limits, of packets and links, and of processes."""

from typing import Annotated, Literal

from loadcurve.lab.hosts.network.conditions import DELAY_S, LinkConditions
from loadcurve.lab.tools.faults.fault import Fault, FaultKind, Send, Shape, Start, Steer, Sysctl, Table
from loadcurve.lab.tools.servers.settings import Endpoint, check_count
from loadcurve.study.section import Range

_ENTRIES = Range(1, 1_000_000)
_FOREVER = ("wrk", "-t1", "-c1", "-d86400s", "--timeout", "60s")
# RFC 9293, 3.1: the flags of a segment that opens a connection, and of one that closes it.
_OPENS, _CLOSES = "tcp flags & (syn | ack) == syn", "tcp flags & fin == fin"


def _dropping(name: str, port: int, table: str, rule: str, hook: str = "input") -> Fault:
    """A fault that drops the packets of a port that a rule matches."""
    check_count("port", port, 1, 65535)
    return Fault(name, "S", (Table(table, hook, (f"{rule} counter drop",)),))


NARROW_PORTS = FaultKind(
    "narrow_ports",
    "Number of ephemeral ports that a client has.",
    "The client has at most this number of connections to each server. wrk ends with exit code 0 and connect errors, "
    "or with 0 requests where it gets no connection; ab ends with code 99.",
    Annotated[int, Range(1, 20_000)],
    lambda count, _: Fault("narrow_ports", "C", (Sysctl("net.ipv4.ip_local_port_range", f"40000 {39999 + count}"),)),
)
FEW_DESCRIPTORS = FaultKind(
    "few_descriptors",
    "Limit of file descriptors of each of a client's processes; with `host`, of that host's servers.",
    "wrk ends with exit code 0 and connect errors, and its heading still names all connections; ab ends with code 24.",
    Annotated[int, Range(16, 1_000_000)],
    lambda count, on: Fault("few_descriptors", on.role or "C", wrap=("prlimit", f"--nofile={count}:{count}")),
)
FILL_CONNTRACK = FaultKind(
    "fill_conntrack",
    "Number of entries that the connection tracking of a server's host has; not every kernel can limit it.",
    "No new connection opens, and open ones continue. Where the kernel cannot limit a namespace, use "
    "`cap_connections`, which has the same effect.",
    Annotated[int, _ENTRIES],
    # The kernel tracks nothing before a rule needs the state of a connection.
    lambda entries, _: Fault(
        "fill_conntrack",
        "S",
        (
            Table("fault_track", "input", ("ct state new counter accept",)),
            Sysctl("net.netfilter.nf_conntrack_max", f"{entries}"),
        ),
    ),
)
CAP_CONNECTIONS = FaultKind(
    "cap_connections",
    "Number of connections that a server's host accepts, as where connection tracking is full.",
    "Further connections never open: the client retransmits its SYNs, and wrk prints no error.",
    Annotated[int, _ENTRIES],
    lambda entries, on: _dropping(
        "cap_connections", on.port, "fault_cap", f"tcp dport {on.port} ct state new ct count over {entries}"
    ),
    acts_on="port",
)
DROP_SYN = FaultKind(
    "drop_syn",
    "Segments that open a connection to the servers are lost.",
    "No new connection opens. A client retransmits its SYN; wrk prints no error and runs far beyond its duration.",
    Literal[True],
    lambda _, on: _dropping("drop_syn", on.port, "fault_syn", f"tcp dport {on.port} {_OPENS}"),
    acts_on="port",
)
DROP_FIN = FaultKind(
    "drop_fin",
    "Segments by which a server closes a connection are lost.",
    "The client waits, and the server's end stays in FIN-WAIT-1. Where closing the connection ends a response, wrk "
    "counts 0 requests and no error.",
    Literal[True],
    lambda _, on: _dropping("drop_fin", on.port, "fault_fin", f"tcp sport {on.port} {_CLOSES}", "output"),
    acts_on="port",
)
LOSE_CLIENTS = FaultKind(
    "lose_clients",
    "All packets of clients to the servers are lost: the clients are gone without a FIN or RST.",
    "The server keeps the connections open until its own timeout, such as nginx's `keepalive_timeout`; then they are "
    "orphans in FIN-WAIT-1. wrk counts 0 requests in that time.",
    Literal[True],
    lambda _, on: _dropping("lose_clients", on.port, "fault_clients", f"tcp dport {on.port}"),
    acts_on="port",
)
LOSE_PACKETS = FaultKind(
    "lose_packets",
    "Share of a server's packets that is lost in each direction.",
    "The kernel retransmits, and response times get a long tail.",
    Annotated[float, Range(gt=0, le=1)],
    lambda ratio, on: Fault("lose_packets", on.role or "S", link=LinkConditions(loss_ratio=ratio)),
)
DELAY_PACKETS = FaultKind(
    "delay_packets",
    "Delay of a server's packets in each direction.",
    "No response is faster than twice the delay.",
    Annotated[float, DELAY_S],
    lambda delay_s, on: Fault("delay_packets", on.role or "S", link=LinkConditions(delay_s=delay_s)),
)
SLOW_LINK = FaultKind(
    "slow_link",
    "Bits per second that a server sends on its first link, which must have no `rate_bps` of its own.",
    "While it lasts, throughput is the rate divided by the frame bytes of a response, and response times grow with the "
    "queue. A fault that begins in the middle of the load is a change point; with `every_s` the throughput oscillates.",
    Annotated[float, Range(ge=8000, unit="bit/s")],
    lambda rate_bps, on: Fault("slow_link", on.role or "S", (Shape(float(rate_bps)),)),
)
LIMIT_PACKETS = FaultKind(
    "limit_packets",
    "Packets per second that a server's host receives; what is above is dropped, as by the limit of a cloud instance.",
    "Throughput stays at the limit divided by the packets of a request, at any response size, and TCP retransmits. "
    "Neither the link nor a processor is saturated.",
    Annotated[int, Range(10, 10_000_000, unit="packets/s")],
    # A tenth of a second may be above.
    lambda rate, on: Fault(
        "limit_packets",
        on.role or "S",
        (Table("fault_rate", "input", (f"limit rate over {rate}/second burst {rate // 10} packets counter drop",)),),
    ),
)
STEER_PACKETS = FaultKind(
    "steer_packets",
    "Number of the processor that handles all packets that a server's host receives (`rps_cpus`), as with a network "
    "card of one queue.",
    "The softirq time of this processor grows, and the others stay as they were. Packets that come faster than it "
    "handles them are dropped from its queue of `net.core.netdev_max_backlog` packets.",
    Annotated[int, Range(0, 31)],
    lambda processor, on: Fault("steer_packets", on.role or "S", (Steer(processor),)),
)
KILL_WORKER = FaultKind(
    "kill_worker",
    "The first worker of the server is killed; its master starts another.",
    "The worker's connections are reset.",
    Literal[True],
    lambda _, on: Fault("kill_worker", "S", (Send(on.service, "KILL", "worker"),)),
    acts_on="process",
)
KILL_SERVER = FaultKind(
    "kill_server",
    "The server is killed, with all its processes; nothing starts it again.",
    "Open connections are reset and new ones refused, which wrk counts as read and connect errors. A balancer fails "
    "the server's share of the requests, or reports the server as down.",
    Literal[True],
    lambda _, on: Fault("kill_server", "S", (Send(on.service, "KILL"),)),
    acts_on="process",
)
KILL_GENERATOR = FaultKind(
    "kill_generator",
    "Time in s after which the load generator is killed, as by a build's time limit or for lack of memory.",
    "The output ends where the tool had printed last: wrk leaves its heading, and ab and hey leave nothing. The exit "
    "code is 137.",
    Annotated[float, Range(0.1, 3600, unit="s")],
    lambda after_s, _: Fault("kill_generator", "C", wrap=("timeout", "--foreground", "--signal=KILL", f"{after_s:g}")),
)
BUSY_PROCESSORS = FaultKind(
    "busy_processors",
    "Number of other processes that use the processors of a server's host; with `host`, of that host.",
    "Throughput falls while the server's own CPU time falls too: `pidstat` lists the other processes, and the load "
    "average exceeds the number of processors. On a virtual machine a neighbour shows as steal time instead.",
    Annotated[int, Range(1, 256)],
    # It reads without end from memory, so it uses one processor and no disk.
    lambda count, on: Fault("busy_processors", on.role or "S", (Start(("sha256sum", "/dev/zero")),) * count),
)
OTHER_TRANSFER = FaultKind(
    "other_transfer",
    "Size in bytes of a file of the server (`files`) that another process on the client's host downloads all the time.",
    "The interfaces carry more bytes for each response than it takes, and the load has only a part of the link.",
    Annotated[int, Range(1, 16 * 1024 * 1024)],  # as large as the laboratory's files get
    lambda size_bytes, on: Fault(
        "other_transfer", "C", (Start((*_FOREVER, f"http://{Endpoint(on.address, on.port)}/{size_bytes}.bin")),)
    ),
    acts_on="port",
)
STOP_SERVER = FaultKind(
    "stop_server",
    "The server is stopped (SIGSTOP): the kernel accepts connections, and no request gets a response.",
    "wrk counts 0 requests in that time; it counts a timeout only when the late response arrives.",
    Literal[True],
    lambda _, on: Fault("stop_server", "S", (Send(on.service, "STOP"),), (Send(on.service, "CONT"),)),
    acts_on="process",
)
FILL_ACCEPT_QUEUE = FaultKind(
    "fill_accept_queue",
    "The server is stopped, and its accept queue holds this number of connections.",
    "The kernel drops further connections: `listen_overflows` and `listen_drops` grow, and in ss the Recv-Q of the "
    "listening socket reaches its Send-Q.",
    Annotated[int, Range(1, 65_535)],
    # listen(2): the kernel cuts the backlog of a server to somaxconn.
    lambda backlog, on: Fault(
        "fill_accept_queue",
        "S",
        (Send(on.service, "STOP"),),
        (Send(on.service, "CONT"),),
        sysctls={"net.core.somaxconn": f"{backlog}"},
    ),
    acts_on="process",
)
