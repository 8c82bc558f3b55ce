"""Verdicts on published reports: on their claims, their experiments and reruns, and by a checklist."""

import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from loadcurve.audit.registry import all_rules, audit
from loadcurve.audit.settings import default_settings
from loadcurve.audit.verdict import Verdict
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.files.paths import data_folder
from loadcurve.reading.expressions import evaluate
from loadcurve.reading.tables import read_tables
from loadcurve.stats.estimate import Estimate
from loadcurve.units import FEWEST_REPEATS, fill_text

AGREES, EXPLAINED, DIRECTION = "agrees", "explained by a model", "same direction, other size"
CONTRADICTED, NOT_TESTED = "contradicted", "not tested here"
VERDICTS = {
    AGREES: "the whole interval of the claimed quantity lies within what the wording allows",
    EXPLAINED: "it agrees, and a model gives the same from other numbers",
    DIRECTION: "the effect goes the claimed way; its size differs, or its interval does not decide",
    CONTRADICTED: "the whole interval of the claimed quantity lies outside what the wording allows",
    NOT_TESTED: "something else was measured, or elsewhere, or not precisely enough; what would test it is named",
}
"""Each verdict, and when it is given."""


class Judged(NamedTuple):
    """A verdict, the quantity with its interval, the ends of what was claimed, and the sentences with the numbers."""

    verdict: str
    value: float
    lo: float
    hi: float
    at_least: float
    at_most: float
    evidence: str


NUMBERS = list(Judged._fields[1:-1])
"""Columns of numbers in the tables of verdicts, in SI units."""


def verdict_on_claim(
    measured: Estimate,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    *,
    neutral: float = math.nan,
    differs: bool = False,
    universal: bool = False,
    model: bool = False,
) -> str:
    """Return the verdict on a claim whose quantity was measured.

    Parameters
    ----------
    measured : Estimate
        The claimed quantity.  One that rests on fewer than three repeats, or has no interval, decides nothing.
    at_least, at_most : float
        What the wording of the claim allows: “300,000 and more” has no upper end.
    neutral : float
        Value without an effect: 0 of a change, 1 of a ratio.  NaN for an absolute quantity, such as a rate.
    differs : bool
        Whether it was measured on another system or under other conditions than those of the claim.  An absolute
        quantity of another system decides nothing, and nothing measured there contradicts the claim.
    universal : bool
        Whether the claim is of any system, such as a law; then no system is another one.
    model : bool
        Whether a model gives the same from other numbers.

    Examples
    --------
    >>> change = Estimate(-0.25, -0.32, -0.18, 0.95, "t", repeats=5)
    >>> verdict_on_claim(change, at_most=0), verdict_on_claim(change, -0.12, -0.11, neutral=0, differs=True)
    ('agrees', 'same direction, other size')
    >>> verdict_on_claim(Estimate(1267.0, 1250.0, 1280.0, 0.95, "t"), at_least=300e3, differs=True)
    'not tested here'
    """
    lo, hi = measured.lo, measured.hi
    if math.isnan(lo + hi) or (measured.repeats or FEWEST_REPEATS) < FEWEST_REPEATS:
        return NOT_TESTED
    here = universal or not differs
    if at_least <= lo and hi <= at_most and (here or not math.isnan(neutral)):
        return EXPLAINED if model else AGREES
    if here and (hi < at_least or lo > at_most):
        return CONTRADICTED
    same_way = (at_least >= neutral and lo > neutral) or (at_most <= neutral and hi < neutral)
    return DIRECTION if same_way else NOT_TESTED


