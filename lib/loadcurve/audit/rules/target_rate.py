"""The generator did not hold its rate, or requests queued at it, so the response times are those of a queue.

What it means
-------------
An open-loop test asks for a rate of requests (`wrk2 -R 2000`, `vegeta attack -rate=2000`).  The responses came at a
lower rate, so requests queued in the server or in the generator, and the response times of the run grow with its
duration: they describe no steady state.  In a recorded run wrk2 asked for 2,000 requests/s and got 780 requests/s for
12 s; its mean of 6.7 s, half of the run, is that of a queue, not of the server.  2 % is a warning, because the last
requests of a short run are cut off; 10 % is an error, because such a queue fills in seconds.

At a rate that was held, requests may also have waited: if response times count from when a request was due, and more
than twice as many requests were in flight as there are connections ($X R > 2 N$), each request waited for its turn.
If the mean is more than a second, a twentieth of the run and ten times the least response time, a queue grew.

Why it happens
--------------
The rate is beyond the capacity of the server.  The generator has too few connections: with a response time $R$, $N$
connections carry at most $N / R$ requests/s.  If the finding reports that all waited, it was a closed loop, and
its response times leave out the wait for a connection (k6 counts `dropped_iterations`).  The generator's processor is
busy, or it sends late.

How to fix it
-------------
Ask for a lower rate, and increase it step by step: the last rate that was held is at most the capacity.  If the server
was not busy, give the generator more connections (at least rate × highest response time) and processors.

When to ignore it
-----------------
When the purpose is to show behaviour under overload; then report throughput and the share of timeouts over time, and
no percentile of the whole run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule, severity_of
from loadcurve.audit.run_tables import Tables, first_rows
from loadcurve.tables import merge_generators
from loadcurve.tables.schemas.derived import HOLD_A_RATE, little_ratio
from loadcurve.units import format_quantity

_CUT_S = 1.0  # of a shorter run, the last responses are a part
_SLOW_S, _OF_RUN, _OF_LEAST = 1.0, 0.05, 10.0
_ADVICE = (
    "The rate is beyond the capacity of the server or of the generator: ask for a lower rate, or give the generator "
    "more connections and processors if the server was not busy."
)


def judge_rate(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each open loop: how far its throughput is below its rate, and whether requests waited."""
    runs = merge_generators(tables["runs"])
    runs = runs[(runs["target_rate_rps"] > 0) | runs["tool"].isin(HOLD_A_RATE)]
    runs = runs.assign(waiting=little_ratio(runs), short=1 - runs["throughput_rps"] / runs["target_rate_rps"])
    for _, run in first_rows(runs):
        short, text = run.short if not run.duration_s < _CUT_S else float("nan"), ""
        if pd.notna(short):
            came, asked = format_quantity(run.throughput_rps, "rps", 4), format_quantity(run.target_rate_rps, "rps", 4)
            text = f"{came} of {asked} came."
        severity = severity_of(short, limits) if pd.notna(short) else "ok"
        advice, corrected = _ADVICE, pd.notna(run.latency_corrected) and bool(run.latency_corrected)
        # Corrected times include the wait for a connection, so they do not say how many were busy.
        if severity != "ok" and run.waiting > limits["busy"] and not corrected:
            text += f" On average {run.waiting * run.connections:.3g} of {run.connections} connections waited for a "
            text += "response: it was a closed loop."
            advice = f"Use at least {2 * run.connections} connections, and report no response times of this run; if "
            advice += "they all wait too, the rate is beyond the capacity of the server."
        if queue := _queue(run, limits["waiting"]):
            severity, text = "error", f"{text} {queue}".strip()
        if text:
            observed = float(short) if pd.notna(short) else float(run.waiting)
            yield Finding(run, severity, text, advice, observed, limits["warning"])


def _queue(run: Any, most: float) -> str:
    """Return what shows that requests waited for their turn; empty if nothing does."""
    if run.waiting > most and pd.notna(run.latency_corrected) and run.latency_corrected:
        return (
            f"With a mean of {format_quantity(run.latency_mean_s, 's')} from when they were due, "
            f"{run.waiting * run.connections:.0f} requests were under way on {run.connections} connections: "
            "they waited for their turn."
        )
    mean, least, lasted = run.latency_mean_s, run.latency_min_s, run.duration_s
    if mean > max(_SLOW_S, _OF_RUN * lasted) and mean > _OF_LEAST * least:
        return (
            f"The mean is {format_quantity(mean, 's')} of a run of {format_quantity(lasted, 's')}, the least response "
            f"time {format_quantity(least, 's')}: a queue grew."
        )
    return ""


RULE = Rule(
    "target-rate",
    "Did the responses come at the rate that was asked for?",
    judge_rate,
    {
        "ok": "at most 2 % below the rate",
        "warning": "more than 2 % below it",
        "error": "more than 10 % below it, or requests waited for their turn",
    },
    limits={
        "warning": Limit(0.02, "the last requests of a run of a few seconds are cut off: up to 2 %"),
        "error": Limit(0.1, "a queue that grows by a tenth of the rate fills in seconds"),
        "busy": Limit(0.9, "the range of Little's law for runs without pauses (effective-concurrency)"),
        "waiting": Limit(2, "a request for each connection is served, and as many wait"),
    },
    needs=(
        Need(
            "runs",
            ("target_rate_rps",),
            "the rate that was asked for",
            "",
            applies=False,
            alternatives=(Need("runs", ("latency_corrected", "connections", "latency_mean_s")),),
        ),
        Need("runs", ("throughput_rps",), "the throughput", "Use a generator that reports it.", applies=False),
    ),
    family="Load delivered",
)
