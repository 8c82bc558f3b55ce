"""Experiments of the published reports with both verdicts: on the page of each report, and all in one table."""

from typing import Any

import pandas as pd

from loadcurve.audit import NO_CLAIM
from loadcurve.files import paths
from loadcurve.site import published
from loadcurve.site.literal import literal
from loadcurve.site.published_html import Link, basis_html, verdicts_text
from loadcurve.site.raw_files import folders, page_of

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
    for row in _rows(notebook).itertuples():
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
        for row in _rows(notebook).itertuples():
            cells = (
                f"<strong>{literal(row.experiment)}</strong> {literal(row.title)}",
                literal(row.published),
                literal(row.rerun),
                _studies_html(row.study, link),
                _figure_html(row, page),
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


def _rows(notebook: str) -> pd.DataFrame:
    return published.read_rows(notebook, "experiments").fillna("")


def _studies_html(names: str, link: Link) -> str:
    """Return each study of an experiment, with its raw files or the command that records it."""
    return ", ".join(_study_html(name, link) for name in names.split())


def _study_html(name: str, link: Link) -> str:
    if name in folders(paths.build()):
        return f'<a href="{link(page_of(name).replace(".md", ".html"))}">{literal(name)}</a>'
    if (paths.studies() / name / "study.yml").is_file():
        return literal(name)
    return f'<a href="{link(_GUIDE)}">ready to launch</a>: <code>loadcurve launch {literal(name)}</code>'


def _figure_html(row: Any, page: str) -> str:
    if row.figure:
        return f'<a href="{page}#figure-{literal(row.figure)}">{literal(row.figure.replace("_", " "))}</a>'
    return "none"
