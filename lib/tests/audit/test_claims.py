"""A verdict comes only from a check that ran, and what is open names the experiment that would close it."""

import pytest

from loadcurve.audit import VERDICTS, judge_claim, summarise_claims
from loadcurve.errors import ValueRuleError


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
