"""Why fewer or more requests were in flight than connections were requested: the causes that the data of a run show."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from loadcurve.audit.concurrency_gap import Cause, Gap
from loadcurve.audit.evidence import Evidence
from loadcurve.audit.late import least_mean_latency_s
from loadcurve.audit.opened import ReachedLimit, limit_reached
from loadcurve.schemas.derived import LITTLE_RATIO
from loadcurve.units import format_quantity

# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c).  h2load (nghttp2 1.52,
# src/h2load.cc) and weighttp (0.4, src/weighttp.c) distribute the remainder, so they open all.
_EVEN_SHARES = ("wrk", "wrk2")
SCRIPTED = ("jmeter", "gatling", "k6", "locust", "siege")
"""Load generators whose users follow a script, which may wait between requests."""
_BUSY = 0.95  # of saturated-generator
_SHORT_S = 1.0  # connections are opened within the first second, and requests still in flight at the end count
_RESPONSES_EACH = 3  # one of three is in flight at the end: the mean without it is of two thirds of the load
_MANY_FAILED = 0.1  # share of attempts that ended in a failed read
_OPENED_EACH = 0.5  # connections opened per request: most requests had one of their own


def causes_of(gap: Gap) -> tuple[list[Cause], bool]:
    """Return the causes that the data show, in the order of their evidence, and whether they explain the difference.

    Causes that come after a full explanation are left out.

    Examples
    --------
    Of a published test with wrk, 6980 of 8000 connections failed to open:

    >>> from types import SimpleNamespace
    >>> run = dict.fromkeys(["connections", "errors_connect", "errors_read", "errors_write", "errors_timeout",
    ...                      "requests", "threads", "duration_s", "target_rate_rps", "latency_corrected"])
    >>> run = SimpleNamespace(**run | {"tool": "wrk", "connections": 8000, "errors_connect": 6980})
    >>> causes, explained = causes_of(Gap(run, 20260.6 * 0.04994))
    >>> causes[0].evidence, explained
    ('6980 failed to open, and the 1020 left are just below 1024, a usual limit of open files', True)
    """
    found: list[Cause] = []
    connections, in_flight = float(gap.requested), gap.in_flight
    for look in _TOO_MANY if gap.ratio > 1 else _TOO_FEW:
        for cause in look(gap):
            found.append(cause)
            connections = np.nanmin([connections, cause.connections])
            in_flight = np.nanmax([in_flight, cause.in_flight])
            if cause.explains_rest or in_flight >= LITTLE_RATIO[0] * connections:
                return found, True
    return found, False


def _failed_to_open(gap: Gap) -> Iterator[Cause]:
    failed, requested = gap.count("errors_connect"), gap.requested
    if not failed:
        return
    if failed > requested:
        # A refused handshake is retried, and each attempt counted (wrk 4.1.0, src/wrk.c, socket_connected).
        yield Cause(
            f"{failed} attempts to open a connection failed",
            "Look for a refused or unanswered handshake: the server's backlog, its log, and a firewall.",
            explains_rest=True,
        )
        return
    opened = requested - failed
    limit = limit_reached(opened, gap.open_files, gap.ports)
    words = f", and the {opened} left are {limit.words}" if limit else ""
    if gap.full_table and not limit:
        words = f", and {_clause(gap.full_table)}"
    yield Cause(f"{failed} failed to open{words}", _advice_of_opening(limit, gap.full_table), opened)


def _clause(evidence: Evidence) -> str:
    """Return a sentence of evidence as a clause."""
    return evidence.text[:1].lower() + evidence.text[1:].removesuffix(".")


def _advice_of_opening(limit: ReachedLimit | None, full_table: Evidence | None) -> str:
    if reason := limit or full_table:
        return reason.advice
    return (
        "Give the generator more file descriptors (`ulimit -n`) or more local ports (net.ipv4.ip_local_port_range), "
        "and look for refused handshakes."
    )


def _few_descriptors(gap: Gap) -> Iterator[Cause]:
    if gap.open_files < gap.requested:
        evidence = f"the generator may have {gap.open_files:.0f} open files"
        yield Cause(evidence, "Raise the generator's limit of open files (`ulimit -n`).", gap.open_files)


def _full_table(gap: Gap) -> Iterator[Cause]:
    if gap.full_table:
        yield Cause(_clause(gap.full_table), gap.full_table.advice, explains_rest=True)


def _never_established(gap: Gap) -> Iterator[Cause]:
    if gap.established < LITTLE_RATIO[0] * gap.requested:
        yield Cause(
            f"`ss -s` on the generator's host counted at most {gap.established:.0f} established connections",
            "Look for a full backlog or a firewall between generator and server, and record `sysctl "
            "net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max` there.",
            gap.established,
        )


def _even_shares(gap: Gap) -> Iterator[Cause]:
    threads, requested = gap.count("threads"), gap.requested
    if gap.tool in _EVEN_SHARES and threads and requested % threads:
        opened = threads * (requested // threads)
        yield Cause(
            f"{gap.tool} opens {opened} of them on {threads} threads",
            "Request a multiple of the number of threads.",
            opened,
        )


def opens_fewer(gap: Gap) -> bool:
    """Return whether the generator opens fewer connections than requested because threads do not divide them."""
    return any(cause.connections < LITTLE_RATIO[0] * gap.requested for cause in _even_shares(gap))


def _late_responses(gap: Gap) -> Iterator[Cause]:
    # wrk counts late responses as requests, and leaves their times out of its mean (`loadcurve.audit.late`).
    late, requests = gap.count("errors_timeout"), gap.count("requests")
    if not late or gap.tool != "wrk" or not requests:
        return
    advice = "Raise `--timeout` above the longest response time, so that the mean includes all responses."
    evidence = f"{late} of {requests} responses came after the timeout, and the mean leaves them out"
    # Each was in flight for no longer than the run, and together they would have to fill the difference.
    needed = (gap.requested - gap.in_flight) * gap.run.duration_s / late
    if needed <= gap.run.duration_s:
        filled = f"; they fill the difference if each took {format_quantity(needed, 's')}"
        yield Cause(f"{evidence}{filled}", advice, explains_rest=True)
        return
    slowest = gap.run.latency_max_s
    if late > requests or pd.isna(slowest) or slowest < gap.run.latency_mean_s:
        yield Cause(evidence, advice)
        return
    least = float(least_mean_latency_s(gap.run.latency_mean_s, requests, late, slowest))  # no timeout is shorter
    with_late = gap.run.throughput_rps * least
    yield Cause(f"{evidence}: with them at least {with_late:.0f} were in flight", advice, in_flight=with_late)


def _waited_at_the_end(gap: Gap) -> Iterator[Cause]:
    # ab ends with the first response after its time; those for which the other connections wait are in no number.
    asked, took = getattr(gap.run, "duration_asked_s", np.nan), gap.run.duration_s
    if pd.isna(asked) or pd.isna(took) or took - asked <= _SHORT_S:
        return
    with_them = gap.in_flight + gap.requested * (took - asked) / took
    yield Cause(
        f"the run took {format_quantity(took - asked, 's')} longer than requested, and responses that had not come "
        f"when it ended are in no response time: with them up to {with_them:.0f} were in flight",
        "Look for what stopped the server or the packets at the end of the run (late-end), and repeat it.",
        in_flight=with_them,
    )


def _waiting_users(gap: Gap) -> Iterator[Cause]:
    if gap.tool in SCRIPTED and gap.in_flight > 0:
        pause = gap.run.latency_mean_s * (1 / gap.ratio - 1)  # Z = N / X - R
        yield Cause(
            f"the users of {gap.tool} follow a script: by N = X · (R + Z) each waited {format_quantity(pause, 's')} "
            "between requests, or a ramp had fewer users for a part of the run",
            "Report N users with this think time, remove the pauses from the script, or leave the ramp out.",
            explains_rest=True,
            load_as_requested=True,
        )


def _opened_for_each(gap: Gap) -> Iterator[Cause]:
    # wrk 4.1.0, src/wrk.c: response_complete reconnects, and socket_writeable starts the clock on the open connection.
    if gap.tool in _EVEN_SHARES and gap.opened_each > _OPENED_EACH:
        yield Cause(
            f"the generator's host opened {gap.opened_each:.2g} connections per request, and {gap.tool} starts timing "
            "when the connection is open, so that its response times leave out the handshake",
            "Keep connections open, or take R = N / X, which includes the handshake.",
            explains_rest=True,
            load_as_requested=True,
        )


def _busy_generator(gap: Gap) -> Iterator[Cause]:
    if gap.busy > _BUSY:
        yield Cause(
            f"the generator's processor was busy for {format_quantity(gap.busy, 'ratio')} of the load, and the "
            f"mean leaves out the time for which a connection waits for a busy {gap.tool or 'generator'}",
            "Give the generator more processors and threads, or take R = N / X, which includes that wait.",
            explains_rest=True,
        )


def _failed_reads(gap: Gap) -> Iterator[Cause]:
    failed, requests = gap.count("errors_read") + gap.count("errors_write"), gap.count("requests")
    if failed > _MANY_FAILED * (failed + requests):
        yield Cause(
            f"{failed} reads and writes failed beside {requests} responses, and their time is in no response time",
            "Look in the server's log for why connections are closed, and compare `ss -s` on both hosts.",
            explains_rest=True,
        )


def _short_run(gap: Gap) -> Iterator[Cause]:
    if pd.notna(gap.run.duration_s) and gap.run.duration_s < _SHORT_S:
        yield Cause(
            f"the run took {format_quantity(gap.run.duration_s, 's')}, of which opening connections is a part",
            "Measure for 10 s or longer.",
            explains_rest=True,
        )


def _ended_early(gap: Gap) -> Iterator[Cause]:
    # Requests in flight at the end are in no response time: one of each connection, of three or fewer.
    requests = gap.count("requests")
    if 0 < requests < _RESPONSES_EACH * gap.requested and pd.notna(gap.run.duration_s):
        yield Cause(
            f"each connection got {requests / gap.requested:.2g} responses, and those that had not come when the run "
            "ended are in no response time",
            f"Measure for at least {format_quantity(10 * gap.run.duration_s * gap.requested / requests, 's')}, ten "
            "responses for each connection, or use fewer connections.",
            explains_rest=True,
        )


def _corrected(gap: Gap) -> Iterator[Cause]:
    if pd.notna(gap.run.latency_corrected) and gap.run.latency_corrected:
        by_law = gap.requested / gap.run.throughput_rps if gap.run.throughput_rps else np.nan
        yield Cause(
            f"{gap.tool or 'the tool'} corrects its response times for coordinated omission: N / X is "
            f"{format_quantity(by_law, 's', 4)}",
            "More than N requests cannot be in flight. Use a tool that does not correct, or take R = N / X.",
            explains_rest=True,
            load_as_requested=True,
        )


def _another_unit(gap: Gap) -> Iterator[Cause]:
    """Yield that numbers of a table somebody wrote are in another unit than the column says; tools print units."""
    if gap.tool:
        return
    for factor, unit, column in ((1e3, "milliseconds", "latency_mean_ms"), (1e6, "microseconds", "latency_mean_us")):
        if LITTLE_RATIO[0] <= gap.ratio / factor <= LITTLE_RATIO[1]:
            yield Cause(
                f"X · R is {gap.ratio:,.0f} × N, as if response times were in {unit}",
                f"Name the column {column} if its numbers are in {unit}, or convert them to seconds.",
                explains_rest=True,
            )
    if LITTLE_RATIO[0] <= gap.ratio * 1e3 <= LITTLE_RATIO[1]:
        yield Cause(
            f"X · R is N / {1 / gap.ratio:,.0f}, as if throughput were in thousands of requests/s, or response times "
            "in thousands of seconds",
            "Write throughput_rps in requests/s, and latency_mean_s in seconds.",
            explains_rest=True,
        )


_TOO_FEW: tuple[Callable[[Gap], Iterator[Cause]], ...] = (
    _another_unit,
    _failed_to_open,
    _few_descriptors,
    _even_shares,
    _full_table,
    _never_established,
    _late_responses,
    _waited_at_the_end,
    _waiting_users,
    _failed_reads,
    _opened_for_each,
    _busy_generator,
    _ended_early,
    _short_run,
)
_TOO_MANY = (_another_unit, _corrected, _short_run)
