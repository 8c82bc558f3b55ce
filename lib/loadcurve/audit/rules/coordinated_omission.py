r"""Coordinated omission: the percentiles leave out requests that a stalled connection did not send, and are too low.

What it means
-------------
The printed percentile is lower than what a client that sends at a constant rate would have seen.  A connection that
waited for a response sent nothing, so the requests that were due in that time are missing from the percentiles.

Why it happens
--------------
A generator with a fixed number of connections sends the next request only after a response (closed loop), also at a
given rate if no connection is free.  If each of $N$ connections has the same rate, and one waits for $S$ seconds of a
run of $T$, at least the share $(S-x)/(NT)$ of the requests that were due waited longer than $x$, so the quantile $q$ is
at least $S-(1-q)NT$ (G. Tene, "How NOT to Measure Latency", 2013).

How to fix it
-------------
Use a generator that times each request from when it was due: `wrk2 -R RATE`, `oha -q RATE --latency-correction`.  Or
use one that opens as many connections as its rate needs: `vegeta attack -rate`, k6 with `constant-arrival-rate` and
enough `preAllocatedVUs`.

When to ignore it
-----------------
The clients are as many as the connections and also wait for each response, such as a pool of workers: then the closed
loop is the load, and nobody calls its throughput an arrival rate.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.audit.run_tables import Tables, report_key_of

_FEW = 0.025  # a percentile of fewer responses is no percentile (few-responses)
_RECORD = "Use a generator that reports it, such as hey or ab."


def judge_omission(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run without correction: the percentile that is furthest below its least value."""
    runs, latency = tables["runs"], tables["latency"]
    rows = latency[latency["latency_s"].notna() & (latency["quantile"] < 1)].assign(key=report_key_of)
    runs = runs[~runs["latency_corrected"].fillna(True).astype(bool)]
    facts = runs.assign(key=report_key_of)[["key", "latency_max_s", "connections", "duration_s", "requests"]]
    rows = rows[["key", "quantile", "latency_s"]].merge(facts.drop_duplicates("key"), on="key")
    rows = rows.astype({"quantile": float, "latency_s": float})
    rows = rows[rows["requests"].astype(float) >= np.log(_FEW) / np.log(rows["quantile"].clip(lower=1e-9))]
    capacity = (rows["connections"] * rows["duration_s"]).astype(float)
    rows["least"] = rows["latency_max_s"].astype(float) - (1 - rows["quantile"]) * capacity
    rows["ratio"] = rows["least"] / rows["latency_s"].where(rows["latency_s"] > 0)
    worst = rows.sort_values("ratio", kind="stable").drop_duplicates("key", keep="last").set_index("key")
    found = dict(zip(worst.index, worst.itertuples(), strict=True))
    for run, key in zip(runs.itertuples(index=False), report_key_of(runs), strict=True):
        if (row := found.get(key)) is None or np.isnan(row.ratio):
            continue
        name = f"p{100 * row.quantile:.6g}"
        ratio = max(float(row.ratio), 0.0)
        if ratio <= limits["factor"]:
            evidence = f"The longest response, {_ms(run.latency_max_s)}, does not hide {name} ({_ms(row.latency_s)})."
            yield Finding(run, "ok", evidence, "", ratio, limits["factor"])
            continue
        evidence = f"One of {run.connections} connections waited {_ms(run.latency_max_s)} of {run.duration_s:.3g} s: "
        evidence += f"at a constant rate {name} is at least {_ms(row.least)}, printed is {_ms(row.latency_s)}."
        advice = (
            "Time requests from when they were due (`wrk2 -R`, `oha -q --latency-correction`), with free connections."
        )
        yield Finding(run, "warning", evidence, advice, ratio, limits["factor"])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.4g} ms"


RULE = Rule(
    "coordinated-omission",
    "Do percentiles include requests that could not be sent?",
    judge_omission,
    {"ok": "no stall of a connection raises a percentile by half", "warning": "a stall raises a printed percentile"},
    needs=(
        Need("latency", ("quantile", "latency_s"), "percentiles", _RECORD, applies=False),
        Need("runs", ("latency_max_s",), "the longest response time", _RECORD, applies=False),
        Need("runs", ("connections",), "the connections", _RECORD, applies=False),
        Need("runs", ("duration_s", "requests"), "the duration and the requests", _RECORD, applies=False),
    ),
    limits={"factor": Limit(1.5, "repeats of a high percentile differ by less than half")},
    family="Statistics",
)
