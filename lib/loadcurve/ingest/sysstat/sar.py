"""sar: what ``sar`` prints, all of it, in any language, into tables.

Seen: sysstat 12.6.1 on Debian 12 in the tests' samples (``LC_ALL=C sar -A``, ``-u ALL -P ALL``, ``-n …``, ``-f FILE``,
``--human``, ``--pretty``, in English, German and Chinese, with 12 and 24 hours, S_TIME_FORMAT=ISO); versions 5 to
12.7 in public repositories.

Which column goes where, and in which unit, is `sysstat_columns`; what sysstat's text looks like, and the source files
that make it so, is in `sar_heading`, `sar_lines`, `sar_scan` and `sar_rows`; its clock is `sar_clock`.
Every line ends with a newline: a last line without one may have been cut, and is left out unless its last number has
two decimals like all of them.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import TWO_DECIMALS
from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.sar_breaks import mended, unwrapped
from loadcurve.ingest.sysstat.sar_clock import days, to_utc, zone_named
from loadcurve.ingest.sysstat.sar_heading import read_date
from loadcurve.ingest.sysstat.sar_lines import Lines, plain
from loadcurve.ingest.sysstat.sar_rows import Rows, read_rows
from loadcurve.ingest.sysstat.sar_scan import KNOWN, Doubts, Header, Scan, looks_like_header
from loadcurve.ingest.sysstat.sar_tables import Instants, average_rows, make_tables
from loadcurve.ingest.sysstat.sysstat_columns import PER_PROCESSOR

_NEVER = np.datetime64("NaT", "us")
_OURS = re.compile(r"[0-9]|\S.{0,30}[:：]|Linux ")
_TWO_DECIMALS = re.compile(r"[0-9]+[.,][0-9]{2}")


def parse_sar(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sar`` printed.

    `cpu`, `load`, `memory`, `disks`, `network`, `tcp`, `sockets` and `interrupts`, and `counters` for every section
    without a table of its own; `averages` for what sar averaged itself, `events` for restarts and comments, `hosts`
    for headings.

    Parameters
    ----------
    text : str
        Output of one or several runs of sar.
    timezone : str
        IANA name of the zone whose local time sar printed; sar itself does not say.

    Returns
    -------
    Parsed
        The tables that have rows.  `time` is UTC, missing where no heading tells the day; percentages are ratios; kB
        are multiplied by 1024.

    Raises
    ------
    ParseError
        Where a heading, a header row, a time or a number is not what sysstat prints, where sar printed an error and
        nothing else, and where the text is that of another system's sar.
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
    text, broken = mended(text.removeprefix("\ufeff"))
    text = plain(text)
    try:
        return _parse(text, broken, "an interrupt broke this line; it is put together again", zone)
    except ParseError:
        whole, wrapped = unwrapped(text, KNOWN.__contains__)
        if not wrapped:
            raise
        with suppress(ParseError):
            return _parse(whole, wrapped, "broken in parts, which were joined", zone)
        raise


def _parse(text: str, broken: dict[int, int], why: str, zone: ZoneInfo) -> Parsed:
    """Tables of a text in which these lines were put together, for the reason given."""
    doubts = Doubts()
    if broken:
        doubts.add("broken", min(broken) + 1, why, len(broken))
    text = _without_cut(text, doubts)
    lines = Lines(text, broken)
    scan, parts = _read(lines, doubts)
    if not parts and not scan.averages and not scan.events:
        if scan.error:
            raise ParseError(scan.error[0], "sar rows", scan.error[1])
        if not scan.headings:
            raise ParseError(1, "sar rows", text[:100].split("\n")[0].strip())
        doubts.add("empty", scan.headings[0].line, "there are no rows below the heading")
    elif not scan.headings:
        doubts.add("no heading", 1, "no heading 'Linux …': the day of the rows is not known, so they have no time")
    instants, midnights = _instants(scan, parts, lines, zone, doubts)
    del lines, scan.lines, text  # a long text's tables are as large as itself
    tables = make_tables(parts, instants, doubts)
    if averages := average_rows(scan.averages, doubts):
        tables["averages"] = averages
    if scan.events:
        tables["events"] = _events(scan, instants)
    if scan.headings:
        tables["hosts"] = _hosts(scan, midnights)
    return Parsed("sar", tables, tuple(doubts.sentences()))


def _read(lines: Lines, doubts: Doubts) -> tuple[Scan, list[Rows]]:
    scan = Scan(lines, doubts)
    try:
        return scan, _rows(scan)
    except ParseError:
        # Header rows among the rows, where empty lines were lost; they are too many to look for when there are none.
        rows = (i for header in scan.headers.values() for a, b in header.blocks.tolist() for i in range(a, b))
        more = [i for i in rows if looks_like_header(lines.text(i).split()[1:])]
        if not more:
            raise
        scan = Scan(lines, doubts, more)
        return scan, _rows(scan)


def _rows(scan: Scan) -> list[Rows]:
    parts = [rows for header in scan.headers.values() for rows in read_rows(header, scan.lines)]
    return [rows for rows in parts if len(rows.lines)]


def _without_cut(text: str, doubts: Doubts) -> str:
    """Leave out a last line that may have been cut."""
    start = text.rfind("\n") + 1
    last = text[start : start + 100_000].strip()
    if not last or not _OURS.match(last) or last.endswith(" CPU)"):
        return text
    cells, above = last.split(), text[max(0, start - 100_000) : start].rstrip().rpartition("\n")[2].split()
    # Beside AM or PM the row above has a cell more than an average.
    if len(cells) in (len(above), len(above) - (not last[0].isdigit())) and _TWO_DECIMALS.fullmatch(cells[-1]):
        return text
    doubts.add("cut", text.count("\n") + 1, f"the text ends inside a line, which is left out: {last[:100]!r}")
    return text[:start]


def _instants(
    scan: Scan, parts: list[Rows], lines: Lines, zone: ZoneInfo, doubts: Doubts
) -> tuple[Instants, list[np.datetime64]]:
    """Time of each line, and of each heading's midnight."""
    headings = scan.headings
    foreign = scan.foreign or any("," in lines.text(int(rows.lines[0])) for rows in parts)
    midnights = np.full(len(headings) + 1, np.nan)
    for i, heading in enumerate(headings, 1):
        midnights[i], doubt = read_date(heading, scan.american, foreign)
        if doubt:
            doubts.add("date", heading.line, doubt.partition(": ")[2])
    seconds = lines.seconds.astype(np.int64)
    above = np.searchsorted([heading.line - 1 for heading in headings], np.arange(len(lines)), "right")
    passed = _days(scan, parts, seconds, above)
    local = midnights[above] + passed * 86400 + seconds
    dated = np.isfinite(local)
    times = np.full(len(lines), _NEVER)
    zone = _zone(scan, local[dated], zone, doubts)
    utc, doubtful = to_utc(local[dated].astype(np.int64), zone)
    times[dated] = utc.astype("datetime64[s]").astype("datetime64[us]")
    used = np.zeros(len(lines), bool)
    for rows in parts:
        used[rows.lines] = True
    odd = np.flatnonzero(dated)[doubtful]
    odd = odd[used[odd]]
    if len(odd):
        said = np.datetime64(int(local[odd[0]]), "s").astype(object)
        sentence = f"{said} occurs twice, or never, in {zone}; read as {times[odd[0]].astype('datetime64[s]')} UTC"
        doubts.add("twice", int(odd[0]) + 1, sentence, len(odd))
    names = list(dict.fromkeys(heading.host for heading in headings))
    place = np.array([-1, *(names.index(heading.host) for heading in headings)])[above]
    keys = (np.where(dated, local, above * 1e6 + passed * 86400 + seconds)).astype(np.int64) * (len(names) + 1) + place
    starts = [_utc_of(midnight, zone) for midnight in midnights[1:]]
    return Instants(times, keys, names if len(names) > 1 else [], place), starts


