"""fortio: read what ``fortio load`` prints into tables, and its JSON.

Tables: `runs`, `latency`, `histogram`.  Seen in public repositories (the tool was not run): fortio 0.6 to 1.75.

Output of fortio (``periodic/periodic.go``, ``stats/stats.go``, ``fhttp/httprunner.go``):

- Times are in seconds; histograms count all calls, including failed ones.  The text has five significant digits of
  the rate.
- A percentile is interpolated linearly within its bin of the histogram.
- Code -1 is a call without a response.  Codes of gRPC are words.
- fortio times a call from when it sends it; a thread that is late catches up (unless ``-nocatchup``), but no time
  includes the delay: fortio does not correct for coordinated omission.

JSON, seen in public repositories (the tool was not run), of fortio 0.1 to 1.6x.
``RequestedQPS`` is text, ``max`` if there is no limit; ``ActualDuration`` is in nanoseconds;
``ErrorsDurationHistogram`` (1.33 on) counts the calls that were not OK; ``RetCodes`` are the codes of the calls.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import (
    counts_at,
    each_json,
    instant,
    integer_at,
    line_of,
    number_at,
    numbers_at,
    optional_integer_at,
    value_at,
)
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import go_time_s, real, response_counts, whole

ESTIMATOR = "linear interpolation inside the class of the histogram"
_HEADING = re.compile(
    r"Fortio (\S{1,40}) running at (-?[0-9.]{1,20}) queries per second, .{1,40} procs, for (?:([0-9]{1,18}) calls|\S+)"
    r"(?:: (\S.*))?"
)
_THREADS = re.compile(r"Starting at .{1,40} with ([0-9]{1,9}) thread\(s\).*")
_ENDED = re.compile(r"Ended after (\S{1,40}) : ([0-9]{1,18}) calls\. qps=(\S{1,30})")
_TIMES = re.compile(
    r"Aggregated (?:Function Time|Sleep Time) : count (\S+) avg (\S+) \+/- (\S+) min (\S+) max (\S+) sum (\S+)"
)
_CLASS = re.compile(r">=? (\S{1,30}) <=? (\S{1,30}) , (\S{1,30}) , (\S{1,30}), (\S{1,30})")
_TARGET = re.compile(r"# target (\S{1,20})% (\S{1,30})")
_CODE = re.compile(r"(?:Code|(?:tcp|udp)|Health|Ping)\s+(-?[0-9]{1,3}|[A-Za-z_]{2,30}) : (\S{1,20}) \(\S+ %\)")
_CODE_LIKE = re.compile(r"Code\s+\S+ :|(?:tcp|udp) OK :|Health ")
_BYTES = re.compile(r"Total Bytes sent: (\S{1,20}), received: (\S{1,20})")
_GOOD_WORDS = ("OK", "SERVING")
_KNOWN = ("Fortio ", "Ended after", "Aggregated ", ">", "# target", "All done", "Total Bytes")
_DONE = re.compile(r"All done (\S{1,20}) calls .*?(?:, (\S{1,30}) qps)?")
_OTHER_TIMES = re.compile(
    r"(?:Sleep times|Aggregated Sleep|Error cases|Response |Header|Body|Connection|# Socket|\[[0-9]+\]).*"
)
_FAILURE = re.compile(
    r".*(?:Aborting because|Unable to (?:connect|resolve)|Failed to|command not found|: Error |\[F(?:ATAL|TL)\]).*"
)


def parse_fortio(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every run of ``fortio load`` in a text.

    Examples
    --------
    >>> report = '''Ended after 2s : 100 calls. qps=50
    ... Aggregated Function Time : count 100 avg 0.002 +/- 0.0001 min 0.001 max 0.003 sum 0.2
    ... # target 50% 0.002
    ... Code 200 : 90 (90.0 %)
    ... Code 503 : 10 (10.0 %)
    ... All done 100 calls (plus 0 warmup) 2.000 ms avg, 50.0 qps
    ... '''
    >>> parse_fortio(report).tables["runs"][["throughput_rps", "requests_failed"]].values.tolist()
    [[50.0, 10.0]]
    >>> parse_fortio(report.split("qps=50")[1]).tables["runs"]["throughput_rps"].tolist()  # as with -quiet
    [50.0]
    """
    cursor = Cursor(text, "fortio")
    reports: list[dict[str, Any]] = []
    for line in cursor:
        _take(reports, cursor, line.startswith(_KNOWN))
    reports = [report for report in reports if "requests_started" in report["run"]]
    if not reports:
        return cursor.failed_run("a report of fortio with 'Aggregated Function Time'")
    runs = [report | {"runs": [_run(report, cursor.warnings)]} for report in reports]
    tables = with_generator_numbers(("runs", "latency", "histogram"), runs)
    return Parsed("fortio", tables, tuple(cursor.warnings), reports[0]["run"].get("tool_version", ""))


