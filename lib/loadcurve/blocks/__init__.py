"""Blocks of a report (table, list, paragraph, code, drawing, section), and how each form shows them.

What people read about a result is built once from these blocks: `html`, `markdown` and `text` show the same blocks in
the same order, in a terminal, on a page and in a notebook.
"""

from loadcurve.blocks.block import Block, Code, Drawing, Grid, Items, Paragraph, Section
from loadcurve.blocks.html import to_display, to_html
from loadcurve.blocks.markdown import to_markdown
from loadcurve.blocks.text import to_text

__all__ = [
    "Block",
    "Code",
    "Drawing",
    "Grid",
    "Items",
    "Paragraph",
    "Section",
    "to_display",
    "to_html",
    "to_markdown",
    "to_text",
]
