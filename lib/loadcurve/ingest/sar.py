"""sar: what ``sar`` prints into the tables `cpu`, `network`, `tcp` and `sockets`.

Seen: sysstat 12.6.1 on Debian 12, ``LC_ALL=C sar -u ALL -P ALL -n DEV,TCP,ETCP,SOCK 1 3`` and ``sar -f FILE``, with the
24-hour clock, with the 12-hour clock of en_US and with S_TIME_FORMAT=ISO (`sar_clock`).  Other languages are refused.

What sysstat itself does (12.6, ``pr_stats.c`` and ``sar.c``):

- ``print_hdr_line``: an empty line, then a header row whose time is the *start* of the first interval; a row's time is
  the end of its interval.
- ``print_net_tcp_stats``, ``print_net_etcp_stats``: two sections of the same instants, here one row.
- Every line ends with a newline: a last line without one was cut and is left out, whatever is left of it.
"""

import re
from collections.abc import Iterator
from datetime import datetime

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sar_clock import CLOCK, RunClock, instant, zone_named
from loadcurve.ingest.sar_sections import TABLE_OF, check_columns, check_sum, is_header, read_cells, section_of

_RESTART = re.compile(CLOCK.pattern + r"(?: [AP]M)?\s+LINUX RESTART(?:\s+\([0-9]+ CPU\))?")
_SUMMARIES = ("Average:", "Minimum:", "Maximum:", "Summary:")  # -x prints the second and third, -F the last


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
    zone = zone_named(timezone)
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
        time = instant(local, zone, number, warnings)
        key = (time, row.get("cpu", row.get("interface")))
        seen[section, *key] = seen.get((section, *key), 0) + 1  # a clock set back shows an instant twice
        table = found.setdefault(TABLE_OF.get(section, section), {})
        table.setdefault((*key, seen[section, *key]), {"time": time}).update(row)
    if not found:
        raise ParseError(1, "sar rows", first)
    tables = {table: pd.DataFrame(list(rows.values())) for table, rows in found.items() if rows}
    if "sockets" in tables:
        tables["sockets"].insert(1, "tool", "sar")
    return Parsed("sar", tables, tuple(warnings))


def _rows(lines: list[str], warnings: list[str]) -> Iterator[tuple[int, str, datetime, dict]]:
    """Line number, section, local time and cells of each row; the section is empty where it has no table."""
    clock: RunClock | None = None
    section, columns = "", ()
    blank = True
    unread: set[tuple] = set()
    for number, raw in enumerate(lines, 1):
        line = raw.strip().removeprefix("^C")
        after_blank, blank = blank, not line
        if not line:
            continue
        if line.startswith("Linux "):
            clock, section, columns = RunClock(line, number), "", ()
            continue
        if clock is None:
            continue  # a prompt or a banner before the heading
        if "LINUX RESTART" in line:
            if not _RESTART.fullmatch(line):
                raise ParseError(number, "a line such as '13:37:29     LINUX RESTART\\t(9 CPU)'", line)
            warnings.append(f"line {number}: the machine was restarted")
            section, columns = "", ()
            continue
        second, cells = None, line.split()
        if cells[0] in _SUMMARIES:
            del cells[0]
        else:
            second, cells = clock.read(line, number, warnings)
        if cells[:1] == ["COM"]:
            warnings.append(f"line {number}: a comment in the file: {' '.join(cells[1:])}")
            continue
        if is_header(cells, after_blank, number, line):
            section, columns = section_of(cells), tuple(cells)
            check_columns(section, columns, number)
            if not section and columns not in unread:
                unread.add(columns)
                warnings.append(f"line {number}: section not read: {' '.join(columns)}")
            if second is not None:
                clock.local(section or columns, second)  # midnight may lie between a header row and its first row
            continue
        if not columns:
            raise ParseError(number, "a header row before this row", line)
        row = read_cells(section, columns, cells, number, line) if section else {}
        if second is not None:
            if section == "cpu":
                check_sum(row, number, warnings)
            yield number, section, clock.local(section or columns, second), row
