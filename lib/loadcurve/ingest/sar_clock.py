"""sar's clock: which instant a row means, from the day in the heading, the time before the row and a zone.

Seen: sysstat 12.6.1 on Debian 12 with the 24-hour clock of ``LC_ALL=C``, the 12-hour clock of en_US and
S_TIME_FORMAT=ISO.

What sysstat itself does (12.6, ``sar.c`` and ``common.c``):

- The date stands only in the heading, so a clock that falls by half a day is the next day.
- Every section starts again at the heading's day, even where another one has passed midnight.
- The heading names no zone, and its date has the form of the language: mm/dd/yy in C, mm/dd/yyyy in en_US.
"""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from loadcurve.errors import ParseError, ValueRuleError

CLOCK = re.compile(r"([0-9]{2}):([0-5][0-9]):([0-5][0-9])")
_HEADING = re.compile(r"Linux \S+ \(.*\)\s+(\S+)(?:\s+\S+\s*\([0-9]+ CPU\))?")
_AMERICAN = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{4}|[0-9]{2})")
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_HALF_DAY_S = 12 * 3600


class RunClock:
    """The clock of one run of sar, from its heading on.

    Parameters
    ----------
    heading : str
        The line that starts with ``Linux``.
    number : int
        Its line number.

    Raises
    ------
    ParseError
        Where the line is not a heading with a date.
    """

    def __init__(self, heading: str, number: int) -> None:
        self._midnight, self._doubt = _midnight(heading, number)
        self._twelve: bool | None = None  # whether the times carry AM or PM; not known before the first
        self._last: dict[object, tuple[int, int]] = {}  # section → days since the heading, second of the day

    def read(self, line: str, number: int, warnings: list[str]) -> tuple[int, list[str]]:
        """Second of the day at the start of a line, and the line's cells after it.

        A date that can be read in two ways gets its warning here: only the first time shows which language it was.
        """
        second, cells, with_half = _second(line.split(), number)
        if self._twelve is None and not with_half:
            warnings += self._doubt
        if with_half != (with_half if self._twelve is None else self._twelve):
            raise ParseError(number, f"a {'12' if self._twelve else '24'}-hour time as in the rows before", line)
        self._twelve = with_half
        return second, cells

    def local(self, section: object, second: int) -> datetime:
        """Local time of the next row of a section; each section counts its own midnights since the heading."""
        days, before = self._last.get(section, (0, second))
        days += before - second > _HALF_DAY_S
        self._last[section] = (days, second)
        return self._midnight + timedelta(days, second)


def zone_named(timezone: str) -> ZoneInfo:
    """Time zone of an IANA name; any other name raises `ValueRuleError`."""
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueRuleError("timezone", "the IANA name of a time zone, such as Europe/Berlin", timezone) from None


def instant(local: datetime, zone: ZoneInfo, number: int, warnings: list[str]) -> datetime:
    """UTC of a local time; of the two that a clock set back has, the first."""
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() != second.utcoffset():
        warnings.append(f"line {number}: {local} occurs twice, or never, in {zone}; read as {first.astimezone(UTC)}")
    return first.astimezone(UTC)


def _second(tokens: list[str], number: int) -> tuple[int, list[str], bool]:
    """Second of the day, the tokens after the time, and whether the time carries AM or PM."""
    match = CLOCK.fullmatch(tokens[0])
    half = tokens[1] if tokens[1:] and tokens[1] in ("AM", "PM") else ""
    if match is None or not (1 <= int(match[1]) <= 12 if half else int(match[1]) < 24):
        raise ParseError(number, "a time such as 22:33:25 or 10:33:25 PM", " ".join(tokens[:2]) if half else tokens[0])
    hour = int(match[1]) % 12 + 12 * (half == "PM") if half else int(match[1])
    return hour * 3600 + int(match[2]) * 60 + int(match[3]), tokens[1 + bool(half) :], bool(half)


def _midnight(line: str, number: int) -> tuple[datetime, list[str]]:
    """Return the start of the heading's day, and a warning for when its rows turn out to have a 24-hour clock."""
    heading = _HEADING.fullmatch(line)
    if heading is None:
        raise ParseError(number, "a heading such as 'Linux 6.1.0 (srv1) 11/20/26 _x86_64_ (2 CPU)'", line)
    american, iso = _AMERICAN.fullmatch(heading[1]), _ISO.fullmatch(heading[1])
    try:
        if iso:
            return datetime(int(iso[1]), int(iso[2]), int(iso[3])), []
        month, day, year = (int(american[i]) for i in (1, 2, 3))
        midnight = datetime(year + 2000 * (year < 100), month, day)
    except (TypeError, ValueError):
        raise ParseError(number, "a date mm/dd/yy, mm/dd/yyyy or yyyy-mm-dd", heading[1]) from None
    # LC_ALL=C prints two digits of the year; four digits without AM and PM can also be a language with dd/mm/yyyy.
    if year >= 1000 and day <= 12 and day != month:
        return midnight, [f"line {number}: {heading[1]} is read as month/day/year; nothing in the text proves it"]
    return midnight, []
