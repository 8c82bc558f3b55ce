"""wrk: reports of ``wrk [--latency] URL`` into the tables `runs` and `latency`.

Seen: Debian's wrk 4.1.0 (every sample of the tests; ``wrk -t2 -c64 -d2s --latency URL``), reports of 1.x to 4.2 in
public repositories.  wrk2 is another tool with other columns; its reports are refused here.

What wrk itself does (wrk 4.1.0):

- ``src/units.c``: counts in steps of 1000 (``k M G``), bytes in steps of 1024 though written ``KB MB GB``, times
  ``us ms``, then ``s m``; a unit is changed at 0.85 of the next one; always two decimals.
- ``src/wrk.c``: ``Requests/sec`` and ``Transfer/sec`` are the printed totals over the *measured* time of the line
  ``N requests in T`` (the heading shows the rounded option); a request is every response, whatever its status; a
  response with a status over 399 counts as ``Non-2xx or 3xx``; the two error lines are left out exactly when all
  their counts are 0.
- ``src/stats.c``: one counter per microsecond; a quantile is the nearest rank in them.  The counters hold no response
  later than the ``--timeout``, and ``stats_correct`` adds those that coordinated omission hid, so mean, deviation and
  quantiles are of the corrected distribution.  wrk 1, whose heading is ``Making N requests to``, did not correct.
"""

import math
import re
from collections.abc import Callable

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.units import parse_bytes, parse_count, parse_percent, parse_time_s

# One printed number: how it is written (printf's %.2Lf, so always two decimals), how it is read, how it is called.
_Kind = tuple[re.Pattern[str], Callable[[str], float], str]
_NAN = r"-?nan[a-z%]*|"
_TIME: _Kind = (re.compile(_NAN + r"[0-9]+\.[0-9]{2}(us|ms|s|m|h)"), parse_time_s, "a time such as 1.20ms")
_SIZE: _Kind = (re.compile(r"[0-9]+\.[0-9]{2}[KMGTP]?B"), parse_bytes, "a size such as 2.03KB")
_METRIC: _Kind = (re.compile(_NAN + r"[0-9]+\.[0-9]{2}[kMGTP]?"), parse_count, "a count such as 1.20k")
_PERCENT: _Kind = (re.compile(_NAN + r"[0-9]+\.[0-9]{2}%"), parse_percent, "a percentage such as 75.00%")
_RATE: _Kind = (re.compile(r"[0-9]+\.[0-9]{2}"), parse_count, "a rate such as 128408.94")
_WHOLE: _Kind = (re.compile(r"[0-9]+"), int, "a whole number")
_DURATION: _Kind = (re.compile(r"[0-9]+[smh]"), parse_time_s, "a duration such as 10s")
_RANK: _Kind = (re.compile(r"[0-9]{1,3}(\.[0-9]+)?%"), parse_percent, "a percentile such as 99%")

_HEADING_LIKE = re.compile(r"Running\b.*\btest @|Making\b.*\brequests to\b")
_HEADING = re.compile(r"(?:Running (?P<duration>\S+) test @|Making (?P<requests>\S+) requests to) \S.*")
_SIZES = re.compile(r"(\S+)\s+threads and\s+(\S+)\s+connections")
_THREAD_STATS = re.compile(r"Thread Stats\s+Avg\s+Stdev\s+Max\s+\+/- Stdev")
_LATENCY = re.compile(r"Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)")
_REQ_SEC = re.compile(r"Req/Sec\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)")
_DISTRIBUTION = re.compile(r"Latency Distribution")
_PERCENTILE = re.compile(r"(\S+%)\s+(\S+)")
_TOTAL = re.compile(r"(\S+)\s+requests in\s+(\S+),\s+(\S+)\s+read")
_SOCKET_ERRORS = re.compile(r"Socket errors: connect (\S+), read (\S+), write (\S+), timeout (\S+)")
_STATUS_ERRORS = re.compile(r"Non-2xx or 3xx responses: (\S+)")
_REQUESTS_PER_S = re.compile(r"Requests/sec:\s*(\S+)")
_TRANSFER_PER_S = re.compile(r"Transfer/sec:\s*(\S+)")
_ORPHANS = (_SIZES, _THREAD_STATS, _TOTAL)  # lines no other tool prints: outside a report, its heading is lost

_FAILURE = re.compile(r"unable to|invalid URL|number of connections must|Usage: wrk|Killed")  # src/wrk.c, and a shell's

