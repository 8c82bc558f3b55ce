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


def days(
    seconds: np.ndarray, runs: np.ndarray, heads: np.ndarray, restarts: np.ndarray, ended: np.ndarray
) -> np.ndarray:
    """Midnights passed since the heading, for the times below one set of columns in their order.

    A recording's section begins at the day of the heading, or of the restart before it, also where another section
    with the same columns has passed midnight (old versions print ``INTR intr/s`` for the sum and for each interrupt).

    Parameters
    ----------
    seconds : array of int
        Second of the day.
    runs : array of int
        Number of the heading above; with a new one the count starts again.
    heads : array of bool
        Whether it is a header row.  A repeated one has the time of the row before it.
    restarts : array of bool
        Whether it is a restart.
    ended : array of int
        Averages before it: they end a section of a recording.

    Examples
    --------
    >>> no = np.zeros(5, bool)
    >>> days(np.array([86399, 0, 86399, 86398, 5]), np.array([0, 0, 0, 0, 1]), no, no, no).tolist()
    [0, 1, 1, 1, 0]
    >>> twice = np.array([True, False, False, True, False])
    >>> days(np.array([86398, 86399, 0, 86398, 0]), no, twice, no, np.array([0, 0, 0, 1, 1])).tolist()
    [0, 0, 1, 0, 1]
    """
    size = len(seconds)
    if not size:
        return np.zeros(0, np.int64)
    places = np.arange(size)
    same = np.concatenate([[False], runs[1:] == runs[:-1]])
    before = np.concatenate([seconds[:1], seconds[:-1]])
    over = np.concatenate([[False], ended[1:] > ended[:-1]])
    anchors = np.maximum.accumulate(np.where(restarts | ~same, places, 0))
    following = np.append(np.flatnonzero(heads), size - 1)
    began = seconds[following[np.searchsorted(following, anchors)]]
    latest = np.maximum.accumulate(np.where(heads, places, 0))
    latest = np.concatenate([[0], latest[:-1]])  # header row before each line
    again = same & heads & ~np.concatenate([[False], restarts[:-1]])
    first_again = again & (over | ((seconds == began) & (seconds != before)))
    # Live, two sections with the same columns follow each other in each interval.
    twin = (
        again & ~first_again & (latest > anchors) & heads[latest] & (seconds == seconds[latest]) & (seconds != before)
    )
    parts = first_again | twin
    falls = same & ~parts & (before - seconds > _HALF_DAY_S)
    passed = np.cumsum(falls)
    starts = np.flatnonzero(~same | parts)
    part = np.searchsorted(starts, places, "right") - 1
    local = passed - passed[starts][part]
    first = np.zeros(len(starts), np.int64)
    for i, start in enumerate(starts.tolist()):
        anchor = latest[start] if twin[start] else anchors[start]
        first[i] = 0 if anchor == start else local[anchor] + first[part[anchor]]
    return local + first[part]


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
