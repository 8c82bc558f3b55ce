"""What notebooks published, and the columns of tables, as HTML or Markdown for the macros of pages.

Experiments of the published reports have both verdicts: on the page of each report, and all in one table.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.audit import NO_CLAIM, VERDICTS
from loadcurve.audit.claims import AGREES
from loadcurve.files import paths
from loadcurve.site import published
from loadcurve.site.published import drawings_html, mark, picture_html
from loadcurve.site.raw_files import folders, page_of
from loadcurve.site.safety import literal
from loadcurve.units import format_quantity, unit_of_column

Link = Callable[[str], str]
"""Turns the path of a page into a link from the page that is written."""

_WORDY = 40  # letters of a cell that would be a narrow column on a phone


def figure_html(notebook: str, slug: str, link: Link) -> str:
    """Return a published figure with caption, data and provenance; the SVG is inline to follow the colour scheme."""
    facts = published.read_facts(notebook, slug)
    return (
        f'<figure class="lc-figure" id="figure-{slug}">\n'
        f'<div class="lc-drawing">{drawings_html(notebook, slug)}</div>\n'
        f"{_caption_html(notebook, f'{slug}.csv', facts, link)}\n</figure>"
    )


_NOTEBOOKS = re.compile(r'{% set (\w+) = "(\w+)" %}')
_FIGURES = re.compile(r'{{ figure\((\w+), "(\w+)"\) }}')
_QUESTION = re.compile(r"^\*\*(?:Question: )?(.+?)\*\*$", re.DOTALL | re.MULTILINE)


def figures_html(link: Link) -> str:
    """Return a picture of each figure of the method pages and studies, below the question of its page."""
    handbook, parts, shown = paths.root() / "handbook", [], set[tuple[str, str]]()
    for page in sorted([*handbook.glob("method/*.md"), *handbook.glob("studies/*.md")]):
        text, place = page.read_text("utf-8"), link(page.relative_to(handbook).with_suffix(".html").as_posix())
        names, cards = dict(_NOTEBOOKS.findall(text)), []
        here = [(names[name], slug) for name, slug in _FIGURES.findall(text)]
        for notebook, slug in [one for one in here if one not in shown]:
            facts = published.read_facts(notebook, slug)
            shows = f"<span>{literal(facts['caption'].split('. ')[0])}</span>"
            picture = f'<a href="{place}#figure-{slug}">{picture_html(notebook, slug)}{shows}</a>'
            cards.append(f"<li>{picture}{_source_html(notebook, f'{slug}.csv', facts, link)}</li>")
        shown |= set(here)
        if cards:
            asked = _QUESTION.search(text)
            words = " ".join(asked[1].split()) if asked else _title(page.stem)
            parts.append(f'<h2><a href="{place}">{words[0].upper()}{words[1:]}</a></h2>')
            parts.append(f'<ul class="lc-shapes lc-figures">{"".join(cards)}</ul>')
    return "\n\n".join(parts)


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
    text = shown if interval else known["text"]
    text = literal(text.replace(" ", "\u00a0") if len(text) <= 12 else text)  # a number stays on one line with its unit
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


def columns_markdown() -> str:
    """Return a section for each table, as Markdown: what it holds, and of each column type, unit and meaning."""
    rows = []
    for name, table in tables.SCHEMAS.items():
        rows += [f'\n## {name} <small>{table.description}</small> {{ #{name} data-toc-label="{name}" }}\n']
        rows += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        rows += [f"| `{c.column}` | {c.type} | {c.unit} | {c.meaning} |" for c in tables.columns(name).itertuples()]
    return "\n".join(rows)


def _cell(value: Any, column: str) -> str:
    if isinstance(value, str):
        return value
    unit = unit_of_column(column)
    # The heading names the quantity, so a cell leaves the noun out: 41,400/s.
    shown = "" if pd.isna(value) else format_quantity(float(value), "per_s" if unit in ("rps", "pps") else unit)
    return shown.replace(" ", "\u00a0")  # a number stays on one line with its unit


def _caption_html(notebook: str, csv: str, facts: dict[str, Any], link: Link) -> str:
    return f"<figcaption>{literal(facts['caption'])}{_source_html(notebook, csv, facts, link)}</figcaption>"


def _source_html(notebook: str, csv: str, facts: dict[str, Any], link: Link) -> str:
    studies = ", ".join(_data_html(name, link) for name in facts["studies"]) or "none"
    return (
        f'<span class="lc-source">Notebook <a href="{link(f"notebooks/{notebook}.html")}">{notebook}</a> · '
        f'<a href="{link(f"figures/{notebook}/{csv}")}" download>data (CSV)</a> · study {studies} · '
        f"commit {literal(facts['commit'])}</span>"
    )


def _data_html(name: str, link: Link) -> str:
    """Return the name of a data folder, with a link to its raw files if the site holds them."""
    if paths.named_data(name) is None:
        return literal(name)
    return f'{literal(name)} (<a href="{link(page_of(name).replace(".md", ".html"))}">raw files</a>)'


_GUIDE = "guides/run_a_study.html#studies-that-are-ready"
_ARROW = "\u00a0→ "


def verdicts_html(*notebooks: str) -> str:
    """Return how often claims of some reports, or of all, got each verdict."""
    return verdicts_text(notebooks or reports(), "claims", "verdict")


def reruns_html(*notebooks: str) -> str:
    """Return how often experiments of some reports, or of all, got each verdict when they were run again."""
    return verdicts_text(notebooks or reports(), "experiments", "rerun")


def experiments_html(notebook: str, link: Link) -> str:
    """Return a report's experiments: published verdict → rerun verdict, evidence, study and figure of each."""
    shown = []
    for row in published.read_rows(notebook, "experiments").fillna("").itertuples():
        facts = [f"study: {_studies_html(row.study, link)}"]
        facts += [f"audit of {literal(row.audit)}"] if row.audit else []
        facts += [f'figure: <a href="#figure-{literal(row.figure)}">{literal(row.figure)}</a>'] if row.figure else []
        evidence = f"<p>{literal(row.evidence)}</p>" if row.evidence else ""
        verdicts = NO_CLAIM if row.rerun == NO_CLAIM else f"{row.published}{_ARROW}{row.rerun}"
        shown.append(
            f'<div class="lc-claim" data-verdict="{literal(row.rerun)}">\n'
            f'<p><strong class="lc-verdict">{literal(verdicts)}</strong> '
            f"{literal(row.title)} <span>{literal(row.experiment)}</span></p>\n"
            f"{evidence}{basis_html(row, *facts)}\n</div>"
        )
    return f'<div class="lc-experiments" id="experiments">\n{chr(10).join(shown)}\n</div>'


