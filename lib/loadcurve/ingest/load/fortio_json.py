"""fortio: read the JSON of a run into tables; `fortio` documents what the numbers mean.

Tables: `runs`, `latency`, `histogram`.  Seen in public repositories (the tool was not run): fortio 0.1 to 1.6x.
``RequestedQPS`` is text, ``max`` if there is no limit; ``ActualDuration`` is in nanoseconds;
``ErrorsDurationHistogram`` (1.33 on) counts the calls that were not OK; ``RetCodes`` are the codes of the calls.
"""

import math
import re
from collections.abc import Mapping

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
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
from loadcurve.ingest.load.fortio import ESTIMATOR, rates, response_columns
from loadcurve.ingest.parsed import Parsed

_TIMES = {
    "latency_mean_s": "DurationHistogram.Avg", "latency_stdev_s": "DurationHistogram.StdDev",
    "latency_min_s": "DurationHistogram.Min", "latency_max_s": "DurationHistogram.Max",
}  # fmt: skip
_CODE = re.compile(r"-?[0-9]{1,3}|[A-Za-z][A-Za-z _-]{1,40}")


def parse_fortio_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every result of fortio in a text of JSON.

    Examples
    --------
    >>> text = '''{"RequestedQPS": "100", "ActualQPS": 50, "ActualDuration": 2000000000, "NumThreads": 4,
    ...   "DurationHistogram": {"Count": 100, "Min": 0.001, "Max": 0.003, "Sum": 0.2, "Avg": 0.002, "StdDev": 0,
    ...     "Data": [{"Start": 0.001, "End": 0.003, "Percent": 100, "Count": 100}],
    ...     "Percentiles": [{"Percentile": 50, "Value": 0.002}]}, "RetCodes": {"200": 90, "503": 10}}'''
    >>> parse_fortio_json(text).tables["runs"][["throughput_rps", "target_rate_rps"]].values.tolist()
    [[50.0, 100.0]]
    """
    documents, warnings = each_json(text, "JSON of fortio")
    results = [each for document, _ in documents for each in (document if isinstance(document, list) else [document])]
    if not results:
        raise ParseError(documents[0][1], "a result of fortio", "[]")
    runs = [
        {"runs": [_run(result, text)], "latency": _quantiles(result, text), "histogram": _classes(result, text)}
        for result in results
    ]
    tables = with_generator_numbers(("runs", "latency", "histogram"), runs)
    return Parsed("fortio", tables, tuple(warnings), _version(results[0]))


def _quantiles(result: object, text: str) -> list[dict]:
    rows = []
    for row in _list(result, "DurationHistogram.Percentiles", text):
        quantile = round(number_at(row, "Percentile", text) / 100, 9)
        if not 0 <= quantile <= 1:
            raise ParseError(line_of("Percentile", text), "a percentile up to 100", str(quantile * 100))
        rows.append({"quantile": quantile, "latency_s": number_at(row, "Value", text), "corrected": False})
    return rows


def _classes(result: object, text: str) -> list[dict]:
    return [
        {
            "lower_s": number_at(row, "Start", text), "upper_s": number_at(row, "End", text),
            "responses": integer_at(row, "Count", text), "corrected": False,
        }
        for row in _list(result, "DurationHistogram.Data", text)
    ]  # fmt: skip


def _run(result: object, text: str) -> dict:
    count = integer_at(result, "DurationHistogram.Count", text)
    qps, duration = number_at(result, "ActualQPS", text), number_at(result, "ActualDuration", text) / 1e9
    if duration and abs(qps * duration - count) > 1e-3 * count + 1e-6:
        raise ParseError(line_of("ActualQPS", text), f"{count} calls / {duration:g} s", str(qps))
    in_classes = sum(integer_at(row, "Count", text) for row in _list(result, "DurationHistogram.Data", text))
    if in_classes not in (0, count):
        raise ParseError(line_of("DurationHistogram.Data", text), f"{count} calls in the classes", str(in_classes))
    codes = counts_at(result, "RetCodes", text, required=False)
    if unknown := [code for code in codes if not _CODE.fullmatch(code)]:
        raise ParseError(line_of("RetCodes", text), "status codes or words", unknown[0])
    run: dict = {"tool": "fortio", "status": "finished", "tool_version": _version(result), "duration_s": duration}
    times = numbers_at(result, _TIMES, text, required=False)
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


def _list(result: object, path: str, text: str) -> list[Mapping]:
    found = value_at(result, path, text, required=False) or []
    if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
        raise ParseError(line_of(path, text), f"a list of objects for {path!r}", str(found))
    return found


def _version(result: object) -> str:
    version = result.get("Version") if isinstance(result, Mapping) else ""
    return version.split()[0] if isinstance(version, str) and version.split() else ""
