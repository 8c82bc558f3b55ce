"""k6: read its summary as JSON into tables; `k6` documents what the metrics mean.

Tables: `runs`, `latency`, `phases`.  Seen in public repositories (the tool was not run): ``--summary-export`` of
k6 0.26 to 1.x, the argument of ``handleSummary`` (0.30 on), and the machine-readable summary of 1.x
(``results.metrics`` as a list).  Trends are in milliseconds, counters of data in bytes, rates are ratios 0-1.
"""

import math
import re
from collections.abc import Mapping

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
from loadcurve.ingest.json_text import each_json, line_of, number_at, number_of, value_at
from loadcurve.ingest.load.k6 import TABLES, rows_of
from loadcurve.ingest.parsed import Parsed

_STATISTIC = re.compile(r"avg|min|med|max|count|sum|p\(([0-9]{1,2}(?:\.[0-9]{1,9})?|100)\)")
_OTHER_KEYS = ("thresholds", "type", "contains", "name", "tainted", "thresholdResults")
_COUNTER_KEYS = ("count", "rate", "passes", "fails", "value", "matches", "total")


def parse_k6_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every k6 summary in a text of JSON.

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
    runs = []
    for document, line in documents:
        metrics = {name: _values(name, values, text) for name, values in _metrics(document, line).items()}
        milliseconds = number_at(document, "state.testRunDurationMs", text, required=False)
        if math.isnan(milliseconds):
            milliseconds = number_at(document, "config.duration", text, required=False) * 1000
        runs.append(rows_of(metrics, milliseconds / 1000, line, warnings))
    return Parsed("k6", with_generator_numbers(TABLES, runs), tuple(warnings))


def _metrics(document: object, line: int) -> dict[str, Mapping]:
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


def _values(name: str, metric: Mapping, text: str) -> dict[str, float]:
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
