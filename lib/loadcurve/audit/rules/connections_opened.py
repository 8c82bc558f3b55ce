"""Rule ``connections-opened``: the generator opened the connections that it was asked for.

A connection that fails to open is missing from the load for the whole run, but not from the run's label.  A generator
with the usual limit of 1,024 descriptors opens about 1,020 of 8,000 connections and reports the rest as errors.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Finding, Limit, Need, Rule, Severity
from loadcurve.audit.rules._monitored import LOCAL_PORTS

# Standard streams, epoll and its like: a process has a few descriptors beside its connections.
_OTHER_DESCRIPTORS = 32
_DESCRIPTORS = "Raise the limit of descriptors of the generator (`ulimit -n`), and repeat."
_PORTS = "The generator's host ran out of local ports: widen net.ipv4.ip_local_port_range, or use several addresses."
_OTHERS = "Look for a refused or unanswered handshake: `ss -s`, the server's backlog and its log."


def judge_opened(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the share of connections that failed to open."""
    for run in tables["runs"].itertuples(index=False):
        requested, failed = int(run.connections), int(run.errors_connect)
        opened, share = max(requested - failed, 0), failed / max(requested, 1)
        severity: Severity = "ok"
        if share > limits["warning"]:
            severity = "error" if share > limits["error"] else "warning"
        evidence = f"{failed} of {requested} connections failed to open."
        advice = "" if severity == "ok" else f"{_cause(opened)} Do not use this run as a point at N = {requested}."
        yield Finding(run, severity, evidence, advice, float(opened), float(requested))


def _cause(opened: int) -> str:
    limits = [2**k for k in range(8, 21)]  # 1,024 by default, 65,536 or 1,048,576 where it was raised
    if any(limit - _OTHER_DESCRIPTORS <= opened < limit for limit in limits):
        return f"{opened} is just below a usual limit of open files. {_DESCRIPTORS}"
    if LOCAL_PORTS - _OTHER_DESCRIPTORS <= opened <= LOCAL_PORTS:
        return f"{opened} is the number of local ports. {_PORTS}"
    return _OTHERS


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
        "error": Limit(0.1, "the limits of X · R / N in effective-concurrency"),
    },
)
