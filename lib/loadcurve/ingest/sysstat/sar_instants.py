"""Compute the instant of each line of sar from the day in the heading, the midnights since, and the zone.

Output of sysstat (12.6, ``sar.c`` and ``common.c``):

- Only the heading has the date, so a clock that falls by half a day marks the next day.
- Every section starts again at the heading's day, even if another section has passed midnight.
- The heading names no zone; ``-t`` prints local times of the recorded machine, otherwise they are those of the reader.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from loadcurve.ingest.sysstat.columns import PER_PROCESSOR
from loadcurve.ingest.sysstat.heading import read_date
from loadcurve.ingest.sysstat.sar_lines import Lines
from loadcurve.ingest.sysstat.sar_rows import Rows
from loadcurve.ingest.sysstat.sar_scan import Header, Scan, WarningCollector

_NEVER = np.datetime64("NaT", "us")
_HALF_DAY_S = 12 * 3600
_QUARTER_S = 900  # no zone changes its clock between two quarters of an hour
_LARGE = 100_000  # rows


class LineTimes:
    """Times of the lines that have one."""

    def __init__(self, times: np.ndarray, keys: np.ndarray, hosts: list[str], place: np.ndarray) -> None:
        self.times, self.keys, self.hosts, self.place = times, keys, hosts, place

    def columns(self, lines: np.ndarray) -> dict[str, object]:
        """Columns `time` and, if the text has several hosts, `host`."""
        named = {"host": as_words(self.place[lines], self.hosts)} if self.hosts else {}
        return named | {"time": pd.Series(pd.DatetimeIndex(self.times[lines]).tz_localize("UTC"))}


def line_times(
    scan: Scan, parts: list[Rows], lines: Lines, zone: ZoneInfo, warnings: WarningCollector
) -> tuple[LineTimes, list[np.datetime64]]:
    """Time of each line, and of each heading's midnight."""
    headings = scan.headings
    foreign = scan.foreign or any("," in lines.text(int(rows.lines[0])) for rows in parts)
    midnights = np.full(len(headings) + 1, np.nan)
    for i, heading in enumerate(headings, 1):
        midnights[i], doubt = read_date(heading, scan.american, foreign)
        if doubt:
            warnings.add("date", heading.line, doubt.partition(": ")[2])
    seconds = lines.seconds.astype(np.int64)
    above = np.searchsorted([heading.line - 1 for heading in headings], np.arange(len(lines)), "right")
    passed = _days(scan, parts, seconds, above)
    local = midnights[above] + passed * 86400 + seconds
    dated = np.isfinite(local)
    times = np.full(len(lines), _NEVER)
    zone = _zone(scan, local[dated], zone, warnings)
    utc, doubtful = to_utc(local[dated].astype(np.int64), zone)
    times[dated] = utc.astype("datetime64[s]").astype("datetime64[us]")
    used = np.zeros(len(lines), bool)
    for rows in parts:
        used[rows.lines] = True
    ambiguous = np.flatnonzero(dated)[doubtful]
    ambiguous = ambiguous[used[ambiguous]]
    if len(ambiguous):
        local_time = np.datetime64(int(local[ambiguous[0]]), "s").astype(object)
        sentence = (
            f"{local_time} occurs twice, or never, in {zone}; read as {times[ambiguous[0]].astype('datetime64[s]')} UTC"
        )
        warnings.add("twice", int(ambiguous[0]) + 1, sentence, len(ambiguous))
    names = list(dict.fromkeys(heading.host for heading in headings))
    place = np.array([-1, *(names.index(heading.host) for heading in headings)])[above]
    keys = (np.where(dated, local, above * 1e6 + passed * 86400 + seconds)).astype(np.int64) * (len(names) + 1) + place
    starts = [_utc_of(midnight, zone) for midnight in midnights[1:]]
    return LineTimes(times, keys, names if len(names) > 1 else [], place), starts


