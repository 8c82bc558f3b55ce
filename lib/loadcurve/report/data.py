"""An analysis as one JSON object with stable keys, for programs."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.analysis import Analysis, Curve
from loadcurve.analysis.cells import interval_words, objective_words, shown
from loadcurve.analysis.compare import Comparison
from loadcurve.analysis.objective import Gate
from loadcurve.audit.findings import Findings
from loadcurve.audit.verdict import WORDS
from loadcurve.report.checks import gate_verdict
from loadcurve.report.provenance import Provenance

SCHEMA = 1
"""Version of the keys: a key is only added within a version, never renamed or removed."""


def json_report(analysis: Analysis, provenance: Provenance) -> str:
    """Return an analysis as JSON: `analysis_object` as text, sorted as it is built, with 2 spaces."""
    return json.dumps(analysis_object(analysis, provenance), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def analysis_object(analysis: Analysis, provenance: Provenance) -> dict[str, Any]:
    """Return an analysis as an object of JSON.

    Numbers are in SI units.  A number that is not known is null.  An infinite number is null too, and its object then
    has the key ``infinite``: the names of such numbers, with ``inf`` or ``-inf``.

    Returns
    -------
    dict
        ``schema`` (version of the keys), ``loadcurve`` (version), ``source``, ``summary``,
        ``verdict``: ``severity`` (ok, warning, error, unchecked), ``words``, ``reason``;
        ``answer``, ``grouping``, ``not_used``: the first sentences of the report;
        ``objectives``: ``column``, ``maximum``, ``text``;
        ``curves``: ``variant``, ``load``, ``levels`` (rows of `Curve.levels`), ``results`` (``name label unit value lo
        hi level method warnings repeats text interval``), ``bottleneck``, ``bottlenecks`` (rows of
        `summarise_bottlenecks`), ``missing`` (quantity → reason);
        ``next_steps``, ``settings`` (of the audit, where they are not the default), ``findings`` (rows of the table),
        ``warnings``, ``origins`` (facts that no report prints),
        ``provenance``: ``files`` (``path bytes sha256``), ``digest``, ``tools``, ``version``, ``command``, ``created``.
    """
    verdict = analysis.verdict
    return {
        "schema": SCHEMA,
        "loadcurve": provenance.version,
        "source": analysis.source,
        "summary": analysis.summary,
        "verdict": {"severity": verdict.severity, "words": WORDS[verdict.severity], "reason": verdict.reason},
        "answer": analysis.answer,
        "grouping": analysis.grouping,
        "not_used": list(analysis.not_used),
        "objectives": [
            _object({"column": one.column, "maximum": one.maximum, "text": objective_words(str(one))})
            for one in analysis.objectives
        ],
        "curves": [_curve(curve) for curve in analysis.curves],
        "next_steps": list(analysis.next_steps),
        "settings": list(analysis.findings.attrs.get("settings", ())),
        "findings": plain_rows(analysis.findings),
        "warnings": list(analysis.warnings),
        "origins": list(analysis.origins),
        "provenance": _object(
            {
                **asdict(provenance),
                "tools": list(provenance.tools),
                "files": [asdict(file) for file in provenance.files],
                "created": provenance.created.isoformat(timespec="seconds"),
            }
        ),
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "variant": curve.variant,
        "load": curve.load,
        "levels": plain_rows(curve.levels),
        "results": [
            _object(
                {
                    "name": result.name,
                    "label": objective_words(result.label),
                    "unit": result.unit,
                    **asdict(result.estimate),
                    "warnings": list(result.estimate.warnings),
                    "text": shown(result.estimate.value, result.unit),
                    "interval": interval_words(result.estimate, result.unit),
                }
            )
            for result in curve.results
        ],
        "bottleneck": curve.bottleneck,
        "bottlenecks": plain_rows(curve.bottlenecks),
        "missing": {objective_words(name): reason for name, reason in curve.missing.items()},
    }


def audit_object(path: str, findings: Findings) -> dict[str, Any]:
    """Return the audit of a path as JSON has it: ``path, runs, verdict, settings, findings, warnings, origins``."""
    verdict = findings.verdict
    return {
        "path": path,
        "runs": int(findings.attrs["runs"]),
        "verdict": {"severity": verdict.severity, "words": WORDS[verdict.severity], "reason": verdict.reason},
        "settings": list(findings.attrs["settings"]),
        "findings": plain_rows(findings),
        "warnings": list(findings.attrs["warnings"]),
        "origins": list(findings.attrs["origins"]),
    }


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them: missing is null, an infinite value is null and named."""
    return [_object(row) for row in table.to_dict("records")]


def _object(values: Mapping[Any, Any]) -> dict[str, Any]:
    found = {str(name): _plain(value) for name, value in values.items()}
    infinite = {name: str(value) for name, value in found.items() if isinstance(value, float) and math.isinf(value)}
    return {**found, **dict.fromkeys(infinite), "infinite": infinite} if infinite else found


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.isoformat() if isinstance(value, pd.Timestamp) else value


def comparison_object(comparison: Comparison, gates: Sequence[Gate] = ()) -> dict[str, Any]:
    """Return a comparison as JSON has it: ``metric, baseline, other, levels, overall, gates, warnings``."""
    judged = [(gate, *gate_verdict(comparison, gate)) for gate in gates if gate.metric == comparison.metric]
    return {
        "metric": comparison.metric,
        "baseline": comparison.baseline,
        "other": comparison.other,
        "levels": plain_rows(comparison.levels),
        "overall": _object({**vars(comparison.overall), "warnings": list(comparison.overall.warnings)}),
        "gates": [
            {"gate": str(gate), "at": name, "ratio": ratio.value, "verdict": verdict}
            for gate, name, ratio, verdict in judged
        ],
        "warnings": list(comparison.warnings),
    }
