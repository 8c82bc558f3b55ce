"""Locust: read the files of ``--csv`` into the tables `runs`, `latency`, `labels` and `counters`.

Seen: Locust 2.15.1 and 2.47.0 (``locust --headless -u 4 -t 4s --csv NAME --csv-full-history``, the samples of the
tests); 0.8 to 2.x in public repositories.  `locust` reads the console.

Format and numbers (``locust/stats.py``):

- NAME_stats.csv has the state at its last write, one row for each request name, and ``Aggregated`` (before 0.13
  ``Total``).  ``Requests/s`` is all requests over the time from the start to the last request, failed ones included.
- Times are in ms.  Response times are rounded to two significant digits before they are counted for the median and the
  percentiles; mean, minimum and maximum are exact.
- In NAME_stats_history.csv the columns ``Requests/s``, ``Failures/s`` and the percentiles are of the last 10 seconds,
  those named ``Total`` are of the whole run so far; ``User Count`` is the number of users at that time.
- Before 0.13 the files are NAME_requests.csv and NAME_distribution.csv, and ``# requests`` leaves out failed requests.
"""

import csv
import io
import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import instant
from loadcurve.ingest.load.locust import (
    counts,
    is_percentage,
    is_total,
    label_row,
    latency_rows,
    quantiles,
    run_row,
    seconds,
    throughput,
)
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in, real, whole

_TIMES = {"mean": "average response time", "min": "min response time", "max": "max response time"}
_COUNTS = ("total request count", "total failure count", "user count", "# requests", "# failures")
_EPOCH = re.compile(r"[0-9]{10}")
_TEXTS = ("timestamp", "type", "method", "name")
_PER_S = ("requests/s", "failures/s", "requests failed/s")


