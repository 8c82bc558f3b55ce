"""The verdict of the audit in one line, on all runs or on each: usable, usable with care, or do not use."""

from dataclasses import dataclass

import pandas as pd

from loadcurve.audit.of_runs import count_runs, key_of
from loadcurve.blocks import Paragraph, to_display

WORDS = {"ok": "usable", "warning": "usable with care", "error": "do not use", "unchecked": "not checked"}


@dataclass(frozen=True)
class Verdict:
    """Whether a measurement can be used.

    Attributes
    ----------
    severity : {"ok", "warning", "error", "unchecked"}
        The most severe finding; ``unchecked`` where no check could run.
    reason : str
        Which rules found it, in how many runs; empty where nothing is wrong.

    Examples
    --------
    >>> print(Verdict("error", "effective-concurrency in 3 of 12 runs"))
    do not use: effective-concurrency in 3 of 12 runs
    """

    severity: str
    reason: str = ""

    def __str__(self) -> str:
        return WORDS[self.severity] + (f": {self.reason}" if self.reason else "")

    def _repr_html_(self) -> str:
        return to_display([Paragraph("Verdict", str(self), self.severity)])


def judge(findings: pd.DataFrame, number: int) -> Verdict:
    """Return the verdict on all runs together; what was not checked or is ignored counts for nothing.

    Parameters
    ----------
    findings : pandas.DataFrame
        The table of that name.
    number : int
        How many runs there are.

    Examples
    --------
    >>> findings = pd.DataFrame({"run_id": ["a", "b"], "rule": "effective-concurrency", "severity": ["ok", "error"]})
    >>> print(judge(findings, 2))
    do not use: effective-concurrency in 1 of 2 runs
    """
    ran = findings[findings["severity"].isin(["ok", "warning", "error"])]
    if ran.empty:
        return Verdict("unchecked", "no rule had the numbers it needs")
    for severity in ("error", "warning"):
        found = ran[ran["severity"] == severity]
        if len(found):
            counts = [_count(rule, rows, number) for rule, rows in found.groupby("rule", sort=False)]
            return Verdict(severity, "; ".join(counts))
    rules = f"{ran['rule'].nunique()} of {findings['rule'].nunique()} rules"
    return Verdict("ok", f"{rules} had the numbers they need and found nothing")


def verdict_of_each(findings: pd.DataFrame) -> dict[str, Verdict]:
    """Return the verdict on each run, in the order in which the findings name them.

    Examples
    --------
    >>> findings = pd.DataFrame({"run_id": ["a", "b", "b"], "rule": "short-run", "severity": ["ok", "ok", "warning"]})
    >>> {run: str(verdict) for run, verdict in verdict_of_each(findings).items()}
    {'a': 'usable', 'b': 'usable with care: short-run'}
    """
    of_runs = findings.dropna(subset=["run_id"])
    several = "study" in of_runs and len(of_runs["study"].unique()) > 1  # whose runs may have the same names
    keys = (key_of(of_runs) if several else of_runs["run_id"]).astype(str)
    verdicts = dict.fromkeys(keys, Verdict("unchecked"))
    for severity in ("ok", "warning", "error"):
        found = (of_runs["severity"] == severity).to_numpy()
        rules: dict[str, dict[str, None]] = {}
        for key, rule in zip(keys[found], of_runs["rule"][found], strict=True):
            rules.setdefault(key, {})[rule] = None
        for key, names in rules.items():
            verdicts[key] = Verdict(severity, "" if severity == "ok" else ", ".join(names))
    return verdicts


def _count(rule: object, rows: pd.DataFrame, number: int) -> str:
    of_runs = number > 1 and rows["run_id"].notna().any()
    return f"{rule} in {count_runs(rows.dropna(subset='run_id'))} of {number} runs" if of_runs else str(rule)
