"""What a report claims, and what its own numbers say of it: one verdict for each claim, from a check that ran."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.wording import fill_text

VERDICTS = {
    "confirmed": "a check of the published numbers agrees with the claim",
    "explained": "it agrees, and a model gives the same from other numbers of the report",
    "contradicted": "a check of the published numbers disagrees with the claim",
    "not checkable": "no check can be made of what was published",
}
"""Each verdict, and when it is given."""


class Claim(NamedTuple):
    """One claim of a report with its verdict; made by `judge_claim` only."""

    claim: str
    section: str
    verdict: str
    evidence: str
    settles: str


def judge_claim(
    claim: str, section: str, holds: bool | None, evidence: str, *, because: str = "", settles: str = ""
) -> Claim:
    """Verdict on one claim from the outcome of a check.

    Parameters
    ----------
    claim : str
        What the report says, in our words.
    section : str
        Where it says so, by the report's own heading.
    holds : bool or None
        What the check found; None where the published numbers allow no check.
    evidence : str
        The numbers of the check; or what is missing for one.
    because : str
        What a model gives for the same quantity from other numbers of the report.  It turns “confirmed” into
        “explained”.
    settles : str
        The experiment that would settle what stays open.

    Returns
    -------
    Claim
        Its verdict is one of `VERDICTS`.

    Raises
    ------
    ValueRuleError
        When a check that ran shows no number, or a claim that cannot be checked names no experiment.

    Examples
    --------
    >>> judge_claim("22 threads fill a processor", "Test 2", 22 == 44 / 2, "(2 + 42) / 2 = 22").verdict
    'confirmed'
    """
    if holds is None:
        if not settles:
            raise ValueRuleError("settles", "an experiment, as the claim cannot be checked", repr(settles))
        return Claim(claim, section, "not checkable", evidence, settles)
    if not re.search(r"\d", evidence):
        raise ValueRuleError("evidence", "the numbers of the check", repr(evidence))
    verdict = "contradicted" if not holds else "explained" if because else "confirmed"
    return Claim(claim, section, verdict, f"{evidence} {because}".strip(), settles)


def summarise_claims(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the claims as a table, in their order: ``claim section verdict evidence settles``."""
    return pd.DataFrame(claims, columns=list(Claim._fields)).astype("str")


def judge_claims(stated: pd.DataFrame, quantities: Mapping[str, Any]) -> pd.DataFrame:
    """Judge all claims of a report by their checks, and write the numbers into their evidence.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each claim, as ``claims.csv`` of a published source has them, all text: ``name section claim check
        evidence because settles``.  `check` is a comparison of quantities, such as ``abs(counted / stated - 1) <
        0.05 and failed == 0``; it is empty where the published numbers allow no check.  `evidence` and `because` have
        placeholders for quantities (`loadcurve.wording.fill_text`).
    quantities : mapping of str to float or str
        By name, in SI units: numbers of the report, and what models make of them.

    Returns
    -------
    pandas.DataFrame
        ``claim section verdict evidence settles``, in the order of `stated`.

    Raises
    ------
    LoadcurveError
        When a check or a sentence cannot be evaluated; the text names the claim.
    ValueRuleError
        As for `judge_claim`.

    Examples
    --------
    >>> stated = pd.DataFrame({"name": ["rate"], "section": ["Test 1"], "claim": ["One connection makes 1/R."],
    ...     "check": ["abs(counted_rps * response_s - 1) < 0.01"],
    ...     "evidence": ["1 / {response_s} against {counted_rps}."], "because": [""], "settles": [""]})
    >>> judge_claims(stated, {"counted_rps": 22.23, "response_s": 0.045})[["verdict", "evidence"]].loc[0].tolist()
    ['confirmed', '1 / 45.0 ms against 22.2/s.']
    """
    row = pd.DataFrame([dict(quantities)])
    claims = []
    for one in stated.itertuples(index=False):
        try:
            holds = _holds(row, one.check) if one.check else None
            evidence, because = (fill_text(text, quantities) for text in (one.evidence, one.because))
        except LoadcurveError as error:
            raise LoadcurveError(f"claim {one.name!r}: {error}") from None
        claims.append(judge_claim(one.claim, one.section, holds, evidence, because=because, settles=one.settles))
    return summarise_claims(claims)


def _holds(row: pd.DataFrame, check: str) -> bool:
    """Outcome of a comparison of the columns of a one-row table."""
    try:
        outcome = np.asarray(row.eval(check, engine="python")).item()
    except (ValueError, SyntaxError, NameError, TypeError, NotImplementedError) as error:
        raise LoadcurveError(f"check must be a comparison of quantities, got {check!r}: {error}") from None
    if not isinstance(outcome, bool):
        raise LoadcurveError(f"check must be a comparison of quantities, got {check!r}, which is {outcome!r}")
    return outcome
