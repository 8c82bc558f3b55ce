"""The run did not end as planned, so it is no point of a curve.

What it means
-------------
A run that failed, was interrupted or still runs covers another time than requested, and often only its start, when
connections are opened and caches are cold.  Its mean is therefore biased, and more repeats do not help.  There is no
threshold and no warning, because a partial run is not a shorter run: `run.json` either says `finished` or it does not.
`finished` means that all commands exited without an error and at least one response was successful; the other rules
check whether the run measured what was intended.  A report without `run.json` is finished if it has the last line that
its tool prints; a report that ends between its number of requests and its throughput was cut off.

Why it happens
--------------
`failed`: the tool printed an error instead of a report, such as `apr_socket_recv: Connection reset by peer (104)` of
ab, or counted no response with a byte in it: a server that closes every connection at once gives ab
`Complete requests: 200, Failed requests: 0, Total transferred: 0 bytes`.  `interrupted`: the report ends early, after
`^C` or a signal.  `running`: the launcher has not written the end.  `missing`: `runs.json` lists the run, but its
folder is gone.  `unknown`: the file has no complete report.

How to fix it
-------------
`failed`: read the reason in `run.json`, or in the column `reason`, and the standard error of the tool; remove the cause
and measure again.  `interrupted`: resume the study; `loadcurve launch` repeats only unfinished runs.  `running`: wait;
if no process is left, resume the study.  `missing`: restore the folder, or launch the study again.  Keep the standard
error of load generators with their output: ab and weighttp print their errors there.

When to ignore it
-----------------
Never for a curve.  When the failure is the result, such as the number of requests that ab completed before the server
reset its connections, report that number as such.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.rule import Finding, Rule
from loadcurve.audit.run_tables import Tables, rows_of

_ADVICE = {
    "failed": "Read its reason in run.json and what its commands wrote, remove the cause, and resume the study.",
    "interrupted": "Resume the study: only unfinished runs are repeated.",
    "running": "Wait for it; if no process is left, resume the study.",
    "missing": "Restore the run's folder, or launch the study again: runs.json lists the run.",
}
_OTHER = "Look at run.json: the laboratory writes no such status."
# Of a file that somebody brought, no study and no run.json is known.
_ALONE = {
    "failed": "Read the column reason of the table runs and what the load generator printed, then measure again.",
    "interrupted": "Measure again: a part of a run is mostly its start.",
}
_ALONE_OTHER = "The file holds no complete report: read its warnings and the tool's standard error, then measure again."


_CUT = "Look for the end of the report, which may list errors too, or measure again."


def _is_cut(run: Any) -> bool:
    """Whether a report has its number of requests, but not its throughput, which its tool prints after it."""
    return bool(pd.notna(run.tool) and pd.notna(run.requests) and run.requests and pd.isna(run.throughput_rps))


def judge_unfinished(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: ok where its status is ``finished``, error where it is not."""
    for run, _ in rows_of(tables):
        if run.status == "finished" and _is_cut(run):
            yield Finding(run, "error", "The report ends before its throughput.", _CUT)
            continue
        if run.status == "finished":
            yield Finding(run, "ok", "The run finished.")
            continue
        advice, other = (_ALONE, _ALONE_OTHER) if pd.isna(run.study) else (_ADVICE, _OTHER)
        status = "unknown" if pd.isna(run.status) else f"{run.status}, not finished"
        reason = "" if pd.isna(run.reason) or not run.reason else f": {run.reason.removesuffix('.')}"
        yield Finding(run, "error", f"The run's status is {status}{reason}.", advice.get(run.status, other))


RULE = Rule(
    "unfinished-run",
    "Did the run end as planned?",
    judge_unfinished,
    {"ok": "the status is `finished`", "error": "any other status, or a report without its last lines"},
    unfinished=True,
    family="Errors",
)
