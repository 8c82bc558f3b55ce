"""Rule ``failed-requests``: throughput counts successful responses.

A load generator counts a 500 or an empty reply as a request like any other, and a failure is often quicker than a
response.  With many failures, throughput and response times describe the failures too.
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
        if np.isnan(share):
            evidence = f"{NOT_CHECKED}needs a count of requests and one of failures."
            yield Finding(run, "unchecked", evidence, "Use a generator that counts failed requests.")
            continue
        severity: Severity = "ok"
        if share > limits["warning"]:
            severity = "error" if share > limits["error"] else "warning"
        advice = "" if severity == "ok" else " ".join(_advice(run))
        yield Finding(run, severity, _evidence(run, share), advice, share, limits["warning"])


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
    {"ok": "at most 1 % failed", "warning": "more than 1 % failed", "error": "more than 10 % failed"},
    limits={
        "warning": Limit(FEW_ERRORS, "99 % is the least availability that service level objectives commonly ask for"),
        "error": Limit(0.1, "a tenth changes throughput by more than most differences that a study looks for"),
    },
    family="Errors",
)
