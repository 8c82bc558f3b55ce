"""Rule ``unfinished-run``: a run that did not end as planned is no point of a curve.

A run that failed, was interrupted or still runs covers another time than requested, and often only its start, when
connections are opened and caches are cold.  The run is kept, because nothing measured is lost.  There is no threshold:
``run.json`` either says ``finished`` or it does not.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Finding, Rule

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


def judge_unfinished(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: ok where its status is ``finished``, error where it is not.

    Examples
    --------
    >>> from loadcurve.tables import check
    >>> runs = check("runs", pd.DataFrame({"study": ["demo"], "run_id": ["c0001-r1"], "status": ["failed"]}))
    >>> print(next(judge_unfinished({"runs": runs}, {})).evidence)
    The run's status is failed, not finished.
    """
    for run in tables["runs"].itertuples(index=False):
        if run.status == "finished":
            yield Finding(run, "ok", "The run finished.")
            continue
        advice, other = (_ALONE, _ALONE_OTHER) if pd.isna(run.study) else (_ADVICE, _OTHER)
        status = "unknown" if pd.isna(run.status) else f"{run.status}, not finished"
        yield Finding(run, "error", f"The run's status is {status}.", advice.get(run.status, other))


RULE = Rule(
    "unfinished-run",
    "Did the run end as planned?",
    judge_unfinished,
    {"ok": "the status is `finished`", "error": "any other status"},
    unfinished=True,
)
