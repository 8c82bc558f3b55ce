"""Rule ``closed-loop-rate``: a generator with a given rate had a free connection for each request.

What it means
-------------
The generator was given a rate, but all its connections waited for responses and it sent less.  It was a closed loop of
$N$ connections: the rate that it printed is what the server could do, not what was asked for, and response times
leave out how long requests waited for a free connection.

Why it happens
--------------
A rate $X$ of responses that take $R$ needs $X R$ connections (Little's law).  With fewer, the generator falls back to
one request after the other on each connection; k6 counts `dropped_iterations`, vegeta reaches `-max-workers`, fortio
prints an actual below the requested rate.

How to fix it
-------------
Give the generator at least $2 X R$ connections, with $R$ the response time under that load, or ask for a lower rate.
If the server is saturated, no number of connections helps: report the rate that it serves, and no response times.

When to ignore it
-----------------
The run looks for the highest rate that $N$ clients can reach, and no response time of it is used.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.of_runs import Tables, first_rows
from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.schemas.derived import little_ratio
from loadcurve.tables import merge_generators

_NEEDED = "Note the connections and the rate that was asked for in a factors.csv."


def judge_loop(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run with a rate: the share of its connections that waited for a response."""
    runs = merge_generators(tables["runs"])
    # Corrected times include the wait for a connection, so they say neither how many were busy nor leave it out.
    runs = runs[~runs["latency_corrected"].fillna(True).astype(bool)]
    runs = runs.assign(busy=little_ratio(runs), short=1 - runs["throughput_rps"] / runs["target_rate_rps"])
    for _, run in first_rows(runs.dropna(subset=["busy", "short"])):
        evidence = f"{run.throughput_rps:.4g} of {run.target_rate_rps:.4g} requests/s were served; on average "
        evidence += f"{run.busy * run.connections:.3g} of {run.connections} connections waited for a response."
        closed = run.busy > limits["busy"] and run.short > limits["short"]
        advice = f"Use at least {2 * run.connections} connections, or a lower rate; do not report these response times."
        yield Finding(run, "warning" if closed else "ok", evidence, advice if closed else "", run.busy, limits["busy"])


RULE = Rule(
    "closed-loop-rate",
    "Was a connection free for each request at the asked rate?",
    judge_loop,
    {"ok": "connections were free, or the rate was reached", "warning": "all waited, and the rate was not reached"},
    needs=(
        Need("runs", ("target_rate_rps",), "the rate that was asked for", "", applies=False),
        Need("runs", ("connections",), "the connections", _NEEDED, applies=False),
        Need("runs", ("throughput_rps",), "the throughput", _NEEDED),
        Need("runs", ("latency_mean_s",), "the mean response time", _NEEDED),
    ),
    limits={
        "busy": Limit(0.9, "the range of Little's law for runs without pauses (effective-concurrency)"),
        "short": Limit(0.02, "the last requests of a run of a few seconds are cut off: up to 2 % (target-rate)"),
    },
    family="Statistics",
)
