"""sar: what ``sar`` prints into the tables `cpu`, `network`, `tcp` and `sockets`.

Seen: sysstat 12.6.1 on Debian 12, ``LC_ALL=C sar -u ALL -P ALL -n DEV,TCP,ETCP,SOCK 1 3`` and ``sar -f FILE``, with the
24-hour clock, with the 12-hour clock of en_US and with S_TIME_FORMAT=ISO.  Other languages are refused.

What sysstat itself does (12.6, ``pr_stats.c`` and ``sar.c``):

- ``print_hdr_line``: an empty line, then a header row whose time is the *start* of the first interval; a row's time is
  the end of its interval.  The date stands only in the heading, so a clock that falls by half a day is the next day.
- ``print_net_dev_stats``: kB are bytes / 1024; ``%ifutil`` is of the speed the driver claims, so it can be over 100.
- ``print_cpu_stats``: ``-u`` has ``%user`` with guests and ``%system`` with interrupts in them, ``-u ALL`` has ``%usr``
  and ``%sys`` without.  The percentages add up to 100, except where a kernel counter ran backwards (a value is then
  printed as 0 but its share of the interval stays negative), so a wrong sum is a warning, not an error.
- ``print_net_tcp_stats``, ``print_net_etcp_stats``: two sections of the same instants, here one row.
- Every line ends with a newline: a last line without one was cut and is left out, whatever is left of it.
"""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd

from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.ingest.parsed import Parsed

# Section → sysstat's column → ours.  The first column of a section is found in no other one.
_SECTIONS: dict[str, dict[str, str]] = {
    "cpu": {
        "%idle": "cpu_idle_ratio", "CPU": "cpu", "%user": "cpu_user_ratio", "%usr": "cpu_user_ratio",
        "%nice": "cpu_nice_ratio", "%system": "cpu_system_ratio", "%sys": "cpu_system_ratio",
        "%iowait": "cpu_iowait_ratio", "%steal": "cpu_steal_ratio", "%irq": "cpu_irq_ratio",
        "%soft": "cpu_softirq_ratio", "%guest": "cpu_guest_ratio", "%gnice": "cpu_guest_nice_ratio",
    },
    "network": {
        "rxpck/s": "received_pps", "IFACE": "interface", "txpck/s": "transmitted_pps",
        "rxkB/s": "received_bytes_per_s", "txkB/s": "transmitted_bytes_per_s",
        "rxcmp/s": "received_compressed_pps", "txcmp/s": "transmitted_compressed_pps",
        "rxmcst/s": "received_multicast_pps", "%ifutil": "utilisation_ratio",
    },
    "tcp": {
        "active/s": "active_opens_per_s", "passive/s": "passive_opens_per_s",
        "iseg/s": "segments_received_pps", "oseg/s": "segments_sent_pps",
    },
    "etcp": {
        "atmptf/s": "attempt_fails_per_s", "estres/s": "established_resets_per_s",
        "retrans/s": "retransmits_pps", "retrseg/s": "retransmits_pps",
        "isegerr/s": "receive_errors_pps", "orsts/s": "resets_sent_pps",
    },
    "sockets": {
        "totsck": "total", "tcpsck": "tcp", "udpsck": "udp", "rawsck": "raw",
        "ip-frag": "fragments", "tcp-tw": "time_wait",
    },
}  # fmt: skip
_ITEM = {"cpu": "CPU", "network": "IFACE"}  # sections with several rows for an instant
_TABLE_OF = {"etcp": "tcp"}  # sections whose table has another name
_KB = 1024.0  # bytes, pr_stats.c: "rxkb / 1024"

_HEADING = re.compile(r"Linux \S+ \(.*\)\s+(\S+)(?:\s+\S+\s*\([0-9]+ CPU\))?")
_AMERICAN = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{4}|[0-9]{2})")
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_CLOCK = re.compile(r"([0-9]{2}):([0-5][0-9]):([0-5][0-9])")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]{1,2})?")  # --dec=0, 1 or 2
_COUNT = re.compile(r"[0-9]+")
_CPU = re.compile(r"all|[0-9]+")
_RESTART = re.compile(_CLOCK.pattern + r"(?: [AP]M)?\s+LINUX RESTART(?:\s+\([0-9]+ CPU\))?")
_SUMMARIES = ("Average:", "Minimum:", "Maximum:", "Summary:")  # -x prints the second and third, -F the last
_HALF_DAY_S = 12 * 3600


