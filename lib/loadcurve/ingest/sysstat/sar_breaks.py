"""Rejoin lines of sar that SIGINT or a mail program broke.

Output of sysstat (12.6, ``sar.c``): the handler of SIGINT prints a newline, also in the middle of a line.
Ctrl-C reaches sar twice, from the terminal and from its sadc; the second signal often arrives during the averages.
A line of sar begins with a time, a label or a heading, never with a space; each of its columns begins with a space.
"""

import re
from collections.abc import Callable

_REST = r"(?:(?:\n *)+(?<= )[^ \n][^\n]*)"
_BROKEN = re.compile(rf"(?=[0-9]|\S[^\n:：]{{0,30}}[:：])\S[^\n]*{_REST}+")
_BLANK = re.compile(r"[\n ]*")
_INDENTED = re.compile(r"\n*[ \t]")
_LINE = re.compile(rf"\s*\S[^\n]*{_REST}*")


def rejoin_lines(text: str) -> tuple[str, dict[int, int]]:
    r"""Join the parts of each broken line, and leave the lines of its parts empty, so that line numbers stay.

    A line is joined only if it then has as many words as the line before or after it: other damage is not changed.

    Examples
    --------
    >>> rejoin_lines("Average:\n        IFACE\n           rxpck/s\nAverage:  lo  0.00\n")
    ('Average:        IFACE           rxpck/s\n\n\nAverage:  lo  0.00\n', {0: 2})
    """
    at = text.find("\n ")
    if at < 0 or _INDENTED.match(text):
        return text, {}
    parts: list[str] = []
    broken: dict[int, int] = {}
    done = line = 0  # where what is in `parts` ends, and the line there
    while at >= 0:
        start = _line_start(text, at)
        found = _BROKEN.match(text, start) if start >= done else None
        # A last line without its newline may be cut as well.
        if found is None or found.end() == len(text) or not _fits(text, found, parts, done):
            blank = _BLANK.match(text, at)
            at = text.find("\n ", blank.end() if blank else at)
            continue
        empty = found[0].count("\n")
        line += text.count("\n", done, start)
        broken[line] = empty
        parts += [text[done:start], found[0].replace("\n", ""), "\n" * empty]
        done, line = found.end(), line + empty
        at = text.find("\n ", done)
    return "".join((*parts, text[done:])), broken


def _line_start(text: str, end: int) -> int:
    """Return the start of the last non-blank line before `end`; 0 if there is none."""
    while end > 0 and text[end - 1] in "\n ":
        end -= 1
    return text.rfind("\n", 0, end) + 1


def _fits(text: str, found: re.Match, parts: list[str], done: int) -> bool:
    """Whether a joined line has as many words as a neighbour."""
    start = _line_start(text, found.start())
    before = text[start : found.start()] if start >= done else parts[-2]
    after = _LINE.match(text, found.end())
    return len(found[0].split()) in (len(before.split()), len(after[0].split()) if after else 0)


_BEGINS = re.compile(r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[ \t]|$)|[^\W\d_][^\d:：\n]{0,30}?[ \t]?[:：](?:[ \t]|$)|Linux ")
_CELL = re.compile(r"[+-]?[0-9][0-9.,]*[%kMGTP]?|-?nan|N/A")
_MOST = 60  # lines that one line can be broken into


def unwrap_rows(text: str, is_column: Callable[[str], bool]) -> tuple[str, dict[int, int]]:
    r"""Join header rows and rows that mail wrapped, if the rest begins in column 1.

    The rest of a header row has only column names, that of a row only numbers, as many as it needs to match its header.

    Examples
    --------
    >>> text = "10:00:00 PM IFACE rxpck/s\ntxpck/s\n10:00:01 PM eth0 1.00\n2.00\n"
    >>> unwrap_rows(text, lambda word: word in ("IFACE", "rxpck/s", "txpck/s"))
    ('10:00:00 PM IFACE rxpck/s txpck/s\n\n10:00:01 PM eth0 1.00 2.00\n\n', {0: 1, 2: 1})
    """
    lines = text.split("\n")
    broken: dict[int, int] = {}
    first, width, header = -1, 0, False
    for at, line in enumerate(lines):
        words = line.split()
        if not words:
            first = -1
        elif _BEGINS.match(line.lstrip()):
            first = at
            cells = words[1:] if words[1:2] not in (["AM"], ["PM"]) else words[2:]
            header = bool(cells) and all(map(is_column, cells))
            width = len(words) if header else width
        elif first >= 0 and at - first <= _MOST:
            rest = all(map(is_column, words)) if header else all(map(_CELL.fullmatch, words))
            have = len(lines[first].split())
            if not rest or (not header and have + len(words) > width):
                first = -1
                continue
            joined = f"{lines[first].rstrip()} {' '.join(words)}"
            # A last line without its newline may be cut, so its row is left out.
            lines[first], lines[at] = "" if at == len(lines) - 1 else joined, ""
            broken[first] = at - first
            width = len(lines[first].split()) if header else width
    return "\n".join(lines), broken