def _take(reports: list[dict[str, Any]], cursor: Cursor, known: bool) -> None:
    """Add a line to the last report, or to a new one."""
    line, report = cursor.line, reports[-1] if reports else None
    if (known or _CODE_LIKE.match(line)) and cursor.warn_if_cut(line.endswith(" qps")):
        return
    if match := cursor.match(_HEADING):
        _take_heading(_new(reports, cursor), match, cursor)
    elif line.startswith(("Ended after", "Aggregated Function")):
        _take_times(report if report and "done" not in report else _new(reports, cursor), cursor)
    elif report is None:
        cursor.take_failure(_FAILURE)
    elif line.startswith("Starting at "):
        if match := cursor.match(_THREADS):
            report["run"] |= {"threads": int(match[1]), "connections": int(match[1])}
        else:
            cursor.warn(f"the number of threads is not understood: {line[:60]!r}")
    elif line.startswith((">", "# target")) and report["block"] == "times":
        _take_row(report, cursor)
    elif _CODE_LIKE.match(line):
        match = cursor.expect(_CODE, "a code such as 'Code 200 : 14 (70.0 %)'")
        report["codes"][match[1]] = whole(match[2], cursor.number)
    elif match := cursor.match(_BYTES):
        for name, token in zip(("sent_bytes", "received_bytes"), match.groups(), strict=True):
            report["run"][name] = float(whole(token, cursor.number))
    elif line.startswith("All done"):
        match = cursor.match(_DONE)
        report["done"] = whole(match[1], cursor.number) if match else -1
        if report["done"] != report["run"].get("requests_started", report["done"]):
            cursor.fail(f"{report['run']['requests_started']} calls")
        if match and match[2] and "qps" not in report:  # with -loglevel warning, there is no line `Ended after`
            report["qps"] = real(match[2], cursor.number, "a rate")
    elif cursor.match(_OTHER_TIMES):
        report["block"] = "others"
    elif known and report["block"] != "others":
        cursor.fail("a line of fortio's report")
    else:
        cursor.take_failure(_FAILURE)


def _new(reports: list[dict[str, Any]], cursor: Cursor) -> dict[str, Any]:
    reports.append({"run": {}, "codes": {}, "latency": [], "histogram": [], "line": cursor.number, "block": ""})
    return reports[-1]


def _take_heading(report: dict[str, Any], match: re.Match[str], cursor: Cursor) -> None:
    rate = real(match[2].removeprefix("-"), cursor.number, "a rate")
    report["run"]["tool_version"] = match[1]
    if not match[2].startswith("-") and rate > 0:
        report["run"]["target_rate_rps"] = rate
    if match[3]:
        report["run"]["requests_asked"] = int(match[3])
    if match[4]:
        report["run"]["url"] = match[4]


def _take_times(report: dict[str, Any], cursor: Cursor) -> None:
    run, number = report["run"], cursor.number
    if match := cursor.match(_ENDED):
        run["duration_s"], report["calls"] = go_time_s(match[1], number), int(match[2])
        report["qps"] = real(match[3], number, "a rate")
        # Five significant digits, cut or rounded.
        if abs(report["qps"] * run["duration_s"] - report["calls"]) > 2e-3 * report["calls"] + 1e-6:
            cursor.fail(f"a rate of {report['calls']} calls / {run['duration_s']:g} s", match[3])
        return
    match = cursor.expect(_TIMES, "'Ended after' or 'Aggregated Function Time' of fortio")
    count = whole(match[1], number)
    mean, deviation, least, most, total = (real(token, number) for token in match.groups()[1:])
    if count and abs(mean * count - total) > 1e-6 * total + 1e-9:
        cursor.fail(f"a mean of {total:g} s / {count}", match[2])
    if report.get("calls", count) != count:
        cursor.fail(f"{report['calls']} calls", match[1])
    times = {"mean": mean, "stdev": deviation, "min": least, "max": most}
    run |= {f"latency_{name}_s": value if count else math.nan for name, value in times.items()}
    run["requests_started"] = count
    report["block"] = "times"


