"""ss: lists of sockets and summaries, alone or in one text, into `connections` and `sockets`.

A collector often runs ``date; ss -s; ss -tan`` in a loop; each reader is given the lines of its own and all times, so
that both tables use one clock.  `ss_connections` describes the lists.

Seen: iproute2 6.1 on Debian 12 (every sample of the tests), alone and as a series with a time before each snapshot
(`snapshots`); forms of iproute2 2.6 to 6.x in public repositories.

Summaries, ``ss -s`` (iproute2 6.1, ``misc/ss.c``, ``print_summary``):

- The first number after ``TCP:`` and ``closed`` include time-wait, ``orphaned`` is machine-wide, and ``closed`` is a
  difference of counts of different scope, so that it can be negative.
- The transport table has IP + IPv6 = Total in each row, and RAW + UDP + TCP = INET in each column.
- Older versions have also ``(kernel N)``, ``synrecv``, ``N/N``, ``ports`` and a row ``*``.
"""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.snapshots import instant, is_instant, utc
from loadcurve.ingest.sockets.ss_connections import ERROR, HEADER, ROW_LIKE, is_around, parse_ss_connections, unwrapped

_N = r"[0-9]{1,18}"
# The lines of ss -s in their order: first word and shape.  A group's name is its column.
_SUMMARY = {
    "Total:": re.compile(rf"Total:\s+(?P<total>{_N})(?:\s+\(kernel\s+{_N}\))?"),
    "TCP:": re.compile(
        rf"TCP:\s+(?P<tcp>{_N})\s+\(estab\s+(?P<established>{_N}), closed\s+(?P<closed>-?{_N})"
        rf", orphaned\s+(?P<orphaned>{_N})(?:, synrecv\s+(?P<synrecv>{_N}))?"
        rf", timewait\s+(?P<time_wait>{_N})(?:/{_N})?\)(?:, ports\s+(?P<ports>{_N}))?"
    ),
    "Transport": re.compile(r"Transport\s+Total\s+(?:IP|ip)\s+IPv6"),
    "*": re.compile(rf"\*\s+{_N}\s+-\s+-"),
    "RAW": re.compile(rf"RAW\s+(?P<raw>{_N})\s+({_N})\s+({_N})"),
    "UDP": re.compile(rf"UDP\s+(?P<udp>{_N})\s+({_N})\s+({_N})"),
    "TCP": re.compile(rf"TCP\s+(?P<transport_tcp>{_N})\s+(?P<transport_tcp_ipv4>{_N})\s+(?P<transport_tcp_ipv6>{_N})"),
    "INET": re.compile(rf"INET\s+({_N})\s+({_N})\s+({_N})"),
    "FRAG": re.compile(rf"FRAG\s+(?P<fragments>{_N})\s+({_N})\s+({_N})"),
}
_ORDER = list(_SUMMARY)
_TRANSPORT = _ORDER[4:]
_LINE = re.compile(
    r"^[ \t]{0,200}(?:Total:|TCP:|Transport[ \t]+Total|\*[ \t]+[0-9]+[ \t]+-[ \t]+-"
    r"|(?:RAW|UDP|TCP|INET|FRAG)(?:[ \t]+[0-9]+){3}[ \t]*$)",
    re.MULTILINE,
)
_LIST = re.compile(rf"^[ \t]{{0,200}}(?:{HEADER}|{ROW_LIKE})", re.MULTILINE)
_ERROR = re.compile(ERROR)


def parse_ss(text: str, timezone: str = "UTC") -> Parsed:
    """Return the tables `connections` and `sockets` of the lists and summaries in a text of ss.

    `text` is output of one or several calls of ss, with any options, each perhaps after a line with its time.  Raises
    ParseError where a line is not what ss prints, and where there is neither a list nor a summary.
    """
    try:
        return _parse(text, timezone)
    except ParseError:
        whole, changed = unwrapped(text)
        if not changed:
            raise
        with suppress(ParseError):
            parsed = _parse(whole, timezone)
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            joined = f"line {changed[0]}{more}: broken in parts, which were joined"
            return replace(parsed, warnings=(joined, *parsed.warnings))
        raise


def _parse(text: str, timezone: str) -> Parsed:
    # A search for words is faster than one for patterns, and a list may have a million sockets.
    if "TCP" not in text or not _LINE.search(text):
        lists = parse_ss_connections(text, timezone)
        # A text with times only may belong to summaries.
        return lists if _LIST.search(text) else Parsed("ss", {}, lists.warnings)
    if not _LIST.search(text):
        return parse_ss_summary(text, timezone)
    lines = text.split("\n")
    last = len(lines) - 1
    own = [_LINE.match(line) is not None for line in lines]
    shared = [not own[i] and i < last and is_instant(line) for i, line in enumerate(lines)]
    summaries = parse_ss_summary(
        "\n".join(line if mine or both else "" for line, mine, both in zip(lines, own, shared, strict=True)), timezone
    )
    rest = "\n".join("" if mine else line for line, mine in zip(lines, own, strict=True))
    lists = parse_ss_connections(rest, timezone)
    warnings = dict.fromkeys([*summaries.warnings, *lists.warnings])
    no_snapshot = "the text ends with a time and no snapshot"  # it may be followed by one of the other kind
    tables = {"sockets": summaries.tables.rows("sockets"), "connections": lists.tables.rows("connections")}
    return Parsed("ss", Tables(tables), tuple(text for text in warnings if no_snapshot not in text))


