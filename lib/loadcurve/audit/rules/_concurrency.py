"""Why fewer or more requests were in flight than connections were requested: the causes that the data of a run show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.hosts import limit_reached
from loadcurve.audit.rule import Severity
from loadcurve.audit.samples import advised_seconds
from loadcurve.tables.schemas.derived import LITTLE_RATIO, SCRIPTED, STREAMS
from loadcurve.units import fill_text

_LEAST, _MOST = LITTLE_RATIO
# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c).  h2load (nghttp2 1.52,
# src/h2load.cc) and weighttp (0.4, src/weighttp.c) distribute the remainder, so they open all.
_EVEN_SHARES = ("wrk", "wrk2")
_PER_CONNECTION = (*_EVEN_SHARES, "")  # their errors of connect are connections, not requests
_BUSY = 0.90  # of saturated-generator
_SHORT_S = 1.0  # connections are opened within the first second, and requests still in flight at the end count
_RESPONSES_EACH = 3  # one of three is in flight at the end: the mean without it is of two thirds of the load
_MANY_FAILED = 0.1  # share of attempts that ended without a response
_OPENED_EACH = 0.5  # connections opened per request: most requests had one of their own
_TIMEOUT_S = 2.0  # of wrk, by default


def facts_of(run: Any, measured: Mapping[str, Any]) -> SimpleNamespace:
    """Return what is known of a run in which the requests in flight differ from the connections requested.

    Counts that are missing are 0, and other numbers NaN.
    """
    known: dict[str, Any] = {
        name: 0 if pd.isna(getattr(run, name)) else int(getattr(run, name))
        for name in ("connections", "threads", "requests", "errors_timeout", "errors_connect", "latency_corrected")
    }
    for name in ("throughput_rps", "latency_mean_s", "latency_max_s", "duration_s", "duration_asked_s"):
        known[name] = np.nan if pd.isna(getattr(run, name)) else float(getattr(run, name))
    known |= dict.fromkeys(("busy", "established", "open_files", "ports", "opened_each"), np.nan)
    f = SimpleNamespace(**known | {"tool": "" if pd.isna(run.tool) else run.tool, "full_table": None} | dict(measured))
    f.in_flight = f.throughput_rps * f.latency_mean_s  # N = X R, Z = 0
    f.ratio, f.by_law_s = f.in_flight / f.connections, f.connections / f.throughput_rps
    f.inverse = 1 / f.ratio
    shares = f.connections // f.threads if f.threads and f.tool in _EVEN_SHARES else 0
    f.threads_open = f.threads * shares if shares else f.connections
    f.opened = f.connections - f.errors_connect
    f.limit = limit_reached(f.opened, f.open_files, f.ports) or f.full_table
    f.table = f.full_table.text[:1].lower() + f.full_table.text[1:].removesuffix(".") if f.full_table else ""
    f.why = f", and {f.table}" if f.full_table else ""
    f.why = f", and the {f.opened} left are {f.limit.words}" if hasattr(f.limit, "words") else f.why
    f.how = f.limit.advice if f.limit else _HOW_TO_OPEN
    # wrk counts late responses, and leaves their times out of its mean (4.1.0, src/wrk.c, response_complete).
    f.late = f.errors_timeout if f.tool == "wrk" and not f.polled else 0
    share = f.late / f.requests if f.late else np.nan
    f.each_late_s = (f.by_law_s - (1 - share) * f.latency_mean_s) / share  # N = X ((1 - f) R + f t)
    slowest = f.latency_max_s if f.latency_max_s >= f.latency_mean_s else np.nan
    f.with_late = f.throughput_rps * (f.latency_mean_s + (slowest - f.latency_mean_s) * share)  # none took less
    f.and_late = f": with them at least {f.with_late:.0f} were in flight" if f.with_late > 0 else ""
    # ab ends with the first response after its time; those for which the other connections wait are in no number.
    f.waited_s = f.latency_max_s if np.isnan(f.duration_asked_s) else f.duration_s - f.duration_asked_s
    f.of_wait = "longest response took {waited_s:s}" if np.isnan(f.duration_asked_s) else _LONGER
    f.of_wait = fill_text(f.of_wait, vars(f))
    f.at_end = min(f.connections, f.in_flight + f.connections * f.waited_s / f.duration_s)
    f.pause_s = f.latency_mean_s * (1 / f.ratio - 1)  # Z = N / X - R
    f.unanswered = 0 if np.isnan(f.sent) else round(f.sent) - f.requests
    f.each, f.advised_s = f.requests / f.connections, advised_seconds(run)
    f.named = f.tool or "the tool"
    return f


_LONGER = "run took {waited_s:s} longer than requested"
_HOW_TO_OPEN = (
    "Give the generator more file descriptors (`ulimit -n`) or more local ports (net.ipv4.ip_local_port_range), and "
    "look for refused handshakes."
)


@dataclass(frozen=True)
class Cause:
    """A cause of the difference; its sentences have placeholders for facts (`loadcurve.units.fill_text`)."""

    holds: Callable[[SimpleNamespace], bool]  # What must be true of the facts for the sentence to be
    clause: str  # The facts in a clause
    advice: str  # What to do
    tools: tuple[str, ...] = ()  # Load generators that work in this way; empty for all
    # `connections` and `in_flight`: the fact with the connections that could carry requests, by this cause, and with
    # the requests in flight with it taken into account; empty if it does not change them.
    connections: str = ""
    in_flight: str = ""
    explains_rest: bool = False  # Whether the cause has no number of its own and explains whatever is left
    # At most, if the load is the one requested: `warning` if only the mean must not be multiplied with it.
    severity: Severity = "error"


def causes_of(facts: SimpleNamespace) -> tuple[list[Cause], bool]:
    """Return the causes that the data show, in the order of their evidence, and whether they explain the difference.

    A cause by which the requests that were in flight would not have been possible is none.  Causes that come after a
    full explanation are left out.
    """
    found: list[Cause] = []
    connections, in_flight = float(facts.connections), facts.in_flight
    for cause in TOO_MANY if facts.ratio > 1 else TOO_FEW:
        if (cause.tools and facts.tool not in cause.tools) or not cause.holds(facts):
            continue
        carried = getattr(facts, cause.connections, np.nan)
        counted = getattr(facts, cause.in_flight, np.nan)
        if carried * _MOST < facts.in_flight or counted > facts.connections * _MOST:
            continue
        found.append(cause)
        connections, in_flight = np.nanmin([connections, carried]), np.nanmax([in_flight, counted])
        if cause.explains_rest or in_flight >= _LEAST * connections:
            return found, True
    return found, False


def _as_if(factor: float, many: str, words: str, advice: str) -> Cause:
    """Return the cause that numbers of a table somebody wrote are in another unit; tools print units."""
    near = lambda f: _LEAST <= f.ratio / factor <= _MOST  # noqa: E731
    return Cause(near, f"X · R is {many}, as if {words}", advice, tools=("",), explains_rest=True)


_IN_SECONDS = "Name the column {0} if its numbers are in {1}, or convert them to seconds."
_RAISE_TIMEOUT = "Raise `--timeout` above the longest response time, so that the mean includes all responses."
_LATE = "{late:.0f} of {requests:.0f} responses came after the timeout, and the mean leaves them out"

TOO_FEW = (
    _as_if(
        1e-3,
        "N / {inverse:,.0f}",
        "throughput were in thousands of requests/s, or response times in thousands of seconds",
        "Write throughput_rps in requests/s, and latency_mean_s in seconds.",
    ),
    Cause(  # a refused handshake is retried, and each attempt counted (wrk 4.1.0, src/wrk.c, socket_connected)
        lambda f: f.errors_connect >= f.connections,
        "{errors_connect:.0f} attempts to open a connection failed",
        "Look for a refused or unanswered handshake: the server's backlog, its log, and a firewall.",
        tools=_PER_CONNECTION,
        explains_rest=True,
    ),
    Cause(
        lambda f: 0 < f.errors_connect < f.connections,
        "{errors_connect:.0f} failed to open{why}",
        "{how}",
        tools=_PER_CONNECTION,
        connections="opened",
    ),
    Cause(
        lambda f: f.open_files < f.connections,
        "the generator may have {open_files:.0f} open files",
        "Raise the generator's limit of open files (`ulimit -n`).",
        connections="open_files",
    ),
    Cause(
        lambda f: f.threads_open < f.connections,
        "{tool} opens {threads_open:.0f} of them on {threads:.0f} threads",
        "Request a multiple of the number of threads.",
        connections="threads_open",
    ),
    Cause(lambda f: f.full_table is not None, "{table}", "{how}", explains_rest=True),
    Cause(
        lambda f: f.established < _LEAST * f.connections,
        "`ss -s` on the generator's host counted at most {established:.0f} established connections",
        "Look for a full backlog or a firewall between generator and server, and record `sysctl "
        "net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max` there.",
        connections="established",
    ),
    Cause(  # each took longer than the timeout and the longest response in time, and no longer than the run
        lambda f: max(_TIMEOUT_S, f.latency_max_s) <= f.each_late_s <= f.duration_s,
        f"{_LATE}; they fill the difference if each took {{each_late_s:s}}",
        _RAISE_TIMEOUT,
        explains_rest=True,
    ),
    Cause(lambda f: f.late > 0, f"{_LATE}{{and_late}}", _RAISE_TIMEOUT, in_flight="with_late"),
    Cause(
        lambda f: _SHORT_S < f.waited_s <= f.duration_s,
        "the {of_wait}, and responses that had not come when the run ended are in no response time: with them up to "
        "{at_end:.0f} were in flight",
        "Look for what stopped the server or the packets at the end of the run (late-end), and repeat it.",
        tools=("ab",),
        in_flight="at_end",
    ),
    Cause(
        lambda f: f.in_flight > 0,
        "the users of {tool} follow a script: by N = X · (R + Z) each waited {pause_s:s} between requests, or a ramp "
        "had fewer users for a part of the run",
        "",
        tools=SCRIPTED,
        explains_rest=True,
        severity="ok",
    ),
    Cause(
        lambda f: f.unanswered > _MANY_FAILED * (f.unanswered + f.requests),
        "{unanswered:.0f} requests had no response, beside {requests:.0f} that had one, and their time is in no "
        "response time",
        "Look in the server's log for why connections are closed, and compare `ss -s` on both hosts.",
        explains_rest=True,
    ),
    Cause(  # wrk 4.1.0, src/wrk.c: response_complete reconnects, and socket_writeable starts the clock when it is open
        lambda f: f.opened_each > _OPENED_EACH,
        "the generator's host opened {opened_each:.2g} connections per request, and {tool} starts timing when the "
        "connection is open, so that its response times leave out the handshake",
        "Keep connections open, or take R = N / X, which includes the handshake.",
        tools=_EVEN_SHARES,
        explains_rest=True,
        severity="warning",
    ),
    Cause(
        lambda f: f.busy > _BUSY,
        "the generator's processor was busy for {busy:ratio} of the load, and the mean leaves out the time for which a "
        "connection waits for a busy {named}",
        "Give the generator more processors and threads, or take R = N / X, which includes that wait.",
        explains_rest=True,
    ),
    Cause(  # requests in flight at the end are in no response time: one of each connection, of three or fewer
        lambda f: 0 < f.each < _RESPONSES_EACH and f.duration_s > 0,
        "each connection got {each:.2g} responses, and those that had not come when the run ended are in no response "
        "time",
        "Measure for at least {advised_s:g} s, ten responses for each connection, or use fewer connections.",
        explains_rest=True,
    ),
    Cause(
        lambda f: f.duration_s < _SHORT_S,
        "the run took {duration_s:s}, of which opening connections is a part",
        "Measure for at least {advised_s:g} s.",
        explains_rest=True,
    ),
)
"""Causes of too few requests in flight, the surest first."""

TOO_MANY = (
    _as_if(1e3, "{ratio:,.0f} × N", "response times were in milliseconds", _IN_SECONDS.format("latency_mean_ms", "ms")),
    _as_if(1e6, "{ratio:,.0f} × N", "response times were in microseconds", _IN_SECONDS.format("latency_mean_us", "µs")),
    Cause(
        lambda f: f.latency_corrected > 0,
        "{named} corrects its response times for coordinated omission: N / X is {by_law_s:s 4}",
        "Corrected times are no measured mean: use a tool that does not correct, or take R = N / X.",
        explains_rest=True,
        severity="warning",
    ),
    Cause(
        lambda f: f.ratio > 1,
        "{tool} may have several requests in flight on each connection (HTTP/2 streams, `h2load -m`, batches), here "
        "{ratio:.2g}",
        "",
        tools=STREAMS,
        explains_rest=True,
        severity="ok",
    ),
)
"""Causes of more requests in flight than connections."""
