"""An analysis as one HTML page that needs nothing else: no script, no request, light and dark, phone and paper."""

from loadcurve.analysis import Analysis
from loadcurve.blocks import to_html
from loadcurve.blocks.frame import framed
from loadcurve.report.figures import Figures
from loadcurve.report.provenance import Provenance


def html_report(analysis: Analysis, provenance: Provenance) -> str:
    """Return an analysis as an HTML page.

    Parameters
    ----------
    analysis : Analysis
        As `analyse` returns it.
    provenance : Provenance
        Where the report comes from; shown at its end.
    """
    heading = analysis.source or "Load test"
    figures = Figures()
    blocks = analysis.blocks(figures)
    body = to_html([*blocks, *figures.timeline(analysis.tables), provenance.section()])
    title = f"{heading}: {analysis.verdict}"
    return framed(title, heading, analysis.summary, body, provenance.version, provenance.created)
