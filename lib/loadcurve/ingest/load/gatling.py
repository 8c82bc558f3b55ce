"""Gatling: read the summary that it prints at the end of a run, and the JSON of its report, into `runs` and `latency`.

Seen: Gatling 3.7.6, 3.9.5, 3.10.5 and 3.13.5 (the samples of the tests); 2.x and 3.x in public repositories.
`gatling_log` reads every request.

Format and numbers (``ConsoleTemplate``): times are whole ms, and failed requests (KO) are part of every total.  The
rate is all requests over the time of the run, rounded up to whole seconds.  The blocks ``Requests`` that Gatling prints
every 5 s hold counts only, and are ignored.

JSON, seen: Gatling 3.7.6, 3.9.5 and 3.10.5 (the samples of the tests); 2.x and 3.x in public repositories.  Gatling
3.13 writes no such file.

Format and numbers (``StatsJsonTemplate``): each number has a ``total``, an ``ok`` and a ``ko``, in old versions as
text; ``-`` is missing.  Times are whole ms.  ``percentiles1`` to ``4`` are the percentiles 50, 75, 95 and 99 unless
``gatling.charting.indicators`` sets others.  The rate is the requests over the time of the run, in whole seconds.
"""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.json_text import line_of, load_json, value_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import error_counts, real, whole

QUANTILES = (0.5, 0.75, 0.95, 0.99)
"""Of ``percentiles1`` to ``4``, unless the configuration sets others."""
LABEL_QUANTILES = {0.5: "latency_median_s", 0.95: "latency_p95_s", 0.99: "latency_p99_s"}
_HEADING = re.compile(r"-{4} Global Information -{5,}.*")
_SECTION = re.compile(r"-{4} ([A-Z][A-Za-z ]{3,40}) -{3,}.*")
_NUMBER = r"([0-9x]{1,18}(?:\.[0-9x]{1,6})?|-)"
_LINE = re.compile(
    rf"> (\S.*?)(?: \((?:ms|rps)\))?\s+(?:\|\s+)?{_NUMBER}\s+"
    rf"(?:\(OK={_NUMBER}\s+KO={_NUMBER}\s*\)|\|\s+{_NUMBER}\s+\|\s+{_NUMBER})"
)
_ERROR = re.compile(r"> (\S.*?)\s+([0-9]{1,18})\s+\(\s*[0-9.,]+\s?%\)")
_ERROR_LIKE = re.compile(r"> \S.*\(.*%\)")
_PERCENTILE = re.compile(r"response time ([0-9]{1,2}(?:\.[0-9]{1,3})?)(?:st|nd|rd|th) percentile")
_NAMES = {
    "request count": "requests", "min response time": "min", "max response time": "max", "mean response time": "mean",
    "std deviation": "stdev", "response time std deviation": "stdev", "mean requests/sec": "rate",
    "mean throughput": "rate",
}  # fmt: skip
_STATUS = re.compile(r"status\.find\..*found ([0-9]{3})", re.DOTALL)
_RULE = re.compile(r"={20,}")
_FAILURE = re.compile(
    r".*(?:No Simulation to run|Simulation .* could not be found|gatling(?:\.sh)?: (?:command )?not found).*"
)


def parse_gatling(text: str) -> Parsed:
    """Tables `runs` and `latency` of the summaries that Gatling prints at the end of its runs."""
    cursor = Cursor(text, "gatling")
    reports: list[dict[str, Any]] = []
    block = ""
    for line in cursor:
        if cursor.match(_HEADING):
            reports.append({"quantiles": {}, "errors": []})
            block = "numbers"
        elif section := cursor.match(_SECTION):
            block = section[1].lower() if reports else ""
        elif _RULE.fullmatch(line):
            if block == "errors":
                reports[-1]["all_errors"] = True
            block = ""
        elif block == "numbers":
            if cursor.warn_if_cut(line.endswith(")")):  # the last number of a newer version may be cut
                continue
            if line.startswith(">"):
                _take(reports[-1], cursor)
            else:
                cursor.skip_unknown()
        elif block == "errors" and not cursor.warn_if_cut(line.endswith(")")) and _ERROR_LIKE.fullmatch(line):
            match = cursor.expect(_ERROR, "a message, its count and its share")
            reports[-1]["errors"].append((match[1], whole(match[2], cursor.number)))
        elif not reports:
            cursor.take_failure(_FAILURE)
    reports = [report for report in reports if "requests" in report]
    if not reports:
        return cursor.failed_run("a summary of Gatling, which begins with '---- Global Information'")
    runs, latency = [], []
    for number, report in enumerate(reports):
        run, rows = run_of(_numbers(report), report.get("rate", (math.nan, math.nan))[1])
        runs.append(run | (errors_of(report["errors"]) if "all_errors" in report else {}) | {"generator": number})
        latency += [row | {"generator": number} for row in rows]
    return Parsed("gatling", {"runs": runs, "latency": latency}, tuple(cursor.warnings))


