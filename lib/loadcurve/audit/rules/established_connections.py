"""The server saw fewer connections than were requested, so part of the load may not have reached it.

What it means
-------------
What the generator calls a connection may never have reached the server.  `ss -tan` on the server lists those that are
established at its listening port; the rule takes the snapshot with the most during the load, adds up the servers behind
a balancer, and counts at the proxy if the URL is the proxy's.  10 % fewer than requested is a warning, because
connections that are just being opened or closed are not established.  Half is an error: sweeps usually double $N$, so
the run belongs to another level.

Why it happens
--------------
Connections failed to open (`connections-opened`), or opened and were closed by a device between: a conntrack table, an
idle timeout, a limit for each client.  The last segment of the handshake was dropped at a full queue; the client then
believes that it is connected, and the server lists the connection in SYN-RECV.  The generator opens a connection for
each request, so most are in TIME-WAIT.

How to fix it
-------------
Compare `ss -s` on both hosts: if the client has more, look at what lies between and at `nstat -az TcpExtListenOverflows
TcpExtListenDrops`.  Keep connections alive.  Record `ss -tan` with `-a`: a list without the listening socket may be any
part of the sockets, and is not used.

When to ignore it
-----------------
When the generator does not keep connections alive on purpose; $N$ is then the number of requests in flight.  When a
snapshot was filtered by a port that is not the server's.
"""

import pandas as pd

from loadcurve.audit.hosts import most_established
from loadcurve.audit.rule import CONNECTIONS, Limit, threshold_rule
from loadcurve.audit.rules._monitored import SNAPSHOT
from loadcurve.audit.run_tables import Tables, key_of, runs_by_key
from loadcurve.audit.samples import samples_within
from loadcurve.tables import merge_generators


def measure_missing(tables: Tables) -> pd.DataFrame:
    """Return which share of the requested connections of each run no snapshot within the load saw established."""
    requested = runs_by_key(merge_generators(tables["runs"]))["connections"].astype(float)
    columns = ["study", "run_id", "host", "time", "state", "local_address", "local_port"]
    connections = samples_within(tables["connections"], tables["runs"], columns)
    # A list without the listening sockets (no `-a`) may be any part of the sockets, or the generator's.
    complete = connections.loc[connections["state"] == "LISTEN", "key"].unique()
    connections = connections[connections["key"].isin(complete)]
    seen = most_established(connections, tables["runs"], connections["key"])
    seen = seen.assign(key=key_of(seen)).set_index("key").join(requested.rename("requested"), how="inner")
    return seen.assign(observed=(1 - seen["established"] / seen["requested"]).clip(lower=0.0))


RULE = threshold_rule(
    "established-connections",
    "Did the server see as many connections as were requested?",
    measure_missing,
    evidence="{established:.0f} of {requested:.0f} connections were established on the server.",
    advice="Compare `ss -s` on both hosts: connections are missing where a limit of descriptors, ports or a device's "
    "table was reached, or the generator opens a connection for each request.",
    limits={
        "warning": Limit(0.1, "connections that are just being opened or closed are not established"),
        "error": Limit(0.5, "sweeps usually double N, so the run belongs to a neighbouring level"),
    },
    needs=(CONNECTIONS, SNAPSHOT),
    family="Load delivered",
)
