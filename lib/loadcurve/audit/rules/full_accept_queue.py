"""A listening socket's accept queue was at least half full, so new connections may have waited for a retry.

What it means
-------------
In `ss`, a listening socket's Recv-Q is the number of connections that wait to be accepted, and Send-Q is the most that
may wait.  A full queue drops the client's SYN, which the client repeats after 1 s (the next ones after 2 s and 4 s, or
since Linux 6.5 after 1 s each at first), or the last segment of the handshake: then the client repeats its request
after 0.2 s and more.  The maximum response time shows these steps.  Half full is a warning: arrivals come in bursts, so
a queue seen half full at random instants has probably been full.

Why it happens
--------------
Connections arrive faster than the server calls accept: all connections of the generator at once, a connection for each
request, too few workers, or workers that wait for a disk or a back end.  The limit is the smaller of the server's
`backlog` (nginx: 511) and `net.core.somaxconn` (4,096; before Linux 5.4, 128).

How to fix it
-------------
Raise both limits (`listen 80 backlog=4096;` and `sysctl -w net.core.somaxconn=4096`); `ss -tln` shows the result in
Send-Q.  Accept with more workers, each with its own queue (`listen … reuseport`).  Keep connections alive.  `nstat -az
TcpExtListenOverflows` counts the SYNs and ACKs that found the queue full; the rule `listen-overflows` reads it.

When to ignore it
-----------------
In the first second of a load, while all connections arrive at once, if the run is long and its start is left out.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import LISTENING
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst


def measure_queue(tables: Tables) -> pd.DataFrame:
    """Return the fullest accept queue of each run, as a share of its backlog."""
    sockets = tables["connections"]
    listening = sockets[(sockets["state"] == "LISTEN") & (sockets["send_queue"] > 0)]
    listening = samples_within(listening, tables["runs"])
    return worst(listening.assign(observed=listening["receive_queue"] / listening["send_queue"]))


RULE = threshold_rule(
    "full-accept-queue",
    "Did the server accept connections as fast as they came?",
    measure_queue,
    evidence="{receive_queue:.0f} waited to be accepted on port {local_port}, whose queue takes {send_queue:.0f}.",
    advice="Raise `listen … backlog=` and net.core.somaxconn together, or accept with more workers (reuseport); "
    "`nstat -az TcpExtListenOverflows` counts the handshakes that found it full.",
    limits={
        "warning": Limit(0.5, "arrivals come in bursts: a queue seen half full at random has probably been full"),
        "error": Limit(0.999, "a full queue drops handshakes, which are retried after 0.2 s or more"),
    },
    needs=(LISTENING,),
    family="What saturated",
)
