"""Two verdicts on each experiment of a report: of what was published, and of the rerun."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.claims import (
    AGREES,
    CONTRADICTED,
    DIRECTION,
    EXPLAINED,
    NOT_TESTED,
    NUMBERS,
    Judged,
    verdict_of_row,
)  # fmt: skip
from loadcurve.audit.verdict import Verdict

NO_CLAIM = "no claim"
"""Stands for both verdicts on an experiment of which the report concludes nothing, such as one that it announces."""

_WEAKEST_FIRST = (CONTRADICTED, NOT_TESTED, DIRECTION, AGREES, EXPLAINED)


def judge_experiments(
    stated: pd.DataFrame,
    verdicts: Mapping[str, str] | pd.Series,
    quantities: Mapping[str, Any],
    audit_of: Callable[[str], Verdict],
) -> pd.DataFrame:
    """Judge all experiments of a report twice: by the verdicts on its claims, and by the recorded rerun.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each experiment, as `loadcurve.ingest.experiments.read_experiments` returns them.
    verdicts : mapping of str to str
        Verdict on each claim of the report by its name: the column ``verdict`` of `judge_claims`.
    quantities : mapping of str to float, str or Estimate
        What was computed from the recorded reruns, by name, in SI units.
    audit_of : callable
        Returns the audit's verdict on a study, by its name.  A study with errors tests nothing, unless `despite` says
        why they leave what was measured as it is.

    Returns
    -------
    pandas.DataFrame
        ``experiment title published rerun value lo hi at_least at_most evidence differs instead audit study figure
        settles``.  `audit` names the errors of the audit, and why the rerun counts despite them.
        `published` is the weakest verdict on the experiment's claims, in the order contradicted, not tested here, same
        direction, agrees, explained; `rerun` is that of `verdict_on_claim`.  Without a claim both are `NO_CLAIM`.

    Examples
    --------
    >>> row = dict.fromkeys("at_most neutral scope differs instead despite because settles".split(), "")
    >>> row |= {"experiment": "Test 1", "title": "One connection", "claims": "rate", "study": "delays", "figure": "a",
    ...     "measured": "rate_rps", "at_least": "98", "evidence": "{rate_rps} at {response_s}."}
    >>> quantities = {"rate_rps": 99.0, "response_s": 0.01}
    >>> judged = judge_experiments(pd.DataFrame([row]), {"rate": "agrees"}, quantities, lambda study: Verdict("ok"))
    >>> judged[["published", "rerun", "evidence"]].loc[0].tolist()
    ['agrees', 'agrees', '99.0 requests/s at 10.0 ms.']
    """
    audited = functools.cache(audit_of)
    rows = []
    for one in stated.to_dict("records"):
        claimed = [verdicts[name] for name in one["claims"].split()]
        errors = ""
        if claimed and one["measured"] and not one["instead"]:
            wrong = {study: audited(study) for study in one["study"].split()}
            errors = "; ".join(f"{study}: {found}" for study, found in wrong.items() if found.severity == "error")
        if errors:
            one["instead"] = "" if one["despite"] else "runs that the audit does not allow to be used"
            one["audit"] = f"{errors}, but {one['despite']}" if one["despite"] else errors
        found = verdict_of_row(f"experiment {one['experiment']!r}", one, quantities)
        published, rerun = (min(claimed, key=_WEAKEST_FIRST.index), found.verdict) if claimed else (NO_CLAIM, NO_CLAIM)
        rows.append({"audit": "", **one, **found._asdict(), "published": published, "rerun": rerun})
    columns = ["experiment", "title", "published", "rerun", *Judged._fields[1:]]
    table = pd.DataFrame(rows, columns=[*columns, "differs", "instead", "audit", "study", "figure", "settles"])
    return table.astype({name: float if name in NUMBERS else "str" for name in table})
