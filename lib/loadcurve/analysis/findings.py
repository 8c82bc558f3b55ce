"""Findings of the audit as sentences: one for each rule, so that 60 runs with one fault are one line."""

from collections.abc import Iterable

import pandas as pd

from loadcurve.analysis.verdict import NOT_CHECKED


def finding_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule and severity: how many runs, and the first of them with its numbers."""
    for severity in ("error", "warning"):
        for rule, rows in findings[findings["severity"] == severity].groupby("rule", sort=False):
            first = rows.iloc[0]
            runs = f"{len(rows)} runs, such as {first['run_id']}" if len(rows) > 1 else f"{first['run_id']}"
            advice = "" if pd.isna(first["advice"]) else first["advice"]
            yield f"{severity}, {rule}, {runs}: {first['evidence']} {advice}".strip()


def unchecked_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule that lacked its numbers in every run."""
    for rule, rows in findings.groupby("rule", sort=False):
        reasons = rows["evidence"].fillna("").astype(str)
        if reasons.str.startswith(NOT_CHECKED).all():
            reason = reasons.iloc[0].removeprefix(NOT_CHECKED).lstrip(": ")
            yield f"{rule}: {reason}"
