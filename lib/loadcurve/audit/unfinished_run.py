"""Rule ``unfinished-run``: the run went through to its end.

A run that failed, was interrupted or still runs has covered another time than was asked for, and often only its start,
where connections are opened and caches are cold.  It is kept, because nothing measured is lost, but it is no point of
a curve.  There is no threshold: ``run.json`` either says ``finished`` or it does not.
"""

import pandas as pd

from loadcurve import tables as schemas

RULE = "unfinished-run"

_ADVICE = {
    "failed": "Read its reason in run.json and what its commands wrote, remove the cause, and resume the study.",
    "interrupted": "Resume the study: only what is not finished is run again.",
    "running": "Wait for it; where nothing runs any more, resume the study.",
    "missing": "Restore the run's folder, or launch the study again: runs.json lists the run.",
}
_OTHER = "Look at run.json: the status is none that a laboratory writes."
# Of a file that somebody brought, no study and no run.json is known.
_ALONE = {
    "failed": "Read the column reason of the table runs and what the load generator printed, then measure again.",
    "interrupted": "Measure again: a part of a run holds mostly its start.",
}
_ALONE_OTHER = (
    "The file holds no whole report: read its warnings and the standard error of the tool, then measure again."
)


def audit_unfinished_run(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one finding for each row of ``runs``: ok where its status is ``finished``, error where it is not.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
        With the declared table ``runs``.

    Returns
    -------
    pandas.DataFrame
        The table ``findings``; observed and expected are missing, a status is no number.

    Examples
    --------
    >>> runs = schemas.check("runs", pd.DataFrame({"study": ["demo"], "run_id": ["c0001-r1"], "status": ["failed"]}))
    >>> audit_unfinished_run({"runs": runs})[["severity", "evidence"]].values.tolist()
    [['error', "The run's status is failed, not finished."]]
    """
    rows = []
    for run in tables["runs"].itertuples(index=False):
        finished = run.status == "finished"
        advice, other = (_ALONE, _ALONE_OTHER) if pd.isna(run.study) else (_ADVICE, _OTHER)
        status = "not known" if pd.isna(run.status) else f"{run.status}, not finished"
        rows.append(
            {
                "study": run.study,
                "run_id": run.run_id,
                "source": run.source,
                "rule": RULE,
                "severity": "ok" if finished else "error",
                "evidence": "The run finished." if finished else f"The run's status is {status}.",
                "advice": "" if finished else advice.get(run.status, other),
            }
        )
    return schemas.check("findings", pd.DataFrame(rows))
