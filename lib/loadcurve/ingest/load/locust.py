"""Locust: read the tables of its console, and the files of ``--csv``, into `runs`, `latency`, `labels` and `counters`.

Seen: Locust 2.15.1 and 2.47.0 (``locust --headless -u 8 -t 6s``, the samples of the tests); 0.7 to 2.x in public
repositories.  The numbers mean what they mean in the files, but the console cuts times to whole ms.  Locust prints the
table every 2 s, where the rates are of the last 10 s, and once more at the end, where they are of the whole run: only
the last table is read.

Seen: Locust 2.15.1 and 2.47.0 (``locust --headless -u 4 -t 4s --csv NAME --csv-full-history``, the samples of the
tests); 0.8 to 2.x in public repositories.

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
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.json_text import instant
from loadcurve.ingest.load.requests_csv import end_of_rows
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import error_counts, nothing_in, real, whole

_MISSING = ("N/A", "", "None")
_NAMED = {0.5: "median", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%?")
ESTIMATOR = "of response times rounded to two significant digits from 100 ms on, to whole ms below"
TOTAL_NAMES = ("Aggregated", "Total")
_HEADING = re.compile(
    r"(?:Type\s+)?Name\s+# reqs\s+# fails\s*\|?\s+Avg\s+Min\s+Max\s*\|?\s+Med(?:ian)?\s*\|?\s+req/s(\s+failures/s)?"
)
_ROW = re.compile(
    r"(.*?\S)\s+([0-9x]{1,18})\s+([0-9x]{1,18})\(([^()\s]{1,12})%\)\s*\|?\s*"
    r"(?:([0-9x]{1,18})\s+([0-9x]{1,18})\s+([0-9x]{1,18})\s*\|?\s+([0-9x]{1,18})\s*\|?\s+)?([0-9.x]{1,20})(?:\s+([0-9.x]{1,20}))?"
)
_LIKE = re.compile(r".*\s\S{1,18}\([0-9.x]+%\).*")
_PERCENTILES = re.compile(r"(?:Type\s+)?Name\s+(?:# reqs\s+)?((?:[0-9.]+%\s+)+[0-9.]+%)(?:\s+# reqs)?")
_ERROR = re.compile(r"([0-9]{1,18})\s+(\S.*)")
_USERS = re.compile(
    r"\[[0-9: ,-]+\] .*(?:\(([0-9]{1,9}) total users\)|Ramping to ([0-9]{1,9}) users at .*"
    r"|Hatching and swarming ([0-9]{1,9}) (?:clients|users) at .*)"
)
_STATUS = re.compile(r"HTTPError\(['\"][45][0-9]{2} ")
_RULE = re.compile(r"[-|]{10,}")
_SECTION = r"Response time percentiles|Percentage of the requests completed within"
_LOG = re.compile(r"\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:,]{8,12}\] .*")
_FAILURE = re.compile(
    r".*locust: (?:command )?not found|Could not find .*locustfile.*|.*ERROR/locust\.main: .*"
    r"|No (?:User|Locust) class found!.*"
)


def parse_locust(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of the last table that Locust printed."""
    cursor = Cursor(text, "locust")
    block, users = "", 0
    table: dict[str, Any] | None = None
    last: dict[str, Any] | None = None
    for line in cursor:
        if match := cursor.match(_USERS):
            users = max(users, int(match[1] or match[2] or match[3]))
        elif heading := cursor.match(_HEADING):
            table = {"old": not heading[1], "labels": [], "errors": [], "times": {}}
            block = "rows"
        elif match := cursor.match(_PERCENTILES):
            block = "percentiles" if last else ""
            names, first = match[1].split(), "# reqs" in line[: match.start(1)]
        elif line.startswith("# occurrences"):
            block = "errors" if last else ""
        elif cursor.warn_if_cut(_RULE.fullmatch(line)):
            break
        elif _RULE.fullmatch(line) or _LOG.fullmatch(line):
            cursor.take_failure(_FAILURE)
        elif block == "rows" and table is not None and _LIKE.fullmatch(line):
            if _take_row(table, cursor):
                last, block = table, ""
        elif block == "percentiles" and last is not None and (row := _percentiles(line, names, first)):
            last["times"][row[0]] = quantiles(row[1], cursor.number)
            whole(row[2], cursor.number)
        elif block == "errors" and last is not None:
            if match := cursor.match(_ERROR):
                last["errors"].append((match[2], whole(match[1], cursor.number)))
            else:
                cursor.skip_unknown()
        elif re.match(_SECTION, line) or line == "Error report":
            block = ""
        elif not cursor.take_failure(_FAILURE) and last is None and table is None:
            cursor.skip_unknown()
    if last is None:
        return cursor.failed_run("a table of Locust with its row Aggregated")
    if users:
        last["total"]["connections"] = users
    return _tables(last, cursor.warnings)


