"""Findings of the audit as sentences: one for each rule, so that 60 runs with one fault are one line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from loadcurve.audit.of_runs import count_runs
from loadcurve.audit.rule import INTERNAL_ERROR, NOT_CHECKED
from loadcurve.audit.verdict import Verdict

_NAMED = 3  # runs that a line names
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


@dataclass(frozen=True)
class Group:
    """Findings of one rule and severity that say the same, of which a line shows the first.

    Attributes
    ----------
    severity, rule : str
    runs : str
        In words: the name of the only run, or how many there are and the first of them.
    evidence, meaning, advice : str
        Of the first; empty where there is none.
    rows : pandas.DataFrame
        All of them.
    """

    severity: str
    rule: str
    runs: str
    evidence: str
    meaning: str
    advice: str
    rows: pd.DataFrame

    def __str__(self) -> str:
        return f"{self.severity}, {self.rule}, {self.runs}: {self.evidence} {self.advice}".strip()


def groups_of(findings: pd.DataFrame) -> list[Group]:
    """Return what was found, the most severe first: errors, warnings, and findings of ignored rules.

    Examples
    --------
    >>> row = {"rule": "short-run", "evidence": "It took 2 s.", "advice": "Measure longer.", "source": None}
    >>> [group] = groups_of(pd.DataFrame([row | {"severity": "warning", "run_id": run} for run in "ab"]))
    >>> print(group)
    warning, short-run, 2 runs, such as a: It took 2 s. Measure longer.
    """
    found = []
    alike = findings.assign(said=_said(findings))
    for severity in ("error", "warning", "ignored"):
        for (rule, _), rows in alike[alike["severity"] == severity].groupby(["rule", "said"], sort=False):
            first = rows.iloc[0]
            evidence, meaning, advice = (_text(first.get(column)) for column in ("evidence", "meaning", "advice"))
            found.append(Group(severity, str(rule), _runs(rows), evidence, meaning, advice, rows))
    return found


def _said(findings: pd.DataFrame) -> pd.Series:
    """Return what findings of a rule say without numbers: what to do, and on which side the expected number is."""
    advice = findings.reindex(columns=["advice"])["advice"].astype("string").fillna("")
    advice = advice.str.replace(_NUMBER, "#", regex=True)
    if "observed" not in findings:
        return advice
    above = findings["observed"].astype(float) > findings["expected"].astype(float)
    return advice + above.map({True: ">", False: "<"})


def finding_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each rule and severity: how many runs, and the first of them with its numbers."""
    return map(str, groups_of(findings))


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
        comma = "; " if any(", " in name for name in names) else ", "
        yield f"{words} ({comma.join(names[:_NAMED])}{more})"


def unchecked_count(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence with the number of rules that could not be checked, after those that failed.

    Examples
    --------
    >>> row = {"run_id": "a", "severity": "unchecked", "evidence": "Not checked: needs swap.", "advice": "Record sar."}
    >>> list(unchecked_count(pd.DataFrame([row | {"rule": "swapping"}, row | {"rule": "paging", "severity": "ok"}])))
    ['1 of 2 rules, as data are missing: `loadcurve audit --all` lists what to record']
    """
    lacking = findings[findings["severity"] == "unchecked"]
    failed = lacking["evidence"].astype(str).str.startswith(INTERNAL_ERROR)
    yield from unchecked_sentences(lacking[failed])
    if number := lacking["rule"][~failed].nunique():
        rules = f"{number} of {findings['rule'].nunique()} rules"
        yield f"{rules}, as data are missing: `loadcurve audit --all` lists what to record"


def unchecked_sentences(findings: pd.DataFrame) -> Iterable[str]:
    """One sentence for each thing to do so that more rules can be checked: what to do, which rules, how many runs.

    Internal errors of rules come first, then what most rules wait for.

    Examples
    --------
    >>> row = {"run_id": "a", "severity": "unchecked", "evidence": "Not checked: needs swap.", "advice": "Record sar."}
    >>> list(unchecked_sentences(pd.DataFrame([row | {"rule": "swapping"}, row | {"rule": "paging"}])))
    ['Record sar. Without it: swapping, paging (1 run).']
    """
    lacking = findings[findings["severity"] == "unchecked"]
    if lacking.empty:
        return
    failed = lacking["evidence"].astype(str).str.startswith(INTERNAL_ERROR)
    for rule, rows in lacking[failed].groupby("rule", sort=False):
        evidence = str(rows["evidence"].iloc[0]).removeprefix(NOT_CHECKED)
        yield f"{rule}, {_runs(rows)}: {evidence} {rows['advice'].iloc[0]}"
    lacking = lacking[~failed]
    groups = [(str(advice), rows) for advice, rows in lacking.groupby(lacking["advice"].fillna(""), sort=False)]
    for advice, rows in sorted(groups, key=lambda group: -len(group[1]["rule"].unique())):
        rules = ", ".join(rows["rule"].unique())
        numbers = sorted({count_runs(of) for _, of in rows.groupby("rule")})
        runs = "1 run" if numbers == [1] else f"{' to '.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))} runs"
        start = f"{advice} Without it" if advice else str(rows["evidence"].iloc[0]).rstrip(".")
        yield f"{start}: {rules} ({runs})."


def run_name(finding: Mapping[str, object] | pd.Series) -> str:
    """Return the run that a finding is about: its name, else its file; empty if it is about all runs together.

    Examples
    --------
    >>> run_name({"run_id": None, "source": "c64.txt"}), run_name({"run_id": "c64-r1", "source": "local.wrk.txt"})
    ('c64.txt', 'c64-r1')
    """
    names = (finding[column] for column in ("run_id", "source"))
    return next((str(name) for name in names if isinstance(name, str)), "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _runs(rows: pd.DataFrame) -> str:
    first = run_name(rows.iloc[0])
    if not first:
        return "all runs together"
    number = count_runs(rows)
    return f"{number} runs, such as {first}" if number > 1 else first
