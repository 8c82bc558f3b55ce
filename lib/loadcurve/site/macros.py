"""Macros for the handbook's pages; `define_env` registers them, and each function documents its output."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from mkdocs.utils import get_relative_url

from loadcurve import paths, tables
from loadcurve.audit import NOT_RERUN, VERDICTS
from loadcurve.errors import LoadcurveError
from loadcurve.site import published
from loadcurve.site.experiments import experiments_html, experiments_index_html, reports
from loadcurve.site.formats import formats_markdown
from loadcurve.site.interface import modules_markdown
from loadcurve.site.laboratory import designs_markdown, recipes_markdown
from loadcurve.site.literal import literal
from loadcurve.site.own_files import analyse_markdown, audit_markdown, cat_markdown
from loadcurve.site.raw_files import index_markdown, page_of
from loadcurve.site.rules import gallery_html, looks_markdown, rule_markdown
from loadcurve.site.study_file import keys_markdown, sysctls_markdown
from loadcurve.units import format_quantity, unit_of_column


def define_env(env) -> None:
    """Register the macros with mkdocs-macros; each is documented below under its own name."""

    def link(target: str) -> str:
        return get_relative_url(target, env.page.url)

    def macro(name: str, function: Callable[..., str | bool], *extra: object) -> None:
        """Register `function` as a macro; an error is reported as one line that names the page."""

        def show(*names: str) -> str | bool:
            try:
                return function(*names, *extra)
            except LoadcurveError as error:
                print(f"handbook/{env.page.file.src_uri}: {error}", file=sys.stderr)
                raise

        env.macro(show, name)

    macro("figure", figure_html, link)
    macro("table", table_html, link)
    macro("value", value_html)
    macro("holds", holds)
    macro("interval", interval_html)
    macro("claims", claims_html, link)
    macro("verdicts", lambda *notebooks: verdicts_text(notebooks or reports(), "claims", "verdict"))
    macro("reruns", lambda *notebooks: verdicts_text(notebooks or reports(), "experiments", "rerun"))
    macro("experiments", experiments_html, link)
    macro("experiments_index", experiments_index_html, link)
    macro("columns_of", columns_markdown)
    macro("analyse", analyse_markdown)
    macro("audit", audit_markdown)
    macro("cat", cat_markdown)
    macro("forms_table", formats_markdown)
    macro("gallery", gallery_html)
    macro("modules_table", modules_markdown)
    macro("raw_files_table", lambda: index_markdown(paths.build()))
    macro("rule", rule_markdown)
    macro("looks", lambda name: looks_markdown(name, lambda notebook, slug: figure_html(notebook, slug, link)))
    macro("recipes", recipes_markdown)
    macro("designs", designs_markdown, link)
    macro("keys_of", keys_markdown)
    macro("sysctls", sysctls_markdown)
    env.variables["tables"] = list(tables.SCHEMAS)


def figure_html(notebook: str, slug: str, link) -> str:
    """Return a published figure with caption, data and provenance; the SVG is inline to follow the colour scheme."""
    facts = published.read_facts(notebook, slug)
    drawing = (published.folder(notebook) / f"{slug}.svg").read_text("utf-8")
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    # A drawing without fixed size takes the width of its column; its alt text is its accessible name.
    head, rest = drawing.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    drawing = f'{head} role="img" aria-label="{literal(facts["alt"])}">{_without_idle_ids(rest)}'
    drawing = "\n".join(line for line in drawing.split("\n") if line.strip())
    return (
        f'<figure class="lc-figure" id="figure-{slug}">\n<div class="lc-drawing">{drawing}</div>\n'
        f"{_caption_html(notebook, f'{slug}.csv', facts, link)}\n</figure>"
    )


def table_html(notebook: str, slug: str, link) -> str:
    """Return a published table with caption, data and provenance."""
    facts = published.read_facts(notebook, f"{slug}.table")
    frame = published.read_rows(notebook, slug)
    head = "".join(f"<th>{literal(tables.heading(name))}</th>" for name in frame.columns)
    rows = zip(*([_cell(v, name) for v in frame[name]] for name in frame.columns), strict=True)
    body = "\n".join(f"<tr>{''.join(f'<td>{literal(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<figure class="lc-figure lc-wide" id="table-{slug}">\n<div class="lc-table"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n"
        f"{_caption_html(notebook, f'{slug}.table.csv', facts, link)}\n</figure>"
    )


def value_html(notebook: str, name: str) -> str:
    """Return a published number; its tooltip shows the interval and the notebook."""
    known = published.read_value(notebook, name)
    tip = [f"{known['level']:.0%} interval {known['interval']}"] if known.get("interval") else []
    tip += [f"notebook {notebook}, {name}"]
    return f'<span class="lc-value" title="{literal("; ".join(tip))}">{_unbroken(known["text"])}</span>'


def holds(notebook: str, name: str) -> bool:
    """Return whether a notebook published ``yes`` under this name, for a sentence that is shown only then."""
    return published.read_value(notebook, name)["text"] == "yes"


def interval_html(notebook: str, name: str) -> str:
    """Return the interval of a published estimate, or the reason why it has none."""
    known = published.read_value(notebook, name)
    text = known.get("interval") or "no interval" + (f" ({known['warnings'][0]})" if known.get("warnings") else "")
    return f'<span class="lc-value">{_unbroken(text)}</span>'


def claims_html(notebook: str, slug: str, link) -> str:
    """Return a published table of claims, each with its verdict, its evidence and what would settle it."""
    facts = published.read_facts(notebook, f"{slug}.table")
    frame = published.read_rows(notebook, slug).fillna("")
    found = []
    for row in frame.itertuples():
        settles = f'<p class="lc-settles">{literal(row.settles)}</p>' if row.settles else ""
        verdict = f'<strong class="lc-verdict">{literal(row.verdict)}</strong>'
        found.append(
            f'<div class="lc-claim" data-verdict="{literal(row.verdict)}">\n'
            f"<p>{verdict} {literal(row.claim)} <span>{literal(row.section)}</span></p>\n"
            f"<p>{literal(row.evidence)}</p>{settles}\n</div>"
        )
    return (
        f'<figure class="lc-figure lc-wide" id="claims-{slug}">\n'
        + "\n".join(found)
        + f"\n{_caption_html(notebook, f'{slug}.table.csv', facts, link)}\n</figure>"
    )


def verdicts_text(notebooks: Iterable[str], slug: str, column: str) -> str:
    """Return how often notebooks gave each verdict, such as ``3 confirmed, 1 contradicted``."""
    counts = pd.concat([published.read_rows(notebook, slug)[column] for notebook in notebooks]).value_counts()
    shown = [f"{counts[verdict]}\u00a0{verdict}" for verdict in (*VERDICTS, NOT_RERUN) if verdict in counts]
    return f'<span class="lc-value">{", ".join(shown)}</span>'


def _unbroken(text: str) -> str:
    """Return a number with no-break spaces, so that it stays on one line with its unit; a sentence is unchanged."""
    return literal(text.replace(" ", "\u00a0") if len(text) <= 12 else text)


def columns_markdown(table: str) -> str:
    """Return a table's columns as Markdown: column, type, unit, meaning."""
    rows = [f"{tables.SCHEMAS[table].description}\n", "| column | type | unit | meaning |", "|---|---|---|---|"]
    rows += [f"| `{c.column}` | {c.type} | {c.unit} | {c.meaning} |" for c in tables.columns(table).itertuples()]
    return "\n".join(rows)


