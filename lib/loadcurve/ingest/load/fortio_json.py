"""fortio: the JSON of a run into tables.

Tables: `runs`, `latency`, `histogram`.  Seen in public repositories (the tool was not at hand): fortio 0.1 to 1.6x.

What fortio itself does (``periodic/periodic.go``, ``stats/stats.go``, ``fhttp/httprunner.go``):

- ``RequestedQPS`` is text, ``max`` where there is no limit; ``ActualDuration`` is in nanoseconds; histograms are in
  seconds, and count all calls, failed ones too; ``ErrorsDurationHistogram`` (1.33 on) those that were not OK.
- A percentile is interpolated linearly inside its class of the histogram.
- ``RetCodes``: -1 is a call without a response.  gRPC has words for codes.
- A call is timed from when it is sent; a thread that is late catches up (unless ``-nocatchup``), but the wait before
  is in no time: not corrected for coordinated omission.
"""

import math
import re
from collections.abc import Mapping

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import JSON
from loadcurve.ingest.form import Form
from loadcurve.ingest.json_text import each_json, line_of, member, number, whole
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import response_counts

ESTIMATOR = "linear interpolation inside the class of the histogram"
_CODE = re.compile(r"-?[0-9]{1,3}|[A-Za-z][A-Za-z _-]{1,40}")
_GOOD_WORDS = ("OK", "SERVING")


