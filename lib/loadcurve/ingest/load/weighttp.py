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
- The JSON of the rewrite counts ``retired`` requests, ``pass``, ``fail`` and ``errs`` (never summed), and prints the
  times to connect, to the first byte and to the end of the response in whole units of ``unit``, with the keys ``0%`` to
  ``100%``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import Decoder, integer_at, number_at, optional_integer_at, value_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

_N = r"[0-9]{1,18}"
_BANNER = re.compile(r"weighttp(?: ([0-9]\S{0,30}))? - a? ?(?:lightweight|simple).*")
_VERSION = re.compile(r"version: +(\S{1,30})")
_THREAD = re.compile(rf"spawning thread #[0-9]{{1,9}}: ({_N}) concurrent requests, ({_N}) total requests")
# The lines of a result of 0.3 or 0.4 in their order: how each begins, and the whole line.  A group's name is its
# column, or what the number is called below.
_RESULT = {
    "finished in": re.compile(
        r"finished in (?P<s>[0-9]{1,9}) sec, (?P<ms>[0-9]{1,3}) millisec and (?P<us>[0-9]{1,3}) microsec"
        rf", (?P<rate>{_N}) req/s, (?P<kilobytes>{_N}) kbyte/s"
    ),
    "requests:": re.compile(
        rf"requests: (?P<requests_asked>{_N}) total, (?P<requests_started>{_N}) started, (?P<requests>{_N}) done"
        rf", (?P<requests_succeeded>{_N}) succeeded, (?P<requests_failed>{_N}) failed, (?P<errors_other>{_N}) errored"
    ),
    "status codes:": re.compile(
        rf"status codes: (?P<responses_2xx>{_N}) 2xx, (?P<responses_3xx>{_N}) 3xx, (?P<responses_4xx>{_N}) 4xx"
        rf", (?P<responses_5xx>{_N}) 5xx"
    ),
    "traffic:": re.compile(
        rf"traffic: (?P<received_bytes>{_N}) bytes total, (?P<header_bytes>{_N}) bytes (?:http|headers)"
        rf", (?P<received_body_bytes>{_N}) bytes (?:data|body)"
    ),
}
# The same numbers in the JSON.
_PATHS = {
    "requests_started": "request_counts.started", "requests": "request_counts.retired",
    "requests_succeeded": "response_counts.pass", "requests_failed": "response_counts.fail",
    "errors_other": "response_counts.errs", **{f"responses_{n}xx": f"status_codes.{n}xx" for n in range(2, 6)},
    "received_bytes": "traffic.bytes_total", "header_bytes": "traffic.bytes_headers",
    "received_body_bytes": "traffic.bytes_body", "rate": "reqs_per_sec", "kilobytes": "kBps_per_sec",
}  # fmt: skip
_OPTIONAL = {"requests_asked": "request_counts.total", "requests_keepalive": "request_counts.keep-alive"}
_ELAPSED = "secs_elapsed"
_PHASES = {
    "connect_times": "connect", "time_to_first_byte": "first_byte", "response_times": "processing",
    "total_times": "total",
}  # fmt: skip
_TIMES = {"mean_s": "avg", "stdev_s": "stddev", "min_s": "0%", "median_s": "50%", "max_s": "100%"}
_KNOWN = {*_PATHS.values(), *_OPTIONAL.values(), _ELAPSED} | {
    f"{name}.{key}" for name in _PHASES for key in ("avg", "num", "stddev", "unit")
}
_PARTS = {path.partition(".")[0] for path in _KNOWN if "." in path}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_RANK = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%")

_FINISHED = re.compile(r"finished in [0-9.]+ sec,")
_ERROR = re.compile(r"error: .{1,300}")
_CLOSED = re.compile(r".*(?:_count| > 0| files| refused| peer| timed out| arguments|[^:] \([0-9]+\))")  # ends of errors
_USAGE = re.compile(r"weighttp <options> <ur[il]>", re.IGNORECASE)
_CALL = re.compile(r"error: (socket|connect|read|write)\(\) failed")
_COLUMN = {"socket": "errors_connect", "connect": "errors_connect", "read": "errors_read", "write": "errors_write"}
_CHATTER = re.compile(r"progress: *[0-9]{1,3}% done|starting benchmark\.*|build-date: .*|example:.*|weighttpd? -.*")
_COMMAND = re.compile(r"\bweighttp\b.{1,500}? -c *([0-9]{1,9})(?![0-9])")
_EXACT = 1000  # from here on, a whole number of requests per second is exact to 0.1 %


