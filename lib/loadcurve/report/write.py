"""Write a report in the form that the suffix of its file names."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from loadcurve.analysis import Analysis
from loadcurve.blocks import Paragraph, to_html, to_markdown, to_text
from loadcurve.blocks.html import framed
from loadcurve.errors import LoadcurveError
from loadcurve.files.atomic import check_target, replacing, temporary_folder
from loadcurve.report.data import json_report
from loadcurve.report.figures import Figures
from loadcurve.report.provenance import Provenance

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands that print a page without a window."""

_LITTLE = 10_000_000  # bytes; a profile takes 3 MB
_SECONDS = 120.0  # a page takes 2 s; a machine under load may take a minute


def pdf_of(page: str) -> bytes:
    """Return an HTML page as PDF.

    Raises LoadcurveError when there is no Chromium, or it prints nothing.
    """
    return _printed(page, "PDF", b"%%EOF", "print-to-pdf", "--no-pdf-header-footer")


def picture_of(page: str, width: int, height: int) -> bytes:
    """Return an HTML page as PNG of a size in pixels; raises as `pdf_of` does."""
    return _printed(page, "PNG", b"IEND", "screenshot", "--hide-scrollbars", f"--window-size={width},{height}")


def _printed(page: str, form: str, end: bytes, option: str, *options: str) -> bytes:
    """Return what Chromium writes by an option, which must have some bytes at its end."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        other = ", or write .html and print it from a browser" if form == "PDF" else ""
        remedy = f"install Chromium (apt-get install chromium){other}"
        raise LoadcurveError(f"{form} needs one of {', '.join(BROWSERS)}, got none: {remedy}")
    with temporary_folder() as folder:
        source, target = folder / "report.html", folder / f"report.{form.lower()}"
        source.write_text(page, "utf-8")
        command = [
            *(["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []),  # it ends with this process
            chromium, "--headless", "--disable-gpu", "--no-first-run", *options,
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder}/profile", f"--{option}={target}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses its sandbox as root
            source.as_uri(),
        ]  # fmt: skip
        try:
            env = {**os.environ, "TMPDIR": str(folder)}
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=env)
        except (OSError, subprocess.SubprocessError) as error:
            raise LoadcurveError(f"{chromium} must print the page as {form}, got: {error}") from None
        printed = target.read_bytes() if target.is_file() else b""
        if end not in printed[-1024:]:
            if shutil.disk_usage(folder).free < _LITTLE:  # which Chromium does not report
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
            reason = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
            raise LoadcurveError(f"{chromium} must print the page as {form}, got: {reason}")
        return printed


def text_report(
    analysis: Analysis, width: int = 100, *, unicode: bool = True, provenance: Provenance | None = None
) -> str:
    """Return an analysis as text, with the provenance, if given, at the end.

    Sentences fill ``width`` columns, >= 40; tables are as wide as they need to be.  Without ``unicode``, bars are made
    of ``#``.
    """
    last = [provenance.section()] if provenance else []
    blocks = [Paragraph(analysis.source, analysis.summary), *analysis.blocks(), *last]
    return to_text(blocks, width, unicode=unicode) + "\n"


def markdown_report(analysis: Analysis, provenance: Provenance | None = None) -> str:
    """Return an analysis as Markdown, with the provenance, if given, at the end."""
    last = [provenance.section()] if provenance else []
    title = Paragraph("loadcurve", f"{analysis.source}: {analysis.summary}")
    return to_markdown([title, *analysis.blocks(), *last], 3) + "\n"


def html_report(analysis: Analysis, provenance: Provenance) -> str:
    """Return an analysis as an HTML page, with the provenance at the end."""
    heading = analysis.source or "Load test"
    figures = Figures()
    blocks = analysis.blocks(figures)
    body = to_html([*blocks, *figures.timeline(analysis.tables), provenance.section()])
    title = f"{heading}: {analysis.verdict}"
    return framed(title, heading, analysis.summary, body, provenance.version, provenance.created)


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
    """Return a path, whose suffix must name a form of report, in a folder that must exist."""
    if path.suffix.lower() not in _FORMS:
        raise LoadcurveError(f"output must end in {', '.join(SUFFIXES)} or be -, got {str(path)!r}")
    return check_target(path)


def write_report(analysis: Analysis, path: Path, provenance: Provenance) -> None:
    """Write a report: HTML, JSON, Markdown, PDF or text, by the suffix of the path.

    Raises LoadcurveError when the suffix names no form, or there is no Chromium for a PDF.
    """
    content = _FORMS[check_suffix(path).suffix.lower()](analysis, provenance)
    with replacing(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
