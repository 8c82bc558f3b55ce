"""The verdict of the audit in one line, on all runs or on each: usable, usable with care, or do not use."""

from collections.abc import Mapping
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


OVERLOAD = ("failed-requests", "timeouts", "target-rate", "effective-concurrency")
"""Rules that report what overload does, the last one only beside another."""


def beyond_capacity(findings: pd.DataFrame, levels: pd.DataFrame) -> dict[str, str]:
    """Return the runs of the highest levels of a sweep, if there is overload and only there, which a capacity needs.

    A mapping of their keys (`loadcurve.audit.of_runs.key_of`) to the highest level without an error, in words.
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
