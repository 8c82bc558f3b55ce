"""Rule ``failed-requests``: throughput counts successful responses.

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
connections that were closed or reset during a response.  `errors_length` (ab): a response of another length than the
first; error pages are in this class and in `errors_status`, so the rule counts the larger of the two.

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

from loadcurve.audit.failures import FEW_ERRORS, error_ratio
from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import NOT_CHECKED, Finding, Limit, Rule, Severity
from loadcurve.units import format_quantity


def judge_failed_requests(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the share of failed requests."""
    runs = tables["runs"]
    for (_, run), share in zip(runs.iterrows(), error_ratio(runs), strict=True):
        if pd.notna(run["requests"]) and run["requests"] == 0:
            yield Finding(run, "error", "No response came.", _SILENT, 1.0, limits["warning"])
            continue
        if np.isnan(share):
            evidence = f"{NOT_CHECKED}needs a count of requests and one of failures."
            yield Finding(run, "unchecked", evidence, "Use a generator that counts failed requests.")
            continue
        severity: Severity = "ok"
        if share > limits["warning"]:
            severity = "error" if share > limits["error"] else "warning"
        advice = "" if severity == "ok" else " ".join(_advice(run))
        yield Finding(run, severity, _evidence(run, share), advice, share, limits["warning"])


_SILENT = (
    "Request one page by `curl -si URL` from the generator's host; look for refused connections, and for a firewall "
    "that drops packets."
)
_CLASSES = {
    "errors_status": "responses with an error status",
    "errors_timeout": "timeouts",
    "errors_read": "failed reads",
    "errors_write": "failed writes",
    "errors_length": "responses of another length",
    "errors_other": "other errors",
}
_ADVICE = {
    "errors_status": "Read the server's error log: an error page is often quicker than the page.",
    "errors_timeout": "Response times leave out what timed out: raise the timeout, or report the share of timeouts.",
    "errors_read": "The server or a device between closed connections: compare its limits with the connections.",
    "errors_write": "The server or a device between closed connections: compare its limits with the connections.",
    "errors_length": "Pages of a varying length count as failures of ab: `ab -l` accepts them.",
}


def _evidence(run: pd.Series, share: float) -> str:
    if share == 0:
        return "No request failed."
    text = f"{format_quantity(share, 'ratio')} of the requests failed ({int(run['requests'])} responses)"
    counts = {words: int(run[name]) for name, words in _CLASSES.items() if pd.notna(run[name]) and run[name] > 0}
    if counts:
        text += ": " + ", ".join(f"{number} {words}" for words, number in counts.items())
    if pd.notna(run["goodput_rps"]) and pd.notna(run["throughput_rps"]) and run["goodput_rps"] < run["throughput_rps"]:
        text += f"; goodput {run['goodput_rps']:.1f} of {run['throughput_rps']:.1f} requests/s"
    return text + "."


def _advice(run: pd.Series) -> list[str]:
    causes = [text for name, text in _ADVICE.items() if pd.notna(run[name]) and run[name] > 0]
    return [*dict.fromkeys(causes), "Report goodput, not throughput."]


RULE = Rule(
    "failed-requests",
    "Does throughput count successful responses?",
    judge_failed_requests,
    {
        "ok": "at most 1 % failed",
        "warning": "more than 1 % failed",
        "error": "more than 10 % failed, or no response came",
    },
    limits={
        "warning": Limit(FEW_ERRORS, "99 % is the least availability that service level objectives commonly ask for"),
        "error": Limit(0.1, "a tenth changes throughput by more than most differences that a study looks for"),
    },
    family="Errors",
)
