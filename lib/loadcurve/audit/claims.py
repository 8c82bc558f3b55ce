"""Verdicts on the claims of a report, from checks of numbers."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.expressions import evaluate
from loadcurve.wording import fill_text

VERDICTS = {
    "confirmed": "a check of the numbers agrees with the claim",
    "explained": "it agrees, and a model gives the same from other numbers",
    "contradicted": "a check of the numbers disagrees with the claim",
    "not checkable": "the numbers allow no check",
}
"""Each verdict, and when it is given."""


def judge_claims(stated: pd.DataFrame, quantities: Mapping[str, Any]) -> pd.DataFrame:
    """Judge all claims of a report by their checks, and write the numbers into their evidence.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each claim, as ``claims.csv`` of a published source has them, all text: ``name section claim check
        evidence because settles``.  `check` is a comparison of quantities (`loadcurve.expressions.evaluate`), such as
        ``abs(counted / stated - 1) < 0.05 and failed == 0``; it is empty where the published numbers allow no check.
        `evidence` and `because` have placeholders for quantities (`loadcurve.wording.fill_text`).
    quantities : mapping of str to float or str
        By name, in SI units: numbers of the report, and what models make of them.

    Returns
    -------
    pandas.DataFrame
        ``claim section verdict evidence settles``, by the name of the claim, in the order of `stated`.

    Raises
    ------
    LoadcurveError
        When a check or a sentence cannot be evaluated, a check shows no number, or a claim without a check names no
        experiment; the text names the claim.

    Examples
    --------
    >>> stated = pd.DataFrame({"name": ["rate"], "section": ["Test 1"], "claim": ["One connection makes 1/R."],
    ...     "check": ["abs(counted_rps * response_s - 1) < 0.01"],
    ...     "evidence": ["1 / {response_s} against {counted_rps}."], "because": [""], "settles": [""]})
    >>> judge_claims(stated, {"counted_rps": 22.23, "response_s": 0.045})[["verdict", "evidence"]].loc["rate"].tolist()
    ['confirmed', '1 / 45.0 ms against 22.2 requests/s.']
    """
    judged = []
    for claim in stated.itertuples(index=False):
        try:
            verdict, said = verdict_by_check(quantities, claim.check, claim.evidence, claim.because)
            if not verdict and not claim.settles:
                raise ValueRuleError("settles", "an experiment, as the claim cannot be checked", repr(claim.settles))
        except LoadcurveError as error:
            raise LoadcurveError(f"claim {claim.name!r}: {error}") from None
        judged.append((claim.claim, claim.section, verdict or "not checkable", said, claim.settles))
    names = pd.Index(stated["name"], name="name")
    return pd.DataFrame(judged, names, ["claim", "section", "verdict", "evidence", "settles"]).astype("str")


def verdict_by_check(quantities: Mapping[str, Any], check: str, evidence: str, because: str) -> tuple[str, str]:
    """Return the verdict of a check, empty without one, and the sentences with their numbers.

    `because` turns “confirmed” into “explained”.
    """
    evidence, because = (fill_text(text, quantities) for text in (evidence, because))
    said = f"{evidence} {because}".strip()
    if not check:
        return "", said
    rule = "a comparison of quantities"
    try:
        holds = evaluate(check, quantities)
    except LoadcurveError as error:
        raise LoadcurveError(f"check must be {rule}, got {check[:200]!r}: {error}") from None
    if not isinstance(holds, bool):
        raise LoadcurveError(f"check must be {rule}, got {check!r}, which is {holds!r}")
    if not re.search(r"\d", evidence):
        raise ValueRuleError("evidence", "the numbers of the check", repr(evidence))
    return "contradicted" if not holds else "explained" if because else "confirmed", said
