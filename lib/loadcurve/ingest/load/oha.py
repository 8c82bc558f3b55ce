"""oha: read its JSON and its CSV of requests into tables; `hey` reads its text, which has hey's layout.

Tables: `runs`, `latency`, `histogram`, `phases`; `requests` of ``--output-format csv``.  Seen in public repositories:
oha 0.4 to 1.16 (older ones have no ``rps.min``, ``sizePerRequest``, ``firstByte``).

Output of oha (``src/printer.rs``, ``src/result_data.rs``, ``src/histogram.rs``):

- All times are in seconds; ``successRate`` is a ratio 0-1 of the requests that got any response (those cut off by the
  end of ``-z``, ``aborted due to deadline``, are not counted); a status of 500 is a success.
- ``requestsPerSec`` also counts failed requests and those cut off; the table keeps the share of responses.
- Times are of responses only.  The percentile p is the element ``p / 100 * n`` of the sorted times.
- Keys of the histogram are upper ends, sorted as text; the first bin holds only the fastest response.  Equal ends (a
  single response) become one key with a wrong count.
- The output shows neither ``-q`` nor ``--latency-correction``: see `loadcurve.ingest.load_options`.
"""

import math
import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
from loadcurve.ingest.json_text import counts_at, each_json, line_of, mapping_at, number_at, number_of, numbers_at
from loadcurve.ingest.load.hey import DEADLINE, ESTIMATORS
from loadcurve.ingest.load.requests_csv import REAL, parse_requests_csv
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import error_counts, response_counts

_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]{1,6})?)")
_TIMES = {
    "latency_mean_s": "summary.average", "latency_min_s": "summary.fastest", "latency_max_s": "summary.slowest",
}  # fmt: skip
_CSV = {
    "request-start": "offset_s", "DNS": "dns_s", "DNS+dialup": "connect_s", "Response-delay": "waiting_s",
    "request-duration": "latency_s", "bytes": "received_bytes", "status": "status",
}  # fmt: skip


def parse_oha_json(text: str) -> Parsed:
    """Tables `runs`, `latency`, `histogram` and `phases` of every JSON result of oha in a text."""
    documents, warnings = each_json(text, "JSON of oha")
    runs = []
    for document, line in documents:
        run = _run(document, text, line, warnings)
        quantiles = _quantiles(document, text)
        classes = _classes(document, text)
        if classes and sum(row["responses"] for row in classes) != run["requests"]:
            warnings.append(f"line {line_of('responseTimeHistogram', text)}: the classes do not hold all responses")
        runs.append({"runs": [run], "latency": quantiles, "histogram": classes, "phases": _phases(document, text)})
    return Parsed("oha", with_generator_numbers(("runs", "latency", "histogram", "phases"), runs), tuple(warnings))


def _quantiles(document: object, text: str) -> list[dict[str, Any]]:
    rows = []
    for key, value in mapping_at(document, "latencyPercentiles", text, required=False).items():
        match = _PERCENTILE.fullmatch(key)
        if match is None:
            raise ParseError(line_of(f"latencyPercentiles.{key}", text), "a percentile such as p99.9", key)
        rows.append({"quantile": round(float(match[1]) / 100, 9), "latency_s": number_of(value, key, text)})
    return rows


def parse_oha_csv(text: str) -> Parsed:
    """Table `requests` of ``oha --output-format csv``: one row for each response."""
    return parse_requests_csv(text, "oha", _CSV)


def _run(document: object, text: str, line: int, warnings: list[str]) -> dict[str, Any]:
    printed = counts_at(document, "statusCodeDistribution", text, required=False)
    for code in printed:
        if not (code.isascii() and code.isdigit() and len(code) == 3):
            raise ParseError(line_of(f"statusCodeDistribution.{code}", text), "a status code", code)
    codes = {int(code): count for code, count in printed.items()}
    errors = counts_at(document, "errorDistribution", text, required=False)
    late = errors.pop(DEADLINE, 0)
    responses, failed = sum(codes.values()), sum(errors.values())
    started = responses + failed + late
    duration, rps = number_at(document, "summary.total", text), number_at(document, "summary.requestsPerSec", text)
    run: dict[str, Any] = {
        "tool": "oha", "status": "finished", "duration_s": duration, "requests": responses,
        "requests_started": started, "requests_failed": failed, **response_counts(codes), **error_counts(errors),
        "received_body_bytes": number_at(document, "summary.totalData", text, required=False),
        "percentile_estimator": ESTIMATORS["oha"], "latency_origin": "measured",
    }  # fmt: skip
    times = numbers_at(document, _TIMES, text, required=False)
    run |= times if responses else dict.fromkeys(times, math.nan)
    if not responses:
        run |= {"status": "failed", "throughput_rps": 0.0}
        run |= {"reason": max(errors, key=errors.__getitem__)} if errors else {}
    elif abs(rps * duration - started) > 1e-3 * started + 0.5:
        warnings.append(f"line {line}: requestsPerSec x total is {rps * duration:.0f}, but {started} are listed")
    else:
        run["throughput_rps"] = rps * responses / started
    rate = number_at(document, "summary.successRate", text, required=False)
    if responses and not math.isnan(rate) and abs(rate - responses / (responses + failed)) > 1e-6:
        warnings.append(f"line {line_of('summary.successRate', text)}: successRate is not {responses} responses of "
                        f"{responses + failed} requests")  # fmt: skip
    return run


def _classes(document: object, text: str) -> list[dict[str, Any]]:
    marks = counts_at(document, "responseTimeHistogram", text, required=False)
    for mark in marks:
        if not REAL.fullmatch(mark) and mark not in ("NaN", "inf", "-inf"):
            raise ParseError(line_of(f"responseTimeHistogram.{mark}", text), "seconds", mark)
    rows, lower = [], math.nan
    for mark in sorted(filter(REAL.fullmatch, marks), key=float):
        rows.append({"lower_s": lower, "upper_s": float(mark), "responses": marks[mark]})
        lower = float(mark)
    return rows


def _phases(document: object, text: str) -> list[dict[str, Any]]:
    rows = []
    for key, phase in (("DNSDialup", "connect"), ("DNSLookup", "dns"), ("firstByte", "first_byte")):
        if mapping_at(document, f"details.{key}", text, required=False):
            names = {"mean_s": "average", "min_s": "fastest", "max_s": "slowest"}
            paths = {column: f"details.{key}.{name}" for column, name in names.items()}
            rows.append({"phase": phase, **numbers_at(document, paths, text, required=False)})
    return rows