def judge_claims(stated: pd.DataFrame, quantities: Mapping[str, Any]) -> pd.DataFrame:
    """Judge all claims of a report by `verdict_on_claim`, and write the numbers into their evidence.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each claim, as ``claims.csv`` of a published source has them, all text: ``name section claim
        measured at_least at_most neutral scope differs instead evidence because settles`` (`verdict_of_row`).
    quantities : mapping of str to float, str or Estimate
        By name, in SI units: numbers of the report, and what models make of them.

    Returns
    -------
    pandas.DataFrame
        ``claim section verdict value lo hi at_least at_most evidence differs instead settles``, by the name of the
        claim.

    Examples
    --------
    >>> row = dict.fromkeys("at_least at_most neutral scope differs instead because settles".split(), "")
    >>> row |= {"name": "rate", "section": "Test 1", "claim": "One connection sends 22 requests/s.", "measured":
    ...     "counted_rps", "at_least": "21.5", "at_most": "22.5", "evidence": "{counted_rps} were counted."}
    >>> judge_claims(pd.DataFrame([row]), {"counted_rps": 22.23})[["verdict", "evidence"]].loc["rate"].tolist()
    ['agrees', '22.2 requests/s were counted.']
    """
    rows = [
        {**claim, **verdict_of_row(f"claim {claim['name']!r}", claim, quantities)._asdict()}
        for claim in stated.to_dict("records")
    ]
    columns = ["claim", "section", *Judged._fields, "differs", "instead", "settles"]
    table = pd.DataFrame(rows, pd.Index(stated["name"], name="name"), columns)
    return table.astype({name: float if name in NUMBERS else "str" for name in columns})


def verdict_of_row(what: str, row: Mapping[str, str], quantities: Mapping[str, Any]) -> Judged:
    """Judge one row of ``claims.csv`` or ``experiments.csv``.

    `measured` is the name of an Estimate or arithmetic of numbers (`loadcurve.reading.expressions.evaluate`), and
    empty where nothing that was claimed was measured; `at_least` and `at_most` are what the wording allows.
    `scope` is “any” for a claim of any system; `differs` says how system or conditions differ from the claim's, and
    `instead` what was measured instead of the claimed quantity: then nothing is tested.  `evidence` and `because`,
    which is of a model, have placeholders (`loadcurve.units.fill_text`). A row that tests nothing needs `settles`,
    what would.
    """
    try:
        return _judged(row, quantities)
    except LoadcurveError as error:
        raise LoadcurveError(f"{what}: {error}") from None


def _judged(row: Mapping[str, str], quantities: Mapping[str, Any]) -> Judged:
    said = " ".join(filter(None, (fill_text(row[name], quantities) for name in ("evidence", "because"))))
    measured = _measured(row["measured"], quantities)
    least, most, neutral = (
        _number(name, row[name], quantities, missing)
        for name, missing in {"at_least": -math.inf, "at_most": math.inf, "neutral": math.nan}.items()
    )
    verdict = NOT_TESTED
    claimed = bool(row.get("claims", row.get("claim")))  # an experiment that was only announced claims nothing
    if measured and claimed and not row["instead"]:
        if not row["at_least"] + row["at_most"]:
            raise ValueRuleError("at_least or at_most", "what the claim allows", "neither")
        verdict = verdict_on_claim(
            measured, least, most, neutral=neutral, differs=bool(row["differs"]), universal=row["scope"] == "any",
            model=bool(row["because"]),
        )  # fmt: skip
    if claimed and verdict == NOT_TESTED and not row["settles"]:
        raise ValueRuleError("settles", "an experiment, as the claim is not tested", repr(row["settles"]))
    if measured and not re.search(r"\d", said):
        raise ValueRuleError("evidence", "the numbers of the verdict", repr(said))
    known = measured or Estimate(math.nan, math.nan, math.nan, 0.95, "nothing measured")
    return Judged(verdict, known.value, known.lo, known.hi, least, most, said)


def _measured(text: str, quantities: Mapping[str, Any]) -> Estimate | None:
    """Return a quantity with its interval; a number that was counted or printed is exact."""
    if not text or isinstance(quantities.get(text), Estimate):
        return quantities.get(text)
    value = _number("measured", text, quantities, math.nan)
    return Estimate(value, value, value, 0.95, "as printed or counted")


