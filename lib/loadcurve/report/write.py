"""Write a report in the form that the suffix of its file names."""

from collections.abc import Callable
from pathlib import Path

from loadcurve.analysis import Analysis
from loadcurve.errors import LoadcurveError
from loadcurve.files.atomic import check_target, replacing
from loadcurve.report.data import json_report
from loadcurve.report.page import html_report
from loadcurve.report.pdf import pdf_of
from loadcurve.report.provenance import Provenance
from loadcurve.report.text import markdown_report, text_report

_FORMS: dict[str, Callable[[Analysis, Provenance], str | bytes]] = {
    ".html": html_report,
    ".json": json_report,
    ".md": markdown_report,
    ".pdf": lambda analysis, provenance: pdf_of(html_report(analysis, provenance)),
    ".txt": lambda analysis, provenance: text_report(analysis, provenance=provenance),
}
SUFFIXES = tuple(_FORMS)
"""Suffixes of reports."""


def check_suffix(path: Path) -> Path:
    """Return a path, whose suffix must name a form of report, in a folder that must exist.

    Raises
    ------
    LoadcurveError
        When it does not.
    """
    if path.suffix.lower() not in _FORMS:
        raise LoadcurveError(f"output must end in {', '.join(SUFFIXES)} or be -, got {str(path)!r}")
    return check_target(path)


def write_report(analysis: Analysis, path: Path, provenance: Provenance) -> None:
    """Write a report: HTML, JSON, Markdown, PDF or text, by the suffix of the path.

    Raises
    ------
    LoadcurveError
        When the suffix names no form, or there is no Chromium for a PDF.
    """
    content = _FORMS[check_suffix(path).suffix.lower()](analysis, provenance)
    with replacing(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
