"""Responses later than the tool's timeout are left out, so the mean and the percentiles are too low.

What it means
-------------
wrk counts a late response as a request and as a timeout, and leaves its time out of the mean, the maximum and every
percentile (wrk 4.1.0, `src/wrk.c`, `response_complete`). It does not count a request that is still waiting when the run
ends: compare X · R with the connections (`effective-concurrency`). If more than 1 % are late, the printed 99 % line is
certainly too low: the true 99th percentile is at least the timeout. The rule compares the share of late responses with
the highest percentile that the tool printed.

Why it happens
--------------
The timeout is short (wrk: 2 s by default).  A lost SYN delays the first request of a connection by 1, 3 or 7 s (since
Linux 6.5 by 1, 2 or 3 s), where the tool times the handshake, as ab does.  A segment that was lost alone costs a
retransmission timeout of 200 ms or more, doubled each time.  An overloaded server holds requests for seconds.

How to fix it
-------------
Raise the timeout above the longest response time (`wrk --timeout 30s`, `ab -s 60`, `h2load -N 30s`), and repeat.  Look
at retransmissions and listen queues: `nstat -az TcpRetransSegs TcpExtListenOverflows TcpExtTCPTimeouts`.  If the
timeout is that of the real client, report the share of timeouts beside the percentiles.

When to ignore it
-----------------
When the highest percentile that you report lies below the share of responses in time: with 0.05 % of timeouts, the 99th
percentile is hardly affected.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule, severity_of
from loadcurve.audit.run_tables import Tables, key_of, rows_of
from loadcurve.units import format_quantity

# Its count is of responses, and its response times leave them out.
_LEAVES_OUT = "wrk"
_ADVICE = "Raise the timeout above the longest response time (`wrk --timeout 30s`), or report the share of timeouts."


def judge_timeouts(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the share of timeouts against the highest printed percentile."""
    latency = tables.get("latency")
    highest: dict[tuple[str, object], float] = {}
    if latency is not None and len(latency):
        below = latency[(latency["quantile"] < 1) & latency["latency_s"].notna()]
        highest = below.groupby([key_of(below), below["generator"].fillna(0)])["quantile"].max().astype(float).to_dict()
    for run, key in rows_of(tables):
        late, requests = int(run.errors_timeout), int(run.requests)
        share = min(late / requests, 1.0) if requests else float(late > 0)
        quantile = highest.get((key, 0 if pd.isna(run.generator) else int(run.generator)), 0.0)
        severity = severity_of(share, limits)
        text = f"{late} timeouts beside {requests} responses ({format_quantity(share, 'ratio')})"
        if pd.notna(run.tool) and run.tool == _LEAVES_OUT and share > max(1 - quantile, limits["warning"]) and quantile:
            severity = "error"
            text += f": the printed p{100 * quantile:.6g} leaves them out, so it is too low"
        yield Finding(run, severity, f"{text}.", _ADVICE, share, limits["warning"])


_COUNTED = "Use a generator that counts timeouts, such as wrk."

RULE = Rule(
    "timeouts",
    "Do the response times include the slowest responses?",
    judge_timeouts,
    {
        "ok": "at most 0.1 % timeouts",
        "warning": "more than 0.1 %",
        "error": "more than 5 %, or more of wrk's responses than lie above its highest percentile",
    },
    needs=(
        Need("runs", ("errors_timeout",), "the timeouts", _COUNTED, applies=False),
        Need("runs", ("requests",), "the number of responses", _COUNTED),
    ),
    limits={
        "warning": Limit(0.001, "the 99.9th percentile is the highest that is usually reported"),
        "error": Limit(0.05, "the 95th percentile is the lowest that an objective usually names"),
    },
    family="Errors",
)
