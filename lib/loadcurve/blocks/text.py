"""Blocks as plain text for a terminal of any width from 40 columns; drawings and folded tables are left out."""

import math
import textwrap
from collections.abc import Iterable, Sequence

from loadcurve.blocks.block import Block, Code, Drawing, Grid, Items, Paragraph, Section

_BAR = 24  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_SHOWN = 5  # sentences of a list that are shown; the others are counted, unless the list is numbered
_RULE = 64  # length of the line of a heading


def to_text(blocks: Iterable[Block], width: int = 100, *, unicode: bool = True) -> str:
    """Return blocks as plain text, separated by empty lines.

    Parameters
    ----------
    blocks : iterable of Block
        In the order in which they are shown.
    width : int
        Columns of the terminal for sentences; tables are as wide as they need to be.
    unicode : bool
        Whether bars may use block characters; else they are made of ``#``.

    Examples
    --------
    >>> from loadcurve.blocks import Grid
    >>> print(to_text([Grid(["connections", "requests/s"], [["1", "9"], ["16", "100"]], "Levels", bars=[9, 100])]))
    Levels:
    connections  requests/s
              1           9  ██▏
             16         100  ████████████████████████
    """
    return "\n\n".join(filter(None, (_text(block, max(width, 40), unicode) for block in blocks)))


def _text(block: Block, width: int, unicode: bool) -> str:
    match block:
        case Section():
            line = ("─" if unicode else "-") * max(3, _RULE - 4 - len(block.title))
            head = f"{line[:2]} {block.title} {line}"
            return "\n\n".join(filter(None, (head, to_text(block.blocks, width, unicode=unicode))))
        case Grid():
            return "" if block.folded else _table(block, width, unicode)
        case Items():
            return _items(block, width)
        case Paragraph():
            return _fill((f"{block.label}: " if block.label else "") + block.text, width)
        case Code():
            return "\n".join(f"    {line}".rstrip() for line in block.text.splitlines())
        case Drawing():
            return ""


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> str:
    """Return cells in aligned columns: the first `left` and the last to the left, all others to the right."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    last = len(widths) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(size) if i < left or i == last else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def bars(values: Sequence[float], unicode: bool) -> list[str]:
    """Return bars in proportion to the values, the longest of `_BAR` characters."""
    longest = max(filter(math.isfinite, values), default=0)
    lengths = [_BAR * value / longest if longest > 0 and math.isfinite(value) else 0.0 for value in values]
    if not unicode:
        return ["#" * round(length) for length in lengths]
    eighths = [round(8 * length) for length in lengths]
    return [("█" * (n // 8) + _EIGHTHS[n % 8]).rstrip() for n in eighths]


def _table(grid: Grid, width: int, unicode: bool) -> str:
    """The table with bars beside it, or below it if the terminal is too narrow."""
    drawn = bars(grid.bars, unicode)
    alone = table([*grid.headings, ""], [[*row, ""] for row in grid.rows], grid.left)
    if not drawn:
        return f"{grid.caption}:\n{alone}"
    if len(alone.splitlines()[0]) + 2 + _BAR <= width:
        beside = [[*row, bar] for row, bar in zip(grid.rows, drawn, strict=True)]
        return f"{grid.caption}:\n{table([*grid.headings, ''], beside, grid.left)}"
    below = [[row[0], bar] for row, bar in zip(grid.rows, drawn, strict=True)]
    return f"{grid.caption}:\n{alone}\n\n{table([grid.headings[0], grid.bars_title], below, grid.left)}"


def _items(items: Items, width: int) -> str:
    if not items.sentences:
        return ""
    # A list without a title is part of a text, which is read whole.
    shown = items.sentences if items.numbered or not items.title else items.sentences[:_SHOWN]
    lines = [f"{items.title}:"] if items.title else []
    for i, sentence in enumerate(shown, 1):
        mark = f"{i}. " if items.numbered else "- "
        lines.append(_fill(sentence, width, mark))
    if len(items.sentences) > len(shown):
        lines.append(f"- and {len(items.sentences) - len(shown)} more")
    return "\n".join(lines)


def _fill(sentence: str, width: int, mark: str = "") -> str:
    """Break a sentence into lines at spaces only, so that paths and commands can be copied."""
    indent = " " * len(mark)
    return textwrap.fill(
        sentence, width, initial_indent=mark, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
