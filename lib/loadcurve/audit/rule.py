"""What an audit rule is, what it needs, and what it finds.

`threshold_rule` makes a rule that compares one number of each run with thresholds: the more, the worse.
`judge_evidence` serves rules with several kinds of evidence for one question: the most severe evidence of each run is
its finding.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from loadcurve import tables as schemas
from loadcurve.audit.run_tables import RunTables, Tables, all_runs, key_of, rows_of
from loadcurve.audit.samples import EDGE_S
from loadcurve.stats.arrays import Mask
from loadcurve.units import fill_text, format_quantity

Severity = Literal["ok", "warning", "error", "unchecked"]
Family = Literal["Load delivered", "Errors", "What saturated", "Physics", "Statistics", "Balance", ""]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""Groups of the rules, in the order of the gallery; a rule without a group is shown last."""
NOT_CHECKED = "Not checked: "
"""How the evidence begins of a finding that says why a rule did not examine a run."""
INTERNAL_ERROR = f"{NOT_CHECKED}internal error of this rule"
"""How the evidence begins if the rule raised an exception."""


@dataclass(frozen=True)
class Finding:
    """What a rule reports about one run, or about all of them.

    Attributes
    ----------
    run : row
        Row of a table that names the run: `study`, `run_id` and `source` are its attributes; `run_id` is missing if
        the finding is about all runs together (`loadcurve.audit.run_tables.all_runs`).
    severity : {"ok", "warning", "error", "unchecked"}
        ``ok`` only where the check ran, ``unchecked`` where it did not.
    evidence : str
        The numbers, in a sentence.
    advice : str
        What to do next; not shown where nothing is wrong.
    observed, expected : float
        What the rule measured and what it should be, in the rule's own unit; NaN where there is no number.

    Examples
    --------
    >>> run = pd.Series({"study": "demo", "run_id": "c0001-r1", "source": None})
    >>> Finding(run, "ok", "The run finished.").severity
    'ok'
    """

    run: Any
    severity: Severity
    evidence: str
    advice: str = ""
    observed: float = np.nan
    expected: float = np.nan


@dataclass(frozen=True)
class Need:
    """Measurements without which a rule does not examine a run.

    Attributes
    ----------
    table : str
        For ``runs``, the run's own row has every column; for another table, one row of the run has.
    columns : tuple of str
        The columns whose values must not be missing.
    what : str
        The measurements in words, after "needs"; empty for an alternative.
    record : str
        What to do to have them next time: a command, or a setting of the load generator; empty where the rule does not
        apply without them.
    applies : bool
        False if the rule does not apply to a run without them, and reports nothing about it.
    alternatives : tuple of Need
        Other measurements, of which any is enough instead.

    Examples
    --------
    >>> Need("sockets", ("time_wait",), "the sockets of the generator's host", "Record `ss -s` during the run.").table
    'sockets'
    """

    table: str
    columns: tuple[str, ...]
    what: str = ""
    record: str = ""
    applies: bool = True
    alternatives: tuple["Need", ...] = ()

    def met(self, tables: RunTables) -> Mask:
        """Return for each row of ``runs`` whether its run has these measurements, or an alternative."""
        met = tables.having(self.table, self.columns)
        for other in self.alternatives:
            met = met | other.met(tables)
        return met


# Numbers of a report that several rules need.
_REPORTS = "Use a generator that reports it."
THROUGHPUT = Need("runs", ("throughput_rps",), "the throughput", _REPORTS)
REQUESTS = Need("runs", ("requests",), "the number of requests", _REPORTS)
DURATION = Need("runs", ("duration_s",), "the duration of the load", _REPORTS)
CONNECTIONS = Need("runs", ("connections",), "the connections", "Note the connections in a factors.csv.")


@dataclass(frozen=True)
class Limit:
    """A threshold of a rule; study.yml and loadcurve.toml may set another value.

    Attributes
    ----------
    value : float
    reason : str
        Why this value, with its source.

    Examples
    --------
    >>> Limit(0.01, "less than the scatter of repeats on a quiet machine").value
    0.01
    """

    value: float
    reason: str


