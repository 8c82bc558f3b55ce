"""k6: read the summary that it prints at the end of a test into tables, and its JSON.

Tables: `runs`, `latency`, `phases`.  Seen: k6 1.8.1 (samples of the tests: a constant arrival rate, kept and refused);
k6 0.2x to 1.x in public repositories.

Output of k6 (``metrics/sink.go``; ``internal/js/summary.js``, before 1.0 ``js/summary.js``):

- A line is a name, dots, ``:`` and values.  Times are truncated to two decimals of ns, µs, ms or s; from a
  minute on to whole seconds (``1m1s``).  Sizes are 1000-based (``kB``, ``MB``) with about two digits.  The
  ``rate`` of a counter is its count over the duration of the test.
- A percentile interpolates linearly between the two nearest ranks, index ``p * (n - 1)``; ``med`` likewise.
- ``http_req_duration`` is sending + waiting + receiving: without DNS, connecting and TLS.  It includes failed requests,
  with 0 s for one without a connection; so 0 s is never a response time.  Where all requests failed and no byte came
  back, none had a response.
- ``http_req_failed`` counts requests without a response, or with a status outside 200-399 (unless the script says
  otherwise); its ``passes`` are the failed ones.  k6 does not count the statuses, so `requests` includes requests
  without a response.  Before 1.0 it prints ``0.57%  ✓ 12  ✗ 2088``, where ✓ are the *failed* ones; then
  ``12 out of 2100``.
- From 1.0 on the whole test is listed under ``TOTAL RESULTS``; groups and scenarios have blocks of their own, which are
  ignored, as are thresholds, checks, submetrics (``{ expected_response:true }``) and a script's own metrics.
- k6 does not correct for coordinated omission; the arrival-rate executors send by schedule.  The heading of the test
  prints the iterations per second of ``constant-arrival-rate``; the target rate is these times the requests of an
  iteration, if there is one scenario.

JSON, seen in public repositories (the tool was not run): ``--summary-export`` of
k6 0.26 to 1.x, the argument of ``handleSummary`` (0.30 on), and the machine-readable summary of 1.x
(``results.metrics`` as a list).  Trends are in milliseconds, counters of data in bytes, rates are ratios 0-1.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import each_json, line_of, number_at, number_of, value_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import go_time_s, is_noise, real, whole

TABLES = ("runs", "latency", "phases")
PHASES = {
    "http_req_blocked": "blocked", "http_req_connecting": "connect", "http_req_tls_handshaking": "tls",
    "http_req_sending": "write", "http_req_waiting": "waiting", "http_req_receiving": "read",
}  # fmt: skip
_STATISTICS = {"avg": "mean_s", "min": "min_s", "med": "median_s", "max": "max_s"}
_METRIC = re.compile(r"(?:[✓✗] )?\s*([a-z][a-z0-9_]{1,60})\.{0,120}:\s+(\S.{0,2000})")
_METRIC_LIKE = re.compile(
    r"(?:[✓✗] )?\s*"
    r"(http_req(?:s|_[a-z_]+)|data_received|data_sent|vus|vus_max|iterations|iteration_duration)\.{2,120}(:?)"
)
_TREND = re.compile(r"(avg|min|med|max|count|sum|p\((?:[0-9]{1,2}(?:\.[0-9]{1,9})?|100)\))=\s*([^\s,=]{1,40}),?")
_OLD_RATE = re.compile(r"(\S{1,12})%(?:\s+✓\s+([0-9]{1,18})\s+✗\s+([0-9]{1,18}))?")
_NEW_RATE = re.compile(r"(\S{1,12})%\s+([0-9]{1,18}) out of ([0-9]{1,18})")
_COUNTER = re.compile(r"([0-9]{1,18})\s+\(?([0-9.]{1,30})/s\)?")
_DATA = re.compile(r"(-?[0-9.]{1,12}) ([kMGTP]?B)\s+(-?[0-9.]{1,12}) ([kMGTP]?B)/s")
_GAUGE = re.compile(r"([0-9]{1,12})(?:\s+min=([0-9]{1,12})\s+max=([0-9]{1,12}))?")
_BLOCK = re.compile(r"█ ([A-Z][A-Za-z ]{1,80}+)(?::.*)?")
_USERS = re.compile(r"scenarios: \(.{1,12}\) [0-9]+ scenarios?, ([0-9]{1,12}) max VUs,.*")
_SCENARIO = re.compile(r"\* \S{1,200}: (?:(\S{1,20}) iterations/s for )?.*")
_FAILURE = re.compile(
    r"(?:(?:time=\S+ level=(?:error|fatal)|ERRO\[[0-9]+\]|FATA\[[0-9]+\]).*|.*k6: (?:command )?not found.*)"
)
_SHAPES = {
    "data_received": _DATA, "data_sent": _DATA, "vus": _GAUGE, "vus_max": _GAUGE, "http_reqs": _COUNTER,
    "iterations": _COUNTER,
}  # fmt: skip
_SIZE = {"B": 1.0} | {f"{unit}B": 1000.0**power for power, unit in enumerate("kMGTP", 1)}
_TRENDS = {*PHASES, "http_req_duration", "iteration_duration"}


def parse_k6(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every end-of-test summary of k6 in a text."""
    cursor = Cursor(text, "k6")
    summaries: list[dict[str, Any]] = []
    users = math.nan
    scenarios: list[float] = []  # iterations per second of each; NaN for other executors
    block = "TOTAL RESULTS"
    for line in cursor:
        like = _METRIC_LIKE.match(line)
        if like and cursor.warn_if_cut(False):  # any value can be longer
            continue
        if like:
            match = cursor.match(_METRIC)
            if match is None or not like[2]:
                cursor.fail(f"{like[1]!r} and its numbers")
            if block != "TOTAL RESULTS":
                continue
            if not summaries or match[1] in summaries[-1]["metrics"]:
                rate = scenarios[0] if len(scenarios) == 1 else math.nan
                summaries.append({"metrics": {}, "line": cursor.number, "users": users, "rate": rate})
            summaries[-1]["metrics"][match[1]] = _numbers(match[1], match[2].strip(), cursor)
        elif match := _BLOCK.fullmatch(line):
            block = match[1].strip()
        elif match := _USERS.fullmatch(line):
            users, block, scenarios = float(match[1]), "TOTAL RESULTS", []
        elif match := _SCENARIO.fullmatch(line):
            scenarios.append(real(match[1], cursor.number, "a rate") if match[1] else math.nan)
        elif not is_noise(line):
            cursor.take_failure(_FAILURE)
    summaries = [each for each in summaries if {"http_reqs", "http_req_duration"} & each["metrics"].keys()]
    if not summaries:
        return cursor.failed_run("a summary of k6 with http_reqs or http_req_duration")
    runs = [rows_of(each["metrics"], math.nan, each["line"], cursor.warnings) for each in summaries]
    for run, each in zip(runs, summaries, strict=True):
        if "connections" not in run["runs"][0] and not math.isnan(each["users"]):
            run["runs"][0]["connections"] = int(each["users"])
        count, iterations = (each["metrics"].get(name, {}).get("count", 0) for name in ("http_reqs", "iterations"))
        if each["rate"] > 0 and count and iterations:
            run["runs"][0]["target_rate_rps"] = each["rate"] * count / iterations
    return Parsed("k6", with_generator_numbers(TABLES, runs), tuple(cursor.warnings))


