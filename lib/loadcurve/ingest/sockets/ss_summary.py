"""ss: summaries (``ss -s``) into the table `sockets`.

Seen: iproute2 6.1 on Debian 12 (every sample of the tests), alone and as a series with a time before each snapshot
(`snapshots`); older forms in public repositories.

Output of ss (iproute2 6.1, ``misc/ss.c``, ``print_summary``):

- The first number after ``TCP:`` and ``closed`` include time-wait, ``orphaned`` is machine-wide, and ``closed`` is a
  difference of counts of different scope, so that it can be negative.
- The transport table has IP + IPv6 = Total in each row, and RAW + UDP + TCP = INET in each column.
- Older versions have also ``(kernel N)``, ``synrecv``, ``N/N``, ``ports`` and a row ``*``.
"""

import re

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.snapshots import instant, utc
from loadcurve.ingest.sockets.ss_lines import ERROR, is_around

_TRANSPORT = ("RAW", "UDP", "TCP", "INET", "FRAG")
_N = r"\s+([0-9]{1,18})"
# The lines of ss -s in their order: first word and shape.
_SUMMARY = {
    "Total:": re.compile(rf"Total:{_N}(?:\s+\(kernel\s+[0-9]{{1,18}}\))?"),
    "TCP:": re.compile(
        rf"TCP:{_N}\s+\(estab{_N}, closed\s+(-?[0-9]{{1,18}}), orphaned{_N}(?:, synrecv{_N})?"
        rf", timewait{_N}(?:/[0-9]{{1,18}})?\)(?:, ports{_N})?"
    ),
    "Transport": re.compile(r"Transport\s+Total\s+(?:IP|ip)\s+IPv6"),
    "*": re.compile(r"\*\s+[0-9]{1,18}\s+-\s+-"),
    **{word: re.compile(rf"{word}{_N}{_N}{_N}") for word in _TRANSPORT},
}
_ORDER = list(_SUMMARY)
LINE = (
    r"(?:Total:|TCP:|Transport[ \t]+Total|\*[ \t]+[0-9]+[ \t]+-[ \t]+-"
    r"|(?:RAW|UDP|TCP|INET|FRAG)(?:[ \t]+[0-9]+){3}[ \t]*$)"
)
"""Beginning of a line of a summary."""
_ERROR = re.compile(ERROR)


def parse_ss_summary(text: str, timezone: str = "UTC") -> Parsed:
    """Table `sockets` of one or several ``ss -s``.

    One row for each snapshot; `time` is missing where no time was given, `fragments` where ss printed no ``FRAG`` row.
    A snapshot without other lines keeps what it has, with a warning.  Raises ParseError where a line is not what ss
    prints, the counts do not add up, or there is no summary.

    Examples
    --------
    >>> text = '''1795214067.320213382
    ... Total: 32
    ... TCP:   11803 (estab 28, closed 11773, orphaned 0, timewait 11737)
    ...
    ... Transport Total     IP        IPv6
    ... RAW       0         0         0
    ... UDP       0         0         0
    ... TCP       30        30        0
    ... INET      30        30        0
    ... FRAG      0         0         0
    ... '''
    >>> parse_ss_summary(text).tables["sockets"][["established", "time_wait", "transport_tcp"]].values.tolist()
    [[28, 11737, 30]]
    """
    reading = _Reading(timezone)
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line and not line.isspace():
            reading.take(line.strip(), number, number == len(lines), line[-1].isspace())
    reading.close()
    if not reading.rows:
        number, line = (reading.errors or reading.unknown or [(1, "")])[0]
        raise ParseError(number, "a summary of ss -s", line)
    if reading.timed:
        reading.warnings.append(f"line {reading.timed}: the text ends with a time and no snapshot")
    warnings = [f"line {n}: not read: {s[:80]!r}" for n, s in (*reading.errors, *reading.unknown)[:5]]
    table = pd.DataFrame(reading.rows)
    table["time"] = utc(reading.times)
    return Parsed("ss", {"sockets": table}, (*warnings, *reading.warnings))


def _is_whole(word: str, match: re.Match) -> bool:
    """Whether a line without its newline is not cut inside a number."""
    if word in _TRANSPORT:
        return int(match[1]) == int(match[2]) + int(match[3])
    return match[0].endswith(")") or word == "Transport"


