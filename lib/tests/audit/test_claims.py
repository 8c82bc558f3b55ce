"""A verdict comes only from a check that ran, and what is open names the experiment that would close it."""

import numpy as np
import pandas as pd
import pytest
from one_test import in_one_test

from loadcurve.audit import VERDICTS, judge_claims
from loadcurve.errors import LoadcurveError

KNOWN = {"x": 1, "y": np.float64(4), "kind": "even", "missing": np.nan, "even": True, "true": np.bool_(True)}


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
        ("-x < y > missing or x < -y", "", "contradicted"),
        ("kind == 'even' and x + y * 2 - 4 / y == 8 and even == true", "", "confirmed"),
    ],
)
def test_a_verdict_follows_from_the_check_and_the_model(check, because, verdict):
    claim = stated(check, because=because, settles="Three repeats.")
    [found] = judge_claims(claim, KNOWN).itertuples(index=False)
    assert found.verdict == verdict in VERDICTS
    assert found.evidence == ("1 of 4. The wire model gives 1.0." if because else "1 of 4.")
    assert (found.claim, found.section, found.settles) == ("It is so.", "1", "Three repeats.")


def test_no_claims_are_an_empty_table():
    table = judge_claims(stated("").head(0), {})
    assert table.columns.tolist() == ["claim", "section", "verdict", "evidence", "settles"]


@pytest.mark.parametrize(
    ("check", "evidence", "says"),
    [
        ("x < z", "1", "claim 'a': check must be a comparison of quantities, got 'x < z': z is not given"),
        ("x + y", "1", "claim 'a': check must be a comparison of quantities, got 'x . y', which is 5.0"),
        ("x <", "1", "claim 'a': check must be a comparison of quantities, got 'x <'"),
        ("x < y", "{z}", "claim 'a': quantity 'z' must be given"),
        ("x < y", "{x:q}", "claim 'a': placeholders of '{x:q}' must be"),
        ("x < y", "{x.real}", "claim 'a': quantity 'x.real' must be given"),
        ("x < y", "{x:>900000000}", "format must be such as .*, got '>900000000'"),
        ("x < y", "{x:.900000000f}", "format must be such as .*, got '.900000000f'"),
        ("x < y", "{x:rps 900000000}", "format must be a unit and a number of digits.*, got 'rps 900000000'"),
        ("x < y", "so it is", "claim 'a': evidence must be the numbers of the check"),
        ("", "No number is printed.", "claim 'a': settles must be an experiment"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_named(check, evidence, says):
    with pytest.raises(LoadcurveError, match=says):
        judge_claims(stated(check, evidence), KNOWN)


# What pandas.eval ran or computed, and what would take all time or memory.
HOSTILE = [
    "@pd.io.common.os.system('touch {ran}') == 0", "__import__('os').system('touch {ran}') == 0",
    "x.__class__ == 1", "x[0] == 1", "abs(x, y) == 1", "abs(*x) == 1", "max(x, y) == 1", "(lambda: x)() == 1",
    "[x] == 1", "{x} == 1", "(x := 1) == 1", "x if y else x", "f'{x}' == 'a'", "x is y", "x in y", "x & y", "+x == 1",
    "x ** y == 1", "9 ** 9 ** 9 == 1", "x % y == 1", "x << y == 1", "True", "None", "1j == 1", "...", "x < y; x",
    "'a' * 900000000 == 'b'", "kind * 900000000 == 'b'", "kind + kind == 'b'", "kind < 'f'", "kind == 1", "-kind == 1",
    "abs(kind) == 1", "x and y", "not x", "x / 0 == 1", "x / (y - 4) == 1", "1e200 * 1e200 > x", "1e999 > x",
    "9" * 999 + " > x", "-" * 60 + "x < y", "x < y" + " " * 1000, "(" * 900 + "x", "(" * 400 + "x < y" + ")" * 400,
    "\0", "x\ny",
]  # fmt: skip


@in_one_test("check", HOSTILE)
def test_a_check_is_a_comparison_of_quantities_and_nothing_else(check, tmp_path, monkeypatch):
    check = check.replace("{ran}", str(tmp_path / "ran"))
    with pytest.raises(LoadcurveError, match="^claim 'a': check must be a comparison of quantities, got ") as caught:
        judge_claims(stated(check), KNOWN)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert not (tmp_path / "ran").exists()
