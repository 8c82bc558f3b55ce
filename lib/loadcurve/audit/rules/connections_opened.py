"""Connections failed to open, so the load was smaller than the label of the run says.

What it means
-------------
A connection that fails to open is missing from the load for the whole run, but not from the run's label.  wrk's heading
is `8000 connections` also where 6980 failed, and wrk ends with exit code 0.  The rule divides the failed connections
by those requested.  1 % is a warning, because below it the load differs from its label by less than repeats do; 10 % is
an error.  wrk retries a refused handshake and counts each attempt, so more failures than connections are an error too.

Why it happens
--------------
The generator reached its limit of open files: each connection needs one, and 1,024 is the usual limit, of which about
1,020 are left for connections.  The host ran out of local ports: the default range has 28,232 for each server address
and port.  The server refused the handshake, or its backlog, a full conntrack table or a firewall dropped it.

How to fix it
-------------
Compare the connections that opened with `ulimit -n` and `sysctl net.ipv4.ip_local_port_range` of the generator's host.
Raise the limit (`ulimit -n 65536`) in the shell that starts the generator, or widen the range.  For refused or
unanswered handshakes look at `nstat -az TcpExtListenOverflows TcpExtListenDrops` and the server's log.  Repeat the run,
or state the connections that opened as N.

When to ignore it
-----------------
When the failures are the subject of the test, such as a server that is restarted during the run.  ab stops when
connections fail to open, so its runs are reported by `unfinished-run`.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.hosts import limit_reached, of_generator, port_count, setting_of
from loadcurve.audit.rule import Finding, Limit, Need, Rule, severity_of
from loadcurve.audit.run_tables import Tables, rows_of

_OTHERS = "Look for a refused or unanswered handshake: `ss -s`, the server's backlog and its log."


def judge_opened(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the share of connections that failed to open."""
    runs = tables["runs"]
    settings = of_generator(tables.get("settings"), runs)
    files = pd.to_numeric(setting_of(settings, "Max open files", "generator"), errors="coerce").astype(float).to_dict()
    ports = port_count(settings)
    for run, key in rows_of(tables):
        requested, failed = int(run.connections), int(run.errors_connect)
        share = failed / max(requested, 1)
        severity = severity_of(share, limits)
        if failed > requested:
            evidence = f"{failed} attempts to open {requested} connections failed."
            yield Finding(run, severity, evidence, f"{_OTHERS} {_not_a_point(requested)}", np.nan, float(requested))
            continue
        opened = requested - failed
        evidence = f"{failed} of {requested} connections failed to open."
        limit = limit_reached(opened, files.get(key, np.nan), ports.get(key, np.nan))
        cause = f"{opened} is {limit.words}. {limit.advice}" if limit else _OTHERS
        yield Finding(run, severity, evidence, f"{cause} {_not_a_point(requested)}", float(opened), float(requested))


def _not_a_point(requested: int) -> str:
    return f"Do not use this run as a point at N = {requested}."


_COUNTED = "Use a generator that counts connections that failed to open, such as wrk."

RULE = Rule(
    "connections-opened",
    "Did the generator open the connections that it was asked for?",
    judge_opened,
    {"ok": "at most 1 % failed to open", "warning": "more than 1 %", "error": "more than 10 %"},
    needs=(
        Need("runs", ("connections",), "the connections", _COUNTED),
        Need("runs", ("errors_connect",), "the connections that failed to open", _COUNTED, applies=False),
    ),
    limits={
        "warning": Limit(0.01, "below it the load differs from its label by less than repeats do"),
        "error": Limit(0.1, "beyond the 0.9 to 1.1 that effective-concurrency accepts for X · R / N"),
    },
    family="Load delivered",
)
