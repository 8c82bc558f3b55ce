"""A checklist of published benchmarks: whole, in order, and with answers that are known words."""

import pandas as pd
import pytest

from loadcurve import read_published
from loadcurve.audit import ANSWERS, answer_of_checks, summarise_checklist
from loadcurve.errors import ValueRuleError

ITEMS = pd.DataFrame({"item": ["raw", "units"], "question": ["Raw?", "Units?"]})


def answers(*rows):
    return pd.DataFrame(rows, columns=["report", "item", "answer"])


@pytest.mark.parametrize(
    ("checks", "answer"), [([True, True], "yes"), ([True, False], "partly"), ([False], "no"), ([], "not checked")]
)
def test_answer_of_checks(checks, answer):
    assert answer_of_checks(checks) == answer in ANSWERS


def test_reports_side_by_side():
    table = summarise_checklist(
        ITEMS, answers(("b", "units", "no"), ("b", "raw", "yes"), ("a", "raw", "partly"), ("a", "units", "yes"))
    )
    assert table.columns.tolist() == ["question", "b", "a"]
    assert table.to_numpy().tolist() == [["Raw?", "yes", "partly"], ["Units?", "no", "yes"]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "raw", "maybe"), ("a", "units", "yes")], "answer must be one of yes, partly"),
        ([("a", "raw", "yes")], "answers must be one of a for each item"),
        ([("a", "raw", "yes"), ("a", "raw", "no"), ("a", "units", "no")], "answers must be one of a for each item"),
    ],
)
def test_what_is_refused(rows, message):
    with pytest.raises(ValueRuleError, match=message):
        summarise_checklist(ITEMS, answers(*rows))


def test_the_five_reports_answer_every_item_with_place_and_reason():
    items, given = read_published("reading_checklist", "items"), read_published("reading_checklist", "answers")
    items = items[items["item"] != "identities"]  # the notebook computes the answer to this one
    table = summarise_checklist(items, given)
    assert table.shape == (len(items), 6)
    assert (given[["section", "note"]] != "").all(axis=None)
