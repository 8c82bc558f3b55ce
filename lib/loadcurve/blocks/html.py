"""Blocks as HTML, and the frame of every page that a report is: one file without scripts and requests.

Every text is escaped; only the drawings, which loadcurve made, are inserted as they are.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from html import escape as escape_all
from importlib.resources import files
from itertools import groupby

from loadcurve.blocks.block import Block, Code, Drawing, Grid, Items, Paragraph, Section

# JupyterLab aligns every cell to the right and hides what is wider than the output.
_DISPLAY = (
    ".loadcurve .left{text-align:left!important}.loadcurve .scroll{overflow-x:auto}"
    ".loadcurve td,.loadcurve th{white-space:nowrap}.loadcurve td.left{white-space:normal}"
    ".loadcurve caption{text-align:left;caption-side:top}.loadcurve .severity{border-left:.4em solid;padding-left:.6em}"
    ".loadcurve li,.loadcurve p{overflow-wrap:anywhere}@media(max-width:600px){.loadcurve td.left{min-width:8em}}"
    ".loadcurve .ok{border-color:#2a9270}.loadcurve .warning{border-color:#d2690e}.loadcurve .error{border-color:#d33}"
)
_CODE = re.compile("`([^`]+)`")


def escape(text: str) -> str:
    """Escape a text; what is between backticks is shown as code."""
    return _CODE.sub(r"<code>\1</code>", escape_all(text))


def to_html(blocks: Iterable[Block], level: int = 2) -> str:
    """Return blocks as HTML.

    Parameters
    ----------
    blocks : iterable of Block
        In the order in which they are shown.
    level : int
        Of the headings of sections, 1 to 6; titles of lists are one below.

    Examples
    --------
    >>> from loadcurve.blocks import Items
    >>> print(to_html([Items("Files", ["<script>.txt"])]))
    <h2>Files</h2>
    <ul>
    <li>&lt;script&gt;.txt</li>
    </ul>
    """
    parts: list[str] = []
    for are_figures, group in groupby(blocks, lambda block: isinstance(block, Drawing)):
        shown = "\n".join(filter(None, (_html(block, level) for block in group)))
        parts.append(f'<div class="figures">\n{shown}\n</div>' if are_figures else shown)
    return "\n".join(filter(None, parts))


def to_display(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML for a notebook, with the few rules of style that the page of a report has.

    Examples
    --------
    >>> from loadcurve.blocks import Paragraph
    >>> print(to_display([Paragraph("", "few & weak")]).splitlines()[1])
    <p>few &amp; weak</p>
    """
    return f'<div class="loadcurve"><style>{_DISPLAY}</style>\n{to_html(blocks, 3)}\n</div>'


def _html(block: Block, level: int) -> str:
    match block:
        case Section():
            inner = to_html(block.blocks, min(level + 1, 6))
            return f"<section>\n<h{level}>{escape(block.title)}</h{level}>\n{inner}\n</section>"
        case Grid():
            return _table(block)
        case Items():
            return _items(block, level)
        case Paragraph():
            label = f"<strong>{escape(block.label)}:</strong> " if block.label else ""
            marked = f' class="severity {escape_all(block.severity)}"' if block.severity else ""
            return f"<p{marked}>{label}{escape(block.text)}</p>"
        case Code():
            return f"<pre><code>{escape_all(block.text)}</code></pre>"
        case Drawing():
            return f"<figure>\n{block.svg}\n<figcaption>{escape(block.caption)}</figcaption>\n</figure>"


def _table(grid: Grid) -> str:
    head = _row(grid.headings, "th", grid.left, ' scope="col"')
    body = "\n".join(_row(row, "td", grid.left) for row in grid.rows)
    caption = "" if grid.folded else f"<caption><span>{escape(grid.caption)}</span></caption>\n"
    # A wide table scrolls in its own box, which the keyboard reaches.
    box = f'<div class="scroll" role="group" tabindex="0" aria-label="{escape_all(grid.caption)}">'
    table = f"{box}<table>\n{caption}<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    return f"<details><summary>{escape(grid.caption)}</summary>\n{table}\n</details>" if grid.folded else table


def _row(cells: Sequence[str], tag: str, left: int, more: str = "") -> str:
    sides = (' class="left"' if i < left else "" for i in range(len(cells)))
    inner = (f"<{tag}{more}{side}>{escape(cell)}</{tag}>" for cell, side in zip(cells, sides, strict=True))
    return f"<tr>{''.join(inner)}</tr>"


def _items(items: Items, level: int) -> str:
    if not items.sentences:
        return ""
    tag = "ol" if items.numbered else "ul"
    lines = "\n".join(f"<li>{escape(sentence)}</li>" for sentence in items.sentences)
    title = f"<h{level}>{escape(items.title)}</h{level}>\n" if items.title else ""
    return f"{title}<{tag}>\n{lines}\n</{tag}>"


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
<title>{escape_all(title)}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<h1>{escape_all(heading).replace("/", "/<wbr>")}</h1>
<p class="summary">{escape_all(summary)}</p>
</header>
<main>
{body}
</main>
<footer>Made by loadcurve {escape_all(version)} on {created:%Y-%m-%d}.</footer>
</body>
</html>
"""


@cache
def _style() -> str:
    return (files("loadcurve.blocks") / "page.css").read_text("utf-8")
