"""Connections that a program closed stayed as orphans, so their peer did not acknowledge the end.

What it means
-------------
An orphan is a socket that its program closed, while the kernel still waits for the peer to acknowledge the last data or
the FIN.  On a healthy network a connection is an orphan for one round trip.  Orphans that stay show that the peer, or a
device between, does not answer: those connections carry no load, and hold memory.  Above `tcp_max_orphans` the kernel
resets them.  The rule takes the most orphans that a snapshot saw during the run, as a share of the connections
requested and of `tcp_max_orphans`.  Linux counts orphans over the whole machine, also for a program in a namespace or
container (`tcp_orphan_count_sum`, net/ipv4/proc.c).  So both ends of each connection may be orphans where the load went
over the loopback interface, or where two hosts were recorded, which may be namespaces of one machine.

Why it happens
--------------
A firewall or a balancer drops FINs or forgets a connection before its end (a conntrack table that is full, a short idle
timeout).  The peer's host went away, or its window is closed while data wait to be sent.  In `ss -tano` such sockets
are in FIN-WAIT-1, LAST-ACK or CLOSING with a timer that doubles (`timer:(on,…)`).

How to fix it
-------------
Compare `ss -tan state fin-wait-1 state last-ack` on both ends: a socket that only one end knows was forgotten between.
Look at the counters of firewalls and balancers on the path.  Do not hide it by a higher `net.ipv4.tcp_max_orphans`.

When to ignore it
-----------------
If the orphans come from another program or namespace: `orphaned` of `ss -s` is counted over the whole machine, also in
a namespace or container.  A load generator that ends closes all its connections at once, so samples after the load do
not count.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.hosts import on_loopback
from loadcurve.audit.rule import CONNECTIONS, Finding, Limit, Need, Rule, Severity, without_sample
from loadcurve.audit.run_tables import Tables, key_of, rows_of, runs_by_key
from loadcurve.audit.samples import samples_within
from loadcurve.tables import merge_generators

_MOST = "net.ipv4.tcp_max_orphans"
_ADVICE = (
    "Compare the sockets in FIN-WAIT-1 and LAST-ACK on both ends (`ss -tano`), and look for a firewall or a balancer "
    "that drops FINs or forgets connections."
)


def judge_orphans(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the most orphans against its connections and the kernel's maximum."""
    sockets = samples_within(tables["sockets"].dropna(subset=["orphaned"]), tables["runs"])
    rows = sockets.assign(orphaned=sockets["orphaned"].astype(float)).sort_values("orphaned")
    worst = rows.drop_duplicates("key", keep="last").set_index("key")
    most = _most_orphans(tables)
    requested = runs_by_key(merge_generators(tables["runs"]))["connections"]
    hosts = sockets[["key", "host"]].drop_duplicates()["key"]
    one_machine = set(hosts[hosts.duplicated()]) | set(key_of(tables["runs"])[on_loopback(tables["runs"])])
    for run, key in rows_of(tables):
        if key not in worst.index:
            yield without_sample(run, RULE.needs)
            continue
        number, host = float(worst["orphaned"][key]), worst["host"][key]
        connections, limit = float(requested[key]), most.get((key, host))
        ends = 2 if key in one_machine else 1
        share = number / max(ends * connections, 1.0)
        severity: Severity = "warning" if number >= limits["sockets"] and share > limits["warning"] else "ok"
        place = "" if pd.isna(host) else f" on {host}"
        text = f"Up to {number:.0f} sockets were orphaned{place}, of {connections:.0f} connections requested"
        if limit is not None and number > limits["error"] * limit:
            severity = "error"
            text += f"; the kernel keeps {limit:.0f} and resets others"
        yield Finding(run, severity, f"{text}.", _ADVICE, share, limits["warning"])


def _most_orphans(tables: Tables) -> dict[tuple[str, object], float]:
    """Maximum of orphans by key and host."""
    settings = tables.get("settings")
    if settings is None or settings.empty:
        return {}
    rows = settings[settings["setting"] == _MOST]
    numbers = pd.to_numeric(rows["value"], errors="coerce")
    return dict(zip(zip(key_of(rows), rows["host"], strict=True), numbers, strict=True))


RULE = Rule(
    "orphaned-sockets",
    "Were closed connections closed by the peer too?",
    judge_orphans,
    {
        "ok": "at most one for each end of each connection, or fewer than 10 sockets",
        "warning": "more orphans than ends of connections on the machine",
        "error": "more than 95 % of net.ipv4.tcp_max_orphans",
    },
    limits={
        "warning": Limit(1.0, "without keep-alive, each end of a connection may be an orphan while it closes"),
        "error": Limit(0.95, "the kernel resets further orphans at the maximum"),
        "sockets": Limit(10, "other programs of a quiet machine close a few connections"),
    },
    needs=(
        Need("sockets", ("orphaned",), "the orphaned sockets", "Record `ss -s` on both hosts while the load runs."),
        CONNECTIONS,
    ),
    family="Load delivered",
)