def experiments_index_html(link: Link) -> str:
    """Return a table of all experiments of all reports: published and rerun verdict, study, figure."""
    heads = ("experiment", "published", "rerun", "study", "figure")
    body = []
    for notebook in reports():
        page = link(f"studies/{notebook}.html")
        title = literal(_title(notebook))
        body.append(f'<tr class="lc-group"><th colspan="{len(heads)}"><a href="{page}">{title}</a></th></tr>')
        for row in published.read_rows(notebook, "experiments").fillna("").itertuples():
            name = literal(row.figure)
            cells = (
                f"<strong>{literal(row.experiment)}</strong> {literal(row.title)}",
                literal(row.published),
                literal(row.rerun),
                _studies_html(row.study, link),
                f'<a href="{page}#figure-{name}">{literal(row.figure.replace("_", " "))}</a>' if name else "none",
            )
            shown = "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads, cells, strict=True))
            body.append(f'<tr data-verdict="{literal(row.rerun)}">{shown}</tr>')
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        f'<div class="lc-table lc-stacked"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(body)
        + "\n</tbody>\n</table></div>"
    )


def reports() -> list[str]:
    """Return the notebooks of all reports with experiments, in their order: ``NN_`` and the name of the source."""
    top = paths.root()
    sources = {file.parent.name for file in (top / "data" / "published").glob("*/experiments.csv")}
    return sorted(one.stem for one in (top / "notebooks").glob("*.ipynb") if one.stem[3:] in sources)


def _title(notebook: str) -> str:
    page = paths.root() / "handbook" / "studies" / f"{notebook}.md"
    return next(line for line in page.read_text("utf-8").splitlines() if line.startswith("# ")).removeprefix("# ")


def _studies_html(names: str, link: Link) -> str:
    """Return each study of an experiment, with its raw files or the command that records it."""
    known, shown = folders(paths.build()), []
    for name in names.split():
        if name in known:
            shown.append(f'<a href="{link(page_of(name).replace(".md", ".html"))}">{literal(name)}</a>')
        elif (paths.studies() / name / "study.yml").is_file():
            shown.append(literal(name))
        else:
            launch = f"<code>loadcurve launch {literal(name)}</code>"
            shown.append(f'<a href="{link(_GUIDE)}">ready to launch</a>: {launch}')
    return ", ".join(shown)