def _zone(scan: Scan, local: np.ndarray, zone: ZoneInfo, doubts: Doubts) -> ZoneInfo:
    """Zone of the times, of which some languages print the abbreviation."""
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
            doubts.add("zone", header.line, f"the times are in {header.zone} but read as {zone}: name their zone")
    return zone


def _utc_of(midnight: float, zone: ZoneInfo) -> np.datetime64:
    if not np.isfinite(midnight):
        return _NEVER
    return to_utc(np.array([int(midnight)]), zone)[0].astype("datetime64[s]").astype("datetime64[us]")[0]


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
    """What tells one run of rows from another: old versions print several headings for one option, one after another.

    Only the columns of processors come and go between the rows of one heading, and those of the interrupts of one.
    """
    return tuple(name for name in header.columns if not PER_PROCESSOR.fullmatch(name))


def _events(scan: Scan, instants: Instants) -> list[dict]:
    found = []
    for event in scan.events:
        row = {"tool": "sar", "event": event.event}
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
    """One row for each heading, but for those that say the same."""
    found: dict[tuple, dict] = {}
    for heading, midnight in zip(scan.headings, midnights, strict=True):
        row = {"host": heading.host, "tool": "sar", "kernel": heading.kernel, "system": "Linux"}
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


SAR = Form(
    "sar",
    "",
    parse_sar,
    (
        r"Linux +\S+ +\([^)\n]*\)[ \t]",
        # A line quoted with "> " is left to the search without prefixes.
        r"(?![#>*%;-][ \t])\S[^\n]{0,30}?[ \t](?:CPU[ \t]+(?:%user[ \t]+%nice[ \t]+%system[ \t]+(?:%idle"
        r"|%iowait[ \t]+(?:%steal|%idle[ \t]*$))|%usr[ \t]+%nice[ \t]+%sys(?:tem)?"
        r"[ \t]+%iowait[ \t]+%steal|MHz|wghMHz|i[0-9]{3}/s|total/s[ \t])|(?:IFACE[ \t]+)?rx(?:pck|err)"
        r"/s[ \t]|(?:DEV[ \t]+)?tps[ \t]+(?:rtps|rkB/s|rd_sec/s|sect/s)|INTR[ \t]+(?:intr/s|all)|(?:proc"
        r"|cswch|frmpg)/s(?:[ \t]|$)|pswpin/s[ \t]|pgpgin/s[ \t]|kbmemfree[ \t]|kbswpfree[ \t]"
        r"|kbhugfree[ \t]|runq-sz[ \t]|%s(?:cpu|io|mem)-10[ \t]|dentunusd[ \t]|TTY[ \t]+rcvin/s|(?:active"
        r"|atmptf|irec|ihdrerr|imsg|ierr)/s[ \t]|(?:totsck|tcp6sck)[ \t]|s?call/s[ \t]|idgm6?/s[ \t]"
        r"|MBfsfree[ \t]|(?:FCHOST[ \t]+)?fch_rxf/s|LINUX RESTART)",
        r"(?:SunOS|AIX|HP-UX|Darwin) [^\n]{1,100}? [0-9]{2}/[0-9]{2}/[0-9]{2,4}[ \t]*$",
        r"(?:\S+: )?Cannot open \S*/sa[r0-9]\S*: ",
        r"Requested activities not available",
        r"Invalid system activity file",
        r"Usage: sar ",
        r"(?:-?\w+: )?(?:line [0-9]+: )?sar: command not found",
    ),
    takes=("timezone",),
    ending=TWO_DECIMALS,
)
