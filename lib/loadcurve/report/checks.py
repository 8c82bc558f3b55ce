"""Checks as a build server reads them: JUnit XML, and annotations of GitHub Actions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

import pandas as pd

from loadcurve.analysis.compare import Comparison, Gate
from loadcurve.report.comparison import Undecided, gate_line, gate_verdict

# XML 1.0, section 2.2: other characters may not stand in a document, also not escaped.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Check:
    """One check and its verdict.

    Attributes
    ----------
    group : str
        What the check belongs to: a rule, or a comparison.
    name : str
        What was checked: a run, or a gate.
    verdict : {"pass", "warning", "fail", "skipped"}
        ``skipped`` where the check could not run.
    message : str
        The numbers, and what to do.

    Examples
    --------
    >>> Check("effective-concurrency", "c64", "pass", "64.1 in flight").verdict
    'pass'
    """

    group: str
    name: str
    verdict: Literal["pass", "warning", "fail", "skipped"]
    message: str


def checks_of_findings(findings: pd.DataFrame, fail_on: str = "error") -> list[Check]:
    """Return the findings of an audit as checks; those at or above `fail_on` (``warning`` or ``error``) fail."""
    found = []
    for row in findings.to_dict("records"):
        message = f"{row['evidence']} {row['advice'] if isinstance(row['advice'], str) else ''}".strip()
        failing = row["severity"] == "error" or (row["severity"] == "warning" and fail_on == "warning")
        verdict: Literal["pass", "warning", "fail", "skipped"]
        if row["severity"] in ("unchecked", "ignored"):
            verdict = "skipped"
        elif failing:
            verdict = "fail"
        else:
            verdict = "pass" if row["severity"] == "ok" else "warning"
        name = row["run_id"] if isinstance(row["run_id"], str) else str(row["source"])
        found.append(Check(row["rule"], name, verdict, message))
    return found


def checks_of_gates(comparison: Comparison, gates: Sequence[Gate], undecided: Undecided = "pass") -> list[Check]:
    """Return what each gate of the comparison's metric says; an undecided gate that counts as pass is a warning."""
    found = []
    for gate in gates:
        if gate.metric == comparison.metric:
            verdicts: dict[str, Literal["pass", "warning", "fail"]] = {"pass": "pass", "fail": "fail"}
            verdicts["undecided"] = "fail" if undecided == "fail" else "warning"
            verdict = verdicts[gate_verdict(comparison, gate)[2]]
            line = gate_line(comparison, gate, undecided)
            found.append(Check(f"{comparison.other} against {comparison.baseline}", str(gate), verdict, line))
    return found


def junit_xml(checks: Iterable[Check]) -> str:
    """Return checks as JUnit XML: a test suite for each group; a warning passes, with its message in the output.

    Examples
    --------
    >>> print(junit_xml([Check("rule", "c1", "fail", "too few")]).splitlines()[1])
    <testsuites name="loadcurve" tests="1" failures="1" errors="0">
    """
    every = list(checks)
    counts = _counts(every)
    del counts["skipped"]  # only suites have it
    root = ET.Element("testsuites", {"name": "loadcurve", **counts})
    for group in dict.fromkeys(check.group for check in every):
        own = [check for check in every if check.group == group]
        suite = ET.SubElement(root, "testsuite", {"name": _plain(group), **_counts(own)})
        for check in own:
            case = ET.SubElement(
                suite, "testcase", {"classname": _plain(group), "name": _plain(check.name), "time": "0"}
            )
            if check.verdict in ("fail", "skipped"):
                tag = "failure" if check.verdict == "fail" else "skipped"
                ET.SubElement(case, tag, {"message": _plain(check.message)})
            elif check.message:
                ET.SubElement(case, "system-out").text = _plain(f"{check.verdict}: {check.message}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def github_annotations(checks: Iterable[Check]) -> str:
    """Return a workflow command of GitHub Actions for each check that fails or warns.

    Examples
    --------
    >>> print(github_annotations([Check("rule", "c1, c2", "fail", "50% of runs")]), end="")
    ::error title=rule%3A c1%2C c2::50%25 of runs
    """
    words = {"fail": "error", "warning": "warning"}
    lines = [
        f"::{words[check.verdict]} title={_escaped(f'{check.group}: {check.name}', property_=True)}::"
        f"{_escaped(check.message)}"
        for check in checks
        if check.verdict in words
    ]
    return "".join(f"{line}\n" for line in lines)


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    verdicts = [check.verdict for check in checks]
    return {
        "tests": str(len(checks)),
        "failures": str(verdicts.count("fail")),
        "errors": "0",
        "skipped": str(verdicts.count("skipped")),
    }


def _plain(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _escaped(text: str, *, property_: bool = False) -> str:
    """Escape data of a workflow command, as the runner unescapes it (actions/toolkit, packages/core/src/command.ts)."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_ else text
