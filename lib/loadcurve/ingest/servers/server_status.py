"""Apache httpd: ``server-status?auto`` into the tables `server` and `counters`.

Seen: httpd 2.4.71 on Debian 12 (``curl http://server/server-status?auto``), pages of 1.3 to 2.4 in public
repositories; lighttpd answers the same question in the same words, and is taken for Apache.

Output of httpd (``modules/generators/mod_status.c``):

- ``Total kBytes`` is in units of 1024 bytes; ``Total Duration`` and ``DurationPerReq`` are in milliseconds.
- ``ReqPerSec`` and ``BytesPerSec`` are means since the start; numbers are ``%g``, also ``.5`` and ``4.7e-05``.
- ``CPULoad`` is in percent of one processor, the ``CPU…`` before it are seconds.
- In the scoreboard a letter is a worker: ``R`` reads, ``W`` writes, ``K`` keeps a connection alive.  The event MPM
  holds such connections without a worker: ``ConnsAsync…``, so `waiting` is the sum of ``K`` and
  ``ConnsAsyncKeepAlive``.
- Without ``ExtendedStatus On`` (and before 2.3.6 that was the default) there is no counter of requests.
"""

import re
from datetime import datetime
from typing import Any

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter_rows
from loadcurve.ingest.sysstat.clock import zone_named

_NUMBER = r"-?(?:[0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_MOST = 2.0**63  # largest count
_VALUE = re.compile(rf"({_NUMBER})(%?)")
_KEY = re.compile(r"([A-Z][A-Za-z0-9 \[\]_-]{0,60}): ?(.*)")
_BARE = re.compile(r"TLSSessionCacheStatus|[\w.-]+|\[[0-9a-f:]+\]")
_HEADER = re.compile(
    r"HTTP/[0-9.]+ [0-9]+.*|(?:Date|Server|Content-\w+|Connection|Keep-Alive|Vary|ETag|Last-Modified): .*"
)
_COLUMNS = {
    "Total Accesses": ("requests", 1), "Total kBytes": ("sent_bytes", 1024), "Uptime": ("uptime_s", 1),
    "ReqPerSec": ("throughput_rps", 1), "BytesPerSec": ("sent_bytes_per_s", 1),
    "BusyWorkers": ("busy_workers", 1), "IdleWorkers": ("idle_workers", 1),
    "BusyServers": ("busy_workers", 1), "IdleServers": ("idle_workers", 1), "ConnsTotal": ("connections", 1),
}  # fmt: skip
_COUNTS = {"requests", "busy_workers", "idle_workers", "connections"}
_UNITS = {
    "Total Duration": ("s", 1e-3), "DurationPerReq": ("s", 1e-3), "BytesPerReq": ("bytes", 1),
    "CPUUser": ("s", 1), "CPUSystem": ("s", 1), "CPUChildrenUser": ("s", 1), "CPUChildrenSystem": ("s", 1),
    "CPULoad": ("ratio", 1e-2), "ServerUptimeSeconds": ("s", 1),
}  # fmt: skip
_TEXT = {"ServerVersion", "ServerMPM", "Server Built", "RestartTime", "ServerUptime", "CurrentTime", "Scoreboard"}
_TEXT_BY_MODULES = ("Proxy", "Cache", "TLS")  # mod_proxy_balancer and mod_ssl add names and sizes in words
_OF_A_PAGE = {*_COLUMNS, *_UNITS, "Load1", "Scoreboard", "ServerVersion"}
_PER_CENT = 1e-2
_ROUNDED = 2e-3  # %g keeps six digits, but the uptime is a whole number of seconds while the rates are not always