@dataclass(frozen=True)
class Rule:
    """A check of measured data; the constant `RULE` of a module in `loadcurve.audit.rules`.

    Attributes
    ----------
    name : str
        In lower case with hyphens.  ``handbook/rules/<name>.md`` is its page; without that file, the page is made of
        the module's docstring.
    question : str
        The question that the rule answers for each run.
    find : callable
        Tables by name, ``runs`` among them, and limits by name -> findings, one for each run examined, the good ones
        too.  It gets only runs that finished and that have what the rule needs.
    severities : mapping of str to str
        Severity -> when the rule reports it, for its page.
    needs : tuple of Need
        A run without them is reported as ``unchecked``.
    limits : mapping of str to Limit
        Thresholds by name.
    tools : tuple of str
        The load generators whose runs are examined; empty for all.
    unfinished : bool
        Whether runs that did not finish are examined too.
    family : Family
        Group of the rule in the gallery of the handbook.

    Examples
    --------
    >>> def find_short(tables, limits):
    ...     for run in tables["runs"].itertuples():
    ...         if run.duration_s < limits["seconds"]:
    ...             yield Finding(run, "warning", f"The run took {run.duration_s:g} s.", "Measure for 10 s.")
    >>> rule = Rule("short-run", "Was the run long enough?", find_short, {"warning": "below 10 s"},
    ...             needs=(Need("runs", ("duration_s",), "its duration", "Use a generator that prints it."),),
    ...             limits={"seconds": Limit(10, "opening connections takes up to a second")})
    >>> runs = schemas.check("runs", pd.DataFrame(
    ...     {"study": "demo", "run_id": ["r1", "r2"], "status": "finished", "duration_s": [2.0, None]}))
    >>> rule.audit({"runs": runs})[["run_id", "severity", "evidence"]].values.tolist()
    [['r2', 'unchecked', 'Not checked: needs its duration.'], ['r1', 'warning', 'The run took 2 s.']]
    """

    name: str
    question: str
    find: Callable[[Tables, Mapping[str, float]], Iterable[Finding]]
    severities: Mapping[Severity, str] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    unfinished: bool = False
    family: Family = ""

    def audit(self, tables: Tables, limits: Mapping[str, float] | None = None) -> pd.DataFrame:
        """Return the findings in declared tables, as the table ``findings``.

        Parameters
        ----------
        tables : mapping of str to pandas.DataFrame
            Declared tables by name, ``runs`` among them.
        limits : mapping of str to float, optional
            Values that replace those of `limits`.
        """
        return schemas.check("findings", pd.DataFrame(self.rows(RunTables(tables), limits)))

    def rows(self, tables: RunTables, limits: Mapping[str, float] | None = None) -> list[dict[str, Any]]:
        """Return the findings as rows of the table ``findings``: first the runs that were not examined.

        A rule that raises is reported once, because its findings on all runs are lost.
        """
        try:
            return self._rows(tables, limits)
        except Exception as error:
            fault = f"{INTERNAL_ERROR} ({type(error).__name__}: {error})."
            advice = "Report it with the data; the findings of the other rules are not affected."
            return [self._row(Finding(all_runs(tables["runs"]), "unchecked", fault, advice))]

    def _rows(self, tables: RunTables, limits: Mapping[str, float] | None) -> list[dict[str, Any]]:
        runs = tables["runs"]
        examined = np.ones(len(runs), dtype=bool)
        if not self.unfinished:
            examined &= runs["status"].eq("finished").to_numpy(bool, na_value=False)
        if self.tools:
            examined &= runs["tool"].isin(self.tools).to_numpy()
        lacking = np.zeros((len(self.needs), len(runs)), dtype=bool)
        for i, need in enumerate(self.needs):
            lacking[i] = ~need.met(tables)
        complete = examined & ~lacking.any(axis=0)
        values = {name: limit.value for name, limit in self.limits.items()} | dict(limits or {})
        found = [self._row(one) for one in self.find(tables.part(complete), values)] if complete.any() else []
        return [*self._unchecked(tables, lacking, examined & ~complete), *found]

    def _unchecked(self, tables: RunTables, lacking: Mask, rows: Mask) -> Iterator[dict[str, Any]]:
        """Yield a row for each run that lacks something, unless the rule does not apply to the run."""
        for i in np.flatnonzero(rows):
            needs = [need for need, one in zip(self.needs, lacking[:, i], strict=True) if one]
            if all(need.applies for need in needs):
                evidence = f"{NOT_CHECKED}needs {' and '.join(need.what for need in needs)}."
                advice = " ".join(dict.fromkeys(need.record for need in needs))
                yield self._row(Finding(tables.names[i], "unchecked", evidence, advice))

    def _row(self, found: Finding) -> dict[str, Any]:
        return {
            "study": found.run.study,
            "run_id": found.run.run_id,
            "source": found.run.source,
            "rule": self.name,
            "severity": found.severity,
            "observed": found.observed,
            "expected": found.expected,
            "evidence": found.evidence,
            "advice": "" if found.severity == "ok" else found.advice,
        }


