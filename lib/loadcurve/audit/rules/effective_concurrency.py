r"""Fewer or more requests were in flight than connections were requested, so the load is not the one on the label.

What it means
-------------
The requests in flight, or the mean response time, are not those of the run's label, and the run distorts every curve
through this point.  A generator that never pauses sends the next request as soon as a response is complete.  By
Little's law, the number of requests in flight is then $X \cdot R$, with the throughput $X$ in requests/s and the mean
response time $R$ in s.  The rule divides it by the $N$ connections requested.  0.9 to 1.1 is ok: the law is exact over
a whole run, and opening connections, requests cut off at the end and rounded digits cost a few per cent.  A factor of 2
is an error: sweeps usually double $N$, so the run belongs to a neighbouring level.  It is a warning if only the mean
cannot be used (corrected response times), or if users of a script wait.  Agreement shows that $N$ requests were in
flight, but not that they reached the server: they may have waited in the generator.  Source: J. D. C. Little, "A Proof
for the Queuing Formula L = λW", Operations Research 9(3), 1961, pp. 383–387; E. D. Lazowska et al., "Quantitative
System Performance", 1984, chapter 3.

Why it happens
--------------
The finding names the cause that the data show, in this order:

- **Connections failed to open** (`Socket errors: connect 6980`).  1020 left of 8000 is the usual limit of 1,024 open
  files.
- **wrk divides by threads** and drops the remainder: `wrk -t12 -c100` opens 96.  h2load and weighttp open all.
- **A table of tracked connections was full** on a host between, which then drops packets without an error (see
  `conntrack-full`).
- **`ss -s` counted fewer established connections** than were requested.
- **Late responses**: wrk counts a response after its timeout, and leaves its time out of the mean.
- **Think time**: users of JMeter, Gatling, k6, Locust and siege may wait between requests; then $N = X (R + Z)$.
- **Failed reads and writes**: the time of a request without a response is in no response time.
- **Each request opened a connection**: wrk starts timing on an open connection, so the handshake is in no response
  time.
- **The generator's processor was busy**: wrk starts timing when it writes the request (wrk 4.1.0, `src/wrk.c`,
  `socket_writeable`), so the wait of a request for a busy wrk is in no response time, and acts as a think time.  The
  wait of a response until wrk reads it is in the response time.
- **Corrected response times**: some versions of wrk add estimated times for coordinated omission.  Then $X \cdot R$ may
  exceed $N$, which is impossible for measured times with one request per connection.

How to fix it
-------------
Raise the limit of open files (`ulimit -n 65536`) or widen the local ports (`sysctl -w
net.ipv4.ip_local_port_range='1024 65535'`), and rerun.  Request a multiple of the number of threads.  Raise
`--timeout` above the longest response time.  Give the generator more processors.  If no cause is in the data, record
`ss -s` on both hosts and `sar -u ALL -P ALL 1` on the generator's.  Response times that leave out a wait can be
replaced by $R = N / X$, which includes it.

When to ignore it
-----------------
When $N$ is a number of users with a known think time: then report both.  When a generator holds a rate (wrk2,
vegeta), its connections are idle on purpose; the rule reports such a run as ok below $N$.  When the mean was computed
as $N / X$ (``Time per request`` of ab), the law holds by construction, and the rule does not check the run.
"""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.hosts import of_generator, port_count, setting_of
from loadcurve.audit.rule import NOT_CHECKED, Finding, Limit, Need, Rule, Severity
from loadcurve.audit.rules._concurrency import causes_of, facts_of
from loadcurve.audit.rules.conntrack_full import full_tables
from loadcurve.audit.rules.saturated_generator import measure_generator
from loadcurve.audit.run_tables import Tables, key_of, rows_of
from loadcurve.audit.samples import samples_within
from loadcurve.tables.schemas.derived import HOLD_A_RATE, LITTLE_RATIO, SCRIPTED, half_digit
from loadcurve.tables.schemas.failures import count_failures, polls_timeouts
from loadcurve.units import fill_text