def _numbers(name: str, text: str, cursor: Cursor) -> dict[str, float]:
    """Numbers of a metric by their names in JSON, trends in milliseconds."""
    number = cursor.number
    if name in _TRENDS:
        found = _TREND.findall(text)
        if not found or _TREND.sub("", text).strip():
            cursor.fail("avg=… min=… and so on", text)
        if len(found) > 1 and found[-1][1].replace(".", "", 1).isdigit() and found[-1][0] != "count":
            cursor.warn(f"cut at its right end, so {'='.join(found.pop())!r} is left out")
        return {
            key: float(whole(value, number)) if key == "count" else go_time_s(value, number) * 1000
            for key, value in found
        }
    if name == "http_req_failed":
        return _failed(text, cursor)
    shape = _SHAPES.get(name)
    if shape is None:
        return {}
    match = shape.fullmatch(text) or cursor.fail(f"the numbers of {name}", text)
    if shape is _DATA:
        total, rate = (real(match[i].removeprefix("-"), number) * _SIZE[match[i + 1]] for i in (1, 3))
        return {"count": total, "rate": rate}
    if shape is _GAUGE:
        return {"value": float(match[1])} | ({"max": float(match[3])} if match[3] else {})
    return {"count": float(match[1]), "rate": real(match[2], number, "a rate")}