def parse_fortio_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every result of fortio in a text of JSON.

    Raises
    ------
    ParseError
        Where the text is not such JSON, or its counts contradict each other.

    Examples
    --------
    >>> text = '''{"RequestedQPS": "100", "ActualQPS": 50, "ActualDuration": 2000000000, "NumThreads": 4,
    ...   "DurationHistogram": {"Count": 100, "Min": 0.001, "Max": 0.003, "Sum": 0.2, "Avg": 0.002, "StdDev": 0,
    ...     "Data": [{"Start": 0.001, "End": 0.003, "Percent": 100, "Count": 100}],
    ...     "Percentiles": [{"Percentile": 50, "Value": 0.002}]}, "RetCodes": {"200": 90, "503": 10}}'''
    >>> parse_fortio_json(text).tables["runs"][["throughput_rps", "goodput_rps", "target_rate_rps"]].values.tolist()
    [[50.0, 45.0, 100.0]]
    """
    documents, warnings = each_json(text, "JSON of fortio")
    results = [each for document, _ in documents for each in (document if isinstance(document, list) else [document])]
    if not results:
        raise ParseError(documents[0][1], "a result of fortio", "[]")
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "histogram": []}
    for generator, result in enumerate(results):
        tables["runs"].append({"generator": generator, **_run(result, text)})
        for row in _list(result, "DurationHistogram.Percentiles", text):
            quantile = round(number(row, "Percentile", text) / 100, 9)
            if not 0 <= quantile <= 1:
                raise ParseError(line_of("Percentile", text), "a percentile up to 100", str(quantile * 100))
            row = {"quantile": quantile, "latency_s": number(row, "Value", text), "corrected": False}
            tables["latency"].append({"generator": generator, **row})
        for row in _list(result, "DurationHistogram.Data", text):
            limits = {"lower_s": number(row, "Start", text), "upper_s": number(row, "End", text)}
            row = {"generator": generator, **limits, "responses": whole(row, "Count", text), "corrected": False}
            tables["histogram"].append(row)
    return Parsed("fortio", tables, tuple(warnings), _version(results[0]))


def answers(codes: dict[str, int], count: int) -> dict:
    """What the codes of the calls say; -1 and words other than OK are calls without a good answer."""
    numbers = {int(code): n for code, n in codes.items() if re.fullmatch(r"-?[0-9]{1,3}", code)}
    words = {code: n for code, n in codes.items() if not re.fullmatch(r"-?[0-9]{1,3}", code)}
    good = sum(n for code, n in numbers.items() if 200 <= code < 400)
    good += sum(n for code, n in words.items() if code in _GOOD_WORDS or code.endswith(" OK"))
    unanswered = sum(n for code, n in numbers.items() if code <= 0)
    row = {
        "requests": count - unanswered, "requests_started": count, "requests_succeeded": good,
        "requests_failed": count - good, "errors_other": unanswered,
    }  # fmt: skip
    return row | ({} if words else response_counts(numbers))


def _run(result: object, text: str) -> dict:
    count = whole(result, "DurationHistogram.Count", text)
    qps, duration = number(result, "ActualQPS", text), number(result, "ActualDuration", text) / 1e9
    if duration and abs(qps * duration - count) > 1e-3 * count + 1e-6:
        raise ParseError(line_of("ActualQPS", text), f"{count} calls / {duration:g} s", str(qps))
    in_classes = sum(whole(row, "Count", text) for row in _list(result, "DurationHistogram.Data", text))
    if in_classes not in (0, count):
        raise ParseError(line_of("DurationHistogram.Data", text), f"{count} calls in the classes", str(in_classes))
    codes = member(result, "RetCodes", text, required=False) or {}
    if not isinstance(codes, Mapping) or not all(isinstance(n, int) and 0 <= n < 1e18 for n in codes.values()):
        raise ParseError(line_of("RetCodes", text), "codes and their counts", str(codes))
    if odd := [code for code in codes if not _CODE.fullmatch(code)]:
        raise ParseError(line_of("RetCodes", text), "status codes or words", odd[0])
    run: dict = {"tool": "fortio", "status": "finished", "tool_version": _version(result), "duration_s": duration}
    for name, key in (("mean", "Avg"), ("stdev", "StdDev"), ("min", "Min"), ("max", "Max")):
        value = number(result, f"DurationHistogram.{key}", text, required=False)
        run[f"latency_{name}_s"] = value if count else math.nan
    if isinstance(url := member(result, "URL", text, required=False), str):
        run["url"] = url
    threads = whole(result, "NumThreads", text, required=False)
    run |= {"threads": threads, "connections": threads}
    if exactly := whole(result, "Exactly", text, required=False):
        run["requests_asked"] = exactly
    asked = member(result, "RequestedQPS", text, required=False)
    if isinstance(asked, str) and asked not in ("", "max", "-1"):
        if not re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", asked):
            raise ParseError(line_of("RequestedQPS", text), "a rate or 'max' for 'RequestedQPS'", asked)
        run |= {"target_rate_rps": float(asked)} if float(asked) > 0 else {}
    for column, key in (("received_bytes", "BytesReceived"), ("sent_bytes", "BytesSent")):
        run[column] = number(result, key, text, required=False)
    started = member(result, "StartTime", text, required=False)
    if isinstance(started, str):
        run["started_at"] = _instant(started, text)
    if codes:
        if sum(codes.values()) != count:
            raise ParseError(line_of("RetCodes", text), f"codes of {count} calls", str(dict(codes)))
        run |= answers(dict(codes), count)
    else:
        run |= {"requests": count, "requests_started": count}
        errors = whole(result, "ErrorsDurationHistogram.Count", text, required=False)
        run |= {"requests_failed": errors, "requests_succeeded": count - errors} if errors is not None else {}
    run |= {"percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured"}
    return run | fortio_rates(run, qps)


def fortio_rates(run: dict, qps: float) -> dict:
    """Responses and good responses per second, of all calls per second."""
    count = run["requests_started"]
    rates = {"throughput_rps": qps * run["requests"] / count if count else 0.0}
    if "requests_succeeded" in run:
        rates["goodput_rps"] = qps * run["requests_succeeded"] / count if count else 0.0
    return rates | ({"status": "failed", "reason": "no call was answered"} if not run["requests"] else {})


def _list(result: object, path: str, text: str) -> list[Mapping]:
    found = member(result, path, text, required=False) or []
    if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
        raise ParseError(line_of(path, text), f"a list of objects for {path!r}", str(found))
    return found


def _version(result: object) -> str:
    version = result.get("Version") if isinstance(result, Mapping) else ""
    return version.split()[0] if isinstance(version, str) and version.split() else ""


def _instant(said: str, text: str) -> pd.Timestamp:
    try:
        instant = pd.Timestamp(said)
        return instant.tz_localize("UTC") if instant.tz is None else instant.tz_convert("UTC")
    except (ValueError, OverflowError):
        raise ParseError(line_of("StartTime", text), "an instant such as 2023-07-21T14:00:40Z", said) from None


FORTIO_JSON = Form(
    "fortio",
    "json",
    parse_fortio_json,
    (r'\A(?:[^{\n]*\n){0,20}\s*(?:\[\s*)?\{(?=[\s\S]{0,20000}?"DurationHistogram"\s*:)',),
    ending=JSON,
)
