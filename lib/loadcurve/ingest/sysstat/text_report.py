r"""Read lines of mpstat, pidstat and iostat: headings, header rows and rows, with their instants.

Output of sysstat (12.6, ``common.c``, ``mpstat.c``, ``pidstat.c``):

- ``print_gal_header``: the heading of sar, ``Linux <kernel> (<host>) \t<date> \t_<architecture>_\t(<n> CPU)``.
- A row's time is the end of its interval; a header row's time is the end of the previous one.  Without an interval
  on the command line both are equal, and the values are averages since the machine was started.
- Only the heading has the date, so a clock that falls by half a day marks the next day.
- ``Average:`` is translated, the names of columns are not; in some languages numbers have a decimal comma.
- ``--human``: ``1.5G``, ``0.0k``, ``20.8%``; 1024-based (``cprintf_unit``).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise, nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.heading import Heading, read_date, read_heading
from loadcurve.ingest.sysstat.labels import word_of
from loadcurve.ingest.sysstat.sar_lines import plain
from loadcurve.ingest.sysstat.values import _NUMBER

_TIME = re.compile(r"([0-9]{2}):([0-5][0-9]):([0-5][0-9])(?: ([AP]M))?(?=[ \t]|$)")
STAMP = re.compile(
    r"(?:[^\W\d_]{1,20} ?[:：] ?)?"
    r"(?:([0-9]{1,4}[/.-] ?[0-9]{1,2}[/.-] ?[0-9]{2,4}\.?|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日)[T ])? *"
    r"([0-9]{1,2})[:时時] ?([0-9]{2})[:分] ?([0-9]{2})秒?(?: ([AP]M))?([+-][0-9]{2}:?[0-9]{2})?"
)
"""A time alone, perhaps after ``Time:`` in any language, or after a date."""
_EPOCH = re.compile(r"([0-9]{9,10})(?=[ \t])")
_AVERAGE = re.compile(r"([^\W\d_][^\d:：%]{1,24}?) ?[:：](?=[ \t]|$)")
_AVERAGE_ROW = re.compile(_AVERAGE.pattern + r"[ \t]+(?:all|CPU|NODE|UID|USER|PID|TGID|[0-9])")
_LEGEND = re.compile(r"#[ \t]*Time(?=[ \t])")
_COMMA = re.compile(r"[0-9],[0-9]{2}(?![0-9,])")
_LONGEST = 400  # characters
_DAY_S, _HALF_DAY_S = 24 * 3600, 12 * 3600


@dataclass(frozen=True)
class Row:
    """One row under its header."""

    number: int  # Its line, from 1
    host: str  # Name in the heading above it; empty if there is none
    columns: tuple[str, ...]  # Printed names, without the time
    text: str  # The row without the time
    time: datetime | None  # End of its interval, in UTC; None for an average, and if the text has no date
    statistic: str  # `average` for the tool's own average, or one since the machine was started; empty for a sample

    @property
    def sample(self) -> dict[str, Any]:
        """Columns `host` and `time`, if known."""
        return {**({"host": self.host} if self.host else {}), **({"time": self.time} if self.time else {})}


class Reader:
    """Rows of one text of one tool."""

    def __init__(self, text: str, tool: str, timezone: str, warnings: list[str]) -> None:
        self.lines = plain(text).split("\n")
        self.hosts: list[dict[str, Any]] = []
        self.host = ""
        self._tool, self._warnings = tool, warnings
        self.instants = Instants(zone_named(timezone), warnings)
        head = text[: 1 << 18]
        self._american = re.search(r"^[0-9:]{8} [AP]M ", "\n".join(self.lines[:400]), re.MULTILINE) is not None
        words = {word_of(found[1]).foreign for line in self.lines if (found := _AVERAGE_ROW.match(line))}
        self._foreign = bool(_COMMA.search(head) or True in words)
        self._midnight, self._days, self._last = math.nan, 0, -1

    def heading(self, line: str, number: int) -> None:
        """Take a heading: its host goes to `hosts`, its day to the rows below."""
        self._begin(read_heading(line.replace("\t", " "), number))

    def _begin(self, heading: Heading) -> None:
        self._midnight, doubt = read_date(heading, self._american, self._foreign)
        if doubt:
            self._warnings.append(doubt)
        self._days, self._last = 0, -1
        self.host = heading.host
        self.hosts.append(heading.row(self._tool, self._day()))

    def _day(self) -> datetime | None:
        if math.isnan(self._midnight):
            return None
        return self.instants.utc(datetime.fromtimestamp(self._midnight, UTC).replace(tzinfo=None), "", 0)

    def time(self, second: int, number: int) -> datetime | None:
        """Return the instant of a row's time of day; None if the day is not known."""
        self._days += self._last - second > _HALF_DAY_S
        self._last = second
        if math.isnan(self._midnight):
            return None
        local = datetime.fromtimestamp(self._midnight, UTC).replace(tzinfo=None)
        return self.instants.utc(local + timedelta(self._days, second), "", number)

    def document(self, facts: Mapping[str, object], number: int) -> None:
        """Take the header of a JSON document, which has the facts of a heading."""
        release, host, date = (str(facts.get(name, "")) for name in ("release", "nodename", "date"))
        cpus = facts.get("number-of-cpus")
        whole = cpus if isinstance(cpus, int) and 0 <= cpus < 10**7 else None
        number = next((i for i, line in enumerate(self.lines[number - 1 :], number) if '"date"' in line), number)
        self._begin(Heading(number, release, host, date, str(facts.get("machine", "")), whole))

    def stamp(self, text: object, number: int) -> dict[str, Any]:
        """Return host and instant of an interval of a JSON document; no instant if it has none."""
        if text is None:
            return self.sample(None)
        match = STAMP.fullmatch(plain(str(text)).strip())
        if match is None:
            raise ParseError(number, "a time such as 22:33:26 or 11/20/2026 10:33:25 PM", str(text))
        return self.sample(self.stamped(match, number))

    def sample(self, time: datetime | None) -> dict[str, object]:
        """Columns `host` and `time`, as far as they are known."""
        return {**({"host": self.host} if self.host else {}), **({"time": time} if time else {})}

    def stamped(self, match: re.Match[str], number: int) -> datetime | None:
        """Instant of a match of `STAMP`; None where neither it nor the heading has a date."""
        hour = int(match[2]) % 12 + 12 * (match[5] == "PM") if match[5] else int(match[2])
        if hour > 23 or int(match[3]) > 59 or int(match[4]) > 59:
            raise ParseError(number, "a time such as 22:33:26 or 11/20/2026 10:33:25 PM", match[0])
        second = hour * 3600 + int(match[3]) * 60 + int(match[4])
        if not match[1]:
            return self.time(second, number)
        midnight, doubt = read_date(Heading(number, "", "", match[1], "", None), bool(match[5]), self._foreign)
        if doubt:
            self.instants.doubt(doubt.partition(": ")[2], number)
        if math.isnan(midnight):
            return None
        local = datetime.fromtimestamp(midnight, UTC).replace(tzinfo=None) + timedelta(seconds=second)
        return self.instants.utc(local, (match[6] or "").replace(":", ""), number)

    def rows(self, is_header: Callable[[list[str]], bool], complete: Callable[[str], bool]) -> Iterator[Row]:
        """Yield every row; a last line without a newline only if it is `complete`."""
        columns: tuple[str, ...] = ()
        header_second = -1
        for number, raw in enumerate(self.lines, 1):
            line = raw.strip()
            if not line:
                continue
            last = number == len(self.lines)  # without a newline
            if line.startswith("Linux ") and last:
                self._warnings.append(f"line {number}: the text ends inside a heading, which is left out")
                continue
            if line.startswith("Linux "):
                self.heading(line, number)
                columns = ()
                continue
            second, rest, word = self._prefix(line, number)
            if rest is not None and is_header(rest.split()):
                columns, header_second = tuple(rest.split()), second
                if 0 <= second < _DAY_S:
                    self._last = second if self._last < 0 else self._last  # the first row may be after midnight
                continue
            if rest is None or not (columns or second >= 0):
                cells = line.split()
                if is_header(cells[1:]) or is_header(cells[2:]) or (columns and _is_row(cells, columns)):
                    raise ParseError(number, "a time of day such as 22:33:25 at the beginning", line)
                if not is_shell_noise(line):
                    self._warnings.append(f"line {number}: not understood, left out: {line[:60]!r}")
                continue
            if not columns:
                raise ParseError(number, f"a header row of {self._tool} before this row", line)
            if last and not (len(rest.split()) == len(columns) and complete(rest)):
                self._warnings.append(f"line {number}: the text ends inside a row, which is left out")
                continue
            time, statistic = None, self._statistic(word, number)
            if not statistic:
                # pidstat -H, and -h of older versions, print seconds since 1970.
                epoch = second >= _DAY_S
                time = datetime.fromtimestamp(second, UTC) if epoch else self.time(second, number)
                if second == header_second and not epoch:
                    self.instants.doubt("the values are averages since the machine was started", number)
                    statistic = "average"
            yield Row(number, self.host, columns, rest, None if statistic else time, statistic)

    def parsed(self, tables: dict[str, list[dict[str, Any]]], expected: str) -> Parsed:
        """Return the tables that have rows, and the hosts; without any row, raise that `expected` is missing."""
        if not any(tables.values()):
            raise nothing_in("\n".join(self.lines), expected)
        filled = {name: rows for name, rows in {**tables, "hosts": self.hosts}.items() if rows}
        return Parsed(self._tool, filled, tuple(self._warnings))

    def _statistic(self, word: str, number: int) -> str:
        """Statistic that a word before a row names; empty without a word."""
        if word and not word_of(word).statistic:
            self.instants.doubt(f"{word!r} is not a known word for an average, but is read as one", number)
        return word and (word_of(word).statistic or "average")

    def _prefix(self, line: str, number: int) -> tuple[int, str | None, str]:
        """Second of the day (or since 1970), the rest of the line, and the word before an average; no rest: neither."""
        if match := _TIME.match(line):
            hour = int(match[1])
            if not (1 <= hour <= 12 if match[4] else hour < 24):
                raise ParseError(number, "a time of day such as 22:33:25 or 10:33:25 PM", line)
            hour = hour % 12 + 12 * (match[4] == "PM") if match[4] else hour
            return hour * 3600 + int(match[2]) * 60 + int(match[3]), line[match.end() :].strip(), ""
        if match := _LEGEND.match(line):
            return -1, line[match.end() :].strip(), ""
        if match := _EPOCH.match(line):
            return int(match[1]), line[match.end() :].strip(), ""
        if match := _AVERAGE.match(line):
            return -1, line[match.end() :].strip(), match[1]
        return -1, None, ""


def _is_row(cells: list[str], columns: tuple[str, ...]) -> bool:
    """Whether a line is a row whose time is garbled."""
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return len(columns) < len(cells) <= len(columns) + 2 and 2 * numbers > len(columns)


def is_shell_noise(line: str) -> bool:
    """Whether a shell or a terminal wrote a line around a report; long lines are not checked.

    Examples
    --------
    >>> is_shell_noise("$ mpstat 1 3"), is_shell_noise("22:33:26 all")
    (True, False)
    """
    return len(line) <= _LONGEST and is_noise(line)
