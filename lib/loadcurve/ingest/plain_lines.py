"""Lines of one or many snapshots of counters: line number, time of the snapshot, whether the line is whole.

For tools that print a few lines and no time: a collector that calls them in a loop writes the time before each
(`snapshots`).  A text that ends without a blank or a newline may have been cut inside its last number.
"""

import re

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import UnknownLines
from loadcurve.ingest.snapshots import instant, utc

_COUNTER = re.compile(r"-?[0-9]{1,20}")  # the kernel counts in 64 bits, so up to 20 digits
# Printed by a shell session around the output: commands, and the names that head, tail and more write above it.
_SESSION = re.compile(
    r"==> .* <==|:{3,}|/proc/\S+:?|##?#?(?:[ \t]+[^0-9\s].*)?"
    r"|(?:sudo|cat|head|tail|more|grep|watch|curl|date|ip|netstat|nstat|ethtool)[ \t].*"
    r"|\[[^\]]*\]|<[^>]*>"
)
_SIZE_CLASS = re.compile(r"(?:_to_(?:[0-9]+|max)|(?<!queue)_(?:64|1[0-9]{3}|9[0-9]{3}|max|plus))_?(?:bytes|octets)$")
_LONGEST = 400  # characters of a line that are looked at to see whether it is noise


class Lines:
    """The lines of a text without blanks at their ends, and warnings about them."""

    def __init__(self, text: str, tool: str, timezone: str = "UTC") -> None:
        self.all = [line.strip() for line in text.split("\n")]
        self.time = pd.NaT
        self._timezone = timezone
        self._strays = UnknownLines(tool)
        self._warnings: list[str] = []
        self._open_line = len(self.all) if self.all[-1] else 0
        self._inside = text[-1:].strip() != ""

    def __len__(self) -> int:
        return len(self.all)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings so far."""
        return (*self._warnings, *self._strays.warnings)

    @property
    def stamp(self) -> dict[str, object]:
        """Column `time` of a row here; empty where no line above has a time."""
        return {} if self.time is pd.NaT else {"time": self.time}

    def warn(self, number: int, sentence: str) -> None:
        """Add a warning about a line."""
        self._warnings.append(f"line {number}: {sentence}")

    def is_time(self, at: int) -> bool:
        """Whether the line at an index is a time, which then holds for the lines below."""
        time = instant(self.all[at], at + 1, self._timezone, self._warnings)
        if time is None:
            return False
        self.time = utc([time])[0]
        return True

    def stray(self, at: int) -> None:
        """Warn of a line that is not part of the output, unless it is certainly noise."""
        line = self.all[at][:_LONGEST]
        if not _SESSION.fullmatch(line):
            self._strays.add(at + 1, line)

    def is_open(self, at: int) -> bool:
        """Whether the text ends in this line, without its newline, so that the line may be cut."""
        return at + 1 == self._open_line

    def without_cut_token(self, at: int, tokens: list[str]) -> list[str]:
        """Tokens of a line without the last one if the text ends right after it, and a warning if so."""
        if not self.is_open(at) or not self._inside or not tokens:
            return tokens
        self.warn(at + 1, f"the text ends right after {tokens[-1]!r}, which may be cut and is left out")
        return tokens[:-1]


def counter(token: str, number: int, expected: str = "a counter") -> float:
    """Return a printed counter; whole numbers over 2^53 lose their last digits, as any float."""
    if not _COUNTER.fullmatch(token):
        raise ParseError(number, expected, token)
    return float(token)


def counter_rows(
    lines: Lines, tool: str, group: str, item: str, values: "list[tuple[str, float]]", unit: str = ""
) -> list[dict]:
    """Rows of `counters`; the unit of a counter whose name ends in bytes or octets is bytes, else `unit`."""
    place = {"tool": tool, "group": group} | ({"item": item} if item else {}) | lines.stamp
    return [
        {**place, "counter": name, "value": value, "unit": unit or ("bytes" if _in_bytes(name) else "")}
        for name, value in values
    ]


def _in_bytes(name: str) -> bool:
    """Whether a counter's name ends in bytes or octets, but not in a size class such as 65_to_127_bytes."""
    return name.lower().endswith(("bytes", "octets")) and not _SIZE_CLASS.search(name)