def parse_locust_stats(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of NAME_stats.csv, or of NAME_requests.csv of old versions.

    Examples
    --------
    >>> text = '''Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,Failures/s,50%,99%
    ... ,Aggregated,39,5,109.5,1.5,0.25,81,400
    ... '''
    >>> parse_locust_stats(text).tables["runs"][["requests", "throughput_rps", "goodput_rps"]].values.tolist()
    [[39.0, 1.5, 1.25]]
    """
    warnings: list[str] = []
    runs: list[dict] = []
    latency: list[dict] = []
    labels: list[dict] = []
    for line, row in _records(text, ("name",), warnings):
        method, name = row.get("type", row.get("method", "")), row["name"]
        requests = row.get("request count", row.get("# requests"))
        failures = row.get("failure count", row.get("# failures"))
        if requests is None or failures is None:
            raise ParseError(line, "the columns Request Count and Failure Count", ",".join(row))
        numbers = counts(requests, failures, "method" in row, line)
        known: dict = numbers | {
            f"latency_{key}_s": seconds(row[column], line) for key, column in _TIMES.items() if column in row
        }
        if "requests/s" in row:
            known["throughput_rps"] = throughput(numbers, real(row["requests/s"], line, "a rate"), "method" in row)
        if "average content size" in row:
            known["document_bytes"] = real(row["average content size"], line, "a size")
        failed_rate = row.get("failures/s", row.get("requests failed/s"))
        lost = real(failed_rate, line, "a rate") if failed_rate is not None else math.nan
        times = quantiles(row, line)
        median = row.get("median response time")
        if median is not None:
            times = {0.5: seconds(median, line)} | times
        if is_total(method, name):
            runs, latency = [run_row(known, lost)], latency_rows(times)
        else:
            labels.append(label_row(method, name, known, times))
    if not runs and not labels:
        raise nothing_in(text, "a row of Locust's statistics")
    if not runs:
        warnings.append("there is no row 'Aggregated', so the run as a whole is missing")
    totals = {"runs": runs, "latency": latency} if runs else {}
    return Parsed("locust", {**totals, "labels": labels}, tuple(warnings))


def parse_locust_distribution(text: str) -> Parsed:
    """Tables `latency` and `labels` of NAME_distribution.csv, which versions before 0.13 write."""
    warnings: list[str] = []
    latency: list[dict] = []
    labels: list[dict] = []
    for line, row in _records(text, ("name", "# requests"), warnings):
        method, _, name = row["name"].rpartition(" ") if row["name"].count(" ") == 1 else ("", "", row["name"])
        times, requests = quantiles(row, line), whole(row["# requests"], line)
        if is_total(method, name):
            latency = latency_rows(times)
        else:
            labels.append(label_row(method, name, {"requests": requests}, times))
    if not latency and not labels:
        raise nothing_in(text, "a row of Locust's distribution")
    return Parsed("locust", {"latency": latency, "labels": labels}, tuple(warnings))


def parse_locust_history(text: str) -> Parsed:
    """Table `counters` of NAME_stats_history.csv: each number at each time, under its printed name."""
    warnings: list[str] = []
    rows: list[dict] = []
    for line, row in _records(text, ("timestamp", "name"), warnings):
        time = instant(_iso(row["timestamp"], line), "", "")
        item = " ".join(filter(None, (row.get("type", ""), row["name"])))
        for name, token in row.items():
            if name in _TEXTS or token in ("N/A", "", "None"):
                continue
            value, unit = _value(name, token, line)
            rows.append({"time": time, "tool": "locust", "group": "stats_history", "item": item, "counter": name,
                         "value": value, "unit": unit})  # fmt: skip
    if not rows:
        raise nothing_in(text, "a row of Locust's history")
    return Parsed("locust", {"counters": rows}, tuple(warnings))


def parse_locust_failures(text: str) -> Parsed:
    """Table `counters` of NAME_failures.csv and NAME_exceptions.csv: how often each error occurred."""
    warnings: list[str] = []
    rows: list[dict] = []
    for line, row in _records(text, (), warnings):
        if "occurrences" in row:
            group, item = "failures", f"{row.get('method', '')} {row.get('name', '')}".strip()
            counter, value = row.get("error", ""), row["occurrences"]
        else:
            group, item = "exceptions", row.get("nodes", "")
            counter, value = row.get("message", ""), row.get("count", "")
        number = float(whole(value, line))
        rows.append({"tool": "locust", "group": group, "item": item, "counter": counter, "value": number, "unit": ""})
    return Parsed("locust", {"counters": rows}, tuple(warnings))


def _records(text: str, needed: tuple[str, ...], warnings: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Rows of CSV by the names of its header in small letters, each with its line; none that may be cut."""
    end = text.rfind("\n") + 1
    if text[end:].strip():
        warnings.append(f"line {text.count(chr(10)) + 1}: the text ends here; this row is left out, as it may be cut")
    csv.field_size_limit(1 << 27)
    plain = re.sub(r"[ \t]+$", "", text[:end], flags=re.MULTILINE)  # after a quote they would be no CSV
    reader = csv.reader(io.StringIO(plain, newline=""), strict=True)
    header: list[str] = []
    found: list[tuple[int, dict[str, str]]] = []
    line = 1
    try:
        for record in reader:
            tokens = [token.strip() for token in record]
            at, line = line, reader.line_num + 1
            if not any(tokens):
                continue
            names = [token.lower() for token in tokens]
            if not header or names == header:
                header = names
                if len(set(names)) < len(names) or not set(needed) <= set(names):
                    raise ParseError(at, "the header of a file of locust --csv", ",".join(tokens))
                if odd := [name for name in names if name.endswith("%") and not is_percentage(name)]:
                    raise ParseError(at, "percentages in the header", odd[0])
                continue
            if len(tokens) != len(header):
                raise ParseError(at, f"{len(header)} columns", ",".join(tokens))
            found.append((at, dict(zip(header, tokens, strict=True))))
    except csv.Error as error:
        raise ParseError(line, f"CSV of locust: {error}", "") from None
    return found


def _iso(token: str, line: int) -> str:
    """An instant of the epoch in s, or of ISO 8601, as text."""
    import pandas as pd

    if _EPOCH.fullmatch(token):
        return pd.Timestamp(int(token), unit="s", tz="UTC").isoformat()
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}(?:Z|[+-][0-9:]{5})?", token):
        raise ParseError(line, "seconds since 1970, or a time such as 2026-08-14T10:00:00Z", token)
    return token


def _value(name: str, token: str, line: int) -> tuple[float, str]:
    """Value and unit of a column of the history."""
    if name in _COUNTS:
        return float(whole(token, line)), ""
    if name in _PER_S:
        return real(token, line, "a rate"), "per_s"
    if name.endswith("content size"):
        return real(token, line, "a size"), "bytes"
    return seconds(token, line), "s"
