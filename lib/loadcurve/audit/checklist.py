"""A checklist for published benchmarks: which facts each report gives its reader."""

from collections.abc import Sequence

import pandas as pd

from loadcurve.errors import ValueRuleError

ANSWERS = ("yes", "partly", "no", "not checked")
"""What an item of the checklist can be answered with."""


def answer_of_checks(checks: Sequence[bool]) -> str:
    """Answer of an item that was computed: yes where all checks hold, no where none does, partly between.

    Examples
    --------
    >>> answer_of_checks([True, False]), answer_of_checks([])
    ('partly', 'not checked')
    """
    if not len(checks):
        return "not checked"
    return "yes" if all(checks) else "partly" if any(checks) else "no"


def summarise_checklist(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers of all reports side by side.

    Parameters
    ----------
    items : pandas.DataFrame
        ``item question``, in the order of the checklist.
    answers : pandas.DataFrame
        ``report item answer``, one row for each report and item.

    Returns
    -------
    pandas.DataFrame
        ``question``, then a column for each report, in the order in which they come.

    Raises
    ------
    ValueRuleError
        When an answer is not one of `ANSWERS`, or a report answers an item twice or not at all.

    Examples
    --------
    >>> items = pd.DataFrame({"item": ["raw"], "question": ["Is the raw output there?"]})
    >>> summarise_checklist(items, pd.DataFrame({"report": ["a", "b"], "item": "raw", "answer": ["yes", "no"]}))
                       question    a   b
    0  Is the raw output there?  yes  no
    """
    if wrong := sorted(set(answers["answer"]) - set(ANSWERS)):
        raise ValueRuleError("answer", f"one of {', '.join(ANSWERS)}", wrong[0])
    for report, own in answers.groupby("report", sort=False):
        if sorted(own["item"]) != sorted(items["item"]):
            raise ValueRuleError("answers", f"one of {report} for each item", sorted(own["item"]))
    wide = answers.pivot_table(index="item", columns="report", values="answer", aggfunc="first", sort=False)
    wide = wide.loc[items["item"]].reset_index(drop=True).rename_axis(columns=None)
    return pd.concat([items["question"].reset_index(drop=True), wide], axis=1)