def run_of(numbers: dict[str, Any], good_rate: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Row of `runs` and rows of `latency`, of the numbers of all requests and the rate of those that were OK."""
    requests, failed, rate = numbers["requests"], numbers["requests_failed"], numbers["throughput_rps"]
    good_rate = good_rate if requests > failed else 0.0  # Gatling prints - for no request
    times = numbers.pop("quantiles")
    latency = [{"generator": 0, "quantile": q, "latency_s": t, "corrected": False} for q, t in times.items()]
    run = {
        "generator": 0, "tool": "gatling", "status": "finished", **numbers, "requests_succeeded": requests - failed,
        "duration_s": requests / rate if rate else math.nan, "goodput_rps": good_rate,
        "percentile_estimator": "HdrHistogram or t-digest of whole ms", "latency_corrected": False,
        "latency_origin": "measured",
    }  # fmt: skip
    return run, latency


def _take(report: dict[str, Any], cursor: Cursor) -> None:
    match, number = cursor.expect(_LINE, "a name, the total, and the numbers of OK and KO"), cursor.number
    total, good, bad = match[2], match[3] or match[5], match[4] or match[6]
    name = _NAMES.get(match[1].strip(), "")
    values = tuple(math.nan if token == "-" else real(token, number) for token in (total, good, bad))
    if name == "requests":
        report["requests"] = tuple(whole(token, number) if token != "-" else 0 for token in (total, good, bad))
        if report["requests"][1] + report["requests"][2] != report["requests"][0]:
            cursor.fail("a total that is OK and KO")
    elif name:
        report[name] = values
    elif percentile := _PERCENTILE.fullmatch(match[1].strip()):
        report["quantiles"][round(float(percentile[1]) / 100, 9)] = values[0] / 1000
    else:
        cursor.warn(f"the number {match[1]!r} of Gatling is not known, and left out")


def _numbers(report: dict[str, Any]) -> dict[str, Any]:
    times = {f"latency_{n}_s": report[n][0] / 1000 for n in ("mean", "stdev", "min", "max") if n in report}
    total, _, failed = report["requests"]
    rate = report.get("rate", (math.nan,))[0]
    counts = {"requests": total, "requests_failed": failed, "throughput_rps": rate}
    return counts | times | {"quantiles": report["quantiles"]}


def errors_of(messages: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Counts of `errors_status`, `errors_connect` and so on, of messages and how often each occurred.

    Examples
    --------
    >>> found = errors_of([("status.find.in([200, 209], 304), found 503", 3), ("j.i.IOException: Premature close", 2)])
    >>> found["errors_status"], found["errors_read"], found["errors_other"]
    (3, 2, 0)
    """
    messages = list(messages)
    failed = [(text, count) for text, count in messages if not (m := _STATUS.search(text)) or int(m[1]) < 400]
    classes = error_counts([(text, count) for text, count in failed if not _STATUS.search(text)])
    classes["errors_other"] += sum(count for text, count in failed if _STATUS.search(text))
    statuses = sum(count for _, count in messages) - sum(count for _, count in failed)
    return classes | {"errors_status": statuses}


_TIMES = {"mean": "meanResponseTime", "stdev": "standardDeviation", "min": "minResponseTime", "max": "maxResponseTime"}
_DEEPEST = 100  # groups inside each other


def parse_gatling_stats(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of Gatling's ``stats.json`` or ``global_stats.json``."""
    warnings: list[str] = []
    document = load_json(text, "stats.json of Gatling", warnings)
    stats = value_at(document, "stats", text, required=False) or document
    total, good_rate = _json_numbers(stats, text)
    labels = []
    for name, part in _leaves(document, text, 0):
        row = _json_numbers(value_at(part, "stats", text), text)[0]
        times = {LABEL_QUANTILES[q]: t for q, t in row.pop("quantiles").items() if q in LABEL_QUANTILES}
        labels.append({"generator": 0, "label": name} | times | row)
    if not total["quantiles"]:
        warnings.append("the file has fewer than four percentiles, so which ones they are is not known")
    run, latency = run_of(total, good_rate)
    tables = {"runs": [run], "latency": latency}
    return Parsed("gatling", tables | ({"labels": labels} if labels else {}), tuple(warnings))


def _leaves(document: object, text: str, depth: int) -> Iterator[tuple[str, object]]:
    """Requests of a group and of the groups in it, each with its path."""
    contents = value_at(document, "contents", text, required=False)
    if depth > _DEEPEST or not isinstance(contents or {}, dict):
        raise ParseError(line_of("contents", text), "groups of requests", str(contents)[:60])
    for part in (contents or {}).values():
        if value_at(part, "type", text) == "REQUEST":
            yield str(value_at(part, "path", text, required=False) or value_at(part, "name", text)), part
        else:
            yield from _leaves(part, text, depth + 1)


def _json_numbers(stats: object, text: str) -> tuple[dict[str, Any], float]:
    """Numbers of all requests of a ``stats``, and the rate of those that were OK."""

    def of(path: str, required: bool = True) -> float:
        value = value_at(stats, path, text, required)
        if value in (None, "-", ""):
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ParseError(line_of(path, text), f"a number for {path!r}", str(value)[:60])
        return real(str(value), line_of(path, text), f"a number for {path!r}")

    counts = {name: of(f"numberOfRequests.{name}") for name in ("total", "ok", "ko")}
    are_whole = all(count >= 0 and count == int(count) for count in counts.values())
    if not are_whole or counts["ok"] + counts["ko"] != counts["total"]:
        raise ParseError(line_of("numberOfRequests", text), "a total that is ok and ko", str(counts))
    rate = {name: of(f"meanNumberOfRequestsPerSecond.{name}", required=name != "ok") for name in ("total", "ok")}
    # With fewer than four percentiles, the file does not say which ones they are.
    quantiles = QUANTILES if value_at(stats, "percentiles4", text, required=False) else ()
    row = {
        "requests": int(counts["total"]), "requests_failed": int(counts["ko"]), "throughput_rps": rate["total"],
        **{f"latency_{name}_s": of(f"{path}.total", required=False) / 1000 for name, path in _TIMES.items()},
        "quantiles": {q: of(f"percentiles{i}.total") / 1000 for i, q in enumerate(quantiles, 1)},
    }  # fmt: skip
    return row, rate["ok"]