def judge_effective_concurrency(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: X · R against the connections requested, both in connections."""
    measured, runs = _measured(tables), tables["runs"]
    holds = (runs["target_rate_rps"] > 0).fillna(False) | runs["tool"].isin(HOLD_A_RATE)
    known = pd.DataFrame({"half_digit_s": half_digit(runs, "latency_mean_s"), "holds_a_rate": holds.to_numpy()})
    known["may_be_corrected"] = runs["latency_corrected"].fillna(True).to_numpy()
    known["polled"], known["sent"] = polls_timeouts(runs).to_numpy(), count_failures(runs)["sent"].to_numpy()
    for (run, key), own in zip(rows_of(tables), known.to_dict("records"), strict=True):
        requested = float(run.connections)
        if reason := _why_unchecked(run):
            yield Finding(run, "unchecked", f"{NOT_CHECKED}{reason}.", _RECORD, expected=requested)
            continue
        facts = facts_of(run, own | {name: values[key] for name, values in measured.items() if key in values})
        severity, text, advice = _judge(facts, limits["factor"])
        yield Finding(run, severity, text, advice, facts.in_flight, requested)


def _why_unchecked(run: Any) -> str:
    if run.connections == 0:
        return "the report counts 0 connections"
    if run.throughput_rps == 0:
        return "no response came"
    if run.latency_mean_s == 0:  # what wrk prints when it recorded no response time
        return "the mean response time is 0, so no response was timed"
    if pd.notna(run.latency_origin) and str(run.latency_origin).startswith("derived"):
        return "the mean response time was computed as N / X, so the law holds by construction"
    return ""


def _measured(tables: Tables) -> dict[str, dict[str, Any]]:
    """Return what monitors and records know of each run's generator: arguments of `Gap` by key."""
    runs = tables["runs"]
    busy = measure_generator(tables)["observed"] if "cpu" in tables else pd.Series(dtype=float)
    columns = ["study", "run_id", "elapsed_s", "established"]
    sockets = samples_within(of_generator(tables.get("sockets"), runs, columns), runs)
    counted = sockets.groupby("key")["established"].max().dropna() if len(sockets) else pd.Series(dtype=float)
    settings = of_generator(tables.get("settings"), runs)
    files = setting_of(settings, "Max open files", "generator")
    return {
        "busy": busy.astype(float).to_dict(),
        "established": counted.astype(float).to_dict(),
        "open_files": pd.to_numeric(files, errors="coerce").dropna().astype(float).to_dict(),
        "ports": port_count(settings),
        "opened_each": _opened_each(tables),
        "full_table": full_tables(tables),
    }


def _opened_each(tables: Tables) -> dict[str, float]:
    """Return by key the connections that the generator's host opened per request of all generators of the run.

    The second in which it opened most counts: a second that the load covers only partly has fewer.
    """
    runs = tables["runs"]
    opens = of_generator(tables.get("tcp"), runs, ["study", "run_id", "elapsed_s", "active_opens_per_s"])
    if opens.empty:
        return {}
    most = samples_within(opens, runs, edges=True).groupby("key")["active_opens_per_s"].max().astype(float)
    throughput = runs["throughput_rps"].astype(float).groupby(key_of(runs)).sum()
    each: dict[str, float] = (most / throughput[throughput > 0]).dropna().to_dict()
    return each


def _judge(facts: SimpleNamespace, factor: float) -> tuple[Severity, str, str]:
    """Return severity, evidence and advice."""
    (least, most), ratio, tool = LITTLE_RATIO, facts.ratio, facts.tool
    noun = f"{'user' if tool in SCRIPTED else 'connection'}{'s were' if facts.connections != 1 else ' was'}"
    form = "{throughput_rps:.1f} × {latency_mean_s:s 4} = {in_flight:.1f} in flight; {connections:.0f} " + noun
    text = fill_text(f"{form} requested.", vars(facts))
    half = facts.half_digit_s * facts.throughput_rps / facts.connections
    if ratio - half <= most and ratio + half >= least:
        digits = "" if least <= ratio <= most else f" Within the printed digits: {tool} rounds the mean."
        return "ok", text + digits, ""
    if facts.holds_a_rate:
        if ratio < least and facts.threads_open >= least * facts.connections:
            return "ok", f"{text} {facts.named.capitalize()} holds a rate, so connections are idle on purpose.", ""
        if ratio > most and facts.may_be_corrected:
            return "ok", f"{text} Response times count from when a request was due, before a connection was free.", ""
        factor = np.inf
    causes, explained = causes_of(facts)
    severity: Severity = "warning" if 1 / factor <= ratio <= factor else "error"
    worst: Severity = max((cause.severity for cause in causes), key=_SEVERITIES.index, default="error")
    severity = worst if explained and worst != "error" else severity
    words = "Cause" if explained else "Cause in part"
    clauses = f" {words}: {fill_text('; '.join(cause.clause for cause in causes), vars(facts))}." if causes else " "
    rest = " The rest has no cause in the data." if causes else "No cause in the data."
    text += clauses if explained else clauses + rest
    advice = [fill_text(cause.advice, vars(facts)) for cause in causes]
    advice += [] if explained else [_record(facts)]
    advice += [f"Until then do not use this run as a point at N = {facts.connections}."] if worst == "error" else []
    return severity, text, " ".join(dict.fromkeys(advice))


_SEVERITIES: tuple[Severity, ...] = ("ok", "warning", "error")


def _record(facts: SimpleNamespace) -> str:
    if facts.ratio > 1:
        return "Without pipelining no more is possible: mean and throughput then cover different requests or times."
    if facts.tool == "wrk" and np.isnan(facts.busy):
        return (
            "wrk starts timing when it writes the request, so its response times leave out the time for which a "
            "connection waits for a busy wrk or for a Lua script that delays (`delay()`). Record `sar -u ALL -P ALL 1` "
            "and `ss -s` on wrk's host, and give wrk more processors, or take R = N / X, which includes that wait."
        )
    return "Record `ss -s` on both hosts and `sar -u ALL -P ALL 1` on the generator's, and repeat."


_RECORD = "Use a generator that reports throughput and mean response time, and note its connections."

RULE = Rule(
    "effective-concurrency",
    "Were as many requests in flight as connections were requested?",
    judge_effective_concurrency,
    {
        "ok": "X · R / N is 0.9 to 1.1; below it too, if the generator holds a rate",
        "warning": "X · R / N is 0.5 to 2; beyond it too, if the generator holds a rate or the load is as requested",
        "error": "X · R / N is below 0.5 or above 2",
    },
    needs=(
        Need("runs", ("connections",), "the connections", _RECORD),
        Need("runs", ("throughput_rps",), "the throughput", _RECORD),
        Need("runs", ("latency_mean_s",), "the mean response time", _RECORD),
    ),
    limits={"factor": Limit(2, "sweeps usually double N, so beyond it the run belongs to a neighbouring level")},
    family="Load delivered",
)
