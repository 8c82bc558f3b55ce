"""hey and the tools with the same layout (boom, oha, ghz): read text reports and ``hey -o csv`` into tables.

Tables: `runs`, `latency`, `histogram`, `phases`; `requests` of the CSV.  Seen: hey 0.1.4 (samples of the tests:
``hey -n 20000 -c 32 URL``, ``hey -n 2000 -c 32 -o csv URL``); boom, hey 0.0.1 to 0.1.4, oha 0.5 to 1.16 and ghz 0.x in
public repositories.

What the tools do:

- hey ``requester/report.go``: times in seconds with four decimals, bounds of the histogram with three; ``Requests/sec``
  is every result, including failed ones, divided by ``Total`` (hey 0.0.1 and boom: only responses); times are of
  responses with any status.  At most 1,000,000 results are kept, so the distributions hold the first
  million; the averages are the sum over all responses divided by the number kept, so they are wrong beyond a million.
  A percentile p is the first of the sorted times whose index i has ``i * 100 / n >= p``; a percentile it does not
  reach is left out, or printed as ``0% in 0.0000 secs``.
- hey ``requester/print.go``: the values next to ``DNS+dialup`` are the fastest and slowest whole request, not dialling.
- hey ``requester/print.go``, CSV: seconds with four decimals, of responses only (failed requests are not listed),
  the first 1,000,000 of them.
- Bin i of the histogram is above bound i - 1 and up to bound i; the first holds only the fastest response.
- oha ``src/printer.rs``: one unit (ns to h) for all times of a report; sizes are 1024-based; the percentile p is the
  element ``p / 100 * n`` of the sorted times; ``Success rate`` is the share of requests with a response of any status;
  requests cut off by the end of the time are in ``Requests/sec`` and in no other number.
- ghz ``printer/printer.go``: bounds of the histogram in ms; its codes are gRPC's, and the histogram counts only OK.
"""

import math
import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.load.requests_csv import parse_requests_csv
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import SECONDS, error_counts, real, response_counts, whole

_HEADINGS = (
    ("summary", re.compile(r"Summary:?")),
    ("histogram", re.compile(r"Response time histogram:")),
    ("latency", re.compile(r"(?:Latency|Response time) distribution:")),
    ("breakdown", re.compile(r"Response time (?:histogram|distribution) \([^()]{1,40}\):")),
    ("phases", re.compile(r"Details \(average, fastest, slowest\):?")),
    ("codes", re.compile(r"Status code distribution:")),
    ("errors", re.compile(r"Error distribution:")),
)
# Name of a number in the summary → its column; success, name and count show the tool.
_SUMMARY = {
    "success rate": "success", "name": "name", "count": "count", "total": "duration_s", "slowest": "latency_max_s",
    "fastest": "latency_min_s", "average": "latency_mean_s", "requests/sec": "throughput_rps",
    "total data": "received_body_bytes", "total data received": "received_body_bytes",
    "size/request": "", "response size per request": "", "size/sec": "", "speed index": "",
}  # fmt: skip
_FIELD = re.compile(r"([A-Za-z][A-Za-z/ ]{2,30}):\s*(.*)")
_VALUE = re.compile(r"(\S{1,40})(?:\s+([A-Za-zµμ]{1,8}))?\.?")
_CLASS = re.compile(r"(\S{1,40})(?:\s+([a-zµμ]{1,4}))?\s+\[(\S{1,20})\]\s*(?:\|.*)?")
_QUANTILE = re.compile(r"(\S{1,12}?)\s?%{1,2}(?: ?in|!\S{1,20})\s+(\S{1,40})\s+([a-zµμ]{1,4})\.?")
_PHASE = re.compile(r"([A-Za-z+-]{3,12}(?: [a-z]{4,5})?):\s*(\S+)\s+(\w+),\s+(\S+)\s+(\w+),\s+(\S+)\s+(\w+)")
_CODE = re.compile(r"\[([A-Za-z]{2,30}|-?[0-9]{1,3})\]\s+(\S+)(?: responses?)")
_ERROR = re.compile(r"\[([0-9]{1,18})\]\s+(\S.*)")
_SHAPES = {"histogram": _CLASS, "latency": _QUANTILE, "phases": _PHASE, "codes": _CODE, "errors": _ERROR}
_PHASES = {
    "dns+dialup": "connect", "dns-lookup": "dns", "req write": "write", "resp wait": "waiting", "resp read": "read",
}  # fmt: skip
# Columns of -o csv; hey 0.0.1 has no status and no offset.
_CSV = {
    "response-time": "latency_s", "DNS+dialup": "connect_s", "DNS": "dns_s", "Request-write": "write_s",
    "Response-delay": "waiting_s", "Response-read": "read_s", "status-code": "status", "offset": "offset_s",
}  # fmt: skip
_FAILURE = re.compile(
    r"(?:Usage: hey |Get .* unsupported protocol|-n cannot be less than -c|.*: (?:command )?not found|"
    r"invalid (?:argument|url|duration)).*",
    re.IGNORECASE,
)
_SIZE = {u: 1024.0**i for i, u in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))} | {"bytes": 1.0, "Bytes": 1.0}
_KEPT = 1_000_000  # hey: maxRes in requester/report.go
DEADLINE = "aborted due to deadline"  # oha: the end of -z, not a failure
ESTIMATORS = {
    "hey": "first sorted time with i * 100 / n >= p",
    "oha": "sorted time of index p / 100 * n",
    "ghz": "first sorted time with i * 100 / n >= p",
}