WITHIN = f"within the load, at least {EDGE_S:g} s from its ends"
NO_SAMPLE = f"needs a sample {WITHIN}"


def threshold_rule(
    name: str,
    question: str,
    measure: Callable[[Tables], pd.DataFrame],
    *,
    evidence: str,
    advice: str,
    limits: Mapping[Severity, Limit],
    needs: tuple[Need, ...],
    unit: str = "ratio",
    family: Family = "",
) -> Rule:
    """Return a rule that reports the most severe limit that a run's number exceeds."""

    def find(tables: Tables, values: Mapping[str, float]) -> Iterator[Finding]:
        measured = measure(tables)
        rows = dict(zip(measured.index, measured.to_dict("records"), strict=True))
        judged: set[str] = set()
        for run, key in rows_of(tables):
            if key in judged and isinstance(run.run_id, str):
                continue  # another generator of the same run
            judged.add(key)
            row = rows.get(key)
            if row is None or pd.isna(row["observed"]):
                yield without_sample(run, needs)
                continue
            observed = float(row["observed"])
            said, done = fill_text(evidence, row), fill_text(advice, row)
            yield Finding(run, severity_of(observed, values), said, done, observed, values["warning"])

    find.__module__ = measure.__module__  # whose docstring is the rule's page
    shown = {severity: format_quantity(limit.value, unit) for severity, limit in limits.items()}
    severities: dict[Severity, str] = {"ok": f"at most {shown['warning']}"}
    severities |= {severity: f"above {text}" for severity, text in shown.items()}
    named = {str(severity): limit for severity, limit in limits.items()}
    return Rule(name, question, find, severities, needs, named, family=family)


def without_sample(run: Any, needs: Sequence[Need]) -> Finding:
    """Return the finding of a run without a sample within its load: to measure for longer, or what to record."""
    if getattr(run, "duration_s", float("nan")) < 2 * EDGE_S + 1:
        return not_checked(run, NO_SAMPLE, "Measure for at least 10 s.")
    need = next(need for need in needs if need.table != "runs")
    return not_checked(run, f"needs {need.what}, {WITHIN}", need.record)


def not_checked(run: Any, reason: str, record: str) -> Finding:
    """Return the finding of a run that a rule could not examine: why, and what to record."""
    return Finding(run, "unchecked", f"{NOT_CHECKED}{reason}.", record)


def severity_of(observed: float, limits: Mapping[str, float]) -> Severity:
    """Return the most severe of the limits ``warning`` and ``error`` that a number exceeds."""
    if observed > limits.get("error", np.inf):
        return "error"
    return "warning" if observed > limits["warning"] else "ok"


_ORDER: tuple[Severity, ...] = ("error", "warning", "ok")


@dataclass(frozen=True)
class Evidence:
    """What one kind of measurement says about a run; attributes as those of `Finding`."""

    severity: Severity
    text: str
    advice: str = ""
    observed: float = np.nan
    expected: float = np.nan


def judge_evidence(
    tables: Tables, kinds: Iterable[Mapping[str, Evidence]], reason: str, record: str
) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``."""
    sources = list(kinds)
    for run, key in rows_of(tables):
        found = [one for source in sources if (one := source.get(key)) is not None]
        if not found:
            yield not_checked(run, reason, record)
            continue
        found.sort(key=lambda one: _ORDER.index(one.severity))
        worst = found[0]
        advice = " ".join(dict.fromkeys(one.advice for one in found if one.advice and one.severity == worst.severity))
        text = " ".join(dict.fromkeys(one.text for one in found))
        yield Finding(run, worst.severity, text, advice, worst.observed, worst.expected)


def refusals(tables: Tables, pattern: str, words: str, advice: str) -> dict[str, Evidence]:
    """Return the errors of one kind that a load generator or a server's error log reports, as evidence by key."""
    runs, events = tables["runs"], tables.get("events")
    said = pd.DataFrame({"key": key_of(runs), "text": runs["reason"]})
    if events is not None and len(events):
        logged = events[events["tool"].isin(["nginx", "apache"])]
        said = pd.concat([said, pd.DataFrame({"key": key_of(logged), "text": logged["text"]})])
    found = said[said["text"].astype("string").str.contains(pattern, regex=True).fillna(False).astype(bool)]
    return {
        str(key): Evidence("error", f"{words} ({len(texts)} times): {texts.iloc[0]}.", advice)
        for key, texts in found.groupby("key", sort=False)["text"]
    }
