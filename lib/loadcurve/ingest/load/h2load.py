"""h2load: its report, and its log of requests, into tables.

Tables: `runs`, `latency`, `phases`; `requests` of ``--log-file``.  Seen: nghttp2 1.52 of Debian 12 (samples of the
tests: ``h2load --h1 -n 20000 -c 32 URL``, ``-D 2``); 1.1 to 1.69 in public repositories.

What h2load itself does (``src/h2load.cc``, ``src/util.cc``):

- Times are ``us`` below 1 ms, then ``ms`` and ``s`` with two decimals, in one row too; sizes are in steps of 1024.
- ``req/s`` of the line ``finished in`` is every response, whatever its status; in a timed run it is taken over the
  main part asked for (``-D``), while ``finished in`` also holds the warm-up and the end.  The row ``req/s`` is over the
  clients.
- ``failed`` holds responses of status 400 or more and ``errored``: streams that ended without a response, which are
  done, and requests abandoned or never sent, which are not; ``timeout`` is part of ``errored``.  So the responses are
  succeeded + failed - errored.  In ``-D`` mode requests are cut off at the end, so more are started than done, and
  ``total`` is no number that was asked for.
- Numbers of a phase that never happened are printed as ``0us``: they are missing here.
- From 1.69 on there are also median, p95 and p99 (the nearest rank), at most a million samples for each thread.
"""

import math
import re

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import SECONDS, Strays, real, whole

_N = r"([0-9]{1,18})"
_FINISHED = re.compile(r"finished in (.{1,80}?), (\S{1,24}) req/s, (\S{1,24})")
_OLD_TIME = re.compile(r"(?:([0-9]+) sec, )?(?:([0-9]+) millisec and )?([0-9]+) microsec")
_REQUESTS = re.compile(
    rf"requests: {_N} total, {_N} started, {_N} done, {_N} succeeded, {_N} failed, {_N} errored(?:, {_N} timeout)?"
)
_CODES = re.compile(rf"status codes: {_N} 2xx, {_N} 3xx, {_N} 4xx, {_N} 5xx")
_TRAFFIC = re.compile(
    r"traffic: (?P<total>\S{1,24})(?: \((?P<all>[0-9]{1,18})\))?(?: bytes)? total, (?P<head>\S{1,24})"
    r"(?: \([0-9]{1,18}\))?(?: bytes)? headers(?: \(space savings (?:[0-9.]{1,9}|-?nan)%\))?,"
    r" (?P<data>\S{1,24})(?: \((?P<body>[0-9]{1,18})\))?(?: bytes)? data"
)
_DATAGRAMS = re.compile(rf"UDP datagrams?: {_N} sent, {_N} received")
_COLUMNS = re.compile(r"min\s+max\s+(?:median\s+p95\s+p99\s+)?mean\s+sd\s+\+/- sd")
_ROW = re.compile(r"(time for request|time for connect|time to 1st byte|request|connect|TTFB|req/s)\s*:\s*(.*)")
_QUIC_ROW = re.compile(r"(?:min RTT|smoothed RTT|packets (?:sent|recv|lost)|G[RS]O packets?)\s*:.*")
_CLIENTS = re.compile(rf"spawning thread #[0-9]{{1,6}}: {_N} (?:total client\(s\)|concurrent clients)[.,]\s?(.*)")
_WARM_UP = re.compile(rf"Timing-based test with {_N}s of warm-up time and {_N}s of main duration.*")
_ASKED = re.compile(rf"{_N} total requests")
_HELLO = re.compile(r"starting benchmark\.\.\.")
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
_ESTIMATOR = "nearest rank"
_LOG = re.compile(r"([0-9]{10,18})\t(-?[0-9]{1,3})\t([0-9]{1,12})")


