"""The kernel dropped handshakes, mostly because an accept queue was full, so some connections opened late.

What it means
-------------
If a SYN was dropped, the client repeats it after 1 s; the next ones follow after 2 s and 4 s, or since Linux 6.5 after
1 s each at first (`tcp_syn_linear_timeouts`). The maximum response time shows this step only if the tool times the
handshake, as ab does; wrk does not. If the last segment of the handshake was dropped, the client believes that it is
connected, and repeats its request after 0.2 s and more. `ListenOverflows` counts full queues, `ListenDrops` counts all
drops at listening sockets, the overflows among them (Linux, `net/ipv4/tcp_ipv4.c`). The counters see every drop; `ss`,
which the rule `full-accept-queue` uses, sees a queue only at the instant of a snapshot.

Why it happens
--------------
Connections arrive faster than the server calls `accept`, or thousands arrive at once, such as at the start of
`wrk -c8000`. The queue holds the smaller of the server's backlog (nginx: 511) and `net.core.somaxconn` (4096 since
Linux 5.4, before 128). A server with one busy worker accepts in bursts.

How to fix it
-------------
Raise both limits together (`listen 80 backlog=8192`, `sysctl net.core.somaxconn=8192`), or accept with more workers
(`listen … reuseport` gives each worker a queue of its own). Reuse connections, so that fewer are opened. Or open the
connections in steps, and measure after the last.

When to ignore it
-----------------
If all drops came while the connections were opened and the run is long, they affect the first seconds only. The
counters belong to the network namespace: another service of the same host may have caused them.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import growth_of_counters
from loadcurve.audit.utilisation import worst

# As nstat, /proc/net/netstat and netstat -s (net-tools, statistics.c) print them.
_NAMES = {
    "TcpExtListenOverflows": "overflows",
    "ListenOverflows": "overflows",
    "times the listen queue of a socket overflowed": "overflows",
    "TcpExtListenDrops": "drops",
    "ListenDrops": "drops",
    "SYNs to LISTEN sockets dropped": "drops",
}
COUNTERS = Need(
    "counters",
    ("counter", "value"),
    "the drops at listening sockets",
    "Record `nstat -asz` on the server, before the load, every second and after it.",
)


def measure_overflows(tables: Tables) -> pd.DataFrame:
    """Return the handshakes that the listening sockets of the worst host dropped during each run."""
    grown = growth_of_counters(tables, _NAMES)
    found = worst(grown.assign(dropped=grown[["overflows", "drops"]].max(axis=1)), "dropped")
    return found.assign(host=found["host"].replace("", "the host"), overflows=found["overflows"].fillna(0.0))


RULE = threshold_rule(
    "listen-overflows",
    "Did the listening sockets keep every connection?",
    measure_overflows,
    evidence="The listening sockets of {host} dropped packets {observed:.0f} times, {overflows:.0f} times because a "
    "queue was full; one connection can count several times.",
    advice="Raise `listen … backlog=` and net.core.somaxconn together, or accept with more workers (reuseport), and "
    "repeat: each dropped SYN waited 1 s or more, each dropped ACK 0.2 s or more.",
    limits={"warning": Limit(0.0, "a dropped SYN delays its request by 1 s or more, a dropped ACK by 0.2 s or more")},
    needs=(COUNTERS,),
    unit="",
    family="What saturated",
)
