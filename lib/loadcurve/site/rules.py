"""Generate the handbook's pages about audit rules: a gallery, the navigation, and a page in parts for each rule."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from loadcurve.audit import Rule, all_rules
from loadcurve.audit.explanation import explain
from loadcurve.audit.rule import FAMILIES
from loadcurve.site import published
from loadcurve.site.published_html import figure_html
from loadcurve.site.safety import literal

FOLDER = "rules"
_CODE = re.compile(r"`([^`]+)`|[^`]+|`")
NOTEBOOK = "21_planted_faults"
"""Notebook that publishes a figure and a finding for each rule."""


def gallery_html() -> str:
    """Return a picture of the fault of each rule, by family: a link with the rule's name and question."""
    rules = all_rules().values()
    parts = []
    for family in FAMILIES:
        cards = [_card(rule) for rule in rules if rule.family == family]
        if cards:
            parts += [f"### {family or 'Other rules'}", "", '<ul class="lc-shapes">', *cards, "</ul>", ""]
    return "\n".join(parts)


def _card(rule: Rule) -> str:
    example = _examples().get(rule.name)
    # A fault that is no number has no shape: its finding stands for it.
    drawing = f'<span class="lc-shape-none">{literal(example["evidence"] if example else rule.name)}</span>'
    if example and example["figure"]:
        drawing = published.picture_html(NOTEBOOK, example["figure"])
    words = f"<strong>{literal(rule.name)}</strong><span>{literal(rule.question)}</span>"
    return f'<li><a href="{rule.name}.html">{drawing}{words}</a></li>'


def _conditions(rule: Rule) -> str:
    """Return the conditions of each severity of a rule, its limits and what it needs, as Markdown."""
    lines = ["| severity | when |", "|---|---|"]
    lines += [f"| {severity} | {when} |" for severity, when in rule.severities.items()]
    if rule.limits:
        lines += ["", "| limit | value | reason |", "|---|---|---|"]
        lines += [f"| {name} | {limit.value:g} | {limit.reason} |" for name, limit in rule.limits.items()]
    if records := dict.fromkeys(need.record for need in rule.needs if need.record):
        lines += ["", f"It needs {' and '.join(need.what for need in rule.needs)}. {' '.join(records)}"]
    return "\n".join(lines)


def page_markdown(rule: Rule) -> str:
    """Return the page of a rule: the fault, the parts of its docstring, how the fault looks, severities and limits."""
    explained = explain(rule)
    sections = [f"## {heading}\n\n{text.replace('``', '`')}" for heading, text in explained.sections.items()]
    parts = [f"# {_heading(rule.name)}", f"**{explained.fault}**", f"`{rule.name}` asks: {rule.question}"]
    parts += sections[:2]  # meaning and cause
    parts += [f'{{{{ looks("{rule.name}") }}}}', *sections[2:], "## Severities and limits", _conditions(rule)]
    return "\n\n".join(parts) + "\n"


def looks_html(name: str, link: Callable[[str], str]) -> str:
    """Return how the fault of a rule looks: its figure, the finding of the audit, and the command to see it by hand."""
    example = _examples().get(name)
    if example is None:
        return ""
    of_clean = f" Its numbers are those of a clean recorded run with one change. {example['not_recorded']}".rstrip()
    source = (
        "This run was recorded in the laboratory."
        if example["kind"] == "recorded"
        else f"No such run is recorded.{of_clean}"
    )
    parts = ["## How it looks", f"{example['done']} {source}"]
    if example["figure"]:
        parts.append(figure_html(NOTEBOOK, example["figure"], link))
    parts.append(
        f'<div class="lc-claim lc-finding" data-severity="{example["severity"]}">\n'
        f'<p><strong class="lc-verdict">{example["severity"]}</strong> {literal(name)}</p>\n'
        f"<p>{_with_code(example['evidence'])}</p>\n<p>{_with_code(example['advice'])}</p>\n</div>"
    )
    if example["command"]:
        command = example["command"]  # or a sentence with commands
        is_sentence = "`" in command or command.endswith(".")
        shown = command[:1].lower() + command[1:] if is_sentence else f"`{command}`"
        parts.append(f"To see it by hand: {shown}")
    return "\n\n".join(parts)


def _with_code(text: str) -> str:
    """Return a text as HTML, with its commands as code."""
    return _CODE.sub(lambda found: f"<code>{literal(found[1])}</code>" if found[1] else literal(found[0]), text)


def pages() -> dict[str, list[dict[str, str]]]:
    """Return the rules of each family in the navigation: their headings, and the paths of their pages."""
    rules = all_rules().values()
    listed = {
        family: [{_heading(rule.name): f"{FOLDER}/{rule.name}.md"} for rule in rules if rule.family == family]
        for family in FAMILIES
    }
    return {family or "Other rules": entries for family, entries in listed.items() if entries}


def _heading(name: str) -> str:
    words = name.replace("-", " ")
    for written in ("CPU", "BBR", "TIME_WAIT"):
        words = words.replace(written.lower().replace("_", " "), written)
    return words[0].upper() + words[1:]


def _examples() -> dict[str, dict[str, Any]]:
    """Return what the notebook published about each rule; nothing where it was not executed."""
    table = published.folder(NOTEBOOK) / "illustrations.table.csv"
    return _examples_of(table.stat().st_mtime_ns) if table.is_file() else {}


@cache
def _examples_of(_state: int) -> dict[str, dict[str, Any]]:
    rows = published.read_rows(NOTEBOOK, "illustrations").fillna("")
    return {str(row["rule"]): row for row in rows.to_dict("records")}
