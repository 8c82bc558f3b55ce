"""Times between the snapshots of one text.

ss prints no time, so scripts that call it in a loop write a time before each snapshot.  These formats are read, alone
on a line, after ``##``, between ``===`` or in brackets:

- ISO 8601 with a zone (``2026-11-20T23:40:00.123456789Z``, ``date -Ins``) or without one, which is a local time;
- an epoch in seconds, ``date +%s.%N``, in milliseconds (13 digits) or nanoseconds (19 digits);
- what ``date`` prints in the C and the American locale (``Sat Nov 21 02:44:46 UTC 2026``);
- the heading of watch, whose time is local: ``Every 2.0s: ss -s     host: Sat Nov 21 02:44:46 2026``.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError

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


def _date(found: re.Match, number: int, timezone: str, warnings: list[str] | None) -> np.datetime64:
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