def _failed(text: str, cursor: Cursor) -> dict[str, float]:
    if match := _NEW_RATE.fullmatch(text):
        failed, every = int(match[2]), int(match[3])
        if failed > every:
            cursor.fail("at most all requests", text)
        counts = {"passes": float(failed), "fails": float(every - failed)}
    else:
        match = _OLD_RATE.fullmatch(text) or cursor.fail("a percentage and counts of http_req_failed", text)
        counts = {"passes": float(match[2]), "fails": float(match[3])} if match[2] else {}
    return {"rate": real(match[1], cursor.number, "a percentage") / 100} | counts


def rows_of(
    metrics: dict[str, dict[str, float]], duration: float, line: int, warnings: list[str]
) -> dict[str, list[dict[str, Any]]]:
    """Rows of each table of one summary."""
    run: dict[str, Any] = {"tool": "k6"}
    requests = metrics.get("http_reqs", {})
    count, rate = requests.get("count", math.nan), requests.get("rate", math.nan)
    if math.isnan(duration) and rate > 0:
        duration = count / rate
    run |= {"duration_s": duration, "throughput_rps": rate}
    if not math.isnan(count):
        run |= {"status": "finished", "requests": int(count), "requests_started": int(count)}
    else:
        warnings.append(f"line {line}: no metric http_reqs, so k6 sent no HTTP request or the metric was cut")
    if rate > 0 and duration > 0 and abs(rate * duration - count) > 0.01 * count + 2:
        warnings.append(f"line {line}: {rate:g} requests per second over {duration:g} s is not {count:g} requests")
    failed = metrics.get("http_req_failed", {})
    share = failed.get("rate", failed.get("value", math.nan))
    if "passes" in failed and "fails" in failed:
        every = failed["passes"] + failed["fails"]
        if every and not math.isnan(share) and abs(share - failed["passes"] / every) > 1.1e-4:
            counted = failed["passes"] / every
            warnings.append(f"line {line}: http_req_failed is {share:g}, but its counts say {counted:g}")
            share = math.nan
        else:
            share = failed["passes"] / every if every else math.nan
            run |= {"requests_failed": int(failed["passes"]), "requests_succeeded": int(failed["fails"])}
    run["goodput_rps"] = rate * (1 - share)
    times = metrics.get("http_req_duration", {})
    if count > 0 and share == 1 and (metrics.get("data_received", {}).get("count") == 0 or times.get("max") == 0):
        run |= {"requests": 0, "throughput_rps": 0.0, "goodput_rps": 0.0}
        run |= {"status": "failed", "reason": f"none of {count:g} requests had a response"}
    for name, column in (("data_received", "received_bytes"), ("data_sent", "sent_bytes")):
        data = metrics.get(name, {})
        run |= {column: data.get("count", math.nan), f"{column}_per_s": data.get("rate", math.nan)}
    users = metrics.get("vus_max", {})
    most = users.get("max", users.get("value", math.nan))
    if not math.isnan(most):
        run["connections"] = int(most)
    if times.get("min") == 0:
        warnings.append(
            f"line {line}: http_req_duration has 0 s for each request without a connection, so its mean and "
            "percentiles are too small or missing: find out why connections fail, and repeat the run"
        )
    times = {name: value for name, value in times.items() if value > 0}
    for statistic, column in (("avg", "mean"), ("min", "min"), ("max", "max")):
        run[f"latency_{column}_s"] = times.get(statistic, math.nan) / 1000
    quantiles = []
    for name, value in times.items():
        quantile = 0.5 if name == "med" else round(float(name[2:-1]) / 100, 9) if name.startswith("p(") else math.nan
        if not math.isnan(quantile):
            quantiles.append({"quantile": quantile, "latency_s": value / 1000, "corrected": False})
    quantiles.sort(key=lambda row: row["quantile"])
    phases = [
        {"phase": PHASES[metric]}
        | {_STATISTICS[name]: value / 1000 for name, value in values.items() if name in _STATISTICS}
        for metric, values in metrics.items()
        if metric in PHASES and run.get("requests") != 0
    ]
    run |= {"percentile_estimator": "linear interpolation at p * (n - 1)"}
    run |= {"latency_corrected": False, "latency_origin": "measured"}
    return {"runs": [run], "latency": quantiles, "phases": phases}