@dataclass
class Run:
    """The result of one run."""

    line: int
    version: str = ""
    command: int = 0
    threads: list[tuple[int, int]] = field(default_factory=list)
    errors: list[tuple[str, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # of the result, as `_RESULT` names them
    numbers: dict[str, int] = field(default_factory=dict)
    duration: float = 0.0
    latest: int = 0
    columns: dict[str, Any] = field(default_factory=dict)
    phases: list[dict[str, Any]] = field(default_factory=list)
    latency: list[dict[str, Any]] = field(default_factory=list)
    ended: bool = False  # an error before the start, or the whole result

    @property
    def is_silent(self) -> bool:
        """Whether requests ended without a byte received."""
        return self.numbers["requests"] > 0 and self.numbers["received_bytes"] == 0


def parse_weighttp(text: str) -> Parsed:
    """Tables `runs`, `phases` and `latency` of every run of weighttp in a text."""
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
        in_result = last is not None and bool(last.lines) and not last.ended
        if line.startswith("{"):
            cursor.skip(_take_json(_current(runs, cursor, last and last.ended), cursor))
            continue
        if match := _COMMAND.search(line[:2000]):
            command = int(match[1])
        if match := cursor.match(_BANNER):
            run = _current(runs, cursor, last and (last.ended or last.threads))
            run.version, run.command, command = match[1] or "", command, 0
        elif match := cursor.match(_THREAD):
            run = _current(runs, cursor, last and (last.ended or last.lines))
            run.threads.append((int(match[1]), int(match[2])))
        elif _FINISHED.match(line) or (in_result and line.startswith(tuple(_RESULT))):
            _take_result(runs, cursor)
        elif cursor.match(_ERROR):
            run = _current(runs, cursor, last and last.ended and not last.errors)
            run.errors.append(("" if cursor.at_end and not cursor.match(_CLOSED) else line, cursor.number))
        elif cursor.match(_USAGE):
            usage = True
            run = _current(runs, cursor, last and last.lines)
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
    order = list(_RESULT)
    name = next(name for name in order if cursor.line.startswith(name))
    match = cursor.match(_RESULT[name])
    if match is None and cursor.warn_if_cut(False):
        return
    match = match or cursor.fail(f"the line {name!r} of a result of weighttp")
    run = _current(runs, cursor, name == order[0] and runs and runs[-1].lines)
    if len(run.lines) != order.index(name):
        cursor.fail(f"the line {order[len(run.lines) % 4]!r} of a result of weighttp")
    run.lines.append(name)
    run.numbers |= {column: int(token) for column, token in match.groupdict().items()}
    run.latest, run.ended = cursor.number, name == order[-1]
    if name == order[0]:
        run.duration = run.numbers["s"] + run.numbers["ms"] / 1e3 + run.numbers["us"] / 1e6


def _take_json(run: Run, cursor: Cursor) -> int:
    """Take the JSON that begins in the current line; return how many lines it has."""
    text = cursor.rest()
    try:
        decoder = Decoder(parse_int=_whole)
        document, end = decoder.raw_decode(text, text.index("{"))
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            cursor.warn("the text ends inside the JSON, which is left out")
            return text.count("\n") + 1
        line, got = cursor.number + error.lineno - 1, text[error.pos : error.pos + 40]
        raise ParseError(line, f"JSON of weighttp: {error.msg}", got) from None
    except (RecursionError, ValueError) as error:
        raise ParseError(cursor.number, "JSON of weighttp", type(error).__name__) from None
    cursor.warnings += decoder.warnings(cursor.number)
    part = text[:end]
    try:
        _take_document(run, document, part, cursor)
    except ParseError as error:
        raise ParseError(cursor.number + error.line - 1, error.expected, error.got) from None
    run.latest, run.ended = cursor.number, True
    return part.count("\n") + 1


def _whole(digits: str) -> int:
    if len(digits) > 20:  # 2**64 - 1 is printed as the least of no times
        raise ValueError("a whole number of more than 64 bits")
    return int(digits)


def _take_document(run: Run, document: object, part: str, cursor: Cursor) -> None:
    if unknown := sorted(_unknown(document)):
        cursor.warn(f"keys of weighttp not known, left out: {' '.join(unknown)[:200]}")
    numbers = {name: integer_at(document, path, part) for name, path in _PATHS.items()}
    optional = {name: optional_integer_at(document, path, part) for name, path in _OPTIONAL.items()}
    numbers |= {name: value for name, value in optional.items() if value is not None}
    run.duration = number_at(document, _ELAPSED, part)
    run.lines, run.numbers = list(_RESULT), numbers
    main: dict[str, Any] = {}
    for name, phase in _PHASES.items():
        if isinstance(times := value_at(document, name, part, required=False), Mapping) and times.get("num"):
            scale = _scale(document, name, part)
            found = {c: number_at(document, f"{name}.{key}", part, False) * scale for c, key in _TIMES.items()}
            run.phases.append({"phase": phase, **{column: value for column, value in found.items() if value == value}})
            if phase in ("processing", "total"):
                main, run.latency = run.phases[-1], _quantiles(document, name, part, scale)
    if run.is_silent:
        run.latency = []
    elif main:
        times = ("mean_s", "stdev_s", "min_s", "max_s")
        run.columns = {f"latency_{name}": main[name] for name in times if name in main}
        run.columns |= {"latency_origin": "measured", "percentile_estimator": "order statistic floor(n p)"}


def _unknown(document: object) -> set[str]:
    """Keys of the document and of its parts that weighttp does not print."""
    found = set()
    for key, value in document.items() if isinstance(document, Mapping) else ():
        if key not in _PARTS:
            found |= {str(key)} - _KNOWN
        elif isinstance(value, Mapping):
            found |= {f"{key}.{name}" for name in value if not _RANK.fullmatch(str(name))} - _KNOWN
    return found


def _scale(document: object, name: str, part: str) -> float:
    unit = value_at(document, f"{name}.unit", part)
    if unit not in _SECONDS:
        raise ParseError(1, f"a unit of {name} such as us", str(unit))
    return _SECONDS[unit]


def _quantiles(document: object, name: str, part: str, scale: float) -> list[dict[str, Any]]:
    times = value_at(document, name, part)
    found = [(float(match[1]), key) for key in times if (match := _RANK.fullmatch(key)) and float(match[1]) <= 100]
    rows = [(rank, number_at(document, f"{name}.{key}", part) * scale) for rank, key in found if "." not in key]
    return [{"quantile": rank / 100, "latency_s": value, "corrected": False} for rank, value in rows]


def _row(run: Run, warnings: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"tool": "weighttp", "latency_corrected": False}
    if run.version:
        row["tool_version"] = run.version
    if run.threads and run.lines:  # else the text may end among the lines of the threads
        row |= {"threads": len(run.threads), "connections": sum(n for n, _ in run.threads)}
    elif run.command:
        row["connections"] = run.command
    if run.errors:
        more = f" and {len(run.errors) - 1} more errors" if len(run.errors) > 1 else ""
        if run.lines:
            warnings.append(f"line {run.errors[0][1]}: {run.errors[0][0]}{more}")
        else:
            return row | {"status": "failed"} | ({"reason": run.errors[0][0]} if run.errors[0][0] else {})
    if "requests:" not in run.lines:
        warnings.append(f"line {run.line}: no result follows; the error is elsewhere or cut off")
        return row
    numbers, duration = run.numbers, run.duration
    rate, done = numbers["rate"], numbers["requests"]
    row |= {name: numbers[name] for name in ("requests_started", "requests", "requests_succeeded", "requests_failed")}
    if "requests_asked" in numbers or run.threads:
        row["requests_asked"] = numbers.get("requests_asked", sum(n for _, n in run.threads))
    if numbers["errors_other"]:
        row["errors_other"] = numbers["errors_other"]
    if duration > 0:
        row["duration_s"] = duration
    row["throughput_rps"] = float(rate) if rate >= _EXACT or not duration else done / duration
    if duration and not abs(done / duration - rate - 0.5) <= 0.5 + 1e-4 * rate + 2e-6 * rate / duration:
        warnings.append(f"line {run.latest}: {done} requests in {duration:g} s are not {rate} per second")
    if numbers["requests_succeeded"] + numbers["requests_failed"] != done:
        warnings.append(f"line {run.latest}: succeeded and failed requests are not the {done} that were done")
    if "status codes:" in run.lines:
        responses = {name: count for name, count in numbers.items() if name.startswith("responses_")}
        row |= {**responses, "errors_status": numbers["responses_4xx"] + numbers["responses_5xx"]}
        if sum(responses.values()) != done:
            warnings.append(f"line {run.latest}: the status codes are {sum(responses.values())}, not {done}")
    if "traffic:" in run.lines:
        _finish(run, row, warnings)
    return row


def _finish(run: Run, row: dict[str, Any], warnings: list[str]) -> None:
    numbers, received = run.numbers, run.numbers["received_bytes"]
    row |= {"status": "finished", "received_bytes": received, "received_body_bytes": numbers["received_body_bytes"]}
    row |= run.columns | {name: numbers[name] for name in ("requests_keepalive",) if name in numbers}
    exact = numbers["kilobytes"] >= _EXACT or not run.duration
    row["received_bytes_per_s"] = numbers["kilobytes"] * 1024.0 if exact else received / run.duration
    if received != numbers["header_bytes"] + numbers["received_body_bytes"]:
        warnings.append(f"line {run.latest}: the bytes received are not those of headers and bodies")
    for call, _ in run.errors:
        if match := _CALL.match(call):
            row[_COLUMN[match[1]]] = row.get(_COLUMN[match[1]], 0) + 1
    if run.is_silent:
        row |= {"status": "failed", "reason": f"{row['requests_failed']} failed, 0 bytes"}
        warnings.append(f"line {run.latest}: not one byte was received; the rate is that of failures")
    elif "latency_origin" not in row and row.get("connections") and row["throughput_rps"]:
        row |= {"latency_mean_s": row["connections"] / row["throughput_rps"], "latency_origin": "derived (N/X)"}