class _Reading:
    """State of the reader: whole snapshots as `rows` with `times`, the current one as `counts`."""

    def __init__(self, timezone: str) -> None:
        self.timezone = timezone
        self.rows: list[dict] = []
        self.times: list = []
        self.counts: dict[str, list[int | None]] = {}
        self.began = 0
        self.time: np.datetime64 | None = None
        self.timed = 0  # line of a time after which no snapshot has begun
        self.warnings: list[str] = []
        self.errors: list[tuple[int, str]] = []
        self.unknown: list[tuple[int, str]] = []

    def take(self, line: str, number: int, open_end: bool, blank_end: bool) -> None:
        """Read a line; the last line of a text has an open end and may be cut unless a blank follows."""
        word = line.split(None, 1)[0]
        if word in _SUMMARY:
            match = _SUMMARY[word].fullmatch(line)
            if open_end and not (match and (blank_end or _is_whole(word, match))):
                self.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:80]!r}")
                return
            if match is None:
                raise ParseError(number, f"the line {word!r} of ss -s", line)
            if (word in ("Total:", "TCP:") and word in self.counts) or (word == "Total:" and self.counts):
                self.close()
            self._add(word, [int(value) if value else None for value in match.groups()], number, line)
            return
        time = None if open_end else instant(line, number, self.timezone, self.warnings)
        if time is not None:
            self.close()
            self.time, self.timed = time, number
        elif _ERROR.fullmatch(line):
            self.errors.append((number, line))
        elif open_end and any(name.startswith(line) for name in _SUMMARY):
            self.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line!r}")
        elif self.counts and _ORDER.index(next(reversed(self.counts))) < _ORDER.index("INET") and not is_around(line):
            raise ParseError(number, "the next line of the summary", line)
        elif self.counts and line[0].isdigit():
            raise ParseError(number, "a time or the line 'Total:' of the next snapshot", line)
        elif not is_around(line):
            self.unknown.append((number, line))

    def _add(self, word: str, counts: list[int | None], number: int, line: str) -> None:
        if not self.counts:
            self.began, self.timed = number, 0
        elif _ORDER.index(word) <= _ORDER.index(next(reversed(self.counts))):
            raise ParseError(number, "a time or the line 'Total:' of the next snapshot", line)
        self.counts[word] = counts
        if word not in _TRANSPORT:
            return
        total, ipv4, ipv6 = (count or 0 for count in counts)
        if total != ipv4 + ipv6:
            raise ParseError(number, f"a total of {ipv4} + {ipv6} = {ipv4 + ipv6}", line)
        if word == "INET" and all(part in self.counts for part in ("RAW", "UDP", "TCP")):
            parts = (self.counts[part] for part in ("RAW", "UDP", "TCP"))
            sums = [sum(count or 0 for count in column) for column in zip(*parts, strict=True)]
            if counts != sums:
                raise ParseError(number, "RAW + UDP + TCP = {} {} {}".format(*sums), line)

    def close(self) -> None:
        """Add a row for the snapshot read so far, if any."""
        counts, self.counts = self.counts, {}
        if not counts:
            return
        row: dict = {"tool": "ss"}
        if "Total:" in counts:
            row["total"] = counts["Total:"][0]
        if "TCP:" in counts:
            names = ("tcp", "established", "closed", "orphaned", "synrecv", "time_wait", "ports")
            row |= {name: value for name, value in zip(names, counts["TCP:"], strict=True) if value is not None}
            if row["closed"] < 0:
                shown, row["closed"] = f"'closed {row['closed']}'", None
                self.warnings.append(f"line {self.began}: {shown} is missing: ss subtracts counts that differ in scope")
        for word, name in (("RAW", "raw"), ("UDP", "udp"), ("FRAG", "fragments")):
            if word in counts:
                row[name] = counts[word][0]
        if "TCP" in counts:
            row |= dict(zip(("transport_tcp", "transport_tcp_ipv4", "transport_tcp_ipv6"), counts["TCP"], strict=True))
        absent = [word for word in _ORDER if word not in ("*", "FRAG") and word not in counts]
        if absent:
            self.warnings.append(
                f"line {self.began}: the summary from here on has no line {', '.join(map(repr, absent))}"
            )
        if len(row) > 1:
            self.rows.append(row)
            self.times.append(self.time)
            self.time = None