def _take_row(report: dict[str, Any], cursor: Cursor) -> None:
    number = cursor.number
    if match := cursor.match(_TARGET):
        quantile = round(real(match[1], number, "a percentile") / 100, 9)
        if quantile > 1:
            cursor.fail("a percentile up to 100", match[1])
        report["latency"].append({"quantile": quantile, "latency_s": real(match[2], number), "corrected": False})
        return
    match = cursor.expect(_CLASS, "a class or a target of fortio's histogram")
    lower, upper, middle, share = (real(match[i], number) for i in (1, 2, 3, 4))
    count = whole(match[5], number)
    if abs((lower + upper) / 2 - middle) > 1e-4 * upper + 1e-9:
        cursor.fail(f"a mid point of {(lower + upper) / 2:g}", match[3])
    report["histogram"].append({"lower_s": lower, "upper_s": upper, "responses": count, "corrected": False})
    every = report["run"]["requests_started"]
    so_far = 100 * sum(row["responses"] for row in report["histogram"]) / every if every else 0.0
    if abs(so_far - share) > 0.011:
        cursor.fail(f"a percentile of {so_far:.2f}", match[4])


def _run(report: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    run = {"tool": "fortio", "status": "finished", **report["run"]}
    run |= {"percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured"}
    count = run["requests_started"]
    if sum(report["codes"].values()) == count:
        run |= response_columns(report["codes"], count)
        if "qps" in report:
            run |= rates(run, report["qps"])
    else:
        warnings.append(f"line {report['line']}: no codes of all {count} calls, so the responses are not known")
    if "qps" not in report:
        warnings.append(f"line {report['line']}: no line 'Ended after', so the rate is missing")
    return run


def response_columns(codes: dict[str, int], count: int) -> dict[str, Any]:
    """Counts of requests and responses by the codes of the calls; -1 and words other than OK are failed calls."""
    numbers = {int(code): n for code, n in codes.items() if re.fullmatch(r"-?[0-9]{1,3}", code)}
    words = {code: n for code, n in codes.items() if not re.fullmatch(r"-?[0-9]{1,3}", code)}
    good = sum(n for code, n in numbers.items() if 200 <= code < 400)
    good += sum(n for code, n in words.items() if code in _GOOD_WORDS or code.endswith(" OK"))
    no_response = sum(n for code, n in numbers.items() if code <= 0)
    row = {
        "requests": count - no_response, "requests_started": count, "requests_succeeded": good,
        "requests_failed": count - good, "errors_other": no_response,
    }  # fmt: skip
    return row | ({} if words else response_counts(numbers))


def rates(run: dict[str, Any], qps: float) -> dict[str, Any]:
    """Responses per second, of all calls per second."""
    count = run["requests_started"]
    rate = {"throughput_rps": qps * run["requests"] / count if count else 0.0}
    return rate | ({"status": "failed", "reason": "no call had a response"} if not run["requests"] else {})


_JSON_TIMES = {
    "latency_mean_s": "DurationHistogram.Avg", "latency_stdev_s": "DurationHistogram.StdDev",
    "latency_min_s": "DurationHistogram.Min", "latency_max_s": "DurationHistogram.Max",
}  # fmt: skip
_JSON_CODE = re.compile(r"-?[0-9]{1,3}|[A-Za-z][A-Za-z _-]{1,40}")


def parse_fortio_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every result of fortio in a text of JSON."""
    documents, warnings = each_json(text, "JSON of fortio")
    results = [each for document, _ in documents for each in (document if isinstance(document, list) else [document])]
    if not results:
        raise ParseError(documents[0][1], "a result of fortio", "[]")
    runs = [
        {"runs": [_json_run(result, text)], "latency": _quantiles(result, text), "histogram": _classes(result, text)}
        for result in results
    ]
    tables = with_generator_numbers(("runs", "latency", "histogram"), runs)
    return Parsed("fortio", tables, tuple(warnings), _version(results[0]))


def _quantiles(result: object, text: str) -> list[dict[str, Any]]:
    rows = []
    for row in _list(result, "DurationHistogram.Percentiles", text):
        quantile = round(number_at(row, "Percentile", text) / 100, 9)
        if not 0 <= quantile <= 1:
            raise ParseError(line_of("Percentile", text), "a percentile up to 100", str(quantile * 100))
        rows.append({"quantile": quantile, "latency_s": number_at(row, "Value", text), "corrected": False})
    return rows


def _classes(result: object, text: str) -> list[dict[str, Any]]:
    return [
        {
            "lower_s": number_at(row, "Start", text), "upper_s": number_at(row, "End", text),
            "responses": integer_at(row, "Count", text), "corrected": False,
        }
        for row in _list(result, "DurationHistogram.Data", text)
    ]  # fmt: skip


def _json_run(result: object, text: str) -> dict[str, Any]:
    count = integer_at(result, "DurationHistogram.Count", text)
    qps, duration = number_at(result, "ActualQPS", text), number_at(result, "ActualDuration", text) / 1e9
    if duration and abs(qps * duration - count) > 1e-3 * count + 1e-6:
        raise ParseError(line_of("ActualQPS", text), f"{count} calls / {duration:g} s", str(qps))
    in_classes = sum(integer_at(row, "Count", text) for row in _list(result, "DurationHistogram.Data", text))
    if in_classes not in (0, count):
        raise ParseError(line_of("DurationHistogram.Data", text), f"{count} calls in the classes", str(in_classes))
    codes = counts_at(result, "RetCodes", text, required=False)
    if unknown := [code for code in codes if not _JSON_CODE.fullmatch(code)]:
        raise ParseError(line_of("RetCodes", text), "status codes or words", unknown[0])
    run: dict[str, Any] = {
        "tool": "fortio", "status": "finished", "tool_version": _version(result), "duration_s": duration,
    }  # fmt: skip
    times = numbers_at(result, _JSON_TIMES, text, required=False)
    run |= times if count else dict.fromkeys(times, math.nan)
    if isinstance(url := value_at(result, "URL", text, required=False), str):
        run["url"] = url
    threads = optional_integer_at(result, "NumThreads", text)
    run |= {"threads": threads, "connections": threads}
    if exactly := optional_integer_at(result, "Exactly", text):
        run["requests_asked"] = exactly
    requested = value_at(result, "RequestedQPS", text, required=False)
    if isinstance(requested, str) and requested not in ("", "max", "-1"):
        if not re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", requested):
            raise ParseError(line_of("RequestedQPS", text), "a rate or 'max' for 'RequestedQPS'", requested)
        run |= {"target_rate_rps": float(requested)} if float(requested) > 0 else {}
    run |= numbers_at(result, {"received_bytes": "BytesReceived", "sent_bytes": "BytesSent"}, text, required=False)
    started = value_at(result, "StartTime", text, required=False)
    if isinstance(started, str):
        run["started_at"] = instant(started, "StartTime", text)
    if codes:
        if sum(codes.values()) != count:
            raise ParseError(line_of("RetCodes", text), f"codes of {count} calls", str(codes))
        run |= response_columns(codes, count)
    else:
        run |= {"requests": count, "requests_started": count}
        errors = optional_integer_at(result, "ErrorsDurationHistogram.Count", text)
        run |= {"requests_failed": errors, "requests_succeeded": count - errors} if errors is not None else {}
    run |= {"percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured"}
    return run | rates(run, qps)


def _list(result: object, path: str, text: str) -> list[Mapping[str, Any]]:
    found = value_at(result, path, text, required=False) or []
    if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
        raise ParseError(line_of(path, text), f"a list of objects for {path!r}", str(found))
    return found


def _version(result: object) -> str:
    version = result.get("Version") if isinstance(result, Mapping) else ""
    return version.split()[0] if isinstance(version, str) and version.split() else ""
