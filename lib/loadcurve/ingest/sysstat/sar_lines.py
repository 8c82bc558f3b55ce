"""Split sar's text into lines, normalise the time that each language prints before a row, and read it.

Output of sysstat (12.6, ``sar.c``): the time is ``strftime("%X")``, so ``10:33:25 PM`` in en_US,
``22时33分25秒`` in zh_CN; ``-t`` adds nothing, but some languages have the zone in it: ``10:50:01 AM IST``.
"""

import re

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
