"""sar: read every output of ``sar``, in any language, into tables.

Seen: sysstat 12.6.1 on Debian 12 in the tests' samples (``LC_ALL=C sar -A``, ``-u ALL -P ALL``, ``-n …``, ``-f FILE``,
``--human``, ``--pretty``, in English, German and Chinese, with 12 and 24 hours, S_TIME_FORMAT=ISO); versions 5 to
12.7 in public repositories.

The steps, in order: `sar_lines` joins lines that SIGINT or a mail program broke, splits the text and reads the time of
each line; `sar_scan` finds headings, header rows, averages, restarts; `sar_rows` converts the rows below
each header to numbers; `sar_instants` computes the instant of each line; `sar_tables` builds the tables.  `sections`
lists the table and the unit of each column.

sar ends every line with a newline: a last line without one may have been cut, and is left out unless its last number
has two decimals like all others.
"""

import re
from contextlib import suppress
from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import zone_named
from loadcurve.ingest.sysstat.sar_instants import LineTimes, line_times
from loadcurve.ingest.sysstat.sar_lines import Lines, plain, rejoin_lines, unwrap_rows
from loadcurve.ingest.sysstat.sar_rows import Rows, read_rows
from loadcurve.ingest.sysstat.sar_scan import KNOWN, Scan, WarningCollector, looks_like_header
from loadcurve.ingest.sysstat.sar_tables import average_rows, make_tables

_OURS = re.compile(r"[0-9]|\S.{0,30}[:：]|Linux ")
_TWO_DECIMALS = re.compile(r"[0-9]+[.,][0-9]{2}")


def parse_sar(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sar`` printed.

    `cpu`, `load`, `memory`, `disks`, `network`, `tcp`, `sockets` and `interrupts`, and `counters` for every section
    without a table of its own; `averages` for the averages that sar prints, `events` for restarts and comments, `hosts`
    for headings.

    The tables that have rows.  `time` is UTC, missing if no heading has the date; percentages are ratios; kB are
    multiplied by 1024.  `timezone` is the IANA name of the zone whose local time sar printed; sar does not print it.
    Raises ParseError if a heading, a header row, a time or a number is not what sysstat prints, if sar printed an error
    and nothing else, or if the text is that of another system's sar.  Raises ValueRuleError if there is no such time
    zone.

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
    text, broken = rejoin_lines(text.removeprefix("\ufeff"))
    text = plain(text)
    try:
        return _parse(text, broken, "an interrupt broke this line; its parts were joined", zone)
    except ParseError:
        whole, wrapped = unwrap_rows(text, KNOWN.__contains__)
        if not wrapped:
            raise
        with suppress(ParseError):
            return _parse(whole, wrapped, "broken in parts, which were joined", zone)
        raise


def _parse(text: str, broken: dict[int, int], why: str, zone: ZoneInfo) -> Parsed:
    """Return the tables of a text whose broken lines were joined for the given reason."""
    warnings = WarningCollector()
    if broken:
        warnings.add("broken", min(broken) + 1, why, len(broken))
    text = _without_cut(text, warnings)
    lines = Lines(text, broken)
    scan, parts = _read(lines, warnings)
    if not parts and not scan.averages and not scan.events:
        if scan.error:
            raise ParseError(scan.error[0], "sar rows", scan.error[1])
        if not scan.headings:
            raise nothing_in(text, "sar rows")
        warnings.add("empty", scan.headings[0].line, "there are no rows below the heading")
    elif not scan.headings:
        warnings.add("no heading", 1, "no heading 'Linux …': the date is not known, so the rows have no time")
    instants, midnights = line_times(scan, parts, lines, zone, warnings)
    del lines, scan.lines, text  # a long text's tables are as large as itself
    tables = make_tables(parts, instants, warnings)
    if averages := average_rows(scan.averages, warnings):
        tables["averages"] = averages
    if scan.events:
        tables["events"] = _events(scan, instants)
    if scan.headings:
        tables["hosts"] = _hosts(scan, midnights)
    return Parsed("sar", tables, tuple(warnings.sentences()))


def _read(lines: Lines, warnings: WarningCollector) -> tuple[Scan, list[Rows]]:
    scan = Scan(lines, warnings)
    try:
        return scan, _rows(scan)
    except ParseError:
        # Without empty lines, header rows are among the rows.  The search is slow, so only a failure starts it.
        rows = (i for header in scan.headers.values() for a, b in header.blocks.tolist() for i in range(a, b))
        more = [i for i in rows if looks_like_header(lines.text(i).split()[1:])]
        if not more:
            raise
        scan = Scan(lines, warnings, more)
        return scan, _rows(scan)


def _rows(scan: Scan) -> list[Rows]:
    parts = [rows for header in scan.headers.values() for rows in read_rows(header, scan.lines)]
    return [rows for rows in parts if len(rows.lines)]


def _without_cut(text: str, warnings: WarningCollector) -> str:
    """Drop a last line that may have been cut."""
    start = text.rfind("\n") + 1
    last = text[start : start + 100_000].strip()
    if not last or not _OURS.match(last) or last.endswith(" CPU)"):
        return text
    cells, above = last.split(), text[max(0, start - 100_000) : start].rstrip().rpartition("\n")[2].split()
    # With AM or PM the row above has one cell more than an average.
    if len(cells) in (len(above), len(above) - (not last[0].isdigit())) and _TWO_DECIMALS.fullmatch(cells[-1]):
        return text
    warnings.add("cut", text.count("\n") + 1, f"the text ends inside a line, which is left out: {last[:100]!r}")
    return text[:start]


def _events(scan: Scan, instants: LineTimes) -> list[dict]:
    found = []
    for event in scan.events:
        row: dict[str, object] = {"tool": "sar", "event": event.event}
        if not np.isnat(time := instants.times[event.line]):
            row["time"] = _stamp(time)
        if event.cpus is not None:
            row["cpus"] = event.cpus
        if event.text:
            row["text"] = event.text
        if instants.hosts:
            row["host"] = instants.hosts[instants.place[event.line]]
        found.append(row)
    return found


def _hosts(scan: Scan, midnights: list[np.datetime64]) -> list[dict]:
    """One row for each distinct heading."""
    found: dict[tuple, dict] = {}
    for heading, midnight in zip(scan.headings, midnights, strict=True):
        row: dict[str, object] = {"host": heading.host, "tool": "sar", "kernel": heading.kernel, "system": "Linux"}
        if not np.isnat(midnight):
            row["date"] = _stamp(midnight)
        if heading.architecture:
            row["architecture"] = heading.architecture
        if heading.cpus is not None:
            row["cpus"] = heading.cpus
        found.setdefault(tuple(row.values()), row)
    return list(found.values())


def _stamp(time: np.datetime64) -> object:
    """UTC instant as pandas has it."""
    return time.astype("datetime64[us]").astype(object).replace(tzinfo=UTC)
