"""Blocks as Markdown that GitHub and GitLab show in a pull request; drawings are left out."""

import re
from collections.abc import Iterable, Sequence

from loadcurve.blocks.block import Block, Code, Drawing, Grid, Items, Paragraph, Section

# Characters that Markdown or HTML inside it may interpret; @ would notify a user of that name.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~$]")
_NAMES = re.compile(r"@(?=\w)")
_CODE = re.compile("(`[^`]+`)")
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")


def to_markdown(blocks: Iterable[Block], level: int = 2) -> str:
    r"""Return blocks as Markdown, with every text escaped.

    Parameters
    ----------
    blocks : iterable of Block
        In the order in which they are shown.
    level : int
        Of the headings of sections, 1 to 6.

    Examples
    --------
    >>> from loadcurve.blocks import Items
    >>> print(to_markdown([Items("Files", ["<b>|c_1.txt: add `--factor 'c=_([0-9]+)'`"])]))
    **Files**
    <BLANKLINE>
    - \<b\>\|c\_1.txt: add `--factor 'c=_([0-9]+)'`
    """
    return "\n\n".join(filter(None, (_markdown(block, level) for block in blocks)))


def plain(text: str) -> str:
    """Escape a text, on one line; what is between backticks is code, to be copied as it is."""
    parts = _CODE.split(" ".join(text.split()))
    parts[::2] = [_NAMES.sub("@<!-- -->", _MARKUP.sub(r"\\\g<0>", part)) for part in parts[::2]]
    return "".join(parts)


def _markdown(block: Block, level: int) -> str:
    match block:
        case Section():
            return f"{'#' * level} {plain(block.title)}\n\n{to_markdown(block.blocks, min(level + 1, 6))}".rstrip()
        case Grid():
            return _table(block)
        case Items():
            marks = (f"{i}." if block.numbered else "-" for i in range(1, len(block.sentences) + 1))
            lines = [f"{mark} {plain(sentence)}" for mark, sentence in zip(marks, block.sentences, strict=True)]
            return "\n".join([f"**{plain(block.title)}**", "", *lines]) if lines else ""
        case Paragraph():
            return (f"**{plain(block.label)}:** " if block.label else "") + plain(block.text)
        case Code():
            return f"```text\n{block.text}\n```"
        case Drawing():
            return ""


def _table(grid: Grid) -> str:
    rule = [":--" if i < grid.left else "--:" for i in range(len(grid.headings))]
    lines = [_row(map(plain, grid.headings)), _row(rule), *(_row(map(plain, row)) for row in grid.rows)]
    if grid.folded:
        inner = "\n".join(lines)
        return f"<details><summary>{plain(grid.caption)}</summary>\n\n{inner}\n\n</details>"
    return "\n".join([f"{plain(grid.caption)}:", "", *lines])


def _row(cells: Iterable[str] | Sequence[str]) -> str:
    return "| " + " | ".join(_UNESCAPED_BAR.sub(r"\\|", cell) for cell in cells) + " |"
