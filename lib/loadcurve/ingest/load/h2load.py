"""h2load: read its report and its log of requests into tables.

Tables: `runs`, `latency`, `phases`; `requests` of ``--log-file``.  Seen: nghttp2 1.52 of Debian 12 (samples of the
tests: ``h2load --h1 -n 20000 -c 32 URL``, ``-D 2``); 1.1 to 1.69 in public repositories.

Output of h2load (``src/h2load.cc``, ``src/util.cc``):

- Times are ``us`` below 1 ms, then ``ms`` and ``s`` with two decimals; they differ within a row.  Sizes are 1024-based.
- ``req/s`` of the line ``finished in`` counts responses with any status.  In a timed run it is divided by the
  requested main part (``-D``), while ``finished in`` includes the warm-up and the end.  The row ``req/s`` describes the
  distribution over the clients.
- ``failed`` counts responses of status 400 or more and the requests in ``errored``: streams that ended without a
  response, which are done, and requests abandoned or never sent, which are not; ``timeout`` is part of ``errored``.  So
  the responses are succeeded + failed - errored.  With ``-D`` requests are cut off at the end, so more are started than
  done, and ``total`` was not requested.
- h2load prints ``0us`` for a phase that did not occur: these values are missing.
- From 1.69 on there are also median, p95 and p99 (the nearest rank), at most a million samples for each thread.
"""

import math
import re
from typing import Any

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import SECONDS, real

_N = r"([0-9]{1,18})"
_FINISHED = re.compile(r"finished in (.{1,80}?), (\S{1,24}) req/s, (\S{1,24})")
_OLD_TIME = re.compile(r"(?:([0-9]+) sec, )?(?:([0-9]+) millisec and )?([0-9]+) microsec")
_ONCE = {
    "requests:": re.compile(
        rf"requests: {_N} total, {_N} started, {_N} done, {_N} succeeded, {_N} failed, {_N} errored(?:, {_N} timeout)?"
    ),
    "status codes:": re.compile(rf"status codes: {_N} 2xx, {_N} 3xx, {_N} 4xx, {_N} 5xx"),
    "traffic:": re.compile(
        r"traffic: (?P<total>\S{1,24})(?: \((?P<all>[0-9]{1,18})\))?(?: bytes)? total, (?P<head>\S{1,24})"
        r"(?: \([0-9]{1,18}\))?(?: bytes)? headers(?: \(space savings (?:[0-9.]{1,9}|-?nan)%\))?,"
        r" (?P<data>\S{1,24})(?: \((?P<body>[0-9]{1,18})\))?(?: bytes)? data"
    ),
    "UDP datagram": re.compile(rf"UDP datagrams?: {_N} sent, {_N} received"),
}
_COLUMNS = re.compile(r"min\s+max\s+(?:median\s+p95\s+p99\s+)?mean\s+sd\s+\+/- sd")
_ROW = re.compile(r"(time for request|time for connect|time to 1st byte|request|connect|TTFB|req/s)\s*:\s*(.*)")
_QUIC_ROW = re.compile(r"(?:min RTT|smoothed RTT|packets (?:sent|recv|lost)|G[RS]O packets?)\s*:.*")
_CLIENTS = re.compile(rf"spawning thread #[0-9]{{1,6}}: {_N} (?:total client\(s\)|concurrent clients)[.,]\s?(.*)")
_WARM_UP = re.compile(rf"Timing-based test with {_N}s of warm-up time and {_N}s of main duration.*")
_ASKED = re.compile(rf"{_N} total requests")
_START = "starting benchmark..."
_WHOLE = ("B/s", "timeout", "errored", "5xx", "data", "%", "received")  # endings of complete lines
_CHATTER = re.compile(
    r"progress: .*|Warm-up (?:started|phase) .*|Main benchmark duration .*|Stopped all clients .*|-t: warning: .*"
    r"|Application protocol: .*|TLS Protocol: .*|Cipher: .*|Server Temp Key: .*|Resumption: .*|No protocol negotiated.*"
    r"|Negotiated Group: .*|ALPN.*|Server does not support NPN.*|\. Stopping all clients\..*"
)
_FAILURE = re.compile(
    r"(?:Usage: h2load |.*h2load: (?:command )?not found|-[A-Za-z]: |--[a-z-]+: |invalid URI|no URI|URI .*not|"
    r"Could not resolve|getaddrinfo|Test cannot be run|Options are incompatible|h2load: ).*",
    re.IGNORECASE,
)
_TIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{2})?)(us|ms|s)")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{2})?)([KMGT]?)B?")
_STEPS = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
_PHASES = {"time for connect": "connect", "connect": "connect", "time to 1st byte": "first_byte", "TTFB": "first_byte"}
_LOG = re.compile(r"([0-9]{10,18})\t(-?[0-9]{1,3})\t([0-9]{1,12})")


