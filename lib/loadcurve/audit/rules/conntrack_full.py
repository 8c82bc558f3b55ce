"""The table of tracked connections was full or nearly full; a full one drops the packets that open connections.

What it means
-------------
A host with stateful firewall rules or NAT keeps an entry for each connection.  When `nf_conntrack_count` reaches
`nf_conntrack_max`, the kernel drops the packets that open further connections; the client repeats its SYN after 1 s and
more.  wrk and ab print no error for this.  The rule compares count and maximum of each host, and looks at the counters
of `conntrack -S`: `drop` (no entry left, or its insertion failed), `early_drop` (an entry was evicted) and
`insert_failed` (two connections needed the same tuple, as when source NAT runs out of ports).

Why it happens
--------------
An entry outlives its connection: 120 s in TIME_WAIT, 5 days in ESTABLISHED.  So 2,000 connections/s without keep-alive
fill 240,000 entries in two minutes.  The maximum follows the memory: 65,536 on small machines, 262,144 on large ones.
Balancers that translate addresses (iptables, nft, kube-proxy) and container hosts track everything.

How to fix it
-------------
Keep connections alive.  Raise the maximum (`sysctl -w net.netfilter.nf_conntrack_max=1048576`) together with the hash
table (`/sys/module/nf_conntrack/parameters/hashsize`), shorten
`net.netfilter.nf_conntrack_tcp_timeout_time_wait`, or exclude the tested port from tracking (`nft add rule … notrack`).
The kernel logs `nf_conntrack: table full, dropping packet`.

When to ignore it
-----------------
A few `insert_failed`, which count as `drop` too, come from retransmitted SYNs that pass two processors at the same
time.  `early_drop` evicts connections whose handshake is not complete, without harm if nobody waits for them;
established connections are never evicted, however idle.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.rule import Evidence, Finding, Limit, Need, Rule, Severity, judge_evidence, severity_of
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.audit.samples import growth_of_counters, samples_within

_COUNT, _MOST = "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"
_COUNTERS = {"drop": "dropped", "early_drop": "evicted", "insert_failed": "failed"}
_RAISE = (
    "Raise net.netfilter.nf_conntrack_max, keep connections alive, or exclude the tested port from tracking (notrack)."
)
_NEEDS = "the number of tracked connections"
_RECORD = f"Record `sysctl {_COUNT} {_MOST}` and `conntrack -S` on every host with a firewall or NAT during the run."


def judge_conntrack(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the fullest table of its hosts, and what the tables dropped."""
    yield from judge_evidence(tables, (_of_counters(tables), _of_tables(tables, limits)), f"needs {_NEEDS}", _RECORD)


def full_tables(tables: Tables) -> dict[str, Evidence]:
    """Return by key of a run what shows that a table was full: the connections in it, else the packets it dropped."""
    limits = {name: limit.value for name, limit in RULE.limits.items()}
    both = _of_counters(tables) | _of_tables(tables, limits)
    return {key: evidence for key, evidence in both.items() if evidence.severity == "error"}


def _of_tables(tables: Tables, limits: Mapping[str, float]) -> dict[str, Evidence]:
    settings = tables.get("settings")
    if settings is None or settings.empty:
        return {}
    settings = settings[settings["setting"].isin([_COUNT, _MOST])]
    counts = samples_within(settings[settings["setting"] == _COUNT], tables["runs"])
    most = settings[settings["setting"] == _MOST]
    if counts.empty or most.empty:
        return {}
    place = ["key", "host"]
    used, room = (
        frame.assign(host=frame["host"].astype(object).fillna(""), number=pd.to_numeric(frame["value"], "coerce"))
        for frame in (counts, most.assign(key=key_of(most)))
    )
    largest, rooms = used.groupby(place)["number"].max(), room.groupby(place)["number"].max()
    shares = largest.to_frame("used").join(rooms.rename("room"))
    shares = shares[(shares["room"] > 0) & shares["used"].notna()].reset_index()
    shares = shares.assign(share=shares["used"] / shares["room"]).sort_values("share")
    shares = shares.drop_duplicates("key", keep="last")
    found = {}
    for row in shares.itertuples(index=False):
        host = row.host or "the host"
        text = f"{row.used:.0f} of {row.room:.0f} connections were tracked on {host}."
        severity = severity_of(row.share, limits)
        found[str(row.key)] = Evidence(severity, text, _RAISE, float(row.share), limits["warning"])
    return found


def _of_counters(tables: Tables) -> dict[str, Evidence]:
    counters = tables.get("counters")
    if counters is None or counters.empty:
        return {}
    own = counters[counters["tool"] == "conntrack"]
    grown = growth_of_counters({**tables, "counters": own}, _COUNTERS)
    if grown.empty:
        return {}
    sums = grown.groupby(["key", "host"])[["dropped", "evicted", "failed"]].sum(min_count=1).reset_index()
    sums = sums.fillna(0.0).sort_values(["dropped", "failed", "evicted"]).drop_duplicates("key", keep="last")
    found = {}
    for row in sums.itertuples(index=False):
        severity: Severity = "error" if row.dropped > row.failed else "warning" if row.failed or row.evicted else "ok"
        host = row.host or "the host"
        text = (
            f"The conntrack table of {host} dropped {row.dropped:.0f} packets, evicted {row.evicted:.0f} entries and "
            f"failed to insert {row.failed:.0f}."
        )
        found[str(row.key)] = Evidence(severity, text, _RAISE, float(row.dropped), 0.0)
    return found


RULE = Rule(
    "conntrack-full",
    "Did the table of tracked connections have room?",
    judge_conntrack,
    {
        "ok": "at most 90 % full, and nothing dropped",
        "warning": "more than 90 % full, an entry evicted, or an insertion that failed",
        "error": "full (99 %), or more packets dropped than insertions failed",
    },
    limits={
        "warning": Limit(0.9, "counts are sampled; a burst of connections fills the last tenth between two samples"),
        "error": Limit(0.99, "the kernel drops at the maximum; sampled counts are just below it"),
    },
    needs=(Need("settings", ("setting", "value"), _NEEDS, _RECORD, alternatives=(Need("counters", ("value",)),)),),
    family="Load delivered",
)
