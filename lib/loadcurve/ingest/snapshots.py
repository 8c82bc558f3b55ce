"""Times between the snapshots of one text.

ss prints no time, so scripts that call it in a loop write a time before each snapshot.  These formats are read, alone
on a line, after ``##``, between ``===`` or in brackets:

- ISO 8601 with a zone (``2026-11-20T23:40:00.123456789Z``, ``date -Ins``) or without one, which is a local time;
- an epoch in seconds, ``date +%s.%N``, in milliseconds (13 digits) or nanoseconds (19 digits);
- what ``date`` prints in the C and the American locale (``Sat Nov 21 02:44:46 UTC 2026``);
- the heading of watch, whose time is local: ``Every 2.0s: ss -s     host: Sat Nov 21 02:44:46 2026``.

For tools that print a few lines and no time: a collector that calls them in a loop writes the time before each
(`snapshots`).  A text that ends without a blank or a newline may have been cut inside its last number.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import UnknownLines

_DECORATION = r"[#=*+~\-\[<(]{0,40}[ \t]*(?:(?:[Dd]ate|[Tt]ime(?:stamp)?|TIME(?:STAMP)?|DATE)[:=]?[ \t]*)?"
_CLOCK = r"([0-9]{2}:[0-9]{2}:[0-9]{2})"
_ISO = re.compile(
    rf"{_DECORATION}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[T ]{_CLOCK}(?:[.,]([0-9]{{1,9}}))?[ \t]*"
    r"(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?[ \t]*[\])>:#=*+~\-]{0,40}"
)
_EPOCH = re.compile(
    rf"{_DECORATION}([0-9]{{9,10}}|[0-9]{{13}}|[0-9]{{19}})(?:\.([0-9]{{1,9}}))?[ \t]*[\])>:#=*+~\-]{{0,40}}"
)
_DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_ZONE = r"(?:[ \t]+(?P<zone>[A-Z]{1,5}|[+-][0-9]{2,4}))?"
_DATE = re.compile(
    rf"(?:Every [0-9.]+s:.{{0,400}}?[ \t]|{_DECORATION})(?:{_DAYS}),?[ \t]+"
    rf"(?:(?P<month>{_MONTHS})[ \t]+(?P<day>[0-9]{{1,2}})[ \t]+{_CLOCK.replace('(', '(?P<clock>', 1)}"
    rf"(?:[ \t]+(?P<half>[AP]M))?{_ZONE}[ \t]+(?P<year>[0-9]{{4}})"
    rf"|(?P<day2>[0-9]{{1,2}})[ \t]+(?P<month2>{_MONTHS})[ \t]+(?P<year2>[0-9]{{4}})[ \t]+"
    rf"{_CLOCK.replace('(', '(?P<clock2>', 1)}(?:[ \t]+(?P<half2>[AP]M))?{_ZONE.replace('zone', 'zone2')})"
    r"[ \t]*[\])>:#=*+~\-]{0,40}"
)
# A line that begins like a time must be one; else a snapshot would get the time of the snapshot before.
_LIKE_A_TIME = re.compile(
    rf"(?:#+[ \t]*)?[0-9]{{4}}-[0-9]{{2}}|##[ \t]*[0-9]|(?:#+[ \t]*)?(?:{_DAYS})[ \t,]+(?:{_MONTHS}|[0-9])"
)


def instant(line: str, number: int, timezone: str = "UTC", warnings: list[str] | None = None) -> np.datetime64 | None:
    """Instant of a line with a time, cut to whole microseconds; None for any other line.

    Examples
    --------
    >>> print(instant("## 2026-11-20T23:40:00.123456789Z", 1), instant("1795214067.32", 1))
    2026-11-20T23:40:00.123456 2026-11-20T22:34:27.320000
    >>> print(instant("Every 2.0s: ss -s      lb1: Sat Nov 21 02:44:46 2026", 1, "Europe/Berlin"))
    2026-11-21T01:44:46.000000
    """
    if len(line) > 500:
        return None
    try:
        if found := _ISO.fullmatch(line):
            zone = _offset(found[4]) if found[4] else ZoneInfo(timezone)
            return _instant(datetime.fromisoformat(f"{found[1]}T{found[2]}").replace(tzinfo=zone), found[3])
        if found := _EPOCH.fullmatch(line):
            digits = len(found[1])
            seconds, fraction = (found[1][:10], found[1][10:]) if digits > 10 else (found[1], found[2])
            return np.datetime64(int(seconds) * 1_000_000 + int((fraction or "").ljust(6, "0")[:6]), "us")
        if found := _DATE.fullmatch(line):
            return _date(found, number, timezone, warnings)
    except (ValueError, OverflowError):
        pass
    if _LIKE_A_TIME.match(line):
        raise ParseError(number, "a time such as ## 2026-11-20T23:40:00.123456789Z", line)
    return None


def is_instant(line: str) -> bool:
    """Whether a line is a time, even a garbled one.

    Examples
    --------
    >>> is_instant("## 2026-11-20T23:40:00Z"), is_instant("Total: 5")
    (True, False)
    """
    try:
        return instant(line.strip(), 0) is not None
    except ParseError:
        return True


def _date(found: re.Match[str], number: int, timezone: str, warnings: list[str] | None) -> np.datetime64:
    part = {name.rstrip("2"): value for name, value in found.groupdict().items() if value}
    clock, form = (f"{part['clock']} {part['half']}", "%I:%M:%S %p") if "half" in part else (part["clock"], "%H:%M:%S")
    naive = datetime.strptime(f"{part['year']} {part['month']} {part['day']} {clock}", f"%Y %b %d {form}")
    zone: tzinfo = ZoneInfo(timezone)
    named = part.get("zone", "")
    if named in ("UTC", "GMT", "Z") or named[:1] in ("+", "-"):
        zone = _offset(named)
    elif named and naive.replace(tzinfo=zone).tzname() != named:
        if warnings is not None:
            warnings.append(f"line {number}: time zone {named!r} is not that of {timezone}, so the time is missing")
        return np.datetime64("NaT", "us")
    return _instant(naive.replace(tzinfo=zone), None)


def _offset(text: str) -> tzinfo:
    if text[0] not in "+-":
        return UTC
    return datetime.strptime(text if len(text) > 3 else f"{text}00", "%z").tzinfo or UTC


def _instant(moment: datetime, fraction: str | None) -> np.datetime64:
    seconds = (moment.astimezone(UTC).replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(seconds=1)
    return np.datetime64(seconds * 1_000_000 + int((fraction or "").ljust(6, "0")[:6]), "us")


def utc(times: Iterable[np.datetime64 | None]) -> pd.DatetimeIndex:
    """Return instants in UTC for a table, missing where a snapshot has no time."""
    missing = np.datetime64("NaT", "us")
    found = [missing if time is None else time for time in times]
    return pd.DatetimeIndex(np.array(found, dtype="datetime64[us]"), tz="UTC")


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
) -> list[dict[str, Any]]:
    """Rows of `counters`; the unit of a counter whose name ends in bytes or octets is bytes, else `unit`."""
    place = {"tool": tool, "group": group} | ({"item": item} if item else {}) | lines.stamp
    return [
        {**place, "counter": name, "value": value, "unit": unit or ("bytes" if _in_bytes(name) else "")}
        for name, value in values
    ]


def _in_bytes(name: str) -> bool:
    """Whether a counter's name ends in bytes or octets, but not in a size class such as 65_to_127_bytes."""
    return name.lower().endswith(("bytes", "octets")) and not _SIZE_CLASS.search(name)