def parse_h2load(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every h2load report in a text."""
    cursor = Cursor(text, "h2load")
    reports: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"clients": 0, "threads": 0}
    for line in cursor:
        if cursor.match(_CHATTER):
            continue
        if line == _START or (asked.get("used") and cursor.match(_CLIENTS)):
            asked = {"clients": 0, "threads": 0}
        if cursor.warn_if_cut(line.endswith(_WHOLE)) or line == _START:
            continue
        if line.startswith("spawning thread"):
            _ask(asked, cursor.expect(_CLIENTS, "'spawning thread #0: N total client(s). …'"), cursor)
        elif line.startswith("finished in"):
            run = _finished(cursor.expect(_FINISHED, "'finished in T, N req/s, SB/s'"), cursor)
            reports.append({"run": run, "line": cursor.number, "asked": asked, "latency": [], "phases": []})
            asked["used"] = True
        elif not reports:
            cursor.take_failure(_FAILURE)
        elif not _take(reports[-1], cursor):
            cursor.skip_unknown()
    expected = "a report of h2load, which begins with 'finished in'"
    if not reports:
        return cursor.failed_run(expected) if cursor.failure or not cursor.number else cursor.fail(expected)
    runs = [report | {"runs": [_row(report, cursor.warnings)]} for report in reports]
    return Parsed("h2load", with_generator_numbers(("runs", "latency", "phases"), runs), tuple(cursor.warnings))


def parse_h2load_log(text: str) -> Parsed:
    """Table `requests` of ``h2load --log-file``: start (us since the epoch), status, time (us), TAB between."""
    *lines, rest = text.split("\n")
    warnings = [f"line {len(lines) + 1}: the text ends inside a line, which is left out: {rest[:60]!r}"] if rest else []
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _LOG.fullmatch(line.strip())
        if match is None:
            raise ParseError(number, "time, status and microseconds of a request, TAB between", line)
        code = int(match[2])  # -1 if the request failed
        row = {"generator": 0, "tool": "h2load", "time": int(match[1]), "latency_s": int(match[3]) / 1e6}
        rows.append(row | ({"status": code} if code >= 0 else {"error": "failed"}))
    if not rows:
        raise ParseError(1, "a line of h2load --log-file", rest)
    table = pd.DataFrame(rows)
    table["time"] = pd.to_datetime(table["time"], unit="us", utc=True)
    return Parsed("h2load", {"requests": table}, tuple(warnings))


def _ask(asked: dict[str, Any], match: re.Match[str], cursor: Cursor) -> None:
    """Add the options of one thread."""
    asked["clients"] += int(match[1])
    asked["threads"] += 1
    if timed := _WARM_UP.fullmatch(match[2]):
        asked["main"] = int(timed[2])
    elif requests := _ASKED.fullmatch(match[2]):
        asked["requests"] = asked.get("requests", 0) + int(requests[1])
    else:
        cursor.fail("'N total requests' or 'Timing-based test …'", match[2])


def _finished(match: re.Match[str], cursor: Cursor) -> dict[str, Any]:
    if old := _OLD_TIME.fullmatch(match[1]):
        duration = int(old[1] or 0) + int(old[2] or 0) * 1e-3 + int(old[3]) * 1e-6
    else:
        duration = _time(match[1], cursor)
    if not match[3].endswith("B/s"):
        cursor.fail("a rate such as 1.20MB/s", match[3])
    return {
        "duration_s": duration, "throughput_rps": real(match[2], cursor.number, "a rate"),
        "received_bytes_per_s": _size(match[3].removesuffix("/s"), cursor),
    }  # fmt: skip


def _take(report: dict[str, Any], cursor: Cursor) -> bool:
    """Add a line after ``finished in`` to its report; False if it is not part of the report."""
    run = report["run"]
    if name := next((name for name in _ONCE if cursor.line.startswith(name)), ""):
        match = cursor.expect(_ONCE[name], f"the line {name!r} of h2load")
        if name in report:
            cursor.fail(f"the line {name!r} once in a report")
        report[name] = cursor.number
        if name == "requests:":
            _take_requests(report, match, cursor)
        elif name == "status codes:":
            run |= {f"responses_{n}xx": int(token) for n, token in zip("2345", match.groups(), strict=True)}
            run["errors_status"] = run["responses_4xx"] + run["responses_5xx"]
        elif name == "traffic:":
            for column, shown, exact in (("received_bytes", "total", "all"), ("received_body_bytes", "data", "body")):
                printed = _size(match[shown], cursor)
                run[column] = float(match[exact]) if match[exact] else printed
                if match[exact] and abs(printed - run[column]) > 0.006 * printed + 1:
                    cursor.fail(f"a size that is {match[shown]}", match[exact])
            _size(match["head"], cursor)
    elif cursor.match(_COLUMNS):
        report["has median"] = "median" in cursor.line
    elif row := cursor.match(_ROW):
        _take_times(report, row[1], row[2].split(), cursor)
    else:
        return cursor.match(_QUIC_ROW) is not None
    return True


def _take_requests(report: dict[str, Any], match: re.Match[str], cursor: Cursor) -> None:
    asked, started, done, succeeded, failed, errored = (int(token) for token in match.groups()[:6])
    responses = succeeded + failed - errored
    if not 0 <= responses <= done:
        cursor.fail("succeeded + failed - errored from 0 to done")
    report |= {"errored": errored, "done": done}
    report["run"] |= {
        "requests_asked": asked, "requests_started": started, "requests": responses, "requests_succeeded": succeeded,
        "requests_failed": failed, "errors_timeout": int(match[7]) if match[7] else None,
    }  # fmt: skip


def _take_times(report: dict[str, Any], name: str, tokens: list[str], cursor: Cursor) -> None:
    """Add one row of the table of times to the run, its quantiles or its phases."""
    if len(tokens) not in (4, 5, 8) or (len(tokens) == 8) != report.get("has median", False):
        cursor.fail("4 numbers and a percentage, or 7 where there is a median", " ".join(tokens))
    if len(tokens) != 4:
        if not tokens[-1].endswith("%"):
            cursor.fail("a percentage at the end", tokens[-1])
        real(tokens.pop()[:-1].removeprefix("-"), cursor.number, "a percentage")
    if name == "req/s":
        for token in tokens:
            real(token.removeprefix("-"), cursor.number, "a rate")
        return
    times = [_time(token, cursor) for token in tokens]
    if not any(times):
        times = [math.nan] * len(times)  # the phase did not occur
    least, most, *quantiles, mean, deviation = times
    row = {"mean_s": mean, "stdev_s": deviation, "min_s": least, "max_s": most}
    if name in _PHASES:
        report["phases"].append({"phase": _PHASES[name], **row} | ({"median_s": quantiles[0]} if quantiles else {}))
        return
    report["run"] |= {f"latency_{column}": value for column, value in row.items()}
    if quantiles:
        report["run"]["percentile_estimator"] = "nearest rank"
        report["latency"] = [
            {"quantile": quantile, "latency_s": time, "corrected": False}
            for quantile, time in zip((0.5, 0.95, 0.99), quantiles, strict=True)
        ]


def _row(report: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the row of `runs`: the report, the options, and values derived from both."""
    run, asked, line = report["run"], report["asked"], report["line"]
    row = {"tool": "h2load", **run, "latency_corrected": False, "latency_origin": "measured"}
    if asked["threads"]:
        row |= {"threads": asked["threads"], "connections": asked["clients"]}
    done = report.get("done", 0)
    abandoned = report.get("errored", 0) - (done - row.get("requests", 0))
    if "requests" not in asked or row.get("requests_started", 0) - done > abandoned:
        row.pop("requests_asked", None)  # a timed run, or no line that says it is none
    if "main" in asked and asked["main"] and ("requests" not in row or _agree(row, float(asked["main"]), done)):
        row["duration_s"] = float(asked["main"])
    if "requests" not in row:
        warnings.append(f"line {line}: the report has no line 'requests:'")
        return row
    rate, responses = row["throughput_rps"], row["requests"]
    row["status"] = "finished"
    if not responses:
        row |= {"status": "failed", "throughput_rps": 0.0}
        row["reason"] = f"{report['errored']} of {row['requests_failed']} failed requests errored, none had a response"
    elif done > responses:
        row["throughput_rps"] = rate * responses / done
        warnings.append(f"line {line}: {done - responses} requests without a response are in 'req/s'")
    row["errors_other"] = report["errored"] - min(report["errored"], row["errors_timeout"] or 0)
    if done and not _agree(report["run"], row["duration_s"], done):
        warnings.append(
            f"line {line}: {rate:g} req/s over {row['duration_s']:g} s is not {done} requests: h2load takes the rate "
            "over the main part of a timed run, and 'finished in' is all of it"
        )
    return row


def _agree(row: dict[str, Any], duration: float, done: int) -> bool:
    """Whether the rate over a duration is the requests done, within the two decimals of both."""
    slack = 0.006 * row["throughput_rps"] + 0.006 * duration + 1e-5 * done + 1
    return bool(abs(row["throughput_rps"] * duration - done) <= slack)


def _time(token: str, cursor: Cursor) -> float:
    match = _TIME.fullmatch(token) or cursor.fail("a time such as 952us or 1.20ms", token)
    return float(match[1]) * SECONDS[match[2]]


def _size(token: str, cursor: Cursor) -> float:
    match = _SIZE.fullmatch(token) or cursor.fail("a size such as 1.20MB", token)
    return float(match[1]) * _STEPS[match[2]]