def parse_hey(text: str) -> Parsed:
    """Tables `runs`, `latency`, `histogram` and `phases` of the reports of hey, boom, oha or ghz in a text."""
    cursor = Cursor(text, "hey")
    reports: list[dict[str, Any]] = []
    block = ""
    for line in cursor:
        heading = next((name for name, pattern in _HEADINGS if pattern.fullmatch(line)), "")
        if heading:
            if heading == "summary" or not reports or (heading == "errors" and "errors" in reports[-1]):
                reports.append({"line": cursor.number, "fields": {}})
            block = heading
            reports[-1].setdefault(heading, [])
        elif not reports:
            cursor.take_failure(_FAILURE)
        elif cursor.warn_if_cut(_is_whole(line, block)):
            continue
        elif cursor.at_end and block == "errors" and (match := cursor.match(_ERROR)):
            reports[-1][block].append(("", int(match[1])))  # the count is complete, the message may be cut off
            cursor.warn("the text ends here, perhaps inside the message, which is left out")
        elif not _take(reports[-1], block, cursor):
            cursor.skip_unknown()
    reports = [each for each in reports if each["fields"] or each.get("codes") or each.get("errors")]
    if not reports:
        return cursor.failed_run("a report of hey, which begins with 'Summary:'")
    runs = []
    for report in reports:
        run = _run_of(report, report is reports[-1], cursor.warnings)
        corrected = {"corrected": run.get("latency_corrected")}
        runs.append({
            "runs": [run],
            "latency": [row | corrected for row in report.get("latency", [])],
            "histogram": [row | corrected for row in _classes_of(report, run["tool"])],
            "phases": _phases_of(report, run),
        })  # fmt: skip
    tables = with_generator_numbers(("runs", "latency", "histogram", "phases"), runs)
    return Parsed(tables["runs"][0]["tool"], tables, tuple(cursor.warnings))


def parse_hey_csv(text: str) -> Parsed:
    """Table `requests` of ``hey -o csv``: one row for each response."""
    return parse_requests_csv(text, "hey", _CSV)


def _is_whole(line: str, block: str) -> bool:
    """Whether a last line without newline ends in its unit, so that no digit of it can be cut off."""
    if block in ("histogram", "codes"):
        return "]" in line and (block == "histogram" or line.endswith("responses"))
    return (block == "errors" and line.startswith("[")) or line.endswith(("secs", "bytes", "sec", "iB", "%"))


def _take(report: dict[str, Any], block: str, cursor: Cursor) -> bool:
    """Add a line to its block of the report; False if it is not part of the report."""
    line, number = cursor.line, cursor.number
    if line.startswith("Note:"):
        return True
    if block == "summary":
        return _take_field(report, cursor)
    if block not in _SHAPES:  # a breakdown by status: the blocks before it hold the totals
        return True
    if block in ("codes", "errors") and not line.startswith("["):
        return False
    if (match := cursor.row(_SHAPES[block], f"a line of the block {block!r}")) is None:
        return False
    if block == "histogram":
        report[block].append((real(match[1], number), match[2], whole(match[3], number), number))
    elif block == "latency":
        quantile, latency = real(match[1], number, "a percentile"), _seconds(match[2], match[3], number)
        if quantile > 100:
            cursor.fail("a percentile up to 100", match[1])
        if quantile > 0:  # hey prints 0% for a percentile that needs more requests
            report[block].append({"quantile": round(quantile / 100, 9), "latency_s": latency})
    elif block == "phases":
        if match[1].lower() not in _PHASES:
            cursor.fail(f"one of {', '.join(_PHASES)}", match[1])
        times = [_seconds(match[i], match[i + 1], number) for i in (2, 4, 6)]
        report[block].append((_PHASES[match[1].lower()], times))
    elif block == "codes":
        report[block].append((match[1], whole(match[2], number)))
    else:
        report[block].append((match[2], int(match[1])))
    return True


