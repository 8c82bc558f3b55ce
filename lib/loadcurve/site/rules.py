"""Generate the handbook's pages about audit rules: a gallery, the navigation, and a page in parts for each rule."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit import Rule, all_rules
from loadcurve.audit.explanation import explain
from loadcurve.audit.rule import FAMILIES
from loadcurve.plots.style import COLOURS, PALETTE
from loadcurve.site import published
from loadcurve.site.published_html import figure_html
from loadcurve.site.safety import literal

WIDTH, HEIGHT, EDGE = 120.0, 54.0, 4.0
_STROKE = 'fill="none" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"'


def shape_svg(numbers: Path, alt: str) -> str:
    """Return the counter of a fault as a small drawing: lines or bars, the rule's limit, and a clean run in grey."""
    shown = pd.read_csv(numbers)
    rows = shown[(shown["panel"] == shown["panel"].iloc[-1]) & shown["value"].notna()]
    top = float(np.nanmax([*rows["value"], *rows["limit"], 1e-12]))
    level = 1 - rows["value"] / top
    rows = rows.assign(y=EDGE + level * (HEIGHT - 2 * EDGE), clean=rows["clean"].astype(bool))
    parts = _bars(rows) if rows["axis"].iloc[0] == "name" else _lines(rows)
    if rows["limit"].notna().any():
        y = EDGE + (1 - float(rows["limit"].max()) / top) * (HEIGHT - 2 * EDGE)
        line = f'x1="0" x2="{WIDTH:g}" y1="{y:.1f}" y2="{y:.1f}"'
        parts.append(f'<line {line} stroke="{COLOURS["limit"]}" stroke-width="1.5" stroke-dasharray="4 3"/>')
    return (
        f'<svg class="lc-shape" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{literal(alt)}">'
        f"{''.join(parts)}</svg>"
    )


def _lines(rows: pd.DataFrame) -> list[str]:
    x = rows["x"].astype(float)
    axis = rows["axis"].iloc[0]
    if axis in ("connections", "class"):
        x = np.log(x)
    span = float(x.max() - x.min()) or 1.0
    rows = rows.assign(at=EDGE + (x - x.min()) / span * (WIDTH - 2 * EDGE))
    parts = []
    for clean in (True, False):
        of = rows[rows["clean"] == clean]
        for place, (_, line) in enumerate(of.groupby("series", sort=False, dropna=False)):
            colour = COLOURS["limit"] if clean else PALETTE[place % len(PALETTE)]
            mean = line.groupby("at")["y"].mean()
            points = " ".join(f"{at:.1f},{y:.1f}" for at, y in mean.items())
            parts.append(f'<polyline points="{points}" {_STROKE} stroke="{colour}"/>')
            if (axis == "connections" or len(mean) < 3) and not clean:
                parts += [
                    f'<circle cx="{at:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>'
                    for at, y in zip(line["at"], line["y"], strict=True)
                ]
    return parts


def _bars(rows: pd.DataFrame) -> list[str]:
    names = list(rows["name"].unique())
    step, both = WIDTH / len(names), rows["clean"].any()
    width = step * (0.34 if both else 0.6)
    parts = []
    for row in rows.itertuples():
        left = step * (names.index(row.name) + 0.5) - (width if both and not row.clean else 0 if both else width / 2)
        colour = COLOURS["limit"] if row.clean else PALETTE[0]
        box = f'x="{left:.1f}" y="{row.y:.1f}" width="{width:.1f}" height="{HEIGHT - EDGE - row.y:.1f}"'
        parts.append(f'<rect {box} fill="{colour}" fill-opacity="0.35" stroke="{colour}"/>')
    return parts


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
        alt = published.read_facts(NOTEBOOK, example["figure"])["alt"]
        drawing = shape_svg(published.folder(NOTEBOOK) / f"{example['figure']}.csv", alt)
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
