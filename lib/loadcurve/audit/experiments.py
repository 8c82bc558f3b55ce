"""Two verdicts on each experiment of a report: of what was published, and of the rerun."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.claims import verdict_by_check
from loadcurve.errors import LoadcurveError
from loadcurve.stats import Estimate

NOT_RERUN = "not rerun"
"""Stands for the verdict of a rerun that is not recorded, or whose record is not judged."""

_WEAKEST_FIRST = ("contradicted", "not checkable", "confirmed", "explained")


def judge_experiments(
    stated: pd.DataFrame, verdicts: Mapping[str, str] | pd.Series, quantities: Mapping[str, Any]
) -> pd.DataFrame:
    """Judge all experiments of a report twice: by the verdicts on its claims, and by the recorded rerun.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each experiment, as `loadcurve.ingest.experiments.read_experiments` returns them.
    verdicts : mapping of str to str
        Verdict on each claim of the report by its name: the column ``verdict`` of `judge_claims`.
    quantities : mapping of str to float, str or Estimate
        What was computed from the recorded reruns, by name, in SI units.  An Estimate ``x_rps`` also gives the ends of
        its interval, as ``lo_x_rps`` and ``hi_x_rps``.

    Returns
    -------
    pandas.DataFrame
        ``experiment title published rerun evidence study figure machine``, in the order of `stated`.  `published` is
        the weakest verdict on the experiment's claims, in the order contradicted, not checkable, confirmed, explained;
        without a claim nothing was published, and it is ``not checkable``.  `rerun` is the verdict of the check, as in
        `judge_claims`; without a check it is ``not checkable`` where the row says why (`machine` or `evidence`),
        otherwise `NOT_RERUN`.

    Raises
    ------
    LoadcurveError
        When a check or a sentence cannot be evaluated, or a check shows no number; the text names the experiment.

    Examples
    --------
    >>> row = {"experiment": "Test 1", "title": "One connection", "claims": "rate", "study": "delays", "check":
    ...     "abs(rate_rps * response_s - 1) < 0.03", "evidence": "{rate_rps} at {response_s}.", "because": "", "figure":
    ...     "delays", "machine": ""}
    >>> judged = judge_experiments(pd.DataFrame([row]), {"rate": "explained"}, {"rate_rps": 99.0, "response_s": 0.01})
    >>> judged[["published", "rerun", "evidence"]].loc[0].tolist()
    ['explained', 'confirmed', '99.0 requests/s at 10.0 ms.']
    """
    known = _with_ends(quantities)
    judged = []
    for one in stated.itertuples(index=False):
        try:
            holds, said = verdict_by_check(known, one.check, one.evidence, one.because)
        except LoadcurveError as error:
            raise LoadcurveError(f"experiment {one.experiment!r}: {error}") from None
        told = "not checkable" if one.machine or said else NOT_RERUN
        published = _weakest([verdicts[name] for name in one.claims.split()])
        judged.append((one.experiment, one.title, published, holds or told, said, one.study, one.figure, one.machine))
    columns = ["experiment", "title", "published", "rerun", "evidence", "study", "figure", "machine"]
    return pd.DataFrame(judged, columns=columns).astype("str")


def _with_ends(quantities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quantities, with an Estimate as its value and the ends of its interval."""
    found: dict[str, Any] = {}
    for name, one in quantities.items():
        ends = (
            {name: one.value, f"lo_{name}": one.lo, f"hi_{name}": one.hi} if isinstance(one, Estimate) else {name: one}
        )
        found |= ends
    return found


def _weakest(verdicts: list[str]) -> str:
    return min(verdicts, key=_WEAKEST_FIRST.index, default="not checkable")