def _take_field(report: dict[str, Any], cursor: Cursor) -> bool:
    field = cursor.match(_FIELD)
    if field is None or (name := _SUMMARY.get(field[1].lower())) is None:
        return False
    if name in report["fields"]:
        cursor.fail(f"{field[1]!r} once in a report")
    if name and name != "name":
        value = _VALUE.fullmatch(field[2]) or cursor.fail(f"{field[1]!r} and its number")
        report["fields"][name] = (*value.groups(), cursor.number)
    return True


def _seconds(token: str, unit: str, number: int) -> float:
    """Return a printed time in seconds."""
    return _unit(SECONDS, "time", unit, token, number) * real(token, number, "a time")


def _unit(units: dict[str, float], kind: str, unit: str, token: str, number: int) -> float:
    if unit not in units:
        raise ParseError(number, f"a unit of {kind}: {', '.join(units)}", unit or token)
    return units[unit]


def _tool(report: dict[str, Any]) -> str:
    fields = report["fields"]
    words = any(code.isalpha() for code, _ in report.get("codes", []))  # codes of gRPC
    return "ghz" if words or "count" in fields else "oha" if "success" in fields else "hey"


def _run_of(report: dict[str, Any], last: bool, warnings: list[str]) -> dict[str, Any]:
    """Row of `runs` of a report; the last report of a text may be cut."""
    fields, tool = report["fields"], _tool(report)
    run: dict[str, Any] = {"tool": tool}
    run |= {column: _seconds(*fields[column]) for column in fields if column.endswith("_s")}
    if not fields:
        warnings.append(f"line {report['line']}: the report has no 'Summary', so no times and no rate")
    if "duration_s" in fields and "throughput_rps" not in fields:
        warnings.append(f"line {report['line']}: the report has no 'Requests/sec'")
    nothing = not run.get("latency_max_s") and "latency_mean_s" not in run
    if nothing or math.isnan(run.get("latency_mean_s", 0.0)):  # no response: values printed as 0 were not measured
        run |= dict.fromkeys(("latency_min_s", "latency_max_s"), math.nan)
    if "received_body_bytes" in fields:
        token, unit, number = fields["received_body_bytes"]
        run["received_body_bytes"] = _unit(_SIZE, "size", unit, token, number) * real(token, number, "a size")
    if "codes" in report or "errors" in report:
        counts = _counts(report, tool)
        listed = counts.get("requests_started", counts["requests"])
        if last and listed < (expected := _expected(report, run)):
            warnings.append(f"line {report['line']}: cut off, as {listed} requests are listed of some {expected:.0f}")
            report.pop("codes", None)
        else:
            run |= {"status": "finished", **counts}
    if run.get("requests") == 0 or math.isnan(run.get("latency_mean_s", 0.0)):
        messages = [message for message, _ in report.get("errors", []) if message]
        run |= {"status": "failed"} | ({"reason": messages[0]} if messages else {})
    run |= _rates(report, run, warnings)
    if tool == "hey" and run.get("requests", 0) > _KEPT:
        run["latency_mean_s"] = math.nan
        _, _, at = fields.get("latency_mean_s", ("", "", report["line"]))
        warnings.append(
            f"line {at}: hey divides its averages by {_KEPT} where there are more responses, so they are missing; "
            f"its distributions hold the first {_KEPT}"
        )
    corrected = {} if tool == "oha" else {"latency_corrected": False}  # oha: by an option that it does not print
    return run | {"percentile_estimator": ESTIMATORS[tool], **corrected, "latency_origin": "measured"}


def _rounding(token: str) -> float:
    """Return half a unit of the last digit of a printed number."""
    return 0.5 * 10.0 ** -len(token.partition(".")[2])


