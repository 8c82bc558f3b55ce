"""An analysis as plain text for a terminal, and as Markdown for a pull request."""

from loadcurve.analysis import Analysis
from loadcurve.blocks import Paragraph, to_markdown, to_text
from loadcurve.report.provenance import Provenance


def text_report(
    analysis: Analysis, width: int = 100, *, unicode: bool = True, provenance: Provenance | None = None
) -> str:
    """Return an analysis as text.

    Parameters
    ----------
    analysis : Analysis
        As `analyse` returns it.
    width : int
        Columns of the terminal, >= 40, for sentences; tables are as wide as they need to be.
    unicode : bool
        Whether bars may use block characters; else they are made of ``#``.
    provenance : Provenance, optional
        Shown at the end; by default left out.
    """
    last = [provenance.section()] if provenance else []
    blocks = [Paragraph(analysis.source, analysis.summary), *analysis.blocks(), *last]
    return to_text(blocks, width, unicode=unicode) + "\n"


def markdown_report(analysis: Analysis, provenance: Provenance | None = None) -> str:
    """Return an analysis as Markdown; parameters as for `text_report`."""
    last = [provenance.section()] if provenance else []
    title = Paragraph("loadcurve", f"{analysis.source}: {analysis.summary}")
    return to_markdown([title, *analysis.blocks(), *last], 3) + "\n"
