"""Findings of the audit as sentences: one for each rule, so that 60 runs with one fault are one line."""

from collections.abc import Iterable, Mapping

import pandas as pd

from loadcurve.audit.verdict import Verdict

_NAMED = 3  # runs that a line names


def verdict_sentences(verdicts: Mapping[str, Verdict]) -> Iterable[str]:
    """One sentence for each verdict that differs from another run's: how many runs, and the first of them.

    Examples
    --------
    >>> list(verdict_sentences({"a": Verdict("ok"), "b": Verdict("ok"), "c": Verdict("error", "short-run")}))
    ['do not use: short-run (c)', 'usable (a, b)']
    """
    runs: dict[str, list[str]] = {}
    for severity in ("error", "warning", "unchecked", "ok"):
        for run, verdict in verdicts.items():
            if verdict.severity == severity:
                runs.setdefault(str(verdict), []).append(run)
    for words, names in runs.items() if len(verdicts) > 1 else ():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{words} ({', '.join(names[:_NAMED])}{more})"


def finding_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule and severity: how many runs, and the first of them with its numbers."""
    for severity in ("error", "warning", "ignored"):
        for rule, rows in findings[findings["severity"] == severity].groupby("rule", sort=False):
            yield f"{severity}, {rule}, {_runs(rows)}: {rows.iloc[0]['evidence']} {_advice(rows.iloc[0])}".strip()


def unchecked_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each thing to do so that more rules can be checked: what to do, which rules, how many runs.

    Examples
    --------
    >>> row = {"run_id": "a", "severity": "unchecked", "evidence": "Not checked: needs swap.", "advice": "Record sar."}
    >>> list(unchecked_sentences(pd.DataFrame([row | {"rule": "swapping"}, row | {"rule": "paging"}])))
    ['Record sar. Without it: swapping, paging (1 run).']
    """
    lacking = findings[findings["severity"] == "unchecked"]
    for advice, rows in lacking.groupby("advice", sort=False):
        rules, number = ", ".join(rows["rule"].unique()), int(rows["rule"].value_counts().max())
        yield f"{advice} Without it: {rules} ({number} run{'s' if number != 1 else ''})."


def _runs(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]["run_id"]
    if pd.isna(first):
        return "all runs together"
    return f"{len(rows)} runs, such as {first}" if len(rows) > 1 else str(first)


def _advice(finding: pd.Series) -> str:
    return "" if pd.isna(finding["advice"]) else str(finding["advice"])
