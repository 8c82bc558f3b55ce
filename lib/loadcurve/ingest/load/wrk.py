"""wrk and wrk2: read reports of ``wrk [--latency] URL``, ``wrk2 -R RATE [-L|-U] URL`` into `runs` and `latency`.

Seen: Debian's wrk 4.1.0 and wrk2 (the samples of the tests: ``wrk -t2 -c64 -d2s --latency URL``,
``wrk2 -t1 -c32 -d12s -R2000 --latency URL``); wrk 1.x to 4.2, wrk2 and DeathStarBench's wrk2 in public repositories.

Output of wrk (wrk 4.1.0, ``src/wrk.c``, ``src/stats.c``; for its numbers and units see `wrk_numbers`):

- ``Requests/sec`` and ``Transfer/sec`` are the printed totals divided by the *measured* time of the line
  ``N requests in T`` (the heading shows the rounded option).  A response of any status counts as a request; one with a
  status over 399 counts as ``Non-2xx or 3xx``.  wrk omits each of the two error lines when all its counts are 0.
- wrk has one counter per microsecond; a quantile is the nearest rank in them.  No counter holds a response later than
  ``--timeout``: if every response is late, wrk prints 0.  A quantile of 0 is an empty counter, not a time.
- ``stats_correct`` adds the responses that coordinated omission hid, so mean, deviation and quantiles describe the
  corrected distribution.  wrk 4.0.0 introduced it (``CHANGES``: every response is recorded, and the correction is new);
  1 to 3 record random samples without a correction (3.1: ``src/wrk.c``, ``sample_rate``).  wrk 1 has another heading; 2
  and 3 print the heading of 4, so a report without a version is read as one of wrk 4.
- The duration of the heading is rounded to a whole unit: ``2m`` is 90 s to 150 s.  wrk 4 measures at least as long, so
  a shorter run was interrupted.

wrk2 sends at a rate that it does not print, and times a request from when it was due (HdrHistogram of three digits,
``src/hdr_histogram.c``); the first ten seconds of each thread (calibration) are in the totals, not in the latencies.
Its calibration lines, ``HdrHistogram`` or an echoed ``-R`` distinguish it from wrk.  DeathStarBench's wrk2 prints the
99th percentile where wrk prints the maximum, and times a request from when it is sent (``response_complete``): not
corrected.
"""

from loadcurve.ingest.load.wrk_lines import Reader
from loadcurve.ingest.load.wrk_rows import rows_of
from loadcurve.ingest.load.wrk_runs import paired
from loadcurve.ingest.parsed import Parsed


def parse_wrk(text: str) -> Parsed:
    """Tables `runs` and `latency` of every report of wrk or wrk2 in a text; wrk is assumed unless a line shows wrk2.

    Lines around the reports (prompts, banners, what a Lua ``done()`` prints) are skipped.

    Examples
    --------
    >>> report = '''Running 1s test @ http://198.18.0.3/sleep100
    ...   1 threads and 1 connections
    ...   Thread Stats   Avg      Stdev     Max   +/- Stdev
    ...     Latency   100.32ms   30.43us 100.38ms   77.78%
    ...     Req/Sec     9.44      1.67    10.00     88.89%
    ...   9 requests in 1.00s, 1.49KB read
    ... Requests/sec:      8.99
    ... Transfer/sec:      1.48KB'''
    >>> parse_wrk(report).tables["runs"][["requests", "throughput_rps", "errors_status"]].values.tolist()
    [[9.0, 8.99, 0.0]]
    """
    return _parse(text, "wrk")


def parse_wrk2(text: str) -> Parsed:
    r"""Like `parse_wrk`, but wrk2 is assumed for every report.

    Examples
    --------
    >>> failed = parse_wrk2("unable to connect to lb1:80 Connection refused\n")
    >>> failed.tool, failed.tables["runs"]["status"].tolist()
    ('wrk2', ['failed'])
    """
    return _parse(text, "wrk2")


def _parse(text: str, default: str) -> Parsed:
    reader = Reader(text)
    reader.read()
    warnings = reader.warnings
    runs: list[dict] = []
    latency: list[dict] = []
    for heading, report in sorted(paired(reader.events, warnings), key=lambda run: (run[1] or run[0]).line):
        row, quantiles = rows_of(heading, report, default, reader.version, warnings)
        if row:
            generator = len(runs)
            version = {"tool_version": reader.version} if reader.version else {}
            runs.append({"generator": generator, **version, **row})
            latency += [{"generator": generator, **quantile} for quantile in quantiles]
    if not runs and reader.otherwise:
        runs.append({"generator": 0, "tool": default, "status": "failed", "reason": reader.otherwise})
    if not runs:
        return reader.cursor.failed_run("a wrk report")
    tool = next((row["tool"] for row in runs if "tool" in row), default)
    return Parsed(tool, {"runs": runs, "latency": latency}, tuple(warnings), reader.version)
