"""k6: its summary as JSON into tables.

Tables: `runs`, `latency`, `phases`.  Seen in public repositories (the tool was not at hand): ``--summary-export`` of
k6 0.26 to 1.x, what ``handleSummary`` gets (0.30 on), and the machine-readable summary of 1.x (``results.metrics`` as
a list).

What k6 itself does (``metrics/sink.go``, ``internal/js/summary.js``):

- Trends are in milliseconds, counters of data in bytes, rates are ratios 0-1, ``rate`` of a counter is its count over
  the duration of the test.
- A percentile interpolates linearly between the two nearest ranks, index ``p * (n - 1)``; ``med`` likewise.
- ``http_req_duration`` is sending + waiting + receiving: without DNS, connecting and TLS.  It holds failed requests.
- ``http_req_failed``: a request without an answer, or with a status outside 200-399 (unless the script says otherwise);
  its ``passes`` are the failed ones.  k6 does not tell the statuses apart, so `requests` holds unanswered ones too.
- Nothing is corrected for coordinated omission; the arrival-rate executors send by schedule.
"""

import math
import re
from collections.abc import Mapping

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import JSON
from loadcurve.ingest.form import Form
from loadcurve.ingest.json_text import each_json, line_of
from loadcurve.ingest.parsed import Parsed

ESTIMATOR = "linear interpolation at p * (n - 1)"
PHASES = {
    "http_req_blocked": "blocked", "http_req_connecting": "connect", "http_req_tls_handshaking": "tls",
    "http_req_sending": "write", "http_req_waiting": "waiting", "http_req_receiving": "read",
}  # fmt: skip
_STATISTIC = re.compile(r"avg|min|med|max|count|sum|p\(([0-9]{1,2}(?:\.[0-9]{1,9})?|100)\)")
_STATISTICS = {"avg": "mean_s", "min": "min_s", "med": "median_s", "max": "max_s"}


def parse_k6_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every k6 summary in a text of JSON.

    Raises
    ------
    ParseError
        Where the text is not such JSON, or a number of it contradicts another.

    Examples
    --------
    >>> text = '''{"metrics": {"http_reqs": {"count": 300, "rate": 10.0},
    ...   "http_req_failed": {"passes": 30, "fails": 270, "value": 0.1},
    ...   "http_req_duration": {"avg": 2.5, "min": 1, "med": 2, "max": 9, "p(95)": 5}}}'''
    >>> parsed = parse_k6_json(text)
    >>> parsed.tables["runs"][["requests", "goodput_rps", "latency_mean_s"]].values.tolist()
    [[300.0, 9.0, 0.0025]]
    """
    documents, warnings = each_json(text, "JSON of k6's summary")
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "phases": []}
    for generator, (document, line) in enumerate(documents):
        metrics = _metrics(document, line)
        state = document.get("state") if isinstance(document.get("state"), Mapping) else {}
        milliseconds = _number(state.get("testRunDurationMs"), "testRunDurationMs", text)
        if math.isnan(milliseconds) and isinstance(document.get("config"), Mapping):
            seconds = document["config"].get("duration")
            milliseconds = _number(seconds, "duration", text) * 1000
        checked = {name: _values(name, values, text) for name, values in metrics.items()}
        run, quantiles, phases = k6_rows(checked, milliseconds / 1000, line, warnings)
        tables["runs"].append({"generator": generator, **run})
        tables["latency"] += [{"generator": generator, **row} for row in quantiles]
        tables["phases"] += [{"generator": generator, **row} for row in phases]
    return Parsed("k6", tables, tuple(warnings))


def k6_rows(
    metrics: dict[str, dict[str, float]], duration: float, line: int, warnings: list[str]
) -> tuple[dict, list[dict], list[dict]]:
    """Row of `runs`, rows of `latency` and of `phases` of one summary, whose trends are in milliseconds."""
    run: dict = {"tool": "k6", "status": "finished"}
    requests = metrics.get("http_reqs", {})
    count, rate = requests.get("count", math.nan), requests.get("rate", math.nan)
    if math.isnan(duration) and rate > 0:
        duration = count / rate
    run |= {"duration_s": duration, "throughput_rps": rate}
    if not math.isnan(count):
        run |= {"requests": int(count), "requests_started": int(count)}
    else:
        warnings.append(f"line {line}: no metric http_reqs, so k6 made no HTTP request or it is missing")
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
    for name, column in (("data_received", "received_bytes"), ("data_sent", "sent_bytes")):
        data = metrics.get(name, {})
        run |= {column: data.get("count", math.nan), f"{column}_per_s": data.get("rate", math.nan)}
    users = metrics.get("vus_max", {})
    most = users.get("max", users.get("value", math.nan))
    if not math.isnan(most):
        run["connections"] = int(most)
    times = metrics.get("http_req_duration", {})
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
        if metric in PHASES
    ]
    run |= {"percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured"}
    return run, quantiles, phases


def _metrics(document: object, line: int) -> dict[str, Mapping]:
    """The metrics by name, of any form of the summary; submetrics such as ``http_req_duration{…}`` are left out."""
    found = document.get("metrics") if isinstance(document, Mapping) else None
    if found is None and isinstance(document, Mapping) and isinstance(document.get("results"), Mapping):
        found = document["results"].get("metrics")
    if isinstance(found, list):
        found = {str(each.get("name")): each for each in found if isinstance(each, Mapping)}
    if not isinstance(found, Mapping) or not all(isinstance(each, Mapping) for each in found.values()):
        raise ParseError(line, "an object with the metrics of k6", str(document)[:80])
    known = ("http_", "data_", "vus", "iteration")
    return {name: each for name, each in found.items() if "{" not in name and name.startswith(known)}


def _values(name: str, metric: Mapping, text: str) -> dict[str, float]:
    """Numbers of a metric, which stand in it or in its ``values``."""
    values = metric.get("values", metric)
    if not isinstance(values, Mapping):
        raise ParseError(line_of(f"metrics.{name}", text), f"the numbers of {name}", str(values))
    numbers = {}
    for key, value in values.items():
        if key in ("thresholds", "type", "contains", "name", "tainted", "thresholdResults") or isinstance(value, str):
            continue
        trend = name.startswith("http_req_") and name != "http_req_failed"
        if trend and not _STATISTIC.fullmatch(key):
            raise ParseError(line_of(f"metrics.{name}.{key}", text), "avg, min, med, max, count or p(N)", key)
        if name in ("http_reqs", "http_req_failed") and key not in (
            "count", "rate", "passes", "fails", "value", "matches", "total",
        ):  # fmt: skip
            raise ParseError(line_of(f"metrics.{name}.{key}", text), f"a number of {name}", key)
        numbers[key] = _number(value, f"metrics.{name}.{key}", text)
    if "matches" in numbers and "total" in numbers:  # the machine-readable summary
        numbers |= {"passes": numbers["matches"], "fails": numbers["total"] - numbers["matches"]}
    for key in ("count", "passes", "fails"):
        if key in numbers and not (0 <= numbers[key] < 1e18 and numbers[key] == int(numbers[key])):
            raise ParseError(line_of(f"metrics.{name}.{key}", text), "a whole number", str(numbers[key]))
    return numbers


def _number(value: object, path: str, text: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise ParseError(line_of(path, text), f"a number of at least 0 for {path!r}", str(value))
    return float(value)


K6_JSON = Form(
    "k6",
    "json",
    parse_k6_json,
    (
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,20000}?"(?:http_reqs"|http_req_|root_group"'
        r'|testRunDurationMs"))',
    ),
    ending=JSON,
)
