"""weighttp: read its report, text (0.3, 0.4) or JSON (the rewrite), into `runs`, `phases` and `latency`.

Seen: weighttp 0.5-git, the current state of the rewrite of 2016 (the samples of the tests,
``weighttp -n 20000 -c 32 -t 1 URL``); 0.3 and 0.4 in public repositories and in the source of each.

Output of weighttp (``src/weighttp.c``, ``src/client.c``):

- ``done`` or ``retired`` counts every request that ended, also with a refused connection; ``req/s`` is that count
  divided by the time, truncated to a whole number; ``kbyte/s`` is in kB of 1024 bytes, also truncated.
- ``failed`` counts requests without a complete response of status 2xx or 3xx; ``errored`` is never summed over the
  threads, so it is always 0.  weighttp prints socket errors on standard error only, one line each.
- 0.3 and 0.4 do not measure response times: the mean here is connections / throughput.  The rewrite measures in
  microseconds: ``total_times`` includes the time to connect if a connection was opened; ``response_times`` excludes it.
  A percentile is the order statistic with index n p / 100, counted from 0; the median is the lower middle value.
"""

import re

from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.load.weighttp_json import Run, is_silent, take_json
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.parsed import Parsed

_N = r"([0-9]{1,18})"
_BANNER = re.compile(r"weighttp(?: ([0-9]\S{0,30}))? - a? ?(?:lightweight|simple).*")
_VERSION = re.compile(r"version: +(\S{1,30})")
_THREAD = re.compile(rf"spawning thread #[0-9]{{1,9}}: {_N} concurrent requests, {_N} total requests")
_RESULT = {
    "finished": re.compile(
        r"finished in ([0-9]{1,9}) sec, ([0-9]{1,3}) millisec and ([0-9]{1,3}) microsec"
        rf", {_N} req/s, {_N} kbyte/s"
    ),
    "requests": re.compile(
        rf"requests: {_N} total, {_N} started, {_N} done, {_N} succeeded, {_N} failed, {_N} errored"
    ),
    "status": re.compile(rf"status codes: {_N} 2xx, {_N} 3xx, {_N} 4xx, {_N} 5xx"),
    "traffic": re.compile(rf"traffic: {_N} bytes total, {_N} bytes (?:http|headers), {_N} bytes (?:data|body)"),
}
_STARTS = ("finished in", "requests:", "status codes:", "traffic:")
_FINISHED = re.compile(r"finished in [0-9.]+ sec,")
_ERROR = re.compile(r"error: .{1,300}")
_CLOSED = re.compile(r".*(?:_count| > 0| files| refused| peer| timed out| arguments|[^:] \([0-9]+\))")  # ends of errors
_USAGE = re.compile(r"weighttp <options> <ur[il]>", re.IGNORECASE)
_CALL = re.compile(r"error: (socket|connect|read|write)\(\) failed")
_COLUMN = {"socket": "errors_connect", "connect": "errors_connect", "read": "errors_read", "write": "errors_write"}
_CHATTER = re.compile(r"progress: *[0-9]{1,3}% done|starting benchmark\.*|build-date: .*|example:.*|weighttpd? -.*")
_COMMAND = re.compile(r"\bweighttp\b.{1,500}? -c *([0-9]{1,9})(?![0-9])")
_EXACT = 1000  # from here on, a whole number of requests per second is exact to 0.1 %


def parse_weighttp(text: str) -> Parsed:
    """Tables `runs`, `phases` and `latency` of every run of weighttp in a text.

    Examples
    --------
    >>> parsed = parse_weighttp('''spawning thread #1: 100 concurrent requests, 1000000 total requests
    ... finished in 6 sec, 706 millisec and 434 microsec, 149110 req/s, 18347 kbyte/s
    ... requests: 1000000 total, 1000000 started, 1000000 done, 1000000 succeeded, 0 failed, 0 errored
    ... status codes: 1000000 2xx, 0 3xx, 0 4xx, 0 5xx
    ... traffic: 126000000 bytes total, 119000000 bytes http, 7000000 bytes data
    ... ''')
    >>> parsed.tables["runs"][["duration_s", "throughput_rps", "connections"]].values.tolist()
    [[6.706434, 149110.0, 100.0]]
    """
    cursor = Cursor(text, "weighttp", lambda raw: " ".join(raw.strip()[:4000].split()))
    runs = _read(cursor)
    if not runs:
        return cursor.failed_run("a result of weighttp")
    rows = [{"runs": [_row(run, cursor.warnings)], "phases": run.phases, "latency": run.latency} for run in runs]
    tables = with_generator_numbers(("runs", "phases", "latency"), rows)
    return Parsed("weighttp", tables, tuple(cursor.warnings), runs[0].version)