def parse_ss_summary(text: str, timezone: str = "UTC") -> Parsed:
    """Table `sockets` of one or several ``ss -s``.

    One row for each snapshot; `time` is missing where no time was given, `fragments` where ss printed no ``FRAG`` row.
    A snapshot without other lines keeps what it has, with a warning.  Raises ParseError where a line is not what ss
    prints, the counts do not add up, or there is no summary.
    """
    cursor = Cursor(text, "ss")
    summaries = _Summaries(cursor, timezone)
    for _ in cursor:
        summaries.take()
    summaries.close()
    if not summaries.rows:
        number, line = (summaries.errors or summaries.unknown or [(1, "")])[0]
        raise ParseError(number, "a summary of ss -s", line)
    if summaries.timed:
        cursor.warnings.append(f"line {summaries.timed}: the text ends with a time and no snapshot")
    warnings = [f"line {n}: not read: {s[:80]!r}" for n, s in (*summaries.errors, *summaries.unknown)[:5]]
    table = pd.DataFrame(summaries.rows)
    table["time"] = utc(summaries.times)
    return Parsed("ss", {"sockets": table}, (*warnings, *cursor.warnings))


class _Summaries:
    """State of the reader: whole snapshots as `rows` with `times`, and the current one."""

    def __init__(self, cursor: Cursor, timezone: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self.times: list[Any] = []
        self.timed = 0  # line of a time after which no snapshot has begun
        self.errors: list[tuple[int, str]] = []
        self.unknown: list[tuple[int, str]] = []
        self._cursor = cursor
        self._timezone = timezone
        self._lines: dict[str, re.Match[str]] = {}  # of the current snapshot
        self._began = 0
        self._time: np.datetime64 | None = None

    def take(self) -> None:
        """Read the current line; the last line of a text may be cut unless a blank follows."""
        cursor, line = self._cursor, self._cursor.line
        word = line.split(None, 1)[0]
        if word in _SUMMARY:
            match = cursor.match(_SUMMARY[word])
            if cursor.warn_if_cut(match and (cursor.raw[-1].isspace() or self._is_whole(word, match))):
                return
            match = match or cursor.fail(f"the line {word!r} of ss -s")
            if (word in ("Total:", "TCP:") and word in self._lines) or (word == "Total:" and self._lines):
                self.close()
            self._add(word, match)
            return
        time = None if cursor.at_end else instant(line, cursor.number, self._timezone, cursor.warnings)
        if time is not None:
            self.close()
            self._time, self.timed = time, cursor.number
        elif _ERROR.fullmatch(line):
            self.errors.append((cursor.number, line))
        elif cursor.warn_if_cut(not any(name.startswith(line) for name in _SUMMARY)):
            return
        elif self._lines and _ORDER.index(next(reversed(self._lines))) < _ORDER.index("INET") and not is_around(line):
            cursor.fail("the next line of the summary")
        elif self._lines and line[0].isdigit():
            cursor.fail("a time or the line 'Total:' of the next snapshot")
        elif not is_around(line):
            self.unknown.append((cursor.number, line))

    @staticmethod
    def _is_whole(word: str, match: re.Match[str]) -> bool:
        """Whether a line without its newline is not cut inside a number."""
        if word in _TRANSPORT:
            return int(match[1]) == int(match[2]) + int(match[3])
        return match[0].endswith(")") or word == "Transport"

    def _add(self, word: str, match: re.Match[str]) -> None:
        if not self._lines:
            self._began, self.timed = self._cursor.number, 0
        elif _ORDER.index(word) <= _ORDER.index(next(reversed(self._lines))):
            self._cursor.fail("a time or the line 'Total:' of the next snapshot")
        self._lines[word] = match
        if word not in _TRANSPORT:
            return
        total, ipv4, ipv6 = counts = [int(token) for token in match.groups()]
        if total != ipv4 + ipv6:
            self._cursor.fail(f"a total of {ipv4} + {ipv6} = {ipv4 + ipv6}")
        if word == "INET" and {"RAW", "UDP", "TCP"} <= self._lines.keys():
            sums = [sum(int(self._lines[part][i]) for part in ("RAW", "UDP", "TCP")) for i in (1, 2, 3)]
            if counts != sums:
                self._cursor.fail("RAW + UDP + TCP = {} {} {}".format(*sums))

    def close(self) -> None:
        """Add a row for the snapshot read so far, if any."""
        lines, self._lines = self._lines, {}
        if not lines:
            return
        tokens = {name: token for match in lines.values() for name, token in match.groupdict().items()}
        row: dict[str, Any] = {name: int(token) for name, token in tokens.items() if token}
        warnings, at = self._cursor.warnings, self._began
        if row.get("closed", 0) < 0:
            shown, row["closed"] = f"'closed {row['closed']}'", None
            warnings.append(f"line {at}: {shown} is missing: ss subtracts counts that differ in scope")
        absent = [word for word in _ORDER if word not in ("*", "FRAG") and word not in lines]
        if absent:
            warnings.append(f"line {at}: the summary from here on has no line {', '.join(map(repr, absent))}")
        if row:
            self.rows.append({"tool": "ss", **row})
            self.times.append(self._time)
            self._time = None