def _zone(scan: Scan, local: np.ndarray, zone: ZoneInfo, warnings: WarningCollector) -> ZoneInfo:
    """Return the zone of the times; some languages print its abbreviation."""
    zoned = [header for header in scan.headers.values() if header.zone]
    if not zoned:
        return zone
    if all(header.zone in ("UTC", "GMT") for header in zoned):
        return ZoneInfo("UTC")
    known = (
        {datetime.fromtimestamp(int(at), UTC).replace(tzinfo=zone).tzname() for at in local[[0, -1]]}
        if len(local)
        else {}
    )
    for header in zoned:
        if header.zone not in known:
            warnings.add("zone", header.line, f"the times are in {header.zone} but read as {zone}: name their zone")
    return zone


def _utc_of(midnight: float, zone: ZoneInfo) -> np.datetime64:
    if not np.isfinite(midnight):
        return _NEVER
    return np.datetime64(to_utc(np.array([int(midnight)]), zone)[0].astype("datetime64[s]")[0], "us")


def _days(scan: Scan, parts: list[Rows], seconds: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Midnights passed at each line; each heading counts its own, from header row, rows and restarts."""
    passed = np.zeros(len(seconds), np.int64)
    restarts = np.array([event.line for event in scan.events if event.event == "restart"], np.int64)
    at_restart = np.zeros(len(restarts), np.int64)
    averages = np.array([average.line for average in scan.averages], np.int64)
    lines: dict[tuple[str, ...], list[np.ndarray]] = {}
    heads: dict[tuple[str, ...], list[int]] = {}
    for header in scan.headers.values():
        lines.setdefault(_heading_of(header), []).append(np.array(header.at, np.int64))
        heads.setdefault(_heading_of(header), []).extend(header.at)
    for rows in parts:
        lines[_heading_of(rows.header)].append(rows.lines)
    sections = {name: np.sort(np.concatenate(own), kind="stable") for name, own in lines.items()}

    def passed_at(at: np.ndarray, name: tuple[str, ...]) -> np.ndarray:
        ended = np.searchsorted(averages, at)
        return days(seconds[at], above[at], np.isin(at, heads[name]), np.isin(at, restarts), ended)

    for name, own in sections.items():
        at = np.sort(np.concatenate([own, restarts]), kind="stable")
        passed[at] = passed_at(at, name)
        at_restart = np.maximum(at_restart, passed[restarts])
    passed[restarts] = at_restart
    for name, own in sections.items():
        # A section that is first printed after a restart begins at that day, not at the heading's.
        before = restarts[restarts < own[0]] if len(own) else restarts[:0]
        if len(before) and above[before[-1]] == above[own[0]]:
            at = np.append(before[-1], own[above[own] == above[own[0]]])
            passed[at[1:]] = passed[before[-1]] + passed_at(at, name)[1:]
    return passed


def _heading_of(header: Header) -> tuple[str, ...]:
    """Columns that identify a sequence of rows: old versions print several header rows for one option.

    The columns of processors, and of the interrupts of one processor, are left out, because they change.
    """
    return tuple(name for name in header.columns if not PER_PROCESSOR.fullmatch(name))


def days(
    seconds: np.ndarray, runs: np.ndarray, heads: np.ndarray, restarts: np.ndarray, ended: np.ndarray
) -> np.ndarray:
    """Midnights passed since the heading, for the times below one set of columns in their order.

    A recording's section begins at the day of the heading, or of the restart before it, also where another section
    with the same columns has passed midnight (old versions print ``INTR intr/s`` for the sum and for each interrupt).

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
    return np.asarray(local + first[part])


def _offset_s(time: datetime) -> float:
    offset = time.utcoffset()
    return offset.total_seconds() if offset else 0.0


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
        offsets[i], later[i] = (_offset_s(naive.replace(fold=fold)) for fold in (0, 1))
    return local - offsets[place], (offsets != later)[place]


def as_words(codes: np.ndarray, names: list[str]) -> object:
    """Names by code, None for -1; many as a category, which needs a tenth of the memory."""
    if len(codes) >= _LARGE:
        return pd.Categorical.from_codes(codes, names)
    return np.array([*names, None], object)[codes]