def parse_h2load(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every h2load report in a text.

    Parameters
    ----------
    text : str
        Standard output of one or several runs.

    Returns
    -------
    Parsed
        `runs`: `requests` are the responses; `throughput_rps` is h2load's rate without those that ended without one;
        `goodput_rps` without the failed ones.

    Raises
    ------
    ParseError
        Where a line of a report is not what h2load prints, and where there is no report.

    Examples
    --------
    >>> report = '''finished in 2.00s, 100.00 req/s, 1.00KB/s
    ... requests: 200 total, 210 started, 200 done, 150 succeeded, 50 failed, 0 errored, 0 timeout
    ... status codes: 150 2xx, 0 3xx, 50 4xx, 0 5xx
    ... '''
    >>> parse_h2load(report).tables["runs"][["requests", "goodput_rps", "errors_status"]].values.tolist()
    [[200.0, 75.0, 50.0]]
    """
    lines = [line.strip() for line in text.split("\n")]
    strays = Strays("h2load")
    reports: list[dict] = []
    asked: dict = {"clients": 0, "threads": 0}
    failure = ""
    for number, line in enumerate(lines, 1):
        if not line or _CHATTER.fullmatch(line):
            continue
        if _HELLO.fullmatch(line) or (asked.get("used") and _CLIENTS.fullmatch(line)):
            asked = {"clients": 0, "threads": 0}
        if number == len(lines) and not line.endswith(("B/s", "timeout", "errored", "5xx", "data", "%", "received")):
            strays.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif _HELLO.fullmatch(line):
            continue
        elif line.startswith("spawning thread"):
            match = _CLIENTS.fullmatch(line)
            if match is None:
                raise ParseError(number, "'spawning thread #0: N total client(s). …'", line)
            _ask(asked, match, number)
        elif line.startswith("finished in"):
            match = _FINISHED.fullmatch(line)
            if match is None:
                raise ParseError(number, "'finished in T, N req/s, SB/s'", line)
            run = _finished(match, number)
            reports.append({"run": run, "line": number, "asked": asked, "rows": {}, "notes": []})
            asked["used"] = True
        elif not reports or not _take(reports[-1], line, number):
            failure = failure or (line if _FAILURE.fullmatch(line) else "")
            if reports:
                strays.add(number, line)
    if not reports and failure:
        return Parsed("h2load", {"runs": [{"generator": 0, "tool": "h2load", "status": "failed", "reason": failure}]})
    if not reports:
        at = next((i for i, line in reversed(list(enumerate(lines))) if line), 0)
        raise ParseError(at + 1, "a report of h2load, which begins with 'finished in'", lines[at])
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "phases": []}
    notes: list[str] = []
    for generator, report in enumerate(reports):
        tables["runs"].append({"generator": generator, **_row(report)})
        tables["latency"] += [{"generator": generator, **row} for row in report["rows"].get("latency", [])]
        tables["phases"] += [{"generator": generator, **row} for row in report["rows"].get("phases", [])]
        notes += report["notes"]
    return Parsed("h2load", tables, tuple(notes + strays.warnings))


def parse_h2load_log(text: str) -> Parsed:
    r"""Table `requests` of ``h2load --log-file``: start (us since the epoch), status, time (us), TAB between.

    Raises
    ------
    ParseError
        Where a line is not of that form; a last line without newline is left out with a warning.

    Examples
    --------
    >>> table = parse_h2load_log("1404210246000123\t200\t1500\n").tables["requests"]
    >>> table[["status", "latency_s"]].values.tolist()
    [[200.0, 0.0015]]
    """
    *lines, rest = text.split("\n")
    warnings = [f"line {len(lines) + 1}: the text ends inside a line, which is left out: {rest[:60]!r}"] if rest else []
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _LOG.fullmatch(line.strip())
        if match is None:
            raise ParseError(number, "time, status and microseconds of a request, TAB between", line)
        code = int(match[2])  # -1 where the request failed
        row = {"generator": 0, "tool": "h2load", "time": int(match[1]), "latency_s": int(match[3]) / 1e6}
        rows.append(row | ({"status": code} if code >= 0 else {"error": "failed"}))
    if not rows:
        raise ParseError(1, "a line of h2load --log-file", rest)
    table = pd.DataFrame(rows)
    table["time"] = pd.to_datetime(table["time"], unit="us", utc=True)
    return Parsed("h2load", {"requests": table}, tuple(warnings))


def _ask(asked: dict, match: re.Match[str], number: int) -> None:
    """Add what a thread was asked to do."""
    asked["clients"] += whole(match[1], number)
    asked["threads"] += 1
    if timed := _WARM_UP.fullmatch(match[2]):
        asked["warm_up"], asked["main"] = (whole(token, number) for token in timed.groups())
    elif requests := _ASKED.fullmatch(match[2]):
        asked["requests"] = asked.get("requests", 0) + whole(requests[1], number)
    else:
        raise ParseError(number, "'N total requests' or 'Timing-based test …'", match[2])


def _finished(match: re.Match[str], number: int) -> dict:
    if old := _OLD_TIME.fullmatch(match[1]):
        duration = int(old[1] or 0) + int(old[2] or 0) * 1e-3 + int(old[3]) * 1e-6
    else:
        duration = _time(match[1], number)
    if not match[3].endswith("B/s"):
        raise ParseError(number, "a rate such as 1.20MB/s", match[3])
    return {
        "duration_s": duration, "throughput_rps": real(match[2], number, "a rate"),
        "received_bytes_per_s": _size(match[3].removesuffix("/s"), number),
    }  # fmt: skip


def _take(report: dict, line: str, number: int) -> bool:
    """Add a line after ``finished in`` to its report; False where it is not of the report."""
    run, rows = report["run"], report["rows"]
    if line.startswith("requests:"):
        match = _take_once(report, _REQUESTS, line, number, "requests")
        names = ("requests_asked", "requests_started", "requests", "requests_succeeded", "requests_failed", "errored")
        run |= {name: int(token) for name, token in zip(names, match.groups(), strict=False)}
        report["errored"], report["done"] = run.pop("errored"), run["requests"]
        run["requests"] = run["requests_succeeded"] + run["requests_failed"] - report["errored"]
        if not 0 <= run["requests"] <= report["done"]:
            raise ParseError(number, "succeeded + failed - errored from 0 to done", line)
        run["errors_timeout"] = int(match[7]) if match[7] else None
        report["requests line"] = number
    elif line.startswith("status codes:"):
        match = _take_once(report, _CODES, line, number, "codes")
        run |= {f"responses_{n}xx": int(token) for n, token in zip((2, 3, 4, 5), match.groups(), strict=True)}
        run["errors_status"] = run["responses_4xx"] + run["responses_5xx"]
    elif line.startswith("traffic:"):
        match = _take_once(report, _TRAFFIC, line, number, "traffic")
        for column, shown, exact in (("received_bytes", "total", "all"), ("received_body_bytes", "data", "body")):
            printed = _size(match[shown], number)
            run[column] = float(match[exact]) if match[exact] else printed
            if match[exact] and abs(printed - run[column]) > 0.006 * printed + 1:
                raise ParseError(number, f"a size that is {match[shown]}", match[exact])
        _size(match["head"], number)
    elif line.startswith("UDP datagram"):
        _take_once(report, _DATAGRAMS, line, number, "datagrams")
    elif _COLUMNS.fullmatch(line):
        report["columns"] = line.count("median")
    elif match := _ROW.fullmatch(line):
        _times(report, match[1], match[2].split(), number)
    else:
        return _QUIC_ROW.fullmatch(line) is not None
    return rows is not None


def _take_once(report: dict, shape: re.Pattern[str], line: str, number: int, name: str) -> re.Match[str]:
    match = shape.fullmatch(line)
    if match is None:
        raise ParseError(number, f"the line {name!r} of h2load", line)
    if name in report:
        raise ParseError(number, f"the line {name!r} once in a report", line)
    report[name] = number
    return match


def _times(report: dict, name: str, tokens: list[str], number: int) -> None:
    """One row of the table of times: into the run, its quantiles or its phases."""
    more = report.get("columns", 0)
    if len(tokens) not in (4, 5, 8) or (len(tokens) == 8) != bool(more):
        raise ParseError(number, "4 numbers and a percentage, or 7 where there is a median", " ".join(tokens))
    if len(tokens) != 4:
        if not tokens[-1].endswith("%"):
            raise ParseError(number, "a percentage at the end", tokens[-1])
        real(tokens.pop()[:-1].removeprefix("-"), number, "a percentage")
    if name == "req/s":
        for token in tokens:
            real(token.removeprefix("-"), number, "a rate")
        return
    times = [_time(token, number) for token in tokens]
    if not any(times):
        times = [math.nan] * len(times)  # never happened
    least, most, *quantiles, mean, deviation = times
    if name in _PHASES:
        row = {"phase": _PHASES[name], "mean_s": mean, "stdev_s": deviation, "min_s": least, "max_s": most}
        row |= {"median_s": quantiles[0]} if quantiles else {}
        report["rows"].setdefault("phases", []).append(row)
        return
    report["run"] |= {
        "latency_mean_s": mean, "latency_stdev_s": deviation, "latency_min_s": least, "latency_max_s": most,
    }  # fmt: skip
    if quantiles:
        report["run"]["percentile_estimator"] = _ESTIMATOR
        report["rows"]["latency"] = [
            {"quantile": quantile, "latency_s": time, "corrected": False}
            for quantile, time in zip((0.5, 0.95, 0.99), quantiles, strict=True)
        ]


def _row(report: dict) -> dict:
    """Row of `runs`: the report, what was asked for, and what follows from both."""
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
        report["notes"].append(f"line {line}: the report has no line 'requests:'")
        return row
    rate, responses = row["throughput_rps"], row["requests"]
    row["status"] = "finished"
    if not responses:
        row |= {"status": "failed", "throughput_rps": 0.0, "goodput_rps": 0.0}
        row["reason"] = f"{report['errored']} of {row['requests_failed']} failed requests errored, none had a response"
    else:
        if done > responses:
            row["throughput_rps"] = rate * responses / done
            report["notes"].append(f"line {line}: {done - responses} requests without a response are in 'req/s'")
        if "responses_2xx" in row:
            row["goodput_rps"] = rate * min(1.0, row["requests_succeeded"] / done)
    row["errors_other"] = report["errored"] - min(report["errored"], row["errors_timeout"] or 0)
    if done and not _agree(report["run"], row["duration_s"], done):
        report["notes"].append(
            f"line {line}: {rate:g} req/s over {row['duration_s']:g} s is not {done} requests: h2load takes the rate "
            "over the main part of a timed run, and 'finished in' is all of it"
        )
    return row


def _agree(row: dict, duration: float, done: int) -> bool:
    """Whether the rate over a duration is the requests done, within the two decimals of both."""
    slack = 0.006 * row["throughput_rps"] + 0.006 * duration + 1e-5 * done + 1
    return abs(row["throughput_rps"] * duration - done) <= slack


def _time(token: str, number: int) -> float:
    match = _TIME.fullmatch(token)
    if match is None:
        raise ParseError(number, "a time such as 952us or 1.20ms", token)
    return float(match[1]) * SECONDS[match[2]]


def _size(token: str, number: int) -> float:
    match = _SIZE.fullmatch(token)
    if match is None:
        raise ParseError(number, "a size such as 1.20MB", token)
    return float(match[1]) * _STEPS[match[2]]
