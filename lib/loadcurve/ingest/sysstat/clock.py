"""Time zones, and local times that a tool prints with the abbreviation of their zone, which can mean several zones."""

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from loadcurve.errors import ParseError, ValueRuleError

ABBREVIATION = re.compile(r"[A-Z]{2,5}|[+-][0-9]{2}(?:[0-9]{2})?")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]")
_EPOCH = re.compile(r"[0-9]{9,11}")


def zone_named(timezone: str) -> ZoneInfo:
    """Time zone of an IANA name; any other name raises `ValueRuleError`."""
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueRuleError("timezone", "the IANA name of a time zone, such as Europe/Berlin", timezone) from None


def instant(local: datetime, zone: ZoneInfo, number: int, warnings: list[str]) -> datetime:
    """Return the UTC instant of a local time; if a clock set back makes it occur twice, the first."""
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() != second.utcoffset():
        warnings.append(f"line {number}: {local} occurs twice, or never, in {zone}; read as {first.astimezone(UTC)}")
    return first.astimezone(UTC)


class Instants:
    """Instants of one text, in UTC.

    Examples
    --------
    >>> instants = Instants(ZoneInfo("Asia/Tokyo"), [])
    >>> str(instants.read("2026-11-20 22:33:26 UTC", 1)), str(instants.read("2026-11-20 22:33:26", 2))
    ('2026-11-20 22:33:26+00:00', '2026-11-20 13:33:26+00:00')
    """

    def __init__(self, zone: ZoneInfo, warnings: list[str]) -> None:
        self._zone, self._warnings = zone, warnings
        self._known: dict[str, datetime] = {}
        self._doubts: set[str] = set()

    def read(self, text: str, number: int) -> datetime:
        """UTC of ``2026-11-20 22:33:26``, perhaps with an abbreviation after it, or of seconds since 1970."""
        if text not in self._known:
            self._known[text] = self._read(text, number)
        return self._known[text]

    def doubt(self, sentence: str, number: int) -> None:
        """Warn about a doubt that many lines share, naming the first of them."""
        if sentence not in self._doubts:
            self._doubts.add(sentence)
            self._warnings.append(f"line {number}: {sentence}")

    def _read(self, text: str, number: int) -> datetime:
        words = text.split()
        if len(words) == 1 and _EPOCH.fullmatch(words[0]):
            return datetime.fromtimestamp(int(words[0]), UTC)
        name = words.pop() if len(words) == 3 and ABBREVIATION.fullmatch(words[2]) else ""
        if len(words) != 2 or not DAY.fullmatch(words[0]) or not CLOCK.fullmatch(words[1]):
            raise ParseError(number, "a time such as 2026-11-20 22:33:26 UTC", text)
        try:
            return self.utc(datetime.fromisoformat(f"{words[0]}T{words[1]}"), name, number)
        except (ValueError, OverflowError):
            raise ParseError(number, "a date and a time that exist", text) from None

    def utc(self, local: datetime, name: str, number: int) -> datetime:
        """UTC of a local time; the abbreviation of its zone is used if it has only one meaning."""
        if name in ("UTC", "GMT"):
            return local.replace(tzinfo=UTC)
        if name[:1] in ("+", "-") and name:
            ahead = timedelta(hours=int(name[1:3]), minutes=int(name[3:] or 0))
            return local.replace(tzinfo=timezone(-ahead if name[0] == "-" else ahead)).astimezone(UTC)
        if name and local.replace(tzinfo=self._zone).tzname() != name:
            self.doubt(f"times are in {name!r} but read as {self._zone}: name the zone they are in", number)
        return instant(local, self._zone, number, self._warnings)
