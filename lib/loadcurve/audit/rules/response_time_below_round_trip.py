r"""The mean response time is below one round trip, so it is not the time of whole responses.

What it means
-------------
A request travels to the server and its response back, so no response time is below the round-trip time of its
connection, and the mean $R$ is at least the smallest round trip of all connections. The kernel measures round
trips of TCP segments (RFC 6298); `ss -ti` prints the smallest one as `minrtt`. A mean below it was not measured
from request to response.

Why it happens
--------------
The generator's mean covers other requests than those on the wire: responses from its own cache, errors that
need no round trip (no local port left), requests that a proxy on the same host serves, or pipelined requests
whose time starts when the response is already on its way. Or times were scaled wrongly, such as ms read as µs.

How to fix it
-------------
Compare with `ping -c 5 HOST` and with `curl -w '%{time_total}' -so /dev/null URL` from the generator's host.
Check that `ss -tin dst HOST` shows the connections of the generator, and look at the errors.

When to ignore it
-----------------
When the first bytes of all responses are pushed before the request (server push, long polling). A `minrtt`
taken only from connections that wait for delayed acknowledgements may be 40 ms too long; then requests were
rare.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.hosts import ports_in
from loadcurve.audit.rule import Finding, Limit, Need, Rule, Severity, not_checked
from loadcurve.audit.run_tables import Tables, key_of, rows_of
from loadcurve.tables.schemas.derived import half_digit
from loadcurve.units import format_quantity

_RECORD = "Record `ss -tin` on the generator's host while the load runs."


def judge_round_trip(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: its mean response time and the smallest round trip."""
    runs, sockets = tables["runs"], tables["connections"]
    known = sockets["min_rtt_s"].notna() & sockets["peer_port"].notna()
    timed = sockets.loc[known, ["host", "peer_port", "min_rtt_s"]].assign(key=key_of(sockets)[known])
    asked = runs.assign(key=key_of(runs), peer_port=ports_in(runs["url"]))[["key", "host", "peer_port"]]
    own = timed.merge(asked.dropna().drop_duplicates(), on=["key", "host", "peer_port"])
    trips = own.groupby("key")["min_rtt_s"].min()
    rounded = half_digit(runs, "latency_mean_s")
    for (run, key), half in zip(rows_of(tables), rounded, strict=True):
        trip, mean = float(trips.get(key, float("nan"))), float(run.latency_mean_s)
        if pd.isna(trip) or mean == 0:  # wrk prints 0 when it timed no response
            why = "needs a timed response and the round trips of the generator's connections"
            yield not_checked(run, why, _RECORD)
            continue
        severity: Severity = "error" if mean + half < limits["ratio"] * trip else "ok"
        evidence = (
            f"The mean response time is {format_quantity(mean, 's')}, the smallest round trip of the generator's "
            f"connections {format_quantity(trip, 's')}."
        )
        yield Finding(run, severity, evidence, _ADVICE, mean, trip)


_ADVICE = (
    "No response is faster than the network: check that no cache on the generator's host sent them, that the tool "
    "timed whole responses, that errors are not among them, and the unit of the times."
)

RULE = Rule(
    "response-time-below-round-trip",
    "Did a response take at least one round trip?",
    judge_round_trip,
    {"ok": "the mean is at least the smallest round trip", "error": "it is more than 10 % below"},
    needs=(
        Need("runs", ("latency_mean_s",), "the mean response time", "Use a generator that reports it."),
        Need("connections", ("min_rtt_s", "peer_port"), "the round trips of the connections", _RECORD),
    ),
    limits={"ratio": Limit(0.9, "both times are rounded, and ss may miss the shortest connection")},
    family="Physics",
)