def _number(name: str, text: str, quantities: Mapping[str, Any], missing: float) -> float:
    if not text:
        return missing
    rule = "a quantity, or arithmetic of numbers"
    try:
        value = evaluate(text, {key: one for key, one in quantities.items() if not isinstance(one, Estimate)})
    except LoadcurveError as error:
        raise LoadcurveError(f"{name} must be {rule}, got {text[:200]!r}: {error}") from None
    if isinstance(value, str | bool):
        raise LoadcurveError(f"{name} must be {rule}, got {text!r}, which is {value!r}")
    return value


NO_CLAIM = "no claim"
"""Stands for both verdicts on an experiment of which the report concludes nothing, such as one that it announces."""

_WEAKEST_FIRST = (CONTRADICTED, NOT_TESTED, DIRECTION, AGREES, EXPLAINED)


def judge_experiments(
    stated: pd.DataFrame, verdicts: Mapping[str, str] | pd.Series, quantities: Mapping[str, Any], where: str = "{study}"
) -> pd.DataFrame:
    """Judge all experiments of a report twice: by the verdicts on its claims, and by the recorded rerun.

    Parameters
    ----------
    stated : pandas.DataFrame
        One row for each experiment, as `loadcurve.ingest.published.read_experiments` returns them.
    verdicts : mapping of str to str
        Verdict on each claim of the report by its name: the column ``verdict`` of `judge_claims`.
    quantities : mapping of str to float, str or Estimate
        What was computed from the recorded reruns, by name, in SI units.
    where : str
        Name or folder of each rerun, with ``{study}`` for what `stated` names.  Runs with errors of the audit test
        nothing, unless `despite` says why they leave what was measured as it is.

    Returns
    -------
    pandas.DataFrame
        ``experiment title published rerun value lo hi at_least at_most evidence differs instead audit study figure
        settles``.  `audit` names the errors of the audit, and why the rerun counts despite them.
        `published` is the weakest verdict on the experiment's claims, in the order contradicted, not tested here, same
        direction, agrees, explained; `rerun` is that of `verdict_on_claim`.  Without a claim both are `NO_CLAIM`.

    Examples
    --------
    >>> row = dict.fromkeys("at_most neutral scope differs instead despite because settles".split(), "")
    >>> row |= {"experiment": "Test 1", "title": "One connection", "claims": "rate", "study": "out", "figure": "a",
    ...     "measured": "rate_rps", "at_least": "98", "evidence": "{rate_rps} at {response_s}."}
    >>> quantities = {"rate_rps": 99.0, "response_s": 0.01}
    >>> judged = judge_experiments(pd.DataFrame([row]), {"rate": "agrees"}, quantities, "scale_{study}")
    >>> judged[["published", "rerun", "evidence"]].loc[0].tolist()
    ['agrees', 'agrees', '99.0 requests/s at 10.0 ms.']
    """
    audited = functools.cache(lambda study: _verdict_on_study(where.replace("{study}", study)))
    rows = []
    for one in stated.to_dict("records"):
        claimed = [verdicts[name] for name in one["claims"].split()]
        errors = ""
        if claimed and one["measured"] and not one["instead"]:
            wrong = {study: audited(study) for study in one["study"].split()}
            errors = "; ".join(f"{study}: {found}" for study, found in wrong.items() if found.severity == "error")
        if errors:
            one["instead"] = "" if one["despite"] else "runs that the audit does not allow to be used"
            one["audit"] = f"{errors}, but {one['despite']}" if one["despite"] else errors
        found = verdict_of_row(f"experiment {one['experiment']!r}", one, quantities)
        published, rerun = (min(claimed, key=_WEAKEST_FIRST.index), found.verdict) if claimed else (NO_CLAIM, NO_CLAIM)
        rows.append({"audit": "", **one, **found._asdict(), "published": published, "rerun": rerun})
    columns = ["experiment", "title", "published", "rerun", *Judged._fields[1:]]
    table = pd.DataFrame(rows, columns=[*columns, "differs", "instead", "audit", "study", "figure", "settles"])
    return table.astype({name: float if name in NUMBERS else "str" for name in table})


def _verdict_on_study(study: str) -> Verdict:
    """Return the audit's verdict on a recorded study, from the tables that a build has made of it."""
    return audit(read_tables(study), default_settings(all_rules(), data_folder(study))).verdict


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
