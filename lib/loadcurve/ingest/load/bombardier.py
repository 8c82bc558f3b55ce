"""bombardier: read its text and its JSON into `runs` and `latency`.

Seen: bombardier 1.2.6 (``bombardier -c 8 -d 3s -l URL``, ``-o json``).

Output of bombardier (``templates.go``, ``format.go``, ``internal/test_info.go``):

- Times of the text are in us, ms and s (of 1000) or m and h (of 60), those of the JSON in microseconds.
- ``others`` are requests without a response; ``Errors`` lists why.  Their times are among the latencies.
- The text has no measured duration: the first line prints what was requested, and the JSON has ``timeTakenSeconds``.
- ``Reqs/sec`` averages rates of short intervals, and with few requests it is far from requests / time (279.58 of
  201 requests in 2 s), so it is not read.  ``Throughput`` adds bytes sent and received, so it is not read either.
- The percentile p is the smallest time with at least ``p n + 0.5``, rounded down, responses up to it.
"""

import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import (
    each_json,
    integer_at,
    line_of,
    mapping_at,
    number_at,
    number_of,
    numbers_at,
    value_at,
)
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import error_counts, go_time_s, whole

_TIME = r"[0-9]{1,12}\.[0-9]{2}(?:us|ms|s|m|h)"
_START = re.compile(
    r"Bombarding (?P<url>\S{1,2000}) (?:for (?P<time>\S{1,30})|with (?P<requests>[0-9]{1,18}) request\(s\))"
    r" using (?P<connections>[0-9]{1,18}) connection\(s\)"
)
_LATENCY = re.compile(rf"Latency +({_TIME}) +({_TIME}) +({_TIME})")
_QUANTILE = re.compile(rf"([0-9]{{2}})% +({_TIME})")
_CODES = re.compile(r"1xx - ([0-9]{1,18}), 2xx - ([0-9]{1,18}), 3xx - ([0-9]{1,18}), 4xx - ([0-9]{1,18})"
                    r", 5xx - ([0-9]{1,18})")  # fmt: skip
_OTHERS = re.compile(r"others - ([0-9]{1,18})")
_ERROR = re.compile(r"(\S.{0,300}) - ([0-9]{1,18})")
_THROUGHPUT = re.compile(r"Throughput: +[0-9.]{1,30}(?:[KMGTP]B)?/s")
_NOT_READ = re.compile(
    r"Statistics +Avg +Stdev +Max|Reqs/sec(?: +[0-9.]{1,30}){3}|Latency Distribution|HTTP codes:|Errors:|Done!"
    r"|There wasn't enough data to compute statistics for \w+\."
    r"|(?:\[[=>-]*\] *)?(?:[0-9]{1,18} / [0-9]{1,18}.*|(?:[0-9]{1,4}[hms])+)"  # progress
)
_PERCENT = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,6})?")
_FAILURE = re.compile(r"(?:unable to parse|invalid|expected|no such|unknown|bombardier:).{0,300}", re.IGNORECASE)
_TIMES = {"latency_mean_s": "mean", "latency_stdev_s": "stddev", "latency_max_s": "max"}
_NAMES = ("runs", "latency")


