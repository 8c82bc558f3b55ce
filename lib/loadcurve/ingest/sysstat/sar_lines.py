"""Rejoin broken lines of sar, split its text, and read the time that each language prints before a row.

Output of sysstat (12.6, ``sar.c``): the time is ``strftime("%X")``, so ``10:33:25 PM`` in en_US,
``22时33分25秒`` in zh_CN; ``-t`` adds nothing, but some languages have the zone in it: ``10:50:01 AM IST``.

SIGINT or a mail program breaks lines: the handler of SIGINT prints a newline, also in the middle of a line.  Ctrl-C
reaches sar twice, from the terminal and from its sadc; the second signal often arrives during the averages.  A line of
sar begins with a time, a label or a heading, never with a space; each of its columns begins with a space.
"""

import re
from collections.abc import Callable

import numpy as np

_EAST_ASIAN = re.compile(
    r"^(?:(上午|下午|午前|午後|오전|오후|AM|PM) ?)?"
    r"([0-9]{1,2}) ?[时時시点點] ?([0-9]{1,2}) ?[分분] ?([0-9]{1,2}) ?[秒초]",
    re.MULTILINE,
)
_BEFORE = re.compile(r"^(上午|下午|午前|午後|오전|오후) ?([0-9]{1,2}):([0-9]{2}):([0-9]{2})", re.MULTILINE)
_AFTER = re.compile(
    r"^([0-9]{2}:[0-9]{2}:[0-9]{2}) {1,3}"
    r"(AM|PM|[aApP]\.? ?[mM]\.?|[πμ]\.?μ\.?|上午|下午|午前|午後|오전|오후|ص|م|ق\.ظ|ب\.ظ)(?= |$)",
    re.MULTILINE,
)
_DOTTED = re.compile(r"^([0-9]{2})[.,]([0-9]{2})[.,]([0-9]{2})(?=[ \t])", re.MULTILINE)
_ONE_DIGIT = re.compile(r"^([0-9]:[0-9]{2}:[0-9]{2}[ \t])", re.MULTILINE)
_INDENT = re.compile(r"^(?:[ \t]+|(?:\^C)+[ \t]*)+", re.MULTILINE)
_MORNING = ("上午", "午前", "오전", "ص", "ق.ظ", "πμ", "π.μ.")
_HEAD = 1 << 16
_CHUNK = 1 << 24
_REST = r"(?:(?:\n *)+(?<= )[^ \n][^\n]*)"
_BROKEN = re.compile(rf"(?=[0-9]|\S[^\n:：]{{0,30}}[:：])\S[^\n]*{_REST}+")
_BLANK = re.compile(r"[\n ]*")
_INDENTED = re.compile(r"\n*[ \t]")
_LINE = re.compile(rf"\s*\S[^\n]*{_REST}*")
_BEGINS = re.compile(r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[ \t]|$)|[^\W\d_][^\d:：\n]{0,30}?[ \t]?[:：](?:[ \t]|$)|Linux ")
_CELL = re.compile(r"[+-]?[0-9][0-9.,]*[%kMGTP]?|-?nan|N/A")
_MOST = 60  # lines that one line can be broken into


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


def _fits(text: str, found: re.Match[str], parts: list[str], done: int) -> bool:
    """Whether a joined line has as many words as a neighbour."""
    start = _line_start(text, found.start())
    before = text[start : found.start()] if start >= done else parts[-2]
    after = _LINE.match(text, found.end())
    return len(found[0].split()) in (len(before.split()), len(after[0].split()) if after else 0)


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


def plain(text: str) -> str:
    """Remove indentation and write each time as ``HH:MM:SS``, perhaps with AM or PM; the number of lines is unchanged.

    Examples
    --------
    >>> plain("  22时33分25秒     CPU"), plain("下午 10:33:25 CPU"), plain("15 时 05 分 29 秒 all")
    ('22:33:25     CPU', '10:33:25 PM CPU', '15:05:29 all')
    """
    if ("^" in text and "^C" in text) or re.match(r"[ \t]", text) or re.search(r"\n[ \t]", text[:_HEAD]):
        text = dedented(text)
    head = text[:_HEAD]
    if not head.isascii():
        if _EAST_ASIAN.search(head):
            text = _EAST_ASIAN.sub(lambda m: _clock(m[2], m[3], m[4], m[1]), text)
        if _BEFORE.search(head):
            text = _BEFORE.sub(lambda m: _clock(m[2], m[3], m[4], m[1]), text)
    if _DOTTED.search(head):
        text = _DOTTED.sub(r"\1:\2:\3", text)
    if _ONE_DIGIT.search(head):
        text = _ONE_DIGIT.sub(r"0\1", text)
    if any(m[0][8:] not in (" AM", " PM") for m in _AFTER.finditer(head)):
        text = _AFTER.sub(lambda m: f"{m[1]} {_half(m[2])}", text)
    return text


