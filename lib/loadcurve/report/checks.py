"""A comparison as text, and checks as a build server reads them: JUnit XML, annotations of GitHub Actions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

import pandas as pd

from loadcurve.analysis.compare import Comparison, ratio_words
from loadcurve.analysis.objective import Gate
from loadcurve.blocks.text import table
from loadcurve.stats import Estimate

Undecided = Literal["pass", "fail"]
"""What an undecided gate counts as."""


def comparison_report(comparison: Comparison, gates: Sequence[Gate] = (), undecided: Undecided = "pass") -> str:
    """Return a comparison as text: a row for each level, the overall ratio, and what each gate says (`gate_line`)."""
    overall, (headings, rows) = comparison.overall, comparison.cells()
    parts = [
        f"{comparison.metric}: {comparison.title}",
        table(headings, rows, left=int(headings[0] == "variant")),
        f"All levels: B / A = {ratio_words(overall)}, {100 * overall.level:g} % interval",
        *(f"warning: {sentence}" for sentence in dict.fromkeys(comparison.warnings)),
        *(gate_line(comparison, gate, undecided) for gate in gates if gate.metric == comparison.metric),
    ]
    return "\n".join(parts) + "\n"


def gate_verdict(comparison: Comparison, gate: Gate) -> tuple[str, Estimate, str]:
    """Return the level, the ratio and the verdict that decide a gate: the first that fails it, else all levels."""
    judged = list(comparison.judge(gate))
    return next((each for each in judged if each[2] == "fail"), judged[0])


def gate_line(comparison: Comparison, gate: Gate, undecided: Undecided = "pass") -> str:
    """What a gate says of a comparison, in one line; `undecided` is what an undecided gate counts as."""
    name, ratio, verdict = gate_verdict(comparison, gate)
    line = f"{verdict}: {gate}? {name}, {ratio_words(ratio)}"
    if verdict != "undecided":
        return line
    other = "fail" if undecided == "pass" else "pass"
    return (
        f"{line}: the interval contains {gate.limit:g}; counts as {undecided} (--undecided {other} changes that); "
        "measure more repeats to decide"
    )


# XML 1.0, section 2.2: other characters may not stand in a document, also not escaped.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


CheckVerdict = Literal["pass", "warning", "fail", "skipped"]


@dataclass(frozen=True)
class Check:
    """One check and its verdict."""

    group: str  # What the check belongs to: a rule, or a comparison
    name: str  # What was checked: a run, or a gate
    verdict: CheckVerdict  # `skipped` where the check could not run
    message: str  # The numbers, and what to do
    file: str = ""  # Path of the file that was checked; empty if it is not one file


def checks_of_findings(findings: pd.DataFrame, path: str, fail_on: str = "error") -> list[Check]:
    """Return the findings of an audit as checks; those at or above `fail_on` (``warning`` or ``error``) fail."""
    verdicts: dict[str, CheckVerdict] = {"ok": "pass", "error": "fail", "unchecked": "skipped", "ignored": "skipped"}
    verdicts["warning"] = "fail" if fail_on == "warning" else "warning"
    found = []
    files: dict[tuple[object, object], str] = {}
    for row in findings.to_dict("records"):
        texts = (row["evidence"], row["meaning"], row["advice"], f"Rule: loadcurve explain {row['rule']}.")
        worse = row["severity"] in ("error", "warning", "ignored")
        message = " ".join(text for text in (texts if worse else texts[:3]) if isinstance(text, str) and text)
        run = row["run_id"] if isinstance(row["run_id"], str) else ""
        place = (row["run_id"], row["source"])
        if place not in files:
            files[place] = _file_of(path, run, row["source"])
        name, verdict = f"{path}/{run}" if run else path, verdicts[row["severity"]]
        found.append(Check(row["rule"], name, verdict, message, files[place]))
    return found


def _file_of(path: str, run: str, source: object) -> str:
    """Return the raw file of a run, or else the file that was audited; empty if it is not known or not there."""
    if not isinstance(source, str):
        return path if Path(path).is_file() else ""
    places = (source, f"{path}/{run}/{source}")  # a record names its files from its own folder
    return next((place for place in places if Path(place).is_file()), "")


def checks_of_gates(comparison: Comparison, gates: Sequence[Gate], undecided: Undecided = "pass") -> list[Check]:
    """Return what each gate of the comparison's metric says; an undecided gate that counts as pass is a warning."""
    verdicts: dict[str, CheckVerdict] = {"pass": "pass", "fail": "fail"}
    verdicts["undecided"] = "fail" if undecided == "fail" else "warning"
    group = f"{comparison.other} against {comparison.baseline}"
    return [
        Check(group, str(gate), verdicts[gate_verdict(comparison, gate)[2]], gate_line(comparison, gate, undecided))
        for gate in gates
        if gate.metric == comparison.metric
    ]


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
    >>> print(github_annotations([Check("rule", "c1, c2", "fail", "50% of runs", "a/c1.txt")]), end="")
    ::error file=a/c1.txt,title=rule%3A c1%2C c2::50%25 of runs
    """
    words = {"fail": "error", "warning": "warning"}
    lines = []
    for check in checks:
        if check.verdict in words:
            properties = {"file": check.file, "title": f"{check.group}: {check.name}"}
            listed = ",".join(f"{name}={_escaped(text, property_=True)}" for name, text in properties.items() if text)
            lines.append(f"::{words[check.verdict]} {listed}::{_escaped(check.message)}\n")
    return "".join(lines)


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
