"""The frame of every page that a report is: one HTML file without scripts and requests."""

from datetime import datetime
from functools import cache
from html import escape
from importlib.resources import files

# Texts are escaped, and this stops the script of one that is not.  Drawings of a batch are files next to the page.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
)


def framed(title: str, heading: str, summary: str, body: str, version: str, created: datetime) -> str:
    """Return an HTML page: light and dark, for phones and for paper."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<h1>{escape(heading).replace("/", "/<wbr>")}</h1>
<p class="summary">{escape(summary)}</p>
</header>
<main>
{body}
</main>
<footer>Made by loadcurve {escape(version)} on {created:%Y-%m-%d}.</footer>
</body>
</html>
"""


@cache
def _style() -> str:
    return (files("loadcurve.blocks") / "page.css").read_text("utf-8")
