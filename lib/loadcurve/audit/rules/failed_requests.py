"""Requests failed, so throughput and response times are partly those of failures.

What it means
-------------
A load generator counts a 500 as a request like any other, and an error page is often quicker than the page.  With many
failures, throughput and response times describe the failures too.  The finding gives the share, the classes of failure,
and goodput: successful responses per second.  A run without any response is an error even if the tool reports none:
if a firewall drops the server's packets, wrk prints `0 requests in 3.01s`, no error line, and ends with exit code 0.

Why it happens
--------------
`errors_status`: the server answers 404, 500, 502 or 503; wrk prints `Non-2xx or 3xx responses`, ab `Non-2xx responses`,
which are not among its `Failed requests`.  `errors_timeout`: responses later than the tool's timeout.  `errors_read`:
connections that were closed or reset during a response.  `errors_connect`: connections that did not open.  Each tool
counts some of these among its requests and others beside them; `loadcurve.tables.schemas.failures` lists them, and
audit, analysis, gates and searches for a capacity all count by it.  `errors_length` (ab): a response of another length
than the first is no failed request, but a warning if the share is large: it may be an error page with status 200.

How to fix it
-------------
Read the error log of the server, and request one page by `curl -si URL`.  For closed connections compare the server's
limits (`worker_connections`, `keepalive_requests`, open files) with the connections requested.  Then repeat the run.
Until then report goodput, not throughput.

When to ignore it
-----------------
When failures are expected, such as a share of 404 in a recorded mix of requests.  Pages whose length varies count as
failures of ab; `ab -l` accepts them.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked, severity_of
from loadcurve.audit.run_tables import Tables
from loadcurve.tables.schemas.failures import FEW_ERRORS, POLL_S, count_failures, counted_errors, polls_timeouts
from loadcurve.units import format_quantity


def judge_failed_requests(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the share of failed requests."""
    runs = tables["runs"]
    counts = count_failures(runs).assign(polled=polls_timeouts(runs))
    for (_, run), (failed, sent, polled) in zip(runs.iterrows(), counts.itertuples(index=False), strict=True):
        if pd.notna(run["requests"]) and run["requests"] == 0:
            yield Finding(run, "error", "No response came.", _SILENT, 1.0, limits["warning"])
            continue
        if np.isnan(sent):
            needs = "needs a count of requests and one of failures"
            yield not_checked(run, needs, "Use a generator that counts failed requests.")
            continue
        share, severity = failed / sent, severity_of(failed / sent, limits)
        lengths = _count(run, "errors_length") / sent
        if severity == "ok" and lengths > limits["warning"]:  # a page may vary in length by design
            text = f"{format_quantity(lengths, 'ratio')} of {sent:.0f} responses had another length than the first."
            yield Finding(run, "warning", text, _ADVICE["errors_length"], lengths, limits["warning"])
            continue
        causes = dict.fromkeys(text for name, text in _ADVICE.items() if name in _present(run))
        advice = " ".join([*causes, "Report goodput, not throughput."])
        yield Finding(run, severity, _evidence(run, failed, sent, polled), advice, share, limits["warning"])


_SILENT = (
    "Request one page by `curl -si URL` from the generator's host; look for refused connections, and for a firewall "
    "that drops packets."
)
_CLOSED = "The server or a device between closed connections: compare its limits with the connections."
_CLASSES = {
    "errors_status": "responses with an error status",
    "errors_timeout": "timeouts",
    "errors_connect": "connections that failed to open",
    "errors_read": "failed reads",
    "errors_write": "failed writes",
    "errors_other": "other errors",
}
_ADVICE = {
    "errors_status": "Read the server's error log: an error page is often quicker than the page.",
    "errors_timeout": "Response times leave out what timed out: raise the timeout, or report the share of timeouts.",
    "errors_connect": "Look for a server that is not listening, a full backlog, and a firewall.",
    "errors_read": _CLOSED,
    "errors_write": _CLOSED,
    "errors_length": "Compare a page under load with one at rest; pages of a varying length are failures of ab without "
    "`ab -l`.",
}


def _evidence(run: pd.Series, failed: float, sent: float, polled: bool) -> str:
    if failed == 0:
        unopened = _count(run, "errors_connect")
        return f"No request failed; {unopened} connections did not open." if unopened else "No request failed."
    text = f"{format_quantity(failed / sent, 'ratio')} of {sent:.0f} requests failed ({int(run['requests'])} responses)"
    polls = f"timeouts, counted again every {POLL_S:g} s of waiting" if polled else "timeouts"
    words = _CLASSES | {"errors_timeout": polls}
    counts = [f"{int(run[name])} {words[name]}" for name in _CLASSES if name in _present(run)]
    if counts:
        text += ": " + ", ".join(counts)
    if pd.notna(run["goodput_rps"]) and pd.notna(run["throughput_rps"]) and run["goodput_rps"] < run["throughput_rps"]:
        text += f"; goodput {run['goodput_rps']:.1f} of {run['throughput_rps']:.1f} requests/s"
    return text + "."


def _present(run: pd.Series) -> set[str]:
    retried = _count(run, "errors_connect") > _count(run, "connections")
    return {name for name in counted_errors(run["tool"], retried) if _count(run, name)}


def _count(run: pd.Series, name: str) -> int:
    return 0 if pd.isna(value := run.get(name)) else int(value)


RULE = Rule(
    "failed-requests",
    "Does throughput count successful responses?",
    judge_failed_requests,
    {
        "ok": "at most 1 % failed",
        "warning": "more than 1 % failed, or had another length than the first (ab)",
        "error": "more than 10 % failed, or no response came",
    },
    limits={
        "warning": Limit(FEW_ERRORS, "99 % is the least availability that service level objectives commonly ask for"),
        "error": Limit(0.1, "a tenth changes throughput by more than most differences that a study looks for"),
    },
    family="Errors",
)
