"""sar's lines that an interrupt broke, put together again.

What sysstat itself does (12.6, ``sar.c``): the handler of SIGINT prints a newline, wherever sar is printing.  Ctrl-C
reaches sar twice, from the terminal and from its sadc, and the second often finds it printing averages.  A line of sar
begins with a time, a label or a heading, never with a blank; but each of its columns does.
"""

import re

_REST = r"(?:(?:\n *)+(?<= )[^ \n][^\n]*)"
_BROKEN = re.compile(rf"(?=[0-9]|\S[^\n:：]{{0,30}}[:：])\S[^\n]*{_REST}+")
_BLANK = re.compile(r"[\n ]*")
_INDENTED = re.compile(r"\n*[ \t]")
_LINE = re.compile(rf"\s*\S[^\n]*{_REST}*")


def mended(text: str) -> tuple[str, dict[int, int]]:
    r"""Put each broken line together, and leave empty what follows it, so that line numbers stay.

    Only where it has then as many words as the line before it or after it: anything else is damage of another kind.

    Returns
    -------
    text : str
        The lines, put together.
    broken : dict[int, int]
        Number of each line that was broken, from 0 → how many lines below it are now empty.

    Examples
    --------
    >>> mended("Average:\n        IFACE\n           rxpck/s\nAverage:  lo  0.00\n")
    ('Average:        IFACE           rxpck/s\n\n\nAverage:  lo  0.00\n', {0: 2})
    """
    at = text.find("\n ")
    if at < 0 or _INDENTED.match(text):
        return text, {}
    parts, broken = [], {}
    done = line = 0  # where what is in `parts` ends, and the line there
    while at >= 0:
        start = _line_start(text, at)
        found = _BROKEN.match(text, start) if start >= done else None
        # A last line without its newline may be cut as well.
        if found is None or found.end() == len(text) or not _fits(text, found, parts, done):
            at = text.find("\n ", _BLANK.match(text, at).end())
            continue
        empty = found[0].count("\n")
        line += text.count("\n", done, start)
        broken[line] = empty
        parts += [text[done:start], found[0].replace("\n", ""), "\n" * empty]
        done, line = found.end(), line + empty
        at = text.find("\n ", done)
    return "".join((*parts, text[done:])), broken


def _line_start(text: str, end: int) -> int:
    """Start of the last line before `end` that is not blank; 0 where there is none."""
    while end > 0 and text[end - 1] in "\n ":
        end -= 1
    return text.rfind("\n", 0, end) + 1


def _fits(text: str, found: re.Match, parts: list[str], done: int) -> bool:
    """Whether a line has the words of its neighbour when it is put together."""
    start = _line_start(text, found.start())
    before = text[start : found.start()] if start >= done else parts[-2]
    after = _LINE.match(text, found.end())
    return len(found[0].split()) in (len(before.split()), len(after[0].split()) if after else 0)
