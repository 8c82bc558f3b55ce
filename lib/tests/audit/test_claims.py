"""A verdict comes only from a check that ran, and what is open names the experiment that would close it."""

import pandas as pd
import pytest

from loadcurve.audit import VERDICTS, judge_claims
from loadcurve.errors import LoadcurveError


def stated(check, evidence="{x} of {y}.", settles="", because=""):
    texts = {"name": "a", "section": "1", "claim": "It is so.", "because": because, "settles": settles}
    return pd.DataFrame([{**texts, "check": check, "evidence": evidence}])


@pytest.mark.parametrize(
    ("check", "because", "verdict"),
    [
        ("x < y", "", "confirmed"),
        ("x < y", "The wire model gives {x:.1f}.", "explained"),
        ("x > y", "", "contradicted"),
        ("x > y", "The wire model gives {x:.1f}.", "contradicted"),
        ("", "", "not checkable"),
        ("0 < x < y and abs(x / y - 1) > 0.5", "", "confirmed"),
        ("x < y and not (kind == 'even')", "", "contradicted"),
        ("x == 1 or y == 1", "", "confirmed"),
    ],
)
def test_a_verdict_follows_from_the_check_and_the_model(check, because, verdict):
    claim = stated(check, because=because, settles="Three repeats.")
    [found] = judge_claims(claim, {"x": 1, "y": 4.0, "kind": "even"}).itertuples(index=False)
    assert found.verdict == verdict in VERDICTS
    assert found.evidence == ("1 of 4. The wire model gives 1.0." if because else "1 of 4.")
    assert (found.claim, found.section, found.settles) == ("It is so.", "1", "Three repeats.")


def test_no_claims_are_an_empty_table():
    table = judge_claims(stated("").head(0), {})
    assert table.columns.tolist() == ["claim", "section", "verdict", "evidence", "settles"]


@pytest.mark.parametrize(
    ("check", "evidence", "says"),
    [
        ("x < z", "1", "claim 'a': check must be a comparison of quantities, got 'x < z'"),
        ("x + y", "1", "claim 'a': check must be a comparison of quantities, got 'x . y', which is 5.0"),
        ("x <", "1", "claim 'a': check must be a comparison of quantities, got 'x <'"),
        ("x < y", "{z}", "claim 'a': quantity 'z' must be given"),
        ("x < y", "{x:q}", "claim 'a': placeholders of '{x:q}' must be"),
        ("x < y", "so it is", "claim 'a': evidence must be the numbers of the check"),
        ("", "No number is printed.", "claim 'a': settles must be an experiment"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_named(check, evidence, says):
    with pytest.raises(LoadcurveError, match=says):
        judge_claims(stated(check, evidence), {"x": 1, "y": 4.0})
