"""sar's clock: which instant a row means, from the day in the heading, the time before the row and a zone.

What sysstat itself does (12.6, ``sar.c`` and ``common.c``):

- The date stands only in the heading, so a clock that falls by half a day is the next day.
- Every section starts again at the heading's day, even where another one has passed midnight.
- The heading names no zone; ``-t`` prints the times of the machine, else they are those of the reader.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from loadcurve.errors import ValueRuleError

_HALF_DAY_S = 12 * 3600
_DAY_S = 24 * 3600
_QUARTER_S = 900  # no zone changes its clock between two quarters of an hour


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


def days(seconds: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Midnights passed since the heading, for the times of one section in their order.

    Parameters
    ----------
    seconds : array of int
        Second of the day.
    runs : array of int
        Number of the heading above; with a new one the count starts again.

    Examples
    --------
    >>> days(np.array([86399, 0, 86399, 86398, 5]), np.array([0, 0, 0, 0, 1])).tolist()
    [0, 1, 1, 1, 0]
    """
    if not len(seconds):
        return np.zeros(0, np.int64)
    same = runs[1:] == runs[:-1]
    passed = np.concatenate([[0], np.cumsum(same & (seconds[:-1] - seconds[1:] > _HALF_DAY_S))])
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    return passed - np.repeat(passed[starts], np.diff(np.append(starts, len(seconds))))


def to_utc(local: np.ndarray, zone: ZoneInfo) -> tuple[np.ndarray, np.ndarray]:
    """UTC of local times (seconds since 1970), and whether each occurs twice, or never, on that zone's clocks.

    Examples
    --------
    >>> utc, doubtful = to_utc(np.array([1792895400, 1792900000]), ZoneInfo("Europe/Berlin"))  # 2026-10-25 02:30
    >>> (1792895400 - utc[0], doubtful.tolist())
    (np.int64(7200), [True, False])
    """
    if zone.key == "UTC":
        return local, np.zeros(len(local), bool)
    quarters, place = np.unique(local // _QUARTER_S, return_inverse=True)
    offsets, later = np.zeros((2, len(quarters)), np.int64)
    for i, quarter in enumerate(quarters.tolist()):
        naive = datetime.fromtimestamp(quarter * _QUARTER_S, UTC).replace(tzinfo=zone)
        offsets[i] = naive.utcoffset().total_seconds()
        later[i] = naive.replace(fold=1).utcoffset().total_seconds()
    return local - offsets[place], (offsets != later)[place]
