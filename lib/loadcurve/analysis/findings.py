"""Findings of the audit as sentences: one for each rule, so that 60 runs with one fault are one line."""

from collections.abc import Iterable

import pandas as pd

from loadcurve.analysis.verdict import NOT_CHECKED


def finding_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule and severity: how many runs, and the first of them with its numbers."""
    ran = findings[~_unchecked(findings)]
    for severity in ("error", "warning"):
        for rule, rows in ran[ran["severity"] == severity].groupby("rule", sort=False):
            first = rows.iloc[0]
            runs = f"{len(rows)} runs, such as {first['run_id']}" if len(rows) > 1 else f"{first['run_id']}"
            yield f"{severity}, {rule}, {runs}: {first['evidence']} {_advice(first)}".strip()


def unchecked_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule whose numbers are missing: in how many runs, and what to do."""
    lacking = findings[_unchecked(findings)]
    for rule, rows in lacking.groupby("rule", sort=False):
        first, number = rows.iloc[0], int((findings["rule"] == rule).sum())
        reason = str(first["evidence"]).removeprefix(NOT_CHECKED).lstrip(": ")
        yield f"{rule}, {len(rows)} of {number} runs: {reason} {_advice(first)}".strip()


def _unchecked(findings: pd.DataFrame) -> pd.Series:
    return findings["evidence"].fillna("").astype(str).str.startswith(NOT_CHECKED)


def _advice(finding: pd.Series) -> str:
    return "" if pd.isna(finding["advice"]) else str(finding["advice"])