def dedented(text: str) -> str:
    r"""Remove the spaces before each line, and the ``^C`` of a terminal.

    Examples
    --------
    >>> dedented("  a\n^Cb")
    'a\nb'
    """
    return _INDENT.sub("", text)


def _clock(hour: str, minute: str, second: str, half: str | None) -> str:
    return f"{int(hour):02}:{int(minute):02}:{int(second):02}" + (f" {_half(half)}" if half else "")


def _half(word: str) -> str:
    return "AM" if word in _MORNING or word[0] in "aA" else "PM"


class Lines:
    """The lines of a text, by number from 0, and their times.

    Arrays hold a number for each line: `starts` and `ends` (its first byte in `data`, and the one after its last),
    `timed` (whether it begins with ``HH:MM:SS``), `seconds` (second of the day, -1 without a time) and `halves` (0
    without AM or PM, 1 with AM, 2 with PM).
    """

    def __init__(self, text: str, broken: dict[int, int]) -> None:
        # Lines that are empty only because their words are now in a line before.
        self.emptied = {line for first, count in broken.items() for line in range(first + 1, first + count + 1)}
        self._split(text)
        first = self.bytes[self.starts[self.ends > self.starts]] if self.data else self.bytes
        if ((first == 32) | (first == 9)).any():
            self._split(dedented(text))
        self._read_times()

    def _split(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self.bytes = np.frombuffer(self.data, np.uint8)
        size = len(self.data)
        breaks = [np.flatnonzero(self.bytes[i : i + _CHUNK] == 10) + i for i in range(0, size, _CHUNK)]
        self.ends = np.concatenate([*breaks, [size]]).astype(np.int64)
        self.starts = np.concatenate([[0], self.ends[:-1] + 1])

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, number: int) -> str:
        """Return line `number` without surrounding spaces; tabs count as spaces."""
        raw = self.data[self.starts[number] : self.ends[number]]
        return raw.decode("utf-8", "surrogatepass").replace("\t", " ").strip(" ")

    def find(self, words: bytes) -> list[int]:
        """Numbers of the lines that hold these bytes."""
        found, at = [], self.data.find(words)
        while at >= 0:
            found.append(int(np.searchsorted(self.starts, at, "right")) - 1)
            at = self.data.find(words, int(self.ends[found[-1]]))
        return found

    def _read_times(self) -> None:
        # The first 12 bytes of each line; those of the last lines from a copy that goes on after the end.
        size = len(self.data)
        last = np.frombuffer(self.data[-24:] + b"\n" * 24, np.uint8)
        near = max(size - 12, 0)
        tail = self.starts > near - 12
        head = np.empty((len(self.starts), 12), np.uint8)
        if not tail.all():
            head[~tail] = np.lib.stride_tricks.sliding_window_view(self.bytes, 12)[self.starts[~tail]]
        windows = np.lib.stride_tricks.sliding_window_view(last, 12)
        head[tail] = windows[self.starts[tail] - (size - len(self.data[-24:]))]
        digits = head[:, (0, 1, 3, 4, 6, 7)] - np.uint8(48)
        after = head[:, 8]
        self.timed = (
            (self.ends - self.starts >= 8) & (digits < 10).all(axis=1) & (head[:, 2] == 58) & (head[:, 5] == 58)
        )
        self.timed &= (after == 32) | (after == 9) | (after == 10)
        letter, end = head[:, 9], head[:, 11]
        marked = self.timed & (head[:, 10] == ord("M")) & ((end == 32) | (end == 9) | (end == 10))
        self.halves = np.where(marked & (letter == ord("A")), 1, np.where(marked & (letter == ord("P")), 2, 0))
        hour, minute, second = (digits[:, i].astype(np.int32) * 10 + digits[:, i + 1] for i in (0, 2, 4))
        whole = (minute < 60) & (second < 60) & self.timed
        hour_of_day = np.where(self.halves > 0, hour % 12 + 12 * (self.halves == 2), hour)
        whole &= np.where(self.halves > 0, (hour >= 1) & (hour <= 12), hour < 24)
        self.seconds = np.where(whole, hour_of_day * 3600 + minute * 60 + second, -1).astype(np.int32)
