"""Error logs of nginx and Apache httpd into the table `events`.

Seen: nginx 1.22 on Debian 12; logs of Apache 2.2 and 2.4 in public repositories.

What the servers themselves do: a line has the local time (nginx: whole seconds), the level, process and connection, and
the message.  Under load these messages matter: ``connect() failed``, ``worker_connections are not enough``, ``no live
upstreams``, ``Too many open files``, ``server reached MaxRequestWorkers``.
"""

import re
from datetime import datetime
from functools import lru_cache

from loadcurve.ingest.column_lists import Columns, table_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise, nothing_in
from loadcurve.ingest.sysstat.clock import instant, zone_named

_NGINX = re.compile(r"([0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}) \[([a-z]+)\] (?:[0-9]+#[0-9]+: )?(\S.*)")
_APACHE = re.compile(
    r"\[[A-Z][a-z]{2} ([A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,6}))? ([0-9]{4})\]"
    r" \[(?:[a-z0-9_]*:)?([a-z]+[0-9]?)\] (\S.*)"
)
_NAMED_ODD = 5  # lines that a warning names


def parse_error_log(text: str, timezone: str = "UTC") -> Parsed:
    """Table `events` of an error log: a row for each line.

    `event` is the level (``warn``, ``error``, ``alert``), `text` the message.  Lines in another form, such as the
    second line of a message, are left out, and a warning names the first of them.  `timezone` is the IANA name of the
    server's zone: the lines have local times.
    """
    zone = zone_named(timezone)
    columns: Columns = {"tool": [], "event": [], "text": [], "time": []}
    times: dict[datetime, datetime] = {}
    warnings: list[str] = []
    unread: list[str] = []
    more = 0
    *whole, last = text.split("\n")
    for number, raw in enumerate(whole, 1):
        line = raw.strip()
        if entry := _entry(line):
            *values, local = entry
            if (time := times.get(local)) is None:
                known = len(warnings)
                time = instant(local, zone, number, warnings)
                if len(warnings) == known:  # a doubt is reported for each line
                    times[local] = time
            for column, value in zip(columns.values(), (*values, time), strict=True):
                column.append(value)
        elif len(line) > 400 or not is_noise(line):
            if len(unread) < _NAMED_ODD:
                unread.append(f"line {number}: not a line of an error log, so left out: {line[:60]!r}")
            more += 1
    if last.strip():
        unread.append(f"line {len(whole) + 1}: the text ends inside this line, which is left out: {last[-40:]!r}")
    if not columns["tool"]:
        raise nothing_in(text, "a line of an error log")
    if more > _NAMED_ODD:
        unread.append(f"{more - _NAMED_ODD} more lines are not of an error log, so left out")
    return Parsed(columns["tool"][0], {"events": table_of(columns)}, (*warnings, *unread))


def _entry(line: str) -> tuple[str, str, str, datetime] | None:
    """Server, level, message and local time of a line; None if it is not of an error log."""
    try:
        if match := _NGINX.fullmatch(line):
            return "nginx", match[2], match[3], _local(match[1])
        if match := _APACHE.fullmatch(line):
            local = datetime.strptime(f"{match[3]} {match[1]}", "%Y %b %d %H:%M:%S")
            return "apache", match[4], match[5], local.replace(microsecond=int((match[2] or "0").ljust(6, "0")))
    except ValueError:
        pass
    return None


@lru_cache(64)
def _local(text: str) -> datetime:
    """Local time of a line; several lines in turn have the same second."""
    return datetime.fromisoformat(text.replace("/", "-"))
