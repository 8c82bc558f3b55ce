"""nginx: pages of ``stub_status`` into the table `server`.

Seen: nginx 1.22 on Debian 12 (``curl http://server/stub_status``), pages of 0.7 to 1.27 and of Tengine in public
repositories, with and without the blanks that nginx writes at the ends of lines, indented, or on one line.

Output of nginx (``src/http/modules/ngx_http_stub_status_module.c``): five counters since its start and four
states now, all of the worker processes together.  ``Active connections`` counts idle ones too.  The page itself is one
connection (writing) and one request.  Tengine adds the sum of all request times in milliseconds as a fourth number.
"""

import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter_rows

_B = r"[ \t#/*>;|]*+"  # blanks and comment signs
_S = rf"(?:{_B}\n)*+{_B}"
_N = r"([0-9]{1,18})"
_PAGE = re.compile(
    rf"Active connections:[ \t]*+{_N}{_S}server accepts handled requests[ \t]*+(request_time)?{_S}"
    rf"{_N}[ \t]++{_N}[ \t]++{_N}(?:[ \t]++{_N})?+{_S}"
    rf"Reading:[ \t]*+{_N}[ \t]*+Writing:[ \t]*+{_N}[ \t]*+Waiting:[ \t]*+{_N}(?![0-9\w.])"
)
_START = re.compile(r"Active connections:")
_SERVER = re.compile(r"(?:[<*] ?)?Server: *nginx/(\S+)", re.IGNORECASE)
_HEADER = re.compile(
    r"(?:[<>*] ?)?(?:HTTP/[0-9.]+ [0-9]+.*|(?!Date: )[A-Za-z-]+: .*)|% Total.*|Dload .*|[0-9]+ +[0-9]+ +[0-9]+ .*:.*"
)


def parse_stub_status(text: str, timezone: str = "UTC") -> Parsed:
    """Table `server` of one or several pages of ``stub_status``.

    A row for each page; of Tengine also a row of `counters` with its sum of request times.  `text` is the pages, each
    perhaps after a line with its time or the headers of the response.  A later page that is cut gets a warning.
    """
    lines = Lines(text, "stub_status", timezone)
    starts = [match.start() for match in _START.finditer(text)]
    rows: list[dict[str, Any]] = []
    counters: list[dict[str, Any]] = []
    version, end, read = "", 0, 0
    for start in [*starts, len(text)]:
        for at in range(read, text.count("\n", 0, start)):
            if server := _SERVER.match(lines.all[at]):
                version = server[1]
            elif not lines.is_time(at) and not _HEADER.fullmatch(lines.all[at][:400]):
                lines.stray(at)
        if start == len(text):
            break
        page = _PAGE.match(text, start)
        if page is None:
            _refuse(text, start, lines, rows)
            break
        row, extra = _row(page, text, lines)
        rows.append(row)
        counters += extra
        end = page.end()
        read = text.count("\n", 0, end) + 1
    if not rows:
        raise nothing_in(text, "a page of stub_status")
    tables = {"server": [row | ({"version": version} if version else {}) for row in rows]}
    return Parsed("nginx", tables | ({"counters": counters} if counters else {}), lines.warnings, version)


def _row(page: re.Match[str], text: str, lines: Lines) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    number = text.count("\n", 0, page.start()) + 1
    active, accepted, handled, requests, reading, writing, waiting = (int(page[i]) for i in (1, 3, 4, 5, 7, 8, 9))
    if bool(page[2]) != bool(page[6]):
        raise ParseError(text.count("\n", 0, page.start(3)) + 1, "as many counters as names", page[0].split("\n")[2])
    if handled > accepted:
        lines.warn(number, f"more connections handled ({handled}) than accepted ({accepted})")
    row = {
        "tool": "nginx", "connections": active, "accepted": accepted, "handled": handled, "requests": requests,
        "reading": reading, "writing": writing, "waiting": waiting, **lines.stamp,
    }  # fmt: skip
    if page.end() == len(text) and reading + writing + waiting != active:
        lines.warn(text.count("\n") + 1, f"the text ends right after 'Waiting: {waiting}', which may be cut")
        del row["waiting"]
    spent = [("request_time", int(page[6]) / 1000)] if page[6] else []
    return row, counter_rows(lines, "nginx", "stub_status", "", spent, "s")


def _refuse(text: str, start: int, lines: Lines, rows: list[dict[str, Any]]) -> None:
    """Raise at the first line of a page that nginx does not print; only warn where the text ends inside a page."""
    number = text.count("\n", 0, start) + 1
    rest = text[start:].split("\n", 8)[:8]
    expected_lines = (
        ("'Active connections: N'", rf"Active connections:[ \t]*{_N}[ \t]*"),
        ("'server accepts handled requests'", r"server accepts handled requests(?: request_time)?[ \t]*"),
        ("three counters", rf"{_N}[ \t]+{_N}[ \t]+{_N}(?:[ \t]+{_N})?[ \t]*"),
        ("'Reading: N Writing: N Waiting: N'", rf"Reading:[ \t]*{_N}[ \t]*Writing:[ \t]*{_N}[ \t]*Waiting:[ \t]*{_N}"),
    )
    filled = [(number + i, line.strip(" \t#/*>;|")) for i, line in enumerate(rest) if line.strip()]
    for i, (expected, shape) in enumerate(expected_lines):
        if i >= len(filled):
            break
        if not re.fullmatch(shape, filled[i][1]):
            if rows and filled[i][0] == len(lines):
                break
            raise ParseError(filled[i][0], expected, filled[i][1])
    if not rows:
        raise ParseError(filled[-1][0], "the rest of a page of stub_status", filled[-1][1])
    lines.warn(number, "the text ends inside the page that begins here, so the page is left out")
