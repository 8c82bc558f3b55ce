"""The verdict of the audit in one line: usable, usable with care, or do not use."""

from dataclasses import dataclass

import pandas as pd

from loadcurve.analysis.levels import FEW_ERRORS, error_ratio
from loadcurve.blocks import Paragraph, to_display

NOT_CHECKED = "Not checked"
"""How the evidence begins of a check whose numbers are missing."""
WORDS = {"ok": "usable", "warning": "usable with care", "error": "do not use", "unchecked": "not checked"}


@dataclass(frozen=True)
class Verdict:
    """Whether a measurement can be used.

    Attributes
    ----------
    severity : {"ok", "warning", "error", "unchecked"}
        The most severe finding, at least ``warning`` where more than 1 % of the requests of a run failed;
        ``unchecked`` where no check could run.
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


def judge(findings: pd.DataFrame, runs: pd.DataFrame) -> Verdict:
    """Return the verdict that findings give; a check that could not run counts for nothing.

    Parameters
    ----------
    findings, runs : pandas.DataFrame
        The tables of that name.

    Examples
    --------
    >>> findings = pd.DataFrame({"run_id": ["a", "b"], "rule": "effective-concurrency", "severity": ["ok", "error"],
    ...                          "evidence": ""})
    >>> print(judge(findings, pd.DataFrame({"run_id": ["a", "b"]})))
    do not use: effective-concurrency in 1 of 2 runs
    """
    ran = findings[~findings["evidence"].fillna("").str.startswith(NOT_CHECKED)]
    if ran.empty:
        return Verdict("unchecked", "no rule had the numbers it needs")
    ratio = error_ratio(runs) if "requests" in runs else pd.Series(dtype=float)
    failing = int((ratio > FEW_ERRORS).sum())
    failed = f"more than {FEW_ERRORS:.0%} of the requests failed in {failing} of {len(runs)} runs".replace("%", " %")
    for severity in ("error", "warning"):
        found = ran[ran["severity"] == severity]
        if len(found):
            number = len(runs)
            parts = [f"{rule} in {len(rows)} of {number} runs" for rule, rows in found.groupby("rule", sort=False)]
            return Verdict(severity, "; ".join([*parts, failed] if failing else parts))
    if failing:
        return Verdict("warning", failed)
    return Verdict("ok", f"{ran['rule'].nunique()} rules checked {ran['run_id'].nunique()} runs and found nothing")
