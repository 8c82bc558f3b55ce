"""A verdict comes only from a check that ran, and what is open names the experiment that would close it."""

import pandas as pd
import pytest

from loadcurve.audit import VERDICTS, judge_claims
from loadcurve.audit.claims import judge_claim, summarise_claims
from loadcurve.errors import LoadcurveError, ValueRuleError


@pytest.mark.parametrize(
    ("holds", "because", "verdict"),
    [
        (True, "", "confirmed"),
        (True, "The wire model gives 10.1.", "explained"),
        (False, "", "contradicted"),
        (False, "The wire model gives 12.", "contradicted"),
        (None, "", "not checkable"),
    ],
)
def test_verdict(holds, because, verdict):
    found = judge_claim("it is 10", "Test 1", holds, "measured: 10", because=because, settles="three repeats")
    assert found.verdict == verdict in VERDICTS
    assert found.evidence == f"measured: 10 {because}".strip()


def test_a_check_shows_its_numbers():
    with pytest.raises(ValueRuleError, match="evidence must be the numbers of the check"):
        judge_claim("it is faster", "Test 1", True, "it is")


def test_what_cannot_be_checked_names_an_experiment():
    with pytest.raises(ValueRuleError, match="settles must be an experiment"):
        judge_claim("it is stable", "Test 1", None, "no repeats were published")


def test_table():
    claims = [judge_claim("a", "1", True, "1 = 1"), judge_claim("b", "2", None, "nothing printed", settles="measure")]
    table = summarise_claims(claims)
    assert table.to_numpy().tolist() == [
        ["a", "1", "confirmed", "1 = 1", ""],
        ["b", "2", "not checkable", "nothing printed", "measure"],
    ]
    assert summarise_claims([]).columns.tolist() == ["claim", "section", "verdict", "evidence", "settles"]


def stated(check, evidence="{x} of {y}.", settles=""):
    texts = {"name": "a", "section": "1", "claim": "It is so.", "because": "", "settles": settles}
    return pd.DataFrame([{**texts, "check": check, "evidence": evidence}])


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        ("x < y", "confirmed"),
        ("x > y", "contradicted"),
        ("0 < x < y and abs(x / y - 1) > 0.5", "confirmed"),
        ("x < y and not (kind == 'even')", "contradicted"),
        ("x == 1 or y == 1", "confirmed"),
    ],
)
def test_a_check_is_a_comparison_of_quantities(check, verdict):
    found = judge_claims(stated(check), {"x": 1, "y": 4.0, "kind": "even"})
    assert found[["verdict", "evidence"]].loc[0].tolist() == [verdict, "1 of 4."]


def test_without_a_check_nothing_is_decided():
    found = judge_claims(stated("", "No number is printed.", "Three repeats."), {"x": 1})
    assert found["verdict"].tolist() == ["not checkable"]


@pytest.mark.parametrize(
    ("check", "evidence", "says"),
    [
        ("x < z", "1", "claim 'a': check must be a comparison of quantities, got 'x < z'"),
        ("x + y", "1", "claim 'a': check must be a comparison of quantities, got 'x . y', which is 5.0"),
        ("x <", "1", "claim 'a': check must be a comparison of quantities, got 'x <'"),
        ("x < y", "{z}", "claim 'a': quantity 'z' must be given"),
        ("x < y", "{x:q}", "claim 'a': placeholders of '{x:q}' must be"),
        ("x < y", "so it is", "evidence must be the numbers of the check"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_named(check, evidence, says):
    with pytest.raises(LoadcurveError, match=says):
        judge_claims(stated(check, evidence), {"x": 1, "y": 4.0})