def parse_sar(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `cpu`, `network`, `tcp` and `sockets` of what ``LC_ALL=C sar`` printed.

    A section without a table (such as ``-q``) is passed over with a warning; so are restarts, comments and a last line
    that was cut.  Averages are checked, and kept out of the tables.

    Parameters
    ----------
    text : str
        Output of one or several runs of sar.
    timezone : str
        IANA name of the zone whose local time sar printed; sar itself does not say.

    Returns
    -------
    Parsed
        The tables that have rows.  `time` is UTC; percentages are ratios; kB are multiplied by 1024.

    Raises
    ------
    ParseError
        Where a heading, a header row, a time or a number is not what sysstat prints, and where there are no rows.
    ValueRuleError
        When there is no such time zone.

    Examples
    --------
    >>> text = '''Linux 6.1.0 (srv1)  11/20/26  _x86_64_ (2 CPU)
    ...
    ... 23:59:59        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
    ... 00:00:00         eth0 127568.00 127510.00      1.50      2.00      0.00      0.00      0.00      9.39
    ... '''
    >>> network = parse_sar(text).tables["network"]
    >>> str(network.time[0]), float(network.received_bytes_per_s[0])
    ('2026-11-21 00:00:00+00:00', 1536.0)
    """
    zone = _zone(timezone)
    lines = text.removeprefix("\ufeff").split("\n")
    first, warnings = lines[0].strip(), []
    if (cut := lines.pop()).strip() and not cut.startswith("Average:"):
        warnings.append(f"line {len(lines) + 1}: the text ends inside a line, which is left out: {cut.strip()!r}")
    found: dict[str, dict[tuple, dict]] = {}
    seen: dict[tuple, int] = {}
    for number, section, local, row in _rows(lines, warnings):
        if not section:
            found.setdefault("", {})
            continue
        time = _instant(local, zone, number, warnings)
        key = (time, row.get("cpu", row.get("interface")))
        seen[section, *key] = seen.get((section, *key), 0) + 1  # a clock set back shows an instant twice
        table = found.setdefault(_TABLE_OF.get(section, section), {})
        table.setdefault((*key, seen[section, *key]), {"time": time}).update(row)
    if not found:
        raise ParseError(1, "sar rows", first)
    tables = {table: pd.DataFrame(list(rows.values())) for table, rows in found.items() if rows}
    if "sockets" in tables:
        tables["sockets"].insert(1, "tool", "sar")
    return Parsed("sar", tables, tuple(warnings))


def _rows(lines: list[str], warnings: list[str]) -> Iterator[tuple[int, str, datetime, dict]]:
    """Line number, section, local time and cells of each row; the section is empty where it has no table."""
    midnight: datetime | None = None
    doubt: list[str] = []
    twelve: bool | None = None  # whether this run's times carry AM or PM
    section, columns = "", ()
    blank = True
    last: dict[tuple, tuple[int, int]] = {}  # columns → days since the heading, time of day
    unread: set[tuple] = set()
    for number, raw in enumerate(lines, 1):
        line = raw.strip().removeprefix("^C")
        after_blank, blank = blank, not line
        if not line:
            continue
        if line.startswith("Linux "):
            midnight, doubt = _midnight(line, number)
            twelve, section, columns, last = None, "", (), {}
            continue
        if midnight is None:
            continue  # a prompt or a banner before the heading
        if "LINUX RESTART" in line:
            if not _RESTART.fullmatch(line):
                raise ParseError(number, "a line such as '13:37:29     LINUX RESTART\\t(9 CPU)'", line)
            warnings.append(f"line {number}: the machine was restarted")
            section, columns = "", ()
            continue
        clock, cells = None, line.split()
        if cells[0] in _SUMMARIES:
            del cells[0]
        else:
            clock, cells, with_half = _clock(cells, number)
            if twelve is None and not with_half:
                warnings += doubt
            if with_half != (with_half if twelve is None else twelve):
                raise ParseError(number, f"a {'12' if twelve else '24'}-hour time as in the rows before", line)
            twelve = with_half
        if cells[:1] == ["COM"]:
            warnings.append(f"line {number}: a comment in the file: {' '.join(cells[1:])}")
            continue
        if _is_header(cells, after_blank, number, line):
            section, columns = _section(cells), tuple(cells)
            _check_columns(section, columns, number)
            if not section and columns not in unread:
                unread.add(columns)
                warnings.append(f"line {number}: section not read: {' '.join(columns)}")
            if clock is not None:
                _days(last, section or columns, clock)
            continue
        if not columns:
            raise ParseError(number, "a header row before this row", line)
        row = _cells(section, columns, cells, number, line) if section else {}
        if clock is not None:
            if section == "cpu":
                _check_sum(row, number, warnings)
            yield number, section, midnight + timedelta(_days(last, section or columns, clock), clock), row


def _is_header(cells: list[str], after_blank: bool, number: int, line: str) -> bool:
    names_only = bool(cells) and not any(_NUMBER.fullmatch(cell) for cell in cells)
    if after_blank and not names_only:
        raise ParseError(number, "a header row after an empty line", line)
    return after_blank or (names_only and bool(_section(cells)))


def _section(cells: list[str]) -> str:
    return next((name for name, columns in _SECTIONS.items() if next(iter(columns)) in cells), "")


def _check_columns(section: str, columns: tuple[str, ...], number: int) -> None:
    if not section:
        return
    known = _SECTIONS[section]
    if unknown := [name for name in columns if name not in known]:
        raise ParseError(number, f"columns of sar's {section} section", " ".join(unknown))
    if len({known[name] for name in columns}) < len(columns) or _ITEM.get(section, columns[0]) not in columns:
        raise ParseError(number, f"each column of sar's {section} section once", " ".join(columns))


def _cells(section: str, columns: tuple[str, ...], cells: list[str], number: int, line: str) -> dict:
    """One row's values under our names and in our units."""
    if len(cells) != len(columns):
        raise ParseError(number, f"{len(columns)} columns ({' '.join(columns)})", line)
    row: dict = {}
    for column, cell in zip(columns, cells, strict=True):
        name = _SECTIONS[section][column]
        if column == "IFACE":
            row[name] = cell
        elif column == "CPU":
            row[name] = _matched(_CPU, cell, "'all' or a processor number", number)
        elif section == "sockets":
            row[name] = int(_matched(_COUNT, cell, f"a whole number for {column}", number))
        else:
            digits = _matched(_NUMBER, cell, f"a number such as 12.34 for {column}", number)
            value = float(f"{digits}e-2" if column[0] == "%" else digits)  # e-2: nearer than / 100
            row[name] = value * (_KB if column.endswith("kB/s") else 1)
    return row


def _matched(shape: re.Pattern[str], cell: str, expected: str, number: int) -> str:
    if not shape.fullmatch(cell):
        raise ParseError(number, expected, cell)
    return cell


def _check_sum(row: dict, number: int, warnings: list[str]) -> None:
    """Warn where the percentages do not add up to 100; one over 100 is missing."""
    ratios = {name: value for name, value in row.items() if name != "cpu"}
    total = 100 * sum(ratios.values())
    if abs(total - 100) > 0.01 * len(ratios) + 0.5:
        warnings.append(f"line {number}: the percentages add up to {total:.2f}, not 100")
    row.update({name: math.nan for name, value in ratios.items() if value > 1})


def _clock(tokens: list[str], number: int) -> tuple[int, list[str], bool]:
    """Second of the day, the tokens after the time, and whether the time carries AM or PM."""
    match = _CLOCK.fullmatch(tokens[0])
    half = tokens[1] if tokens[1:] and tokens[1] in ("AM", "PM") else ""
    if match is None or not (1 <= int(match[1]) <= 12 if half else int(match[1]) < 24):
        raise ParseError(number, "a time such as 22:33:25 or 10:33:25 PM", " ".join(tokens[:2]) if half else tokens[0])
    hour = int(match[1]) % 12 + 12 * (half == "PM") if half else int(match[1])
    return hour * 3600 + int(match[2]) * 60 + int(match[3]), tokens[1 + bool(half) :], bool(half)


def _days(last: dict[tuple, tuple[int, int]], key: object, clock: int) -> int:
    """Midnights between the heading and this row of a section; every section starts again at the heading's day."""
    days, before = last.get(key, (0, clock))
    days += before - clock > _HALF_DAY_S
    last[key] = (days, clock)
    return days


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


def _zone(timezone: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueRuleError("timezone", "the IANA name of a time zone, such as Europe/Berlin", timezone) from None


def _instant(local: datetime, zone: ZoneInfo, number: int, warnings: list[str]) -> datetime:
    """UTC of a local time; of the two that a clock set back has, the first."""
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() != second.utcoffset():
        warnings.append(f"line {number}: {local} occurs twice, or never, in {zone}; read as {first.astimezone(UTC)}")
    return first.astimezone(UTC)
