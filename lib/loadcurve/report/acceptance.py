"""An acceptance test as people and build servers read it: text, an HTML page, JUnit XML."""

from datetime import UTC, datetime
from typing import Literal, get_args

import pandas as pd

from loadcurve.acceptance import describe_checks
from loadcurve.blocks import Block, Grid, Paragraph, to_html, to_text
from loadcurve.blocks.html import framed
from loadcurve.packages import __version__
from loadcurve.report.checks import Check, junit_xml

AcceptanceForm = Literal["text", "junit", "html"]
FORMS: tuple[AcceptanceForm, ...] = get_args(AcceptanceForm)
_JUNIT: dict[str, Literal["pass", "fail", "skipped"]] = {"pass": "pass", "fail": "fail", "not checked": "skipped"}


def acceptance_report(judged: pd.DataFrame, name: str, form: AcceptanceForm = "text", width: int = 120) -> str:
    """Return the report of an acceptance test.

    Examples
    --------
    >>> row = {"check": "round_robin", "balancer": "nft", "verdict": "fail", "numbers": "S1 15, S2 8, S3 7",
    ...        "criterion": "even", "runs": 5}
    >>> acceptance_report(pd.DataFrame([row]), "study", "junit").splitlines()[1]
    '<testsuites name="loadcurve" tests="1" failures="1" errors="0">'
    """
    if form == "junit":
        return junit_xml(acceptance_checks(judged))
    head = Paragraph("Verdict", verdict_line(judged), "error" if (judged["verdict"] == "fail").any() else "ok")
    if form == "text":
        return to_text([head, *_by_balancer(judged)], width) + "\n"
    declared = describe_checks()
    grid = Grid(list(declared.columns), declared.astype(str).to_numpy().tolist(), "Checks and their criteria", left=5)
    body = to_html([head, *_by_balancer(judged), grid])
    return framed(f"{name}: {verdict_line(judged)}", name, "Acceptance test", body, __version__, datetime.now(UTC))


def acceptance_checks(judged: pd.DataFrame) -> list[Check]:
    """Return the verdicts as checks of a build server: a group for each balancer; ``not checked`` is skipped."""
    return [
        Check(row["balancer"], row["check"], _JUNIT[row["verdict"]], f"{row['numbers']}. Criterion: {row['criterion']}")
        for row in judged.sort_values("balancer", kind="stable").to_dict("records")
    ]


def verdict_line(judged: pd.DataFrame) -> str:
    """Return how many checks each balancer passes, fails, and what is not checked, in one line."""
    parts = []
    for balancer, rows in judged.groupby("balancer", sort=False):
        counts = rows["verdict"].value_counts()
        listed = ", ".join(f"{counts[name]} {name}" for name in _JUNIT if name in counts)
        parts.append(f"{balancer}: {listed}")
    return "; ".join(parts)


def _by_balancer(judged: pd.DataFrame) -> list[Block]:
    return [
        Grid(
            ["check", "verdict", "numbers"],
            rows[["check", "verdict", "numbers"]].astype(str).to_numpy().tolist(),
            f"Acceptance of {balancer}",
            left=3,
        )
        for balancer, rows in judged.groupby("balancer", sort=False)
    ]
