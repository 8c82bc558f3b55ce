"""What a report claims, and what its own numbers say of it: one verdict for each claim, from a check that ran."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from loadcurve.errors import ValueRuleError

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