def _take_row(table: dict[str, Any], cursor: Cursor) -> bool:
    """Add a row to a table; True if it is the last, of all requests."""
    match, number = cursor.expect(_ROW, "a row such as 'GET / 644 0(0.00%) | 0 0 20 1 | 128.82 0.00'"), cursor.number
    method, _, name = match[1].partition(" ")
    method, name = (method, name.strip()) if name else ("", method)
    ended, failed = whole(match[2], number), whole(match[3], number)
    share = real(match[4], number, "a percentage")
    # Before 0.13, requests and failures are counted apart.
    apart = table["old"] and ended + failed > 0 and abs(share - 100 * failed / (ended + failed)) < 0.0051
    numbers = counts(match[2], match[3], apart, number)
    known: dict[str, Any] = dict(numbers)
    if ended and not apart and abs(share - 100 * failed / ended) > 0.0051:
        cursor.fail(f"a share of {failed} of {ended} requests", match[4])
    if match[5]:
        known |= {f"latency_{key}_s": seconds(match[i], number) for i, key in ((5, "mean"), (6, "min"), (7, "max"))}
        known["latency_median_s"] = seconds(match[8], number)
    known["throughput_rps"] = throughput(numbers, real(match[9], number, "a rate"), apart)
    lost = real(match[10], number, "a rate") if match[10] else math.nan
    if is_total(method, name):
        table["total"], table["lost"], table["line"] = known, lost, number
        return True
    table["labels"].append((method, name, known))
    return False


def _percentiles(line: str, names: list[str], first: bool) -> tuple[str, dict[str, str], str] | None:
    tokens = line.split()
    width = len(names) + 1
    if len(tokens) <= width or not all(re.fullmatch(r"[0-9x]+|N/A", token) for token in tokens[-width:]):
        return None
    values = tokens[-width:]
    count = values.pop(0) if first else values.pop()
    return " ".join(tokens[:-width]), dict(zip(names, values, strict=True)), count


def _tables(table: dict[str, Any], warnings: list[str]) -> Parsed:
    total = {name: value for name, value in table["total"].items() if name != "latency_median_s"}
    run = run_row(total, table["lost"]) | _errors(table["errors"])
    of_all = [table["times"][name] for name in ("Aggregated", "Total", "None Total") if name in table["times"]]
    times: dict[float, float] = of_all[0] if of_all else {}
    if not times:
        times = {0.5: table["total"]["latency_median_s"]} if "latency_median_s" in table["total"] else {}
        missing = "the table of percentiles does not follow, so more requests may have come"
        warnings.append(f"line {table['line']}: {missing}")
    labels = [
        label_row(method, name, known, table["times"].get(f"{method} {name}".strip(), {}))
        for method, name, known in table["labels"]
    ]
    return Parsed("locust", {"runs": [run], "latency": latency_rows(times), "labels": labels}, tuple(warnings))


def _errors(messages: list[tuple[str, int]]) -> dict[str, int]:
    """Counts by class; an error status is an exception of requests, such as ``HTTPError('503 Server Error: …')``."""
    if not messages:
        return {}
    others = [(text, count) for text, count in messages if not _STATUS.search(text)]
    statuses = sum(count for _, count in messages) - sum(count for _, count in others)
    return error_counts(others) | {"errors_status": statuses}


# Rows that the console and the files of `--csv` share.


def is_total(method: str, name: str) -> bool:
    """Whether a row is that of all requests together."""
    return name in TOTAL_NAMES and method in ("", "None", *TOTAL_NAMES)