def _expected(report: dict[str, Any], run: dict[str, Any]) -> float:
    """Return the least number of requests consistent with the rounded rate and time of a report."""
    if not {"throughput_rps", "duration_s"} <= report["fields"].keys():
        return 0.0
    (rate, _, line), (time, unit, _) = report["fields"]["throughput_rps"], report["fields"]["duration_s"]
    duration = run["duration_s"] - 1.0002 * _rounding(time) * SECONDS[unit]
    least = (real(rate, line, "a rate") - 1.0002 * _rounding(rate)) * duration
    return least * (1 - 1e-9) if math.isfinite(least) else 0.0


def _counts(report: dict[str, Any], tool: str) -> dict[str, Any]:
    """Return the counts from the status codes and the errors."""
    codes, errors = report.get("codes", []), report.get("errors", [])
    late = sum(count for message, count in errors if message == DEADLINE)
    failed = [(message, count) for message, count in errors if message != DEADLINE]
    responses = sum(count for _, count in codes)
    counts: dict[str, Any] = {"requests": responses}
    if tool == "ghz":  # an error of gRPC has a code too, and is in both blocks
        succeeded = sum(count for code, count in codes if code == "OK")
        counts |= {"requests_succeeded": succeeded, "requests_failed": responses - succeeded}
        # Without all their messages the kinds of the failures are not known.
        return counts | (_kinds(failed) if sum(count for _, count in failed) == responses - succeeded else {})
    counts["requests_started"] = responses + late + sum(count for _, count in failed)
    counts["requests_failed"] = sum(count for _, count in failed)
    return counts | response_counts({int(code): count for code, count in codes}) | _kinds(failed)


def _kinds(failed: list[tuple[str, int]]) -> dict[str, int]:
    return error_counts(failed) if all(message for message, _ in failed) else {}


def _rates(report: dict[str, Any], run: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return responses per second from the tool's rate of all requests."""
    if not {"throughput_rps", "duration_s"} <= report["fields"].keys():
        return {}
    (rate, _, line), (time, unit, _) = report["fields"]["throughput_rps"], report["fields"]["duration_s"]
    rps = real(rate, line, "a rate")
    if not run.get("requests") and math.isnan(run.get("latency_mean_s", 0.0)):
        return {"throughput_rps": 0.0}
    if "codes" not in report:
        warnings.append(f"line {line}: no status codes, so failed requests may be among these {rps:g} per second")
        return {"throughput_rps": rps}
    responses, duration = run["requests"], run["duration_s"]
    started = run.get("requests_started", responses)
    slack = _rounding(rate) * duration + _rounding(time) * SECONDS[unit] * rps + 1e-6 * started
    if abs(rps * duration - started) <= slack:
        throughput = rps * responses / started if started else 0.0
        if started > responses:
            warnings.append(f"line {line}: {started - responses} requests without a response are in 'Requests/sec'")
    elif abs(rps * duration - responses) <= slack:  # boom, hey 0.0.1
        throughput = rps
    elif abs(rps * duration - min(responses, _KEPT)) <= slack:
        throughput = responses / duration
        warnings.append(f"line {line}: this hey counts {_KEPT} requests at most; the rate is responses / Total")
    else:
        warnings.append(f"line {line}: 'Requests/sec' x 'Total' is {rps * duration:.0f}, but {started} are listed")
        return {}
    return {"throughput_rps": throughput}


def _classes_of(report: dict[str, Any], tool: str) -> list[dict[str, Any]]:
    """Return rows of `histogram`; a bin lies between two bounds, and the first holds only the fastest."""
    rows, lower = [], math.nan
    unit = {"hey": "secs", "ghz": "ms"}.get(tool) or report["fields"].get("latency_max_s", ("", "secs"))[1]
    for mark, own, count, number in report.get("histogram", []):
        upper = mark * SECONDS[unit] if own is None else _seconds(f"{mark!r}", own, number)
        rows.append({"lower_s": lower, "upper_s": upper, "responses": count})
        lower = upper
    return rows


def _phases_of(report: dict[str, Any], run: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows of `phases`; what hey prints of other requests is missing."""
    rows = []
    for phase, (mean, least, most) in report.get("phases", []):
        if math.isnan(mean):
            least = most = math.nan
        if run["tool"] == "hey" and run.get("requests", 0) > _KEPT:
            mean = math.nan
        if run["tool"] == "hey" and phase == "connect":
            whole_request = (run.get("latency_min_s"), run.get("latency_max_s"))
            if (least, most) == whole_request:  # hey prints those of the whole request next to DNS+dialup
                least = most = math.nan
        rows.append({"phase": phase, "mean_s": mean, "min_s": least, "max_s": most})
    return rows
