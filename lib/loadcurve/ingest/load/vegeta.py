"""vegeta: read its text reports, histograms and JSON into tables.

Tables: `runs` and `latency` of ``vegeta report``; `histogram` of ``-type=hist``; `latency` of ``-type=hdrplot``.
Seen: vegeta 5 to 12 in public repositories, 12.13 here.  `vegeta_requests` reads the list of
hits.

Output of vegeta (``lib/metrics.go``, ``lib/reporters.go``):

- ``rate`` is hits per second of the attack, from the first hit to the last; ``throughput`` (vegeta 12 on) is
  *successes* (status 200 to 399) over attack and wait together.  Code 0 is a hit without a response.
- Latencies include all hits, also failed ones; a hit with code 0 counts with the time until it failed.
- Quantiles are estimates from a biased quantile sketch up to 11, from a t-digest (compression 1000) from 12 on.
- vegeta sends by schedule (open loop), and times a hit from when it sends it: the time that a hit waits for a free
  worker is not corrected for.
- Durations are rounded to three decimals of their unit from 12 on; ``success`` has two decimals.
- ``-type=hist``: a bin includes its lower end but not its upper end.

JSON has a `histogram` too if ``-buckets`` was given.  Seen: vegeta 6 to 12 in public repositories
(before 12: no ``throughput``, ``min``, ``90th``).  All times are in nanoseconds, ``success`` is a ratio 0-1, the rates
are those of the text.
"""

import math
import re
from itertools import pairwise
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import (
    counts_at,
    each_json,
    instant,
    integer_at,
    line_of,
    mapping_at,
    number_at,
    numbers_at,
    value_at,
)
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import SECONDS, go_time_s, real, response_counts, whole

_NAME = r"(Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\["
_ROW_LIKE = re.compile(_NAME)
_ROW = re.compile(_NAME + r"([a-z0-9, :]{1,60})\]\s+(\S.{0,4000})")
_ERRORS = re.compile(r"Error Set:(.*)")
_HIST = re.compile(r"Bucket\s+#\s+%\s+Histogram")
_CLASS = re.compile(r"\[([^,\s]{1,40}),\s+([^\]\s]{1,40})\]\s+(\S+)\s+(\S+)%\s*#*")
_HDR = re.compile(r"Value\((ms|ns|us|s)\),?\s+Percentile,?\s+TotalCount,?\s+1/\(1-Percentile\)")
_EXPECTED_CLASS = "a class such as '[2ms,   4ms]   5505  29.92%  ####'"
_EXPECTED_ROW = "a value, a percentile, a count and a number"
_HDR_ROW = re.compile(r"([0-9.]{1,24})\s+([01]\.[0-9]{1,12})\s+([0-9]{1,18})\s+(inf|[0-9.]{1,24})")
# Last lines that are complete without a newline: a row does not end in its count, and hdrplot writes six decimals.
_WHOLE = re.compile(r"Error Set:.*|\[.*%(?:\s+#+)?|[0-9.]+\s+[01]\.[0-9]+\s+[0-9]+\s+[0-9]+\.[0-9]{6}")
_FAILURE = re.compile(
    r"(?:Usage: vegeta |encode: can't detect|bad (?:target|method|URL|header)|.*vegeta: (?:command )?not|Error decoding"
    r"|no targets|[0-9/]{10} [0-9:]{8} (?:bad|no|open|EOF|encode)).*"
)
_SUMMARY = ("min", "mean", "max")  # of the latencies; the others are percentiles
ESTIMATOR = "t-digest, or a quantile sketch before vegeta 12"


