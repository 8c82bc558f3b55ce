"""ss: lists of sockets and summaries, alone or in one text, into `connections` and `sockets`.

A collector often runs ``date; ss -s; ss -tan`` in a loop; each reader is given the lines of its own and all times, so
that both tables use one clock.  `ss_connections` and `ss_summary` describe the formats.

Seen: iproute2 2.6 to 6.x, as those modules list.
"""

import re
from contextlib import suppress
from dataclasses import replace

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.snapshots import is_instant
from loadcurve.ingest.sockets.ss_connections import ROW_LIKE, parse_ss_connections
from loadcurve.ingest.sockets.ss_lines import HEADER, unwrapped
from loadcurve.ingest.sockets.ss_summary import LINE, parse_ss_summary

_SUMMARY = re.compile(rf"^[ \t]{{0,200}}{LINE}", re.MULTILINE)
_LIST = re.compile(rf"^[ \t]{{0,200}}(?:{HEADER}|{ROW_LIKE})", re.MULTILINE)


def parse_ss(text: str, timezone: str = "UTC") -> Parsed:
    """Return the tables `connections` and `sockets` of the lists and summaries in a text of ss.

    `text` is output of one or several calls of ss, with any options, each perhaps after a line with its time.  Raises
    ParseError where a line is not what ss prints, and where there is neither a list nor a summary.

    Examples
    --------
    >>> text = '''State  Recv-Q Send-Q Local Address:Port Peer Address:Port
    ... LISTEN 0      511                *:80              *:*
    ... '''
    >>> parse_ss(text).tables["connections"][["state", "local_port", "send_queue"]].values.tolist()
    [['LISTEN', '80', 511]]
    """
    try:
        return _parse(text, timezone)
    except ParseError:
        whole, changed = unwrapped(text)
        if not changed:
            raise
        with suppress(ParseError):
            parsed = _parse(whole, timezone)
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            joined = f"line {changed[0]}{more}: broken in parts, which were joined"
            return replace(parsed, warnings=(joined, *parsed.warnings))
        raise


def _parse(text: str, timezone: str) -> Parsed:
    # A search for words is faster than one for patterns, and a list may have a million sockets.
    if "TCP" not in text or not _SUMMARY.search(text):
        lists = parse_ss_connections(text, timezone)
        # A text with times only may belong to summaries.
        return lists if _LIST.search(text) else Parsed("ss", {}, lists.warnings)
    if not _LIST.search(text):
        return parse_ss_summary(text, timezone)
    lines = text.split("\n")
    last = len(lines) - 1
    own = [_SUMMARY.match(line) is not None for line in lines]
    shared = [not own[i] and i < last and is_instant(line) for i, line in enumerate(lines)]
    summaries = parse_ss_summary(
        "\n".join(line if mine or both else "" for line, mine, both in zip(lines, own, shared, strict=True)), timezone
    )
    rest = "\n".join("" if mine else line for line, mine in zip(lines, own, strict=True))
    lists = parse_ss_connections(rest, timezone)
    warnings = dict.fromkeys([*summaries.warnings, *lists.warnings])
    no_snapshot = "the text ends with a time and no snapshot"  # it may be followed by one of the other kind
    tables = {"sockets": summaries.tables.rows("sockets"), "connections": lists.tables.rows("connections")}
    return Parsed("ss", Tables(tables), tuple(text for text in warnings if no_snapshot not in text))
