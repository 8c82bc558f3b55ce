"""An analysis as one HTML page that needs nothing else: no script, no request, light and dark, phone and paper."""

from functools import cache
from html import escape
from importlib.resources import files

from loadcurve.analysis import Analysis
from loadcurve.blocks import to_html
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
    title = escape(analysis.source or "Load test")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: {escape(str(analysis.verdict))}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<h1>{title.replace("/", "/<wbr>")}</h1>
<p class="summary">{escape(analysis.summary)}</p>
</header>
<main>
{to_html([*analysis.blocks(Figures()), provenance.section()])}
</main>
<footer>Made by loadcurve {escape(provenance.version)} on {provenance.created:%Y-%m-%d}.</footer>
</body>
</html>
"""


@cache
def _style() -> str:
    return (files("loadcurve.report") / "page.css").read_text("utf-8")