def _without_idle_ids(drawing: str) -> str:
    """Return a drawing without unused ids, because they would be duplicates when a page has several drawings."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", drawing))
    return re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", drawing)


def _cell(value: Any, column: str) -> str:
    if isinstance(value, str):
        return value
    unit = unit_of_column(column)
    # The heading names the quantity, so a cell leaves the noun out: 41,400/s.
    shown = "" if pd.isna(value) else format_quantity(float(value), "per_s" if unit in ("rps", "pps") else unit)
    return shown.replace(" ", "\u00a0")  # a number stays on one line with its unit


def _caption_html(notebook: str, csv: str, facts: dict, link) -> str:
    studies = ", ".join(_data_html(name, link) for name in facts["studies"]) or "none"
    return (
        f'<figcaption>{literal(facts["caption"])}<span class="lc-source">'
        f'Notebook <a href="{link(f"notebooks/{notebook}.html")}">{notebook}</a> · '
        f'<a href="{link(f"figures/{notebook}/{csv}")}" download>data (CSV)</a> · study {studies} · '
        f"commit {literal(facts['commit'])}</span></figcaption>"
    )


def _data_html(name: str, link) -> str:
    """Return the name of a data folder, with a link to its raw files if the site holds them."""
    if paths.named_data(name) is None:
        return literal(name)
    return f'{literal(name)} (<a href="{link(page_of(name).replace(".md", ".html"))}">raw files</a>)'
