"""ab (ApacheBench): its report, as text or HTML (``-w``), into the tables `runs`, `phases` and `latency`.

Seen: Debian's ab 2.3 (httpd 2.4.71; most samples of the tests, ``ab -n 2000 -c 10 URL``); 1.3, 2.0 and other
revisions of 2.3 in public repositories and in the source of each.

Output of ab (``support/ab.c`` of httpd; ``src/support/ab.c`` of 1.3):

- A request is complete when its connection was closed or its response was read. If a server closes every connection
  at once, ab reports complete requests, no failures and 0 bytes.
- ``Failed requests`` are refused connections, failed reads, exceptions of the poll loop, and responses with another
  length than the first one (normal for dynamic pages).  Responses with a status other than 2xx are not failed.
- ``Requests per second`` and ``Transfer rate`` (kB of 1024 bytes; of 1000 in 1.3) are totals divided by the time taken.
  ``Time per request (mean)`` is connections × time / requests, not a mean of measured times.
- ``Connection Times`` are measured in microseconds and printed in whole milliseconds, except the deviation.  The
  median is an order statistic; a percentile has index n p / 100, counted from 0.  ab does not correct for coordinated
  omission.
- 2.0 prints the microseconds of the time taken without leading zeros: ``2.34689 seconds`` is 2.034689 s.
"""

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
from loadcurve.ingest.load.ab_lines import Reader
from loadcurve.ingest.load.ab_rows import rows_of
from loadcurve.ingest.load.ab_wrapped import rejoin_lines
from loadcurve.ingest.parsed import Parsed


def parse_ab(text: str) -> Parsed:
    r"""Tables `runs`, `phases` and `latency` of every run of ab in a text.

    Examples
    --------
    >>> parsed = parse_ab("Benchmarking h (be patient)...apr_socket_recv: Connection reset by peer (104)\n"
    ...                   "Total of 371 requests completed\n")
    >>> parsed.tables["runs"][["status", "reason", "requests"]].values.tolist()
    [['failed', 'apr_socket_recv: Connection reset by peer (104)', 371]]
    """
    warnings: list[str] = []
    try:
        reader = Reader(text)
    except ParseError as error:
        whole, changed = rejoin_lines(text)
        if not changed:
            raise
        try:
            reader = Reader(whole)
        except ParseError:
            raise error from None
        warnings += [f"line {at}: broken in parts, which were joined" for at in changed]
    if not reader.found:
        at, line = reader.unread[0] if reader.unread else (1, "")
        raise ParseError(at, "a report of ab", line)
    runs = [rows_of(report) for report in reader.found]
    warnings += [warning for rows in runs for warning in rows.warnings]
    tables = [{"runs": [rows.run], "phases": rows.phases, "latency": rows.latency} for rows in runs]
    numbered = with_generator_numbers(("runs", "phases", "latency"), tables)
    return Parsed("ab", numbered, (*warnings, *_ignored_lines(reader.unread)), reader.found[0].version)


def _ignored_lines(unread: list[tuple[int, str]]) -> list[str]:
    """Return one warning for each group of consecutive lines."""
    found: list[str] = []
    first = 0
    for i, (at, line) in enumerate(unread):
        if i + 1 < len(unread) and unread[i + 1][0] == at + 1:
            continue
        where = f"line {at}: {line[:60]!r}" if first == i else f"lines {unread[first][0]} to {at}"
        found.append(f"{where} not understood, ignored")
        first = i + 1
    return found
