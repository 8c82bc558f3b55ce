"""Rules that compare one number of each run with thresholds: the more, the worse."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from loadcurve.audit.of_runs import Tables, rows_of
from loadcurve.audit.rule import NOT_CHECKED, Family, Finding, Limit, Need, Rule, Severity
from loadcurve.audit.samples import EDGE_S
from loadcurve.units import format_quantity
from loadcurve.wording import fill_text

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
    """Return a rule that reports the most severe limit that a run's number exceeds.

    Examples
    --------
    >>> from loadcurve.audit.of_runs import key_of
    >>> need = Need("runs", ("duration_s",), "its duration", "Use wrk.")
    >>> rule = threshold_rule(
    ...     "long-run", "Is it short?", lambda tables: tables["runs"].set_axis(key_of(tables["runs"])).assign(
    ...         observed=tables["runs"]["duration_s"].to_numpy()), evidence="It took {observed:s}.", advice="Stop.",
    ...     limits={"warning": Limit(60, "patience")}, needs=(need,), unit="s")
    >>> run = {"study": "s", "run_id": "a", "status": "finished", "duration_s": 90.0}
    >>> rule.audit({"runs": pd.DataFrame([run]).assign(source=None)})[["severity", "evidence"]].values.tolist()
    [['warning', 'It took 90.0 s.']]
    """

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
            severity = _severity(row["observed"], values)
            done = "" if severity == "ok" else fill_text(advice, row)
            observed = float(row["observed"])
            yield Finding(run, severity, fill_text(evidence, row), done, observed, values["warning"])

    find.__module__ = measure.__module__  # whose docstring is the rule's page
    shown = {severity: format_quantity(limit.value, unit) for severity, limit in limits.items()}
    severities: dict[Severity, str] = {"ok": f"at most {shown['warning']}"}
    severities |= {severity: f"above {text}" for severity, text in shown.items()}
    named = {str(severity): limit for severity, limit in limits.items()}
    return Rule(name, question, find, severities, needs, named, family=family)


def without_sample(run: Any, needs: Sequence[Need]) -> Finding:
    """Return the finding of a run without a sample within its load: to measure for longer, or what to record."""
    if getattr(run, "duration_s", float("nan")) < 2 * EDGE_S + 1:
        return Finding(run, "unchecked", f"{NOT_CHECKED}{NO_SAMPLE}.", "Measure for at least 10 s.")
    need = next(need for need in needs if need.table != "runs")
    return Finding(run, "unchecked", f"{NOT_CHECKED}needs {need.what}, {WITHIN}.", need.record)


def _severity(observed: float, limits: Mapping[str, float]) -> Severity:
    if observed > limits.get("error", float("inf")):
        return "error"
    return "warning" if observed > limits["warning"] else "ok"
