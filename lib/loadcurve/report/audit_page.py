"""The findings of an audit as one HTML page: verdict, findings, what to record, and every rule that found something."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pandas as pd

from loadcurve.audit.explanation import Explanation, explain
from loadcurve.audit.findings import SEVERITIES, Findings
from loadcurve.audit.registry import all_rules
from loadcurve.audit.verdict import (
    Group,
    groups_of,
    run_name,
    unchecked_count,
    unchecked_sentences,
    verdict_of_each,
    verdict_sentences,
)
from loadcurve.blocks import Block, Grid, Items, Paragraph, to_html
from loadcurve.blocks.html import escape, framed
from loadcurve.packages import __version__

_LISTED = 100  # runs of a finding that the page lists


def audit_page(audits: Sequence[tuple[str, Findings]], every: bool = False) -> str:
    """Return the findings of several paths as an HTML page, with all that was not checked or its number."""
    several = len(audits) > 1
    parts = []
    for path, findings in audits:
        inner = "\n".join(_audited(findings, 3 if several else 2, every))
        parts.append(f"<section>\n<h2>{escape(path)}</h2>\n{inner}\n</section>" if several else inner)
    severities = ("error", "warning", "ignored")
    rules = {rule: None for _, found in audits for rule in found["rule"][found["severity"].isin(severities)]}
    if rules:
        explained = "\n".join(_explained(explain(all_rules()[rule])) for rule in rules)
        parts.append(f"<section>\n<h2>The rules that found something</h2>\n{explained}\n</section>")
    verdicts = {path: str(findings.verdict) for path, findings in audits}
    heading = "Audit" if several else audits[0][0]
    number = sum(int(findings.attrs["runs"]) for _, findings in audits)
    summary = f"Audit of {number} run{'s' * (number != 1)} by {len(all_rules())} rules"
    title = f"{heading}: {'; '.join(dict.fromkeys(verdicts.values()))}"
    return framed(title, heading, summary, "\n".join(parts), __version__, datetime.now(UTC))


def _audited(findings: Findings, level: int, every: bool) -> Iterator[str]:
    table = pd.DataFrame(findings)
    head: list[Block] = [
        Paragraph("Verdict", str(findings.verdict), findings.verdict.severity),
        Items("", list(verdict_sentences(verdict_of_each(table)))),
        Items("Settings", list(findings.attrs["settings"])),
    ]
    yield to_html(head, level)
    groups = groups_of(table)
    if groups:
        yield f"<h{level}>Findings</h{level}>"
        yield from (_finding(group, int(findings.attrs["runs"]), level + 1) for group in groups)
    unchecked = unchecked_sentences if every else unchecked_count
    yield to_html([Items("Not checked", list(unchecked(table)))], level)
    yield to_html([*findings.read_blocks(), _counts(table)], level)


def _finding(group: Group, number: int, level: int) -> str:
    name = escape(group.rule)
    runs = f' <span class="runs">{escape(group.runs)}</span>' if number > 1 else ""
    next_ = "Reason" if group.severity == "ignored" else "Next"
    labelled = {"": group.evidence, "Meaning": group.meaning, next_: group.advice}
    texts = to_html([Paragraph(label, text) for label, text in labelled.items() if text])
    rows = [[run_name(row), str(row["evidence"])] for row in group.rows.head(_LISTED).to_dict("records")]
    caption = f"All {len(group.rows)} findings" if len(group.rows) <= _LISTED else f"The first {_LISTED} findings"
    listed = to_html([Grid(["run", "numbers"], rows, caption, left=2, folded=True)]) if len(rows) > 1 else ""
    return (
        f'<section class="finding {group.severity}">\n<h{level}><span class="badge">{group.severity}</span> '
        f'<a href="#{name}">{name}</a>{runs}</h{level}>\n{texts}\n{listed}\n</section>'
    )


def _explained(explanation: Explanation) -> str:
    name = escape(explanation.rule.name)
    return f'<section class="rule" id="{name}">\n<h3>{name}</h3>\n{to_html(explanation.blocks()[1:], 4)}\n</section>'


def _counts(table: pd.DataFrame) -> Grid:
    """How many findings of each severity each rule has."""
    wide = pd.crosstab(table["rule"], table["severity"])
    wide = wide.reindex(index=table["rule"].unique(), columns=[one for one in SEVERITIES if one in wide], fill_value=0)
    rows = [[str(rule), *(f"{count:,}" for count in counts)] for rule, *counts in wide.itertuples()]
    return Grid(["rule", *wide.columns], rows, "Every rule, and its findings by severity", left=1, folded=True)
