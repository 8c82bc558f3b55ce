"""Why fewer or more requests were in flight than connections were requested: the causes that the data of a run show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.evidence import Evidence
from loadcurve.audit.late import least_mean_latency_s
from loadcurve.audit.opened import limit_reached
from loadcurve.audit.rule import Severity
from loadcurve.schemas.derived import LITTLE_RATIO, SCRIPTED, STREAMS
from loadcurve.schemas.failures import count_failures, polls_timeouts
from loadcurve.units import format_quantity

_LEAST, _MOST = LITTLE_RATIO
# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c).  h2load (nghttp2 1.52,
# src/h2load.cc) and weighttp (0.4, src/weighttp.c) distribute the remainder, so they open all.
_EVEN_SHARES = ("wrk", "wrk2")
_PER_CONNECTION = (*_EVEN_SHARES, "")  # their errors of connect are connections, not requests
_BUSY = 0.95  # of saturated-generator
_SHORT_S = 1.0  # connections are opened within the first second, and requests still in flight at the end count
_RESPONSES_EACH = 3  # one of three is in flight at the end: the mean without it is of two thirds of the load
_MANY_FAILED = 0.1  # share of attempts that ended without a response
_OPENED_EACH = 0.5  # connections opened per request: most requests had one of their own
_TIMEOUT_S = 2.0  # of wrk, by default


@dataclass(frozen=True)
class Gap:
    """A run in which the requests in flight differ from the connections requested.

    Attributes
    ----------
    run : row
        Row of the table ``runs``.
    in_flight : float
        Throughput times mean response time.
    half_digit_s : float
        By how much the mean may be off as it is printed.
    busy : float
        Mean busy share of the generator's processor during the load; NaN if it was not measured.
    established : float
        Most connections that `ss -s` counted on the generator's host during the load; NaN if it was not recorded.
    open_files : float
        Limit of open files of the generator; NaN if it is not known.
    ports : float
        Local ports of the generator's host; NaN if they are not known.
    opened_each : float
        Connections that the generator's host opened per request, in the second in which it opened most; NaN if they
        were not recorded.
    full_table : Evidence, optional
        What shows that a table of tracked connections was full; None where none was, or none was recorded.
    """

    run: Any
    in_flight: float
    half_digit_s: float = 0.0
    busy: float = np.nan
    established: float = np.nan
    open_files: float = np.nan
    ports: float = np.nan
    opened_each: float = np.nan
    full_table: Evidence | None = None

    def count(self, column: str) -> int:
        """Return a count of the run, 0 if it is missing."""
        value = getattr(self.run, column, None)
        return 0 if pd.isna(value) else int(value)

    def seconds(self, column: str) -> float:
        """Return a time of the run, NaN if it is missing."""
        value = getattr(self.run, column, None)
        return np.nan if pd.isna(value) else float(value)

    @property
    def tool(self) -> str:
        """Load generator; empty if it is not known."""
        return "" if pd.isna(self.run.tool) else str(self.run.tool)

    @property
    def requested(self) -> int:
        """Connections requested."""
        return int(self.run.connections)

    @property
    def ratio(self) -> float:
        """Requests in flight over connections requested."""
        return self.in_flight / self.requested

    @property
    def threads_open(self) -> int:
        """Connections that the threads open together, of those requested."""
        threads = self.count("threads") if self.tool in _EVEN_SHARES else 0
        return threads * (self.requested // threads) if threads else self.requested

    @property
    def late(self) -> int:
        """Responses of wrk after its timeout: it counts them, and leaves their times out of its mean."""
        if self.tool != "wrk" or polls_timeouts(pd.DataFrame([self.run])).iloc[0]:
            return 0
        return self.count("errors_timeout")

    @property
    def with_late(self) -> float:
        """Requests in flight at least, with late responses; NaN where the longest response time is not known."""
        slowest, mean = self.seconds("latency_max_s"), float(self.run.latency_mean_s)
        if not self.late or not slowest >= mean:
            return np.nan
        return float(self.run.throughput_rps * least_mean_latency_s(mean, self.count("requests"), self.late, slowest))

    @property
    def each_late_s(self) -> float:
        """Mean time of the late responses with which all connections were busy: N = X ((1 - f) R + f t)."""
        share = self.late / max(self.count("requests"), 1)
        by_law = self.requested / self.run.throughput_rps if self.run.throughput_rps else np.nan
        return (by_law - (1 - share) * self.run.latency_mean_s) / share if share else np.nan

    @property
    def waited_s(self) -> float:
        """Time for which responses were missing at the end of a run of ab: it ends with the first that comes then."""
        took, asked = self.seconds("duration_s"), self.seconds("duration_asked_s")
        waited = self.seconds("latency_max_s") if np.isnan(asked) else took - asked
        return waited if self.tool == "ab" and _SHORT_S < waited <= took else np.nan

    @property
    def unanswered(self) -> int:
        """Requests without a response."""
        sent = count_failures(pd.DataFrame([self.run._asdict() if hasattr(self.run, "_asdict") else vars(self.run)]))
        return 0 if sent["sent"].isna()[0] else round(float(sent["sent"][0])) - self.count("requests")


def _nothing(_: Gap) -> float:
    return np.nan


@dataclass(frozen=True)
class Cause:
    """A cause of the difference.

    Attributes
    ----------
    holds : callable
        What must be true of a run for the sentence to be.
    clause, advice : callable
        The numbers in a clause, and what to do.
    tools : tuple of str
        Load generators that work in this way; empty for all.
    connections : callable
        Connections that could carry requests, by this cause; NaN if it does not change them.
    in_flight : callable
        Requests in flight with this cause taken into account; NaN if it does not change them.
    explains_rest : bool
        Whether the cause has no number of its own and explains whatever is left.
    severity : {"ok", "warning", "error"}
        At most, if the load is the one requested: ``warning`` if only the mean must not be multiplied with it.
    """

    holds: Callable[[Gap], bool]
    clause: Callable[[Gap], str]
    advice: Callable[[Gap], str]
    tools: tuple[str, ...] = ()
    connections: Callable[[Gap], float] = _nothing
    in_flight: Callable[[Gap], float] = _nothing
    explains_rest: bool = False
    severity: Severity = "error"


def causes_of(gap: Gap) -> tuple[list[Cause], bool]:
    """Return the causes that the data show, in the order of their evidence, and whether they explain the difference.

    A cause by which the requests that were in flight would not have been possible is none.  Causes that come after a
    full explanation are left out.

    Examples
    --------
    Of a published test with wrk, 6980 of 8000 connections failed to open:

    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(tool="wrk", connections=8000, errors_connect=6980, throughput_rps=20260.6,
    ...                       latency_mean_s=0.04994)
    >>> causes, explained = causes_of(Gap(run, 20260.6 * 0.04994))
    >>> causes[0].clause(Gap(run, 20260.6 * 0.04994)), explained
    ('6980 failed to open, and the 1020 left are just below 1024, a usual limit of open files', True)
    """
    found: list[Cause] = []
    connections, in_flight = float(gap.requested), gap.in_flight
    for cause in TOO_MANY if gap.ratio > 1 else TOO_FEW:
        if (cause.tools and gap.tool not in cause.tools) or not cause.holds(gap):
            continue
        carried, counted = cause.connections(gap), cause.in_flight(gap)
        if carried * _MOST < gap.in_flight or counted > gap.requested * _MOST:
            continue
        found.append(cause)
        connections, in_flight = np.nanmin([connections, carried]), np.nanmax([in_flight, counted])
        if cause.explains_rest or in_flight >= _LEAST * connections:
            return found, True
    return found, False


def _opened(gap: Gap) -> int:
    return gap.requested - gap.count("errors_connect")


def _why_not_opened(gap: Gap) -> str:
    if limit := limit_reached(_opened(gap), gap.open_files, gap.ports):
        return f", and the {_opened(gap)} left are {limit.words}"
    return f", and {_sentence_as_clause(gap.full_table)}" if gap.full_table else ""


def _how_to_open(gap: Gap) -> str:
    if reason := limit_reached(_opened(gap), gap.open_files, gap.ports) or gap.full_table:
        return reason.advice
    return (
        "Give the generator more file descriptors (`ulimit -n`) or more local ports (net.ipv4.ip_local_port_range), "
        "and look for refused handshakes."
    )


def _sentence_as_clause(evidence: Evidence | None) -> str:
    return "" if evidence is None else evidence.text[:1].lower() + evidence.text[1:].removesuffix(".")


def _late_clause(gap: Gap) -> str:
    late = f"{gap.late} of {gap.count('requests')} responses came after the timeout, and the mean leaves them out"
    return late if np.isnan(gap.with_late) else f"{late}: with them at least {gap.with_late:.0f} were in flight"


def _as_if(factor: float, words: str, advice: str) -> Cause:
    """Return the cause that numbers of a table somebody wrote are in another unit; tools print units."""

    def clause(gap: Gap) -> str:
        many = f"{gap.ratio:,.0f} × N" if factor > 1 else f"N / {1 / gap.ratio:,.0f}"
        return f"X · R is {many}, as if {words}"

    return Cause(
        lambda gap: _LEAST <= gap.ratio / factor <= _MOST, clause, lambda _: advice, tools=("",), explains_rest=True
    )


def _times_in(factor: float, unit: str, column: str) -> Cause:
    advice = f"Name the column {column} if its numbers are in {unit}, or convert them to seconds."
    return _as_if(factor, f"response times were in {unit}", advice)


_RAISE_TIMEOUT = "Raise `--timeout` above the longest response time, so that the mean includes all responses."

TOO_FEW = (
    _as_if(
        1e-3,
        "throughput were in thousands of requests/s, or response times in thousands of seconds",
        "Write throughput_rps in requests/s, and latency_mean_s in seconds.",
    ),
    Cause(  # a refused handshake is retried, and each attempt counted (wrk 4.1.0, src/wrk.c, socket_connected)
        lambda gap: gap.count("errors_connect") >= gap.requested,
        lambda gap: f"{gap.count('errors_connect')} attempts to open a connection failed",
        lambda _: "Look for a refused or unanswered handshake: the server's backlog, its log, and a firewall.",
        tools=_PER_CONNECTION,
        explains_rest=True,
    ),
    Cause(
        lambda gap: 0 < gap.count("errors_connect") < gap.requested,
        lambda gap: f"{gap.count('errors_connect')} failed to open{_why_not_opened(gap)}",
        _how_to_open,
        tools=_PER_CONNECTION,
        connections=_opened,
    ),
    Cause(
        lambda gap: gap.open_files < gap.requested,
        lambda gap: f"the generator may have {gap.open_files:.0f} open files",
        lambda _: "Raise the generator's limit of open files (`ulimit -n`).",
        connections=lambda gap: gap.open_files,
    ),
    Cause(
        lambda gap: gap.threads_open < gap.requested,
        lambda gap: f"{gap.tool} opens {gap.threads_open} of them on {gap.count('threads')} threads",
        lambda _: "Request a multiple of the number of threads.",
        connections=lambda gap: gap.threads_open,
    ),
    Cause(
        lambda gap: gap.full_table is not None,
        lambda gap: _sentence_as_clause(gap.full_table),
        lambda gap: gap.full_table.advice if gap.full_table else "",
        explains_rest=True,
    ),
    Cause(
        lambda gap: gap.established < _LEAST * gap.requested,
        lambda gap: f"`ss -s` on the generator's host counted at most {gap.established:.0f} established connections",
        lambda _: (
            "Look for a full backlog or a firewall between generator and server, and record `sysctl "
            "net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max` there."
        ),
        connections=lambda gap: gap.established,
    ),
    Cause(  # each took longer than the timeout and the longest response in time, and no longer than the run
        lambda gap: max(_TIMEOUT_S, gap.seconds("latency_max_s")) <= gap.each_late_s <= gap.seconds("duration_s"),
        lambda gap: (
            f"{gap.late} of {gap.count('requests')} responses came after the timeout, and the mean leaves them "
            f"out; they fill the difference if each took {format_quantity(gap.each_late_s, 's')}"
        ),
        lambda _: _RAISE_TIMEOUT,
        explains_rest=True,
    ),
    Cause(lambda gap: gap.late > 0, _late_clause, lambda _: _RAISE_TIMEOUT, in_flight=lambda gap: gap.with_late),
    Cause(
        lambda gap: gap.waited_s > 0,
        lambda gap: (
            (
                f"the longest response took {format_quantity(gap.waited_s, 's')} of {format_quantity(gap.run.duration_s, 's')}"
                if np.isnan(gap.seconds("duration_asked_s"))
                else f"the run took {format_quantity(gap.waited_s, 's')} longer than requested"
            )
            + f", and responses that had not come when it ended are in no response time: with them up to {_at_end(gap):.0f}"
            " were in flight"
        ),
        lambda _: "Look for what stopped the server or the packets at the end of the run (late-end), and repeat it.",
        in_flight=lambda gap: _at_end(gap),
    ),
    Cause(  # Z = N / X - R
        lambda gap: gap.in_flight > 0,
        lambda gap: (
            f"the users of {gap.tool} follow a script: by N = X · (R + Z) each waited "
            f"{format_quantity(gap.run.latency_mean_s * (1 / gap.ratio - 1), 's')} between requests, or a ramp had fewer "
            "users for a part of the run"
        ),
        lambda _: "Report N users with this think time, remove the pauses from the script, or leave the ramp out.",
        tools=SCRIPTED,
        explains_rest=True,
        severity="ok",
    ),
    Cause(
        lambda gap: gap.unanswered > _MANY_FAILED * (gap.unanswered + gap.count("requests")),
        lambda gap: (
            f"{gap.unanswered} requests had no response, beside {gap.count('requests')} that had one, and "
            "their time is in no response time"
        ),
        lambda _: "Look in the server's log for why connections are closed, and compare `ss -s` on both hosts.",
        explains_rest=True,
    ),
    Cause(  # wrk 4.1.0, src/wrk.c: response_complete reconnects, and socket_writeable starts the clock when it is open
        lambda gap: gap.opened_each > _OPENED_EACH,
        lambda gap: (
            f"the generator's host opened {gap.opened_each:.2g} connections per request, and {gap.tool} starts "
            "timing when the connection is open, so that its response times leave out the handshake"
        ),
        lambda _: "Keep connections open, or take R = N / X, which includes the handshake.",
        tools=_EVEN_SHARES,
        explains_rest=True,
        severity="warning",
    ),
    Cause(
        lambda gap: gap.busy > _BUSY,
        lambda gap: (
            f"the generator's processor was busy for {format_quantity(gap.busy, 'ratio')} of the load, and the "
            f"mean leaves out the time for which a connection waits for a busy {gap.tool or 'generator'}"
        ),
        lambda _: "Give the generator more processors and threads, or take R = N / X, which includes that wait.",
        explains_rest=True,
    ),
    Cause(  # requests in flight at the end are in no response time: one of each connection, of three or fewer
        lambda gap: 0 < gap.count("requests") < _RESPONSES_EACH * gap.requested and gap.seconds("duration_s") > 0,
        lambda gap: (
            f"each connection got {gap.count('requests') / gap.requested:.2g} responses, and those that had "
            "not come when the run ended are in no response time"
        ),
        lambda gap: (
            "Measure for at least "
            f"{format_quantity(10 * gap.run.duration_s * gap.requested / gap.count('requests'), 's')}, ten responses for "
            "each connection, or use fewer connections."
        ),
        explains_rest=True,
    ),
    Cause(
        lambda gap: gap.seconds("duration_s") < _SHORT_S,
        lambda gap: f"the run took {format_quantity(gap.run.duration_s, 's')}, of which opening connections is a part",
        lambda _: "Measure for at least 10 s.",
        explains_rest=True,
    ),
)
"""Causes of too few requests in flight, the surest first."""

TOO_MANY = (
    _times_in(1e3, "milliseconds", "latency_mean_ms"),
    _times_in(1e6, "microseconds", "latency_mean_us"),
    Cause(
        lambda gap: gap.count("latency_corrected") > 0,
        lambda gap: (
            f"{gap.tool or 'the tool'} corrects its response times for coordinated omission: N / X is "
            f"{format_quantity(gap.requested / gap.run.throughput_rps, 's', 4)}"
        ),
        lambda _: "More than N requests cannot be in flight. Use a tool that does not correct, or take R = N / X.",
        explains_rest=True,
        severity="warning",
    ),
    Cause(
        lambda gap: gap.ratio > 1,
        lambda gap: (
            f"{gap.tool} may have several requests in flight on each connection (HTTP/2 streams, `h2load -m`, "
            f"batches), here {gap.ratio:.2g}"
        ),
        lambda _: "Report the requests in flight beside the connections.",
        tools=STREAMS,
        explains_rest=True,
        severity="ok",
    ),
)
"""Causes of more requests in flight than connections."""


def _at_end(gap: Gap) -> float:
    """Return the requests in flight with those that all connections may have waited for when a run of ab ended."""
    return float(min(gap.requested, gap.in_flight + gap.requested * gap.waited_s / gap.run.duration_s))