def seconds(token: str, line: int) -> float:
    """Seconds of a time in ms, NaN where Locust prints none."""
    return math.nan if token in _MISSING else real(token, line, "a time in ms") / 1000


def counts(requests: str, failures: str, without_failures: bool, line: int) -> dict[str, int]:
    """Counts of a row; before Locust 0.13 ``# requests`` leaves out failed ones, which are added here."""
    ended, failed = whole(requests, line), whole(failures, line)
    ended += failed if without_failures else 0
    if failed > ended:
        raise ParseError(line, f"at most {ended} failures", failures)
    return {"requests": ended, "requests_failed": failed}


def throughput(known: dict[str, int], rate: float, without_failures: bool) -> float:
    """Requests per second, failed ones included: before Locust 0.13 the printed rate leaves them out too."""
    succeeded = known["requests"] - known["requests_failed"]
    return rate * known["requests"] / succeeded if without_failures and succeeded else rate


def quantiles(columns: dict[str, str], line: int) -> dict[float, float]:
    """Seconds by quantile of the columns ``50%`` to ``99.99%``; what is not a percentage, or 100 %, is left out."""
    found = {}
    for name, token in columns.items():
        if match := _PERCENT.fullmatch(name):
            value = seconds(token, line)
            if 0 < float(match[1]) < 100:
                found[round(float(match[1]) / 100, 9)] = value
    return found


def label_row(method: str, name: str, known: dict[str, Any], times: dict[float, float]) -> dict[str, Any]:
    """Row of `labels` with the quantiles that have a column."""
    named = {f"latency_{_NAMED[q]}_s": value for q, value in times.items() if q in _NAMED}
    return {"generator": 0, "label": name} | ({"method": method} if method else {}) | named | known


def run_row(known: dict[str, Any], failures_per_s: float) -> dict[str, Any]:
    """Row of `runs` of the row of all requests."""
    requests, failed, rate = known["requests"], known["requests_failed"], known.get("throughput_rps", math.nan)
    good = rate - failures_per_s if not math.isnan(failures_per_s) else rate * (1 - failed / max(requests, 1))
    return known | {
        "generator": 0, "tool": "locust", "status": "finished", "requests_succeeded": requests - failed,
        "goodput_rps": max(good, 0.0), "duration_s": requests / rate if rate else math.nan,
        "percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip


def latency_rows(times: dict[float, float]) -> list[dict[str, Any]]:
    """Rows of `latency`."""
    return [{"generator": 0, "quantile": q, "latency_s": t, "corrected": False} for q, t in times.items()]


_TIMES = {"mean": "average response time", "min": "min response time", "max": "max response time"}
_COUNTS = ("total request count", "total failure count", "user count", "# requests", "# failures")
_EPOCH = re.compile(r"[0-9]{10}")
_TEXTS = ("timestamp", "type", "method", "name")
_PER_S = ("requests/s", "failures/s", "requests failed/s")


def parse_locust_stats(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of NAME_stats.csv, or of NAME_requests.csv of old versions."""
    warnings: list[str] = []
    runs: list[dict[str, Any]] = []
    latency: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for line, row in _records(text, ("name",), warnings):
        method, name = row.get("type", row.get("method", "")), row["name"]
        requests = row.get("request count", row.get("# requests"))
        failures = row.get("failure count", row.get("# failures"))
        if requests is None or failures is None:
            raise ParseError(line, "the columns Request Count and Failure Count", ",".join(row))
        numbers = counts(requests, failures, "method" in row, line)
        known: dict[str, Any] = numbers | {
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
    latency: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
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
    rows: list[dict[str, Any]] = []
    for line, row in _records(text, ("timestamp", "name"), warnings):
        time = instant(_iso(row["timestamp"], line), "", "")
        item = " ".join(filter(None, (row.get("type", ""), row["name"])))
        for name, token in row.items():
            if name in _TEXTS or token in _MISSING:
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
    rows: list[dict[str, Any]] = []
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
    end, cut = end_of_rows(text)
    warnings += cut
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
                if odd := [name for name in names if name.endswith("%") and not _PERCENT.fullmatch(name)]:
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
        return str(pd.Timestamp(int(token), unit="s", tz="UTC").isoformat())
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
