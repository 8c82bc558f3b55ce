"""The blocks, which hold plain text: each form escapes what it shows."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of texts."""

    headings: Sequence[str]  # With units
    rows: Sequence[Sequence[str]]  # One cell for each heading
    caption: str  # What the table shows; required, because readers of a page navigate by captions
    left: int = 0  # Number of columns, from the first, that are aligned to the left; all others hold numbers
    bars: Sequence[float] = ()  # One number for each row, for the bars that only text shows; empty for none
    bars_title: str = ""  # What the bars show, for bars below the table
    folded: bool = False  # Whether a page shows only the caption until the reader opens it; text leaves the table out


@dataclass(frozen=True)
class Items:
    """A list of sentences under a title; without sentences nothing is shown."""

    title: str
    sentences: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A sentence or several, after a label such as ``Bottleneck``; a severity colours it on a page."""

    label: str
    text: str
    severity: str = ""


@dataclass(frozen=True)
class Code:
    """Commands or output, shown as they are."""

    text: str


@dataclass(frozen=True)
class Drawing:
    """A figure, which only a page shows."""

    svg: str  # One `<svg>` element
    # `caption` and `alt`: conclusion, and a description for readers who cannot see the figure.
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: "Sequence[Block]"


Block = Grid | Items | Paragraph | Code | Drawing | Section