def _read(cursor: Cursor) -> list[Run]:
    runs: list[Run] = []
    command = 0
    usage = False
    for line in cursor:
        usage = usage and cursor.raw[:1] in (" ", "\t")
        if usage:
            continue
        last = runs[-1] if runs else None
        in_result = last is not None and bool(last.result) and not last.ended
        if line.startswith("{"):
            cursor.skip(take_json(_current(runs, cursor, last and last.ended), cursor))
            continue
        if match := _COMMAND.search(line[:2000]):
            command = int(match[1])
        if match := cursor.match(_BANNER):
            run = _current(runs, cursor, last and (last.ended or last.threads))
            run.version, run.command, command = match[1] or "", command, 0
        elif match := cursor.match(_THREAD):
            run = _current(runs, cursor, last and (last.ended or "finished" in last.result))
            run.threads.append((int(match[1]), int(match[2])))
        elif _FINISHED.match(line) or (in_result and line.startswith(_STARTS)):
            _take_result(runs, cursor)
        elif cursor.match(_ERROR):
            run = _current(runs, cursor, last and last.ended and not last.errors)
            run.errors.append(("" if cursor.at_end and not cursor.match(_CLOSED) else line, cursor.number))
        elif cursor.match(_USAGE):
            usage = True
            run = _current(runs, cursor, last and last.result)
            run.errors = run.errors or [(line, cursor.number)]
        elif match := cursor.match(_VERSION):
            _current(runs, cursor, False).version = match[1]
        elif not (cursor.match(_CHATTER) or is_noise(line)):
            if in_result and re.search("[0-9]", line):
                cursor.fail("the next line of a result of weighttp")
            cursor.warn(f"{line[:60]!r} not understood, ignored")
    return runs


def _current(runs: list[Run], cursor: Cursor, is_next: object) -> Run:
    """Return the run that the current line belongs to: the last one, unless this line begins the next."""
    if not runs or is_next:
        runs.append(Run(cursor.number))
    return runs[-1]


def _take_result(runs: list[Run], cursor: Cursor) -> None:
    """Take one of the four lines of a result of 0.3 or 0.4, in their order."""
    name, pattern = next(
        (name, pattern)
        for (name, pattern), start in zip(_RESULT.items(), _STARTS, strict=True)
        if cursor.line.startswith(start)
    )
    match = cursor.match(pattern)
    if match is None and cursor.warn_if_cut(False):
        return
    match = match or cursor.fail(f"the line {name!r} of a result of weighttp")
    run = _current(runs, cursor, name == "finished" and runs and "finished" in runs[-1].result)
    if len(run.result) != list(_RESULT).index(name):
        cursor.fail(f"the line {list(_RESULT)[len(run.result) % 4]!r} of a result of weighttp")
    run.latest = cursor.number
    numbers = tuple(map(int, match.groups()))
    if name == "finished":
        run.duration = numbers[0] + numbers[1] / 1e3 + numbers[2] / 1e6
        numbers = numbers[3:]
    run.result[name] = numbers
    run.ended = name == "traffic"


def _row(run: Run, warnings: list[str]) -> dict:
    row: dict = {"tool": "weighttp", "latency_corrected": False}
    if run.version:
        row["tool_version"] = run.version
    if run.threads and run.result:  # else the text may end among the lines of the threads
        row |= {"threads": len(run.threads), "connections": sum(n for n, _ in run.threads)}
    elif run.command:
        row["connections"] = run.command
    if run.errors:
        more = f" and {len(run.errors) - 1} more errors" if len(run.errors) > 1 else ""
        if run.result:
            warnings.append(f"line {run.errors[0][1]}: {run.errors[0][0]}{more}")
        else:
            return row | {"status": "failed"} | ({"reason": run.errors[0][0]} if run.errors[0][0] else {})
    if "requests" not in run.result:
        warnings.append(f"line {run.line}: no result follows; the error is elsewhere or cut off")
        return row
    rate, kilobytes = run.result["finished"]
    total, started, done, succeeded, failed, errored = run.result["requests"]
    row |= {
        "requests_started": started, "requests": done, "requests_succeeded": succeeded, "requests_failed": failed,
    }  # fmt: skip
    if total >= 0 or run.threads:
        row["requests_asked"] = total if total >= 0 else sum(n for _, n in run.threads)
    if errored:
        row["errors_other"] = errored
    if run.duration > 0:
        row["duration_s"] = run.duration
    row["throughput_rps"] = float(rate) if rate >= _EXACT or not run.duration else done / run.duration
    if run.duration and not abs(done / run.duration - rate - 0.5) <= 0.5 + 1e-4 * rate + 2e-6 * rate / run.duration:
        warnings.append(f"line {run.latest}: {done} requests in {run.duration:g} s are not {rate} per second")
    if succeeded + failed != done:
        warnings.append(f"line {run.latest}: succeeded and failed requests are not the {done} that were done")
    if "status" in run.result:
        row |= {f"responses_{n}xx": count for n, count in zip("2345", run.result["status"], strict=True)}
        row["errors_status"] = sum(run.result["status"][2:])
        if sum(run.result["status"]) != done:
            warnings.append(f"line {run.latest}: the status codes are {sum(run.result['status'])}, not {done}")
    if "traffic" in run.result:
        _finish(run, row, kilobytes, warnings)
    return row


def _finish(run: Run, row: dict, kilobytes: int, warnings: list[str]) -> None:
    received, headers, body = run.result["traffic"]
    row |= {"status": "finished", "received_bytes": received, "received_body_bytes": body, **run.columns}
    exact = kilobytes >= _EXACT or not run.duration
    row["received_bytes_per_s"] = kilobytes * 1024.0 if exact else received / run.duration
    if received != headers + body:
        warnings.append(f"line {run.latest}: the bytes received are not those of headers and bodies")
    for call, _ in run.errors:
        if match := _CALL.match(call):
            row[_COLUMN[match[1]]] = row.get(_COLUMN[match[1]], 0) + 1
    if is_silent(run):
        row |= {"status": "failed", "reason": f"{row['requests_failed']} failed, 0 bytes"}
        warnings.append(f"line {run.latest}: not one byte was received; the rate is that of failures")
    elif "latency_origin" not in row and row.get("connections") and row["throughput_rps"]:
        row |= {"latency_mean_s": row["connections"] / row["throughput_rps"], "latency_origin": "derived (N/X)"}
