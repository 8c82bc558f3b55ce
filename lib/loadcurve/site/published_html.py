"""What notebooks published, and the columns of tables, as HTML or Markdown for the macros of pages."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.audit import NO_CLAIM, VERDICTS
from loadcurve.audit.claims import AGREES
from loadcurve.files import paths
from loadcurve.site import published
from loadcurve.site.drawings import drawing_html
from loadcurve.site.literal import literal
from loadcurve.site.raw_files import page_of
from loadcurve.site.weak_points import mark
from loadcurve.units import format_quantity, unit_of_column

Link = Callable[[str], str]
"""Turns the path of a page into a link from the page that is written."""

_WORDY = 40  # letters of a cell that would be a narrow column on a phone


def figure_html(notebook: str, slug: str, link: Link) -> str:
    """Return a published figure with caption, data and provenance; the SVG is inline to follow the colour scheme."""
    facts = published.read_facts(notebook, slug)
    return (
        f'<figure class="lc-figure" id="figure-{slug}">\n<div class="lc-drawing">{drawing_html(notebook, slug)}</div>\n'
        f"{_caption_html(notebook, f'{slug}.csv', facts, link)}\n</figure>"
    )


def table_html(notebook: str, slug: str, link: Link) -> str:
    """Return a published table with caption, data and provenance."""
    facts = published.read_facts(notebook, f"{slug}.table")
    frame = published.read_rows(notebook, slug)
    heads = [literal(tables.heading(name)) for name in frame.columns]
    rows = [[literal(_cell(v, name)) for v, name in zip(row, frame.columns, strict=True)] for row in frame.to_numpy()]
    wordy = any(len(cell) > _WORDY for row in rows for cell in row)  # on a phone, each row becomes a block
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "\n".join(f"<tr>{_cells_html(heads if wordy else [], row)}</tr>" for row in rows)
    kind = "lc-table lc-stacked" if wordy else "lc-table"
    return (
        f'<figure class="lc-figure lc-wide" id="table-{slug}">\n<div class="{kind}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n"
        f"{_caption_html(notebook, f'{slug}.table.csv', facts, link)}\n</figure>"
    )


def _cells_html(heads: list[str], cells: list[str]) -> str:
    """Return the cells of a row; with heads, each names its column, which a phone shows before it."""
    if not heads:
        return "".join(f"<td>{cell}</td>" for cell in cells)
    named = zip(heads, cells, strict=True)
    return "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in named)


def value_html(notebook: str, name: str, *, interval: bool = True) -> str:
    """Return a published number with its interval, without it where the sentence gives it; the tooltip names both."""
    known = published.read_value(notebook, name)
    shown = known.get("shown", known["text"])
    tip = [f"{known['level']:.0%} interval: {shown}"] if shown != known["text"] else []
    tip += [f"notebook {notebook}, {name}"]
    weak = mark(f"{name} of {notebook}", known.get("warnings", []), known.get("repeats"))
    text = _unbroken(shown if interval else known["text"])
    return f'<span class="lc-value" title="{literal("; ".join(tip))}"{weak}>{text}</span>'


def holds(notebook: str, name: str) -> bool:
    """Return whether a notebook published ``yes`` under this name, for a sentence that is shown only then."""
    return str(published.read_value(notebook, name)["text"]) == "yes"


def claims_html(notebook: str, slug: str, link: Link) -> str:
    """Return a published table of claims, each with its verdict, its evidence and what would settle it."""
    facts = published.read_facts(notebook, f"{slug}.table")
    frame = published.read_rows(notebook, slug).fillna("")
    found = []
    for row in frame.itertuples():
        verdict = f'<strong class="lc-verdict">{literal(row.verdict)}</strong>'
        found.append(
            f'<div class="lc-claim" data-verdict="{literal(row.verdict)}">\n'
            f"<p>{verdict} {literal(row.claim)} <span>{literal(row.section)}</span></p>\n"
            f"<p>{literal(row.evidence)}</p>{basis_html(row)}\n</div>"
        )
    return (
        f'<figure class="lc-figure lc-wide" id="claims-{slug}">\n'
        + "\n".join(found)
        + f"\n{_caption_html(notebook, f'{slug}.table.csv', facts, link)}\n</figure>"
    )


def basis_html(row: Any, *facts: str) -> str:
    """Return what was measured instead of a claim, how the system differed, further facts, and what would test it."""
    words = {"measured instead": row.instead, "differs from the claim": row.differs}
    known = [f"{name}: {literal(text)}" for name, text in words.items() if text] + list(facts)
    told = f'<p class="lc-facts">{"; ".join(known)}</p>' if known else ""
    return told + (f'<p class="lc-settles">{literal(row.settles)}</p>' if row.settles else "")


def verdicts_text(notebooks: Iterable[str], slug: str, column: str) -> str:
    """Return how often notebooks gave each verdict, such as ``3 agree; 1 contradicted``."""
    counts = pd.concat([published.read_rows(notebook, slug)[column] for notebook in notebooks]).value_counts()
    plural = {AGREES: "agree"}
    shown = [
        f"{counts[verdict]}\u00a0{plural.get(verdict, verdict) if counts[verdict] > 1 else verdict}"
        for verdict in (*VERDICTS, NO_CLAIM)
        if verdict in counts
    ]
    return f'<span class="lc-value">{"; ".join(shown)}</span>'


def _unbroken(text: str) -> str:
    """Return a number with no-break spaces, so that it stays on one line with its unit; a sentence is unchanged."""
    return literal(text.replace(" ", "\u00a0") if len(text) <= 12 else text)


def table_names() -> list[str]:
    """Return the names of all tables."""
    return list(tables.SCHEMAS)


def columns_markdown(table: str) -> str:
    """Return a table's columns as Markdown: column, type, unit, meaning."""
    rows = [f"{tables.SCHEMAS[table].description}\n", "| column | type | unit | meaning |", "|---|---|---|---|"]
    rows += [f"| `{c.column}` | {c.type} | {c.unit} | {c.meaning} |" for c in tables.columns(table).itertuples()]
    return "\n".join(rows)


def _cell(value: Any, column: str) -> str:
    if isinstance(value, str):
        return value
    unit = unit_of_column(column)
    # The heading names the quantity, so a cell leaves the noun out: 41,400/s.
    shown = "" if pd.isna(value) else format_quantity(float(value), "per_s" if unit in ("rps", "pps") else unit)
    return shown.replace(" ", "\u00a0")  # a number stays on one line with its unit


def _caption_html(notebook: str, csv: str, facts: dict[str, Any], link: Link) -> str:
    studies = ", ".join(_data_html(name, link) for name in facts["studies"]) or "none"
    return (
        f'<figcaption>{literal(facts["caption"])}<span class="lc-source">'
        f'Notebook <a href="{link(f"notebooks/{notebook}.html")}">{notebook}</a> · '
        f'<a href="{link(f"figures/{notebook}/{csv}")}" download>data (CSV)</a> · study {studies} · '
        f"commit {literal(facts['commit'])}</span></figcaption>"
    )


def _data_html(name: str, link: Link) -> str:
    """Return the name of a data folder, with a link to its raw files if the site holds them."""
    if paths.named_data(name) is None:
        return literal(name)
    return f'{literal(name)} (<a href="{link(page_of(name).replace(".md", ".html"))}">raw files</a>)'
