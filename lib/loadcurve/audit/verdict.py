"""The verdict of the audit in one line, on all runs or on each, and its findings as sentences.

The verdict is usable, usable with care, or do not use.  There is one sentence for each rule, so that 60 runs with one
fault are one line.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from loadcurve.audit.rule import INTERNAL_ERROR, NOT_CHECKED
from loadcurve.audit.run_tables import count_runs, key_of
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


OVERLOAD = ("failed-requests", "timeouts", "target-rate", "effective-concurrency")
"""Rules that report what overload does, the last one only beside another."""


def beyond_capacity(findings: pd.DataFrame, levels: pd.DataFrame) -> dict[str, str]:
    """Return the runs of the highest levels of a sweep, if there is overload and only there, which a capacity needs.

    A mapping of their keys (`loadcurve.audit.run_tables.key_of`) to the highest level without an error, in words.
    """
    errors = findings[findings["severity"] == "error"]
    overloaded = set(key_of(errors[errors["rule"].isin(OVERLOAD[:-1]) & errors["run_id"].notna()]))
    if levels.empty or not overloaded:
        return {}
    levels = levels.assign(bad=key_of(levels).isin(overloaded))
    kept: dict[str, str] = {}
    for _, sweep in levels.groupby(["variant", "axis"], dropna=False):
        bad = sweep.groupby("level")["bad"].any()
        if bad.any() and bad.is_monotonic_increasing and (~bad).sum() >= _FEWEST_GOOD:
            words = sweep.loc[sweep["level"] == bad.index[~bad][-1], "up_to"].iloc[0]
            kept |= dict.fromkeys(key_of(sweep[sweep["bad"]]), str(words))
    return kept


_FEWEST_GOOD = 2  # levels below the overload; fewer are no sweep


def judge(findings: pd.DataFrame, number: int, beyond: Mapping[str, str] | None = None) -> Verdict:
    """Return the verdict on all runs together; what was not checked or is ignored counts for nothing.

    Parameters
    ----------
    findings : pandas.DataFrame
        The table of that name.
    number : int
        How many runs there are.
    beyond : mapping of str to str
        Overloaded runs that end a sweep, as `beyond_capacity` returns them.

    Examples
    --------
    >>> findings = pd.DataFrame({"run_id": ["a", "b"], "rule": "effective-concurrency", "severity": ["ok", "error"]})
    >>> print(judge(findings, 2))
    do not use: effective-concurrency in 1 of 2 runs
    """
    ran = findings[findings["severity"].isin(["ok", "warning", "error"])]
    if ran.empty:
        return Verdict("unchecked", "no rule had the numbers it needs")
    above = ran["rule"].isin(OVERLOAD) & key_of(ran).isin(list(beyond or {})) & (ran["severity"] != "ok")
    up_to = ", ".join(dict.fromkeys((beyond or {}).values()))
    said = [f"up to {up_to}, as above it {'; '.join(_counts(ran[above], number))}"] if above.any() else []
    for severity in ("error", "warning"):
        found = ran[(ran["severity"] == severity) & ~above]
        if len(found) or (said and severity == "warning"):
            return Verdict(severity, "; ".join([*said, *_counts(found, number)]))
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


def _counts(found: pd.DataFrame, number: int) -> list[str]:
    counts = []
    for rule, rows in found.groupby("rule", sort=False):
        of_runs = number > 1 and rows["run_id"].notna().any()
        runs = f" in {count_runs(rows.dropna(subset='run_id'))} of {number} runs" if of_runs else ""
        counts.append(f"{rule}{runs}")
    return counts


_NAMED = 3  # runs that a line names
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


@dataclass(frozen=True)
class Group:
    """Findings of one rule and severity that say the same, of which a line shows the first."""

    severity: str
    rule: str
    runs: str  # In words: the name of the only run, or how many there are and the first of them
    # `evidence`, `meaning` and `advice`: of the first; empty where there is none.
    evidence: str
    meaning: str
    advice: str
    rows: pd.DataFrame  # All of them

    def __str__(self) -> str:
        return f"{self.severity}, {self.rule}, {self.runs}: {self.evidence} {self.advice}".strip()


def groups_of(findings: pd.DataFrame) -> list[Group]:
    """Return what was found, the most severe first: errors, warnings, and findings of ignored rules."""
    found = []
    alike = findings.assign(said=_without_numbers(findings))
    for severity in ("error", "warning", "ignored"):
        for (rule, _), rows in alike[alike["severity"] == severity].groupby(["rule", "said"], sort=False):
            first = rows.iloc[0]
            evidence, meaning, advice = (_text(first.get(column)) for column in ("evidence", "meaning", "advice"))
            found.append(Group(severity, str(rule), _runs(rows), evidence, meaning, advice, rows))
    return found


def _without_numbers(findings: pd.DataFrame) -> pd.Series:
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
    """One sentence for each verdict that differs from another run's: how many runs, and the first of them."""
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
    """One sentence with the number of rules that could not be checked, after those that failed."""
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
    """Return the run that a finding is about: its name, else its file; empty if it is about all runs together."""
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