_ESTIMATOR = "nearest rank in 1 us bins"  # stats_percentile in src/stats.c; printed with two decimals
_ROUNDING = 1e-9  # relative slack of our own floating point in the cross-checks


def parse_wrk(text: str) -> Parsed:
    """Tables `runs` and `latency` of every wrk report in a text.

    Lines outside the reports (prompts, banners, what a Lua ``done()`` prints) are passed over; within a report every
    line must be understood, and the rates must be what the totals say.

    Parameters
    ----------
    text : str
        Standard output of one or several runs of wrk.

    Returns
    -------
    Parsed
        `runs`: one row for each report, `generator` counting them from 0.  `latency`: one row for each line of a
        ``Latency Distribution``.  Response times that wrk prints as 0 because it measured none are missing (NaN).

    Raises
    ------
    ParseError
        Where a report is garbled, cut short or contradicts itself, and where there is none.

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
    lines = [line.strip().removeprefix("^C").lstrip() for line in text.removeprefix("\ufeff").split("\n")]
    runs: list[dict] = []
    latency: list[dict] = []
    warnings: list[str] = []
    at = 0
    while at < len(lines):
        if _HEADING_LIKE.match(lines[at]):
            run, quantiles, notes, at = _report(lines, at)
            runs.append({"generator": len(runs), **run})
            latency += [{"generator": runs[-1]["generator"], **row} for row in quantiles]
            warnings += notes
        elif any(shape.fullmatch(lines[at]) for shape in _ORPHANS):
            raise ParseError(at + 1, "a heading such as 'Running 10s test @ URL' before this line", lines[at])
        else:
            at += 1
    if not runs:
        filled = [i for i, line in enumerate(lines) if line] or [0]
        at = next((i for i in filled if _FAILURE.match(lines[i])), filled[0])
        raise ParseError(at + 1, "a wrk report", lines[at])
    columns = ["generator", "quantile", "latency_s", "corrected"]
    tables = {"runs": pd.DataFrame(runs), "latency": pd.DataFrame(latency, columns=columns)}
    return Parsed("wrk", tables, tuple(warnings))


def _report(lines: list[str], at: int) -> tuple[dict, list[dict], list[str], int]:
    """One report that starts at index `at`: its row, its quantiles, its warnings, the index after it."""
    heading, at = _take(lines, at, _HEADING, "a heading such as 'Running 10s test @ URL'")
    if heading["duration"]:
        _read(_DURATION, heading["duration"], at)  # only the rounded option: the measured time comes below
    else:
        _read(_WHOLE, heading["requests"], at)
    corrected = heading["duration"] is not None

    match, at = _take(lines, at, _SIZES, "'N threads and N connections'")
    threads, connections = (_read(_WHOLE, token, at) for token in match.groups())
    _, at = _take(lines, at, _THREAD_STATS, "'Thread Stats   Avg      Stdev     Max   +/- Stdev'")
    match, at = _take(lines, at, _LATENCY, "'Latency' and its four numbers")
    mean, stdev, largest = (_read(_TIME, token, at) for token in match.groups()[:3])
    within = _read(_PERCENT, match[4], at)
    latency_line = at
    unmeasured = math.isnan(within) or math.isnan(mean) or mean == largest == 0
    if unmeasured:
        mean = stdev = largest = math.nan
    match, at = _take(lines, at, _REQ_SEC, "'Req/Sec' and its four numbers")
    for kind, token in zip((_METRIC, _METRIC, _METRIC, _PERCENT), match.groups(), strict=True):
        _read(kind, token, at)  # per thread, of the recent intervals: checked, not kept

    quantiles, at = _distribution(lines, at, corrected, unmeasured)
    warnings = []
    if any(map(math.isnan, (mean, stdev, largest, *(row["latency_s"] for row in quantiles)))):
        warnings.append(f"line {latency_line}: wrk measured no response time; what it prints as 0 or nan is missing")
    match, at = _take(lines, at, _TOTAL, "'N requests in T, S read'")
    requests = _read(_WHOLE, match[1], at)
    duration, duration_low, duration_high = _rounded(_TIME, match[2], at)
    received, received_low, received_high = _rounded(_SIZE, match[3], at)

    errors = dict.fromkeys(("connect", "read", "write", "timeout", "status"), 0)
    if _starts(lines, at, "Socket errors"):
        match, at = _take(lines, at, _SOCKET_ERRORS, "'Socket errors: connect N, read N, write N, timeout N'")
        errors |= {name: _read(_WHOLE, token, at) for name, token in zip(errors, match.groups(), strict=False)}
    if _starts(lines, at, "Non-2xx"):
        match, at = _take(lines, at, _STATUS_ERRORS, "'Non-2xx or 3xx responses: N'")
        errors["status"] = _read(_WHOLE, match[1], at)
        if errors["status"] > requests:
            raise ParseError(at, f"at most the {requests} requests", match[1])

    match, at = _take(lines, at, _REQUESTS_PER_S, "'Requests/sec: N'")
    throughput, low, high = _rounded(_RATE, match[1], at)
    _agree((low, high), (requests, requests), (duration_low, duration_high), "requests", match[1], at)
    match, at = _take(lines, at, _TRANSFER_PER_S, "'Transfer/sec: S'")
    transfer, low, high = _rounded(_SIZE, match[1], at)
    _agree((low, high), (received_low, received_high), (duration_low, duration_high), "bytes read", match[1], at)

    good = (requests - errors["status"]) / requests if requests else 0.0
    run = {
        "tool": "wrk", "threads": threads, "connections": connections, "duration_s": duration,
        "requests": requests, "throughput_rps": throughput, "goodput_rps": throughput * good,
        "received_bytes": received, "received_bytes_per_s": transfer,
        "latency_mean_s": mean, "latency_stdev_s": stdev, "latency_max_s": largest,
        **{f"errors_{name}": count for name, count in errors.items()},
        "percentile_estimator": _ESTIMATOR, "latency_corrected": corrected,
    }  # fmt: skip
    return run, quantiles, warnings, at


def _distribution(lines: list[str], at: int, corrected: bool, unmeasured: bool) -> tuple[list[dict], int]:
    """Return the lines of an optional ``Latency Distribution``, and the index after them."""
    if not _starts(lines, at, "Latency Distribution"):
        return [], at
    _, at = _take(lines, at, _DISTRIBUTION, "'Latency Distribution' alone (wrk2 adds '(HdrHistogram …)')")
    rows = []
    before = (0.0, 0.0)
    while not rows or (at < len(lines) and _PERCENTILE.fullmatch(lines[at])):
        match, at = _take(lines, at, _PERCENTILE, "a percentile line such as '99%    2.55ms'")
        quantile, latency = _read(_RANK, match[1], at), _read(_TIME, match[2], at)
        if not before[0] < quantile <= 1:
            raise ParseError(at, f"a percentile over {before[0]:.2%}, up to 100%", match[1])
        if latency < before[1]:
            raise ParseError(at, "a time not below that of the percentile before", match[2])
        before = (quantile, latency)
        rows.append({"quantile": quantile, "latency_s": math.nan if unmeasured else latency, "corrected": corrected})
    return rows, at


def _take(lines: list[str], at: int, shape: re.Pattern[str], expected: str) -> tuple[re.Match[str], int]:
    """Return the match of the line at index `at`, and the next index, which is also this line's number."""
    if not any(lines[at:]):
        last = max(i for i, line in enumerate(lines) if line)
        raise ParseError(last + 1, f"{expected} after this line; the report is cut off", lines[last])
    match = shape.fullmatch(lines[at])
    if match is None:
        raise ParseError(at + 1, expected, lines[at])
    return match, at + 1


def _starts(lines: list[str], at: int, word: str) -> bool:
    return at < len(lines) and lines[at].startswith(word)


def _read(kind: _Kind, token: str, line: int) -> float:
    pattern, convert, expected = kind
    if not pattern.fullmatch(token):
        raise ParseError(line, expected, token)
    return convert(token)


def _rounded(kind: _Kind, token: str, line: int) -> tuple[float, float, float]:
    """Return a number printed with two decimals, and the least and the greatest value that print so."""
    value = _read(kind, token, line)
    half = kind[1]("0.01" + token.lstrip("-.0123456789na")) / 2 if math.isfinite(value) else math.nan
    return value, value - half, value + half


def _agree(
    rate: tuple[float, float],
    total: tuple[float, float],
    duration: tuple[float, float],
    name: str,
    token: str,
    line: int,
) -> None:
    """Raise unless rate = total / duration for some values within the three ranges."""
    low = total[0] / duration[1] if duration[1] > 0 else math.inf
    high = total[1] / duration[0] if duration[0] > 0 else math.inf
    if rate[1] < low * (1 - _ROUNDING) or rate[0] > high * (1 + _ROUNDING):
        raise ParseError(line, f"{name} / duration, which is {low:.2f} to {high:.2f} per second", token)