def parse_bombardier(text: str) -> Parsed:
    """Tables `runs` and `latency` of the reports of bombardier in a text."""
    cursor = Cursor(text, "bombardier")
    runs: list[dict[str, Any]] = []
    asked: dict[str, Any] = {}
    times: dict[str, Any] = {}
    quantiles: list[dict[str, Any]] = []
    codes: list[int] = []
    errors: dict[str, int] = {}
    others = 0
    part = ""
    for line in cursor:
        if line.startswith("Bombarding "):
            match = cursor.expect(_START, "Bombarding URL for TIME using N connection(s)")
            asked = {"url": match["url"], "connections": whole(match["connections"], cursor.number)}
            if match["requests"]:
                asked["requests_asked"] = whole(match["requests"], cursor.number)
            else:
                asked["duration_asked_s"] = go_time_s(match["time"], cursor.number)
        elif line in ("Latency Distribution", "HTTP codes:", "Errors:"):
            part = line
        elif line.startswith("Latency "):
            match = cursor.expect(_LATENCY, "mean, deviation and maximum of the latency")
            times = {name: go_time_s(match[i], cursor.number) for i, name in enumerate(_TIMES, 1)}
        elif line.startswith("Throughput:") and codes:
            cursor.expect(_THROUGHPUT, "bytes per second")
            run = _run(asked, times, codes, others, errors)
            if "duration_asked_s" in asked:
                run["throughput_rps"] = run["requests"] / asked["duration_asked_s"]
                cursor.warn("bombardier prints no measured duration: the rate is for the duration requested")
            else:
                cursor.warn("bombardier prints no duration, so there is no rate: record its JSON (-o json)")
            runs.append({"runs": [run], "latency": quantiles})
            asked, times, quantiles, codes, errors, others, part = {}, {}, [], [], {}, 0, ""
        elif part == "Latency Distribution":
            match = cursor.expect(_QUANTILE, "a percentile and its latency")
            quantiles.append({"quantile": int(match[1]) / 100, "latency_s": go_time_s(match[2], cursor.number)})
        elif part == "HTTP codes:" and not codes:
            if row := cursor.row(_CODES, "counts of 1xx to 5xx"):
                codes = [int(count) for count in row.groups()]
        elif part == "HTTP codes:":
            if row := cursor.row(_OTHERS, "the count of others"):
                others = int(row[1])
        elif part == "Errors:":
            if row := cursor.row(_ERROR, "an error and its count"):
                errors[row[1]] = errors.get(row[1], 0) + int(row[2])
        elif not (cursor.match(_NOT_READ) or cursor.take_failure(_FAILURE) or cursor.warn_if_cut(False)):
            cursor.skip_unknown()
    if not runs:
        return cursor.failed_run("a report of bombardier")
    if asked or codes:
        cursor.warn("the text ends before 'Throughput:', so the last report is left out")
    return Parsed("bombardier", with_generator_numbers(_NAMES, runs), tuple(cursor.warnings))


def parse_bombardier_json(text: str) -> Parsed:
    """Tables `runs` and `latency` of every JSON result of bombardier in a text."""
    documents, warnings = each_json(text, "JSON of bombardier")
    runs = []
    for document, _ in documents:
        asked: dict[str, Any] = {"connections": integer_at(document, "spec.numberOfConnections", text)}
        if (url := mapping_at(document, "spec", text).get("url")) is not None:
            asked["url"] = str(url)
        rate = number_at(document, "spec.rate", text, required=False)
        asked |= {"target_rate_rps": rate} if rate == rate else {}
        codes = [integer_at(document, f"result.req{n}xx", text) for n in range(1, 6)]
        others = integer_at(document, "result.others", text)
        listed = value_at(document, "result.errors", text, required=False) or []
        errors: dict[str, int] = {}
        for one in listed if isinstance(listed, list) else [listed]:
            message = str(value_at(one, "description", text))
            errors[message] = errors.get(message, 0) + integer_at(one, "count", text)
        paths = {column: f"result.latency.{name}" for column, name in _TIMES.items()}
        times = {name: value / 1e6 for name, value in numbers_at(document, paths, text, required=False).items()}
        run = _run(asked, times, codes, others, errors)
        run["duration_s"] = number_at(document, "result.timeTakenSeconds", text)
        run["received_bytes"] = number_at(document, "result.bytesRead", text)
        if run["duration_s"]:
            run["throughput_rps"] = run["requests"] / run["duration_s"]
            run["received_bytes_per_s"] = run["received_bytes"] / run["duration_s"]
        printed = mapping_at(document, "result.latency.percentiles", text, required=False)
        quantiles = []
        for key, value in printed.items():
            if not _PERCENT.fullmatch(key):
                raise ParseError(line_of(f"result.latency.percentiles.{key}", text), "a percentile such as 99", key)
            quantiles.append({"quantile": round(float(key) / 100, 9), "latency_s": number_of(value, key, text) / 1e6})
        runs.append({"runs": [run], "latency": quantiles})
    return Parsed("bombardier", with_generator_numbers(_NAMES, runs), tuple(warnings))


def _run(
    asked: dict[str, Any], times: dict[str, Any], codes: list[int], others: int, errors: dict[str, int]
) -> dict[str, Any]:
    """Return the row of a run; times of requests without a response are among the latencies, so none are kept then."""
    responses = sum(codes)
    run: dict[str, Any] = {
        "tool": "bombardier", "status": "finished" if responses else "failed", **asked, **(times if responses else {}),
        "requests": responses, "requests_started": responses + others, "requests_failed": others,
        **{f"responses_{n}xx": count for n, count in enumerate(codes, 1)}, "errors_status": codes[3] + codes[4],
        **error_counts(errors), "percentile_estimator": "smallest time with p n + 0.5 responses up to it",
        "latency_origin": "measured",
    }  # fmt: skip
    if not responses:
        run["throughput_rps"] = 0.0
        run |= {"reason": max(errors, key=errors.__getitem__)} if errors else {}
    return run