def parse_vegeta(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of the text reports of vegeta in a text."""
    cursor = Cursor(text, "vegeta")
    reports: list[dict[str, Any]] = []
    block = ""
    for _ in cursor:
        block = _take(reports, block, cursor)
    if not reports:
        return cursor.failed_run("a report of vegeta, which begins with 'Requests  [total'")
    runs = []
    for report in reports:
        run = {"latency": report["hdr"], "histogram": report["hist"]}
        run = {name: rows for name, rows in run.items() if rows}
        if report["rows"]:
            latency = _latencies(report["rows"]["Latencies"]) if "Latencies" in report["rows"] else []
            run |= {"runs": [_run(report, cursor.warnings)], "latency": latency + report["hdr"]}
        runs.append(run)
    names = [name for name in ("runs", "latency", "histogram") if any(name in run for run in runs)]
    if not names:
        raise ParseError(reports[0]["line"], "rows below this heading", reports[0]["heading"])
    return Parsed("vegeta", with_generator_numbers(names, runs), tuple(cursor.warnings))


def _take(reports: list[dict[str, Any]], block: str, cursor: Cursor) -> str:
    """Add a line to the last report, or to a new one; return the block (hist, hdr, errors) that it is in."""
    line, report = cursor.line, reports[-1] if reports else None
    is_row = _ROW_LIKE.match(line)
    if block != "errors" and (is_row or block) and cursor.warn_if_cut(_WHOLE.fullmatch(line)):
        return block
    if cursor.at_end and block != "errors" and not _WHOLE.fullmatch(line):
        return block
    if is_row:
        name, columns, values = cursor.expect(_ROW, "a line such as 'Requests  [total, rate]  1200, 120.00'").groups()
        if name == "Requests" or report is None or name in report["rows"]:
            report = _new(reports, cursor)
        report["rows"][name] = ([column.strip() for column in columns.split(",")], values, cursor.number)
        return ""
    if match := cursor.match(_ERRORS):
        if match[1].strip() and report:
            report["errors"].append(match[1].strip())
        return "errors"
    plot = cursor.match(_HDR)
    if plot or cursor.match(_HIST):
        block = "hdr" if plot else "hist"
        # A histogram below a report belongs to the same attack.
        if report is None or block in report["blocks"] or (plot and report["rows"]):
            report = _new(reports, cursor)
        report["blocks"].append(block)
        if plot:
            report["unit"] = SECONDS[plot[1]]
    elif report is None:
        cursor.take_failure(_FAILURE)
    elif block == "hist" and line.startswith("[") and (match := cursor.row(_CLASS, _EXPECTED_CLASS)):
        report["hist"].append(_class(match, cursor.number))
    elif block == "hdr" and line[0].isdigit() and (match := cursor.row(_HDR_ROW, _EXPECTED_ROW)):
        _take_quantile(report, match, cursor)
    elif block == "errors":
        report["errors"].append(line)
    else:
        cursor.skip_unknown()
    return block


def _new(reports: list[dict[str, Any]], cursor: Cursor) -> dict[str, Any]:
    new = {"line": cursor.number, "heading": cursor.line, "rows": {}, "errors": [], "blocks": [], "hist": [], "hdr": []}
    reports.append(new)
    return new


def rates(requests: int, codes: dict[int, int], rate: float, throughput: float, duration: float) -> dict[str, Any]:
    """Rates of a report: hits sent, responses of any status, and successes.

    Examples
    --------
    >>> rates(200, {200: 150, 500: 40, 0: 10}, 10.05, 7.5, 20.0)["throughput_rps"]
    9.5
    """
    responses = requests - codes.get(0, 0)
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    if math.isnan(throughput) and duration > 0:  # before vegeta 12
        throughput = good / duration
    every = throughput * responses / good if good else (responses / duration if duration > 0 else math.nan)
    return {"target_rate_rps": rate, "throughput_rps": every, "goodput_rps": throughput}


def counts(requests: int, codes: dict[int, int], messages: list[str]) -> dict[str, Any]:
    """Counts of a report: responses by status; vegeta prints each error once, without its count."""
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    row = {
        "requests_started": requests, "requests": requests - codes.get(0, 0), "requests_succeeded": good,
        "status": "finished", "requests_failed": requests - good, "errors_other": codes.get(0, 0),
        **response_counts(codes),
    }  # fmt: skip
    if codes.get(0, 0) == requests:
        row |= {"status": "failed"} | ({"reason": messages[0]} if messages else {})
    return row


def _run(report: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Row of `runs` of a report."""
    run: dict[str, Any] = {"tool": "vegeta", "latency_corrected": False, "latency_origin": "measured"}
    rows, line = report["rows"], report["line"]
    values = {name: _values(*row) for name, row in rows.items() if name != "Status Codes"}
    request, duration, latencies = (values.get(name, {}) for name in ("Requests", "Duration", "Latencies"))
    if "total" in duration:
        run["duration_s"] = go_time_s(duration["total"], rows["Duration"][2])
        for name in ("attack", "wait"):
            go_time_s(duration.get(name, "0"), rows["Duration"][2])
    for name, column in (("Bytes In", "received_body_bytes"), ("Bytes Out", "sent_bytes")):
        if name in values:
            run[column] = float(whole(values[name].get("total", ""), rows[name][2]))
            real(values[name].get("mean", "0"), rows[name][2])
    run |= {
        f"latency_{name}_s": go_time_s(latencies[name], rows["Latencies"][2]) for name in _SUMMARY if name in latencies
    }
    if latencies.keys() - _SUMMARY:
        run["percentile_estimator"] = ESTIMATOR
    if not request:
        warnings.append(f"line {line}: the report has no line 'Requests', so its rates are missing")
        return run
    number = rows["Requests"][2]
    requests = whole(request.get("total", ""), number)
    sent, throughput = (real(request.get(name, "NaN"), number, "a rate") for name in ("rate", "throughput"))
    if "Status Codes" not in rows:
        warnings.append(f"line {line}: the report has no status codes, so the number of responses is not known")
        run["requests_started"] = requests
        columns = {"rate": ("target_rate_rps", sent), "throughput": ("goodput_rps", throughput)}
        return run | dict(columns[name] for name in columns if name in request)
    codes = _codes(*rows["Status Codes"][1:])
    if sum(codes.values()) != requests:
        raise ParseError(rows["Status Codes"][2], f"status codes of {requests} hits", str(codes))
    if "Success" in rows:
        _check_success(rows["Success"], codes, requests)
    run |= counts(requests, codes, report["errors"])
    if requests and "throughput" in request and "total" in duration:
        _check_throughput(request["throughput"], run, number, warnings)
    return run | rates(requests, codes, sent, throughput, run.get("duration_s", math.nan))


def _check_throughput(token: str, run: dict[str, Any], number: int, warnings: list[str]) -> None:
    duration = max(run["duration_s"], 1e-9)
    expected, slack = run["requests_succeeded"] / duration, 0.006
    # vegeta rounds a duration to the next smaller unit (round in lib/reporters.go): 60.433 s reads 1m0s.
    rounding = (30 if duration >= 3600 else 0.5 if duration >= 60 else 0) / duration
    if abs(real(token, number, "a rate") - expected) > slack + (0.005 + rounding) * expected:
        warnings.append(f"line {number}: throughput {token} is not {run['requests_succeeded']} successes / duration")


def _check_success(row: tuple[list[str], str, int], codes: dict[int, int], requests: int) -> None:
    token = row[1]
    ratio = real(token.removesuffix("%"), row[2], "a percentage") / 100
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    if not token.endswith("%") or (requests and abs(ratio - good / requests) > 0.0011):
        raise ParseError(row[2], f"a success ratio of {good} / {requests}", token)


def _values(names: list[str], text: str, number: int) -> dict[str, str]:
    tokens = [token.strip() for token in text.split(",")]
    if len(tokens) != len(names):
        raise ParseError(number, f"{len(names)} values: {', '.join(names)}", text)
    return dict(zip(names, tokens, strict=True))


def _latencies(row: tuple[list[str], str, int]) -> list[dict[str, Any]]:
    """Rows of `latency` of the line Latencies."""
    quantiles = []
    for name, token in _values(*row).items():
        seconds = go_time_s(token, row[2])
        if name not in _SUMMARY:
            quantile = round(real(name, row[2], "a percentile") / 100, 9)
            if not 0 < quantile < 1:
                raise ParseError(row[2], "percentiles between 0 and 100", name)
            quantiles.append({"quantile": quantile, "latency_s": seconds, "corrected": False})
    return quantiles


def _codes(text: str, number: int) -> dict[int, int]:
    codes: dict[int, int] = {}
    for token in text.split():
        code, colon, count = token.partition(":")
        if not colon or len(code) > 3:
            raise ParseError(number, "status codes such as 200:1200", token)
        codes[whole(code, number)] = whole(count, number)
    return codes


def _class(match: re.Match[str], number: int) -> dict[str, Any]:
    """Row of `histogram`."""
    real(match[4], number, "a percentage")
    upper = math.nan if match[2] == "+Inf" else go_time_s(match[2], number)
    limits = {"lower_s": go_time_s(match[1], number), "upper_s": upper}
    return limits | {"responses": whole(match[3], number), "corrected": False}


def _take_quantile(report: dict[str, Any], match: re.Match[str], cursor: Cursor) -> None:
    """Add a row of hdrplot."""
    number = cursor.number
    quantile = real(match[2], number)
    inverse = math.inf if match[4] == "inf" else real(match[4], number)
    if quantile > 1 or (quantile < 1 and math.isfinite(inverse) and abs(1 / (1 - quantile) - inverse) > 0.01 * inverse):
        cursor.fail("1/(1-Percentile) at the end")
    row = {"quantile": quantile, "latency_s": real(match[1], number) * report["unit"], "responses": int(match[3])}
    before = report["hdr"][-1] if report["hdr"] else row
    if quantile < before["quantile"] or row["responses"] < before["responses"]:
        cursor.fail("percentiles and counts that do not fall")
    report["hdr"].append(row | {"corrected": False})


_TIMES = {"latency_mean_s": "latencies.mean", "latency_min_s": "latencies.min", "total_s": "latencies.total"}
_KNOWN = {"total", "mean", "min", "max"}
_NS = 1e9  # in a second
_PERCENTILE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?th")


def parse_vegeta_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every JSON report of vegeta in a text."""
    documents, warnings = each_json(text, "JSON of vegeta report")
    runs = [
        {
            "runs": [_json_run(document, text)],
            "latency": _json_latencies(document, text),
            "histogram": _classes(document, text),
        }
        for document, _ in documents
    ]
    tables = with_generator_numbers(("runs", "latency", "histogram"), runs)
    return Parsed("vegeta", {name: rows for name, rows in tables.items() if rows}, tuple(warnings))


def _json_latencies(document: object, text: str) -> list[dict[str, Any]]:
    rows = []
    for name in mapping_at(document, "latencies", text):
        if name in _KNOWN:
            continue
        if not _PERCENTILE.fullmatch(name) or not 0 < float(name[:-2]) < 100:
            raise ParseError(line_of(f"latencies.{name}", text), "a percentile such as '99th'", name)
        quantile = round(float(name[:-2]) / 100, 9)
        latency_s = number_at(document, f"latencies.{name}", text) / _NS
        rows.append({"quantile": quantile, "latency_s": latency_s, "corrected": False})
    return rows


def _json_run(document: object, text: str) -> dict[str, Any]:
    mapping_at(document, "latencies", text)
    requests = integer_at(document, "requests", text)
    printed = counts_at(document, "status_codes", text)
    if garbled := [code for code in printed if not (code.isascii() and code.isdigit() and len(code) <= 3)]:
        raise ParseError(line_of("status_codes", text), "status codes and their counts", garbled[0])
    codes = {int(code): count for code, count in printed.items()}
    if sum(codes.values()) != requests:
        raise ParseError(line_of("status_codes", text), f"status codes of {requests} hits", str(codes))
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    success = number_at(document, "success", text, required=False)
    if requests and abs(success - good / requests) > 1e-6:
        raise ParseError(line_of("success", text), f"{good} / {requests}", str(success))
    duration = number_at(document, "duration", text) / _NS + number_at(document, "wait", text) / _NS
    throughput = number_at(document, "throughput", text, required=False)
    if duration > 0 and abs(throughput - good / duration) > 1e-3 * throughput + 1e-9:
        raise ParseError(line_of("throughput", text), f"{good} successes / {duration:g} s", str(throughput))
    messages = value_at(document, "errors", text, required=False) or []
    if not isinstance(messages, list):
        raise ParseError(line_of("errors", text), "a list for 'errors'", str(messages))
    times = numbers_at(document, _TIMES, text, required=False, per=_NS)
    mean, total = times["latency_mean_s"], times.pop("total_s")
    if requests and not abs(mean * requests - total) <= requests * 2e-9 + 1e-6 * total:
        raise ParseError(line_of("latencies.mean", text), f"{total:g} s / {requests}", f"{mean:g} s")
    run = {
        "tool": "vegeta", "status": "finished", "duration_s": duration,
        "received_body_bytes": number_at(document, "bytes_in.total", text, required=False),
        "sent_bytes": number_at(document, "bytes_out.total", text, required=False),
        **times, "latency_mean_s": mean if requests else math.nan,
        "latency_max_s": number_at(document, "latencies.max", text) / _NS,
        "percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip
    earliest = value_at(document, "earliest", text, required=False)
    if isinstance(earliest, str) and not earliest.startswith("0001-"):
        run["started_at"] = instant(earliest, "earliest", text)
    run |= counts(requests, codes, [m for m in messages if isinstance(m, str)])
    return run | rates(requests, codes, number_at(document, "rate", text, required=False), throughput, duration)


def _classes(document: object, text: str) -> list[dict[str, Any]]:
    """Return rows of `histogram`: a bin begins at its key (ns) and ends at the next."""
    rows = []
    for key, count in counts_at(document, "buckets", text, required=False).items():
        if not (key.isascii() and key.isdigit() and len(key) <= 18):
            raise ParseError(line_of(f"buckets.{key}", text), "nanoseconds", key)
        rows.append({"lower_s": int(key) / _NS, "upper_s": math.nan, "responses": count, "corrected": False})
    rows.sort(key=lambda row: row["lower_s"])
    for row, after in pairwise(rows):
        row["upper_s"] = after["lower_s"]
    return rows