def parse_server_status(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `server` and `counters` of one or several pages of ``server-status?auto``.

    `server`: a row for each page.  `counters`: every other number, by its printed name.  `text` is the pages; each
    begins where a name comes again.  `timezone` is the IANA name of the server's zone, in which ``CurrentTime`` is.
    """
    lines = Lines(text, "server-status", timezone)
    pages: list[dict[str, tuple[int, str]]] = [{}]
    times = [pd.NaT]  # of the line with a time before each page
    for at, line in enumerate(lines.all):
        if not line or lines.is_time(at):
            continue
        match = _KEY.fullmatch(line)
        if match is None or _HEADER.fullmatch(line):
            if match is None and not (at + 1 < len(lines) and _BARE.fullmatch(line)):
                lines.stray(at)
            continue
        if match[1] in pages[-1]:
            pages.append({})
            times.append(pd.NaT)
        if not pages[-1]:
            times[-1] = lines.time
        if lines.is_open(at):
            lines.warn(at + 1, f"the text ends inside this line, which is left out: {line[:60]!r}")
            continue
        pages[-1][match[1]] = (at + 1, match[2].strip())
    rows, counters = [], []
    version = ""
    for page, time in zip(pages, times, strict=True):
        if not _OF_A_PAGE.intersection(page):
            continue
        lines.time = time
        row, others = _page(page, lines, timezone)
        rows.append(row)
        lines.time = row.get("time", pd.NaT)  # the time of the page is better than that of a line before the page
        for name, value, unit in others:
            counters += counter_rows(lines, "apache", "server-status", "", [(name, value)], unit)
        version = row.get("version", version)
    if not rows:
        raise nothing_in(text, "a page of server-status?auto")
    return Parsed("apache", {"server": rows, "counters": counters}, lines.warnings, version)


def _page(
    page: dict[str, tuple[int, str]], lines: Lines, timezone: str
) -> tuple[dict[str, Any], list[tuple[str, float, str]]]:
    """One page as a row of `server`, and the numbers without a column."""
    row: dict[str, Any] = {"tool": "apache"}
    others: list[tuple[str, float, str]] = []
    for name, (number, value) in page.items():
        if name in _TEXT:
            continue
        match = _VALUE.fullmatch(value)
        if match is None:
            if name in _COLUMNS or name in _UNITS:
                raise ParseError(number, f"a number for {name!r}", value)
            if not name.startswith(_TEXT_BY_MODULES):
                lines.warn(number, f"the value of {name!r} is not a number, so it is left out: {value[:60]!r}")
            continue
        amount = float(match[1])
        if not abs(amount) < _MOST:
            raise ParseError(number, f"a number for {name!r}", value)
        if name in _COLUMNS:
            column, times = _COLUMNS[name]
            if amount < 0 or (column in _COUNTS and amount != int(amount)):
                raise ParseError(number, f"a count for {name!r}", value)
            row[column] = int(amount) if column in _COUNTS else amount * times
        else:
            unit, scale = _UNITS.get(name, ("ratio", _PER_CENT) if match[2] else ("", 1))
            others.append((name, amount * scale, unit))
    if "ServerVersion" in page:
        row["version"] = page["ServerVersion"][1]
    if page.get("Scoreboard", (0, ""))[1]:
        board = page["Scoreboard"][1]
        known = {name: value for name, value, _ in others}
        row |= {
            "reading": board.count("R"),
            "writing": board.count("W") + int(known.get("ConnsAsyncWriting", 0)),
            "waiting": board.count("K") + int(known.get("ConnsAsyncKeepAlive", 0)),
        }
    if "CurrentTime" in page:
        time = _time(*page["CurrentTime"], lines, timezone)
        row |= {} if time is pd.NaT else {"time": time}
    elif lines.stamp:
        row |= lines.stamp
    uptime = row.get("uptime_s", 0)
    if uptime and "requests" in row and "throughput_rps" in row:
        expected = row["requests"] / uptime
        if abs(row["throughput_rps"] - expected) > max(_ROUNDED * expected, 1e-9):
            lines.warn(page["ReqPerSec"][0], f"ReqPerSec is not Total Accesses / Uptime, which is {expected:.6g}")
    return row, others


def _time(number: int, value: str, lines: Lines, timezone: str) -> pd.Timestamp:
    """Instant of ``Friday, 20-Nov-2026 22:56:02 UTC``; missing, with a warning, where the zone is not the given one."""
    match = re.fullmatch(r"[A-Z][a-z]+, ([0-9]{2}-[A-Z][a-z]{2}-[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}) (.+)", value)
    try:
        if match is None:
            raise ValueError
        local = datetime.strptime(match[1], "%d-%b-%Y %H:%M:%S")
    except ValueError:
        raise ParseError(number, "a time such as Friday, 20-Nov-2026 22:56:02 UTC", value) from None
    zone = zone_named("UTC" if match[2] in ("UTC", "GMT") else timezone)
    time = local.replace(tzinfo=zone)
    if match[2] not in ("UTC", "GMT", time.tzname()):
        doubt = f"{match[2]!r} is not the given zone {timezone}, so the time is missing"
        lines.warn(number, f"{doubt}; name the zone of the server")
        return pd.NaT
    return pd.Timestamp(time).tz_convert("UTC")