_STATISTIC = re.compile(r"avg|min|med|max|count|sum|p\(([0-9]{1,2}(?:\.[0-9]{1,9})?|100)\)")
_OTHER_KEYS = ("thresholds", "type", "contains", "name", "tainted", "thresholdResults")
_COUNTER_KEYS = ("count", "rate", "passes", "fails", "value", "matches", "total")


def parse_k6_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every k6 summary in a text of JSON."""
    documents, warnings = each_json(text, "JSON of k6's summary")
    runs = []
    for document, line in documents:
        metrics = {name: _values(name, values, text) for name, values in _metrics(document, line).items()}
        milliseconds = number_at(document, "state.testRunDurationMs", text, required=False)
        if math.isnan(milliseconds):
            milliseconds = number_at(document, "config.duration", text, required=False) * 1000
        runs.append(rows_of(metrics, milliseconds / 1000, line, warnings))
    return Parsed("k6", with_generator_numbers(TABLES, runs), tuple(warnings))


def _metrics(document: object, line: int) -> dict[str, Mapping[str, Any]]:
    """The metrics by name, of any form of the summary; submetrics such as ``http_req_duration{…}`` are left out."""
    found = value_at(document, "metrics", "", required=False)
    if found is None:
        found = value_at(document, "results.metrics", "", required=False)
    if isinstance(found, list):
        found = {str(each.get("name")): each for each in found if isinstance(each, Mapping)}
    if not isinstance(found, Mapping) or not all(isinstance(each, Mapping) for each in found.values()):
        raise ParseError(line, "an object with the metrics of k6", str(document)[:80])
    known = ("http_", "data_", "vus", "iteration")
    return {name: each for name, each in found.items() if "{" not in name and name.startswith(known)}


def _values(name: str, metric: Mapping[str, Any], text: str) -> dict[str, float]:
    """Numbers of a metric: its members, or those of its ``values``."""
    values = metric.get("values", metric)
    if not isinstance(values, Mapping):
        raise ParseError(line_of(f"metrics.{name}", text), f"the numbers of {name}", str(values))
    numbers = {}
    for key, value in values.items():
        if key in _OTHER_KEYS or isinstance(value, str):
            continue
        trend = name.startswith("http_req_") and name != "http_req_failed"
        if trend and not _STATISTIC.fullmatch(key):
            raise ParseError(line_of(f"metrics.{name}.{key}", text), "avg, min, med, max, count or p(N)", key)
        if name in ("http_reqs", "http_req_failed") and key not in _COUNTER_KEYS:
            raise ParseError(line_of(f"metrics.{name}.{key}", text), f"a number of {name}", key)
        numbers[key] = number_of(value, f"metrics.{name}.{key}", text)
    if "matches" in numbers and "total" in numbers:  # the machine-readable summary
        numbers |= {"passes": numbers["matches"], "fails": numbers["total"] - numbers["matches"]}
    for key in ("count", "passes", "fails"):
        if key in numbers and not (0 <= numbers[key] < 1e18 and numbers[key] == int(numbers[key])):
            raise ParseError(line_of(f"metrics.{name}.{key}", text), "a whole number", str(numbers[key]))
    return numbers
