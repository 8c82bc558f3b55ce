"""siege: read its text summary and its JSON into the table `runs`.

Seen: siege 4.0.7 of Debian 12 (samples of the tests: ``siege -b -c 10 -t 2s -j URL``); 2.6 to 4.1 in public
repositories.

Output of siege (``src/main.c``, ``src/data.c``, ``src/browser.c``):

- Every number has two decimals; a megabyte is 1024 * 1024 bytes.  ``Response time`` and the longest and shortest
  transaction are in seconds, in the newest versions in milliseconds, which the text shows and the JSON does not.
- ``Transaction rate`` is transactions over time; redirects and parsed page elements count as transactions too.
- ``Successful transactions`` are those with a status below 400; ``Failed transactions`` are socket errors and
  bad statuses.  The two need not add up to the transactions.
- ``Concurrency`` is the sum of all response times divided by the duration, so the mean is exactly concurrency / rate.
  This value replaces a printed mean that is rounded to 0, and `latency_origin` records it.
"""

import math
import re
from typing import Any

from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import real, whole

# Each line of a summary, and the pattern of its unit.
_UNITS = {
    "Transactions": "hits", "Availability": "%", "Elapsed time": "secs?", "Data transferred": "MB",
    "Response time": "secs?|ms", "Transaction rate": "trans/sec", "Throughput": "MB/sec", "Concurrency": "",
    "Successful transactions": "", "HTTP OK received": "", "Failed transactions": "",
    "Longest transaction": "secs?|ms|", "Shortest transaction": "secs?|ms|",
}  # fmt: skip
_NAMES = {name: name for name in _UNITS} | {name.lower().replace(" ", "_"): name for name in _UNITS}  # text and JSON
_COUNTS = {
    "Transactions": "requests", "Successful transactions": "requests_succeeded",
    "Failed transactions": "requests_failed",
}  # fmt: skip
_OPTIONAL = "HTTP OK received"
_FIELD = re.compile(
    r'[{]?\s*+"?([A-Z][A-Za-z ]{8,22}|[a-z_]{10,24}|HTTP OK received|http_ok_received)"?\s*+'
    r":\s*+([0-9.]{1,24}|-?nan|-?inf)"
    r"(?:\s*+([A-Za-z%/]{1,9}))?\s*+,?\s*+(?:(?://|#|<).{0,200})?"
)
_WHOLE = ("hits", "secs", "MB", "sec", "%", "ms")  # endings of complete lines
_USERS = re.compile(r"\*\* Preparing ([0-9]{1,9}) concurrent users for battle\.")
_VERSION = re.compile(r"\*\* SIEGE (\S{1,20})")
_FAILURE = re.compile(
    r"(?:siege aborted|\[(?:error|fatal|alert)\]|.*siege: (?:command )?not found|Usage: siege|ERROR: ).*", re.IGNORECASE
)
_MEGABYTE = 1024.0**2


def parse_siege(text: str) -> Parsed:
    """Table `runs` of every summary of siege in a text, printed or JSON."""
    cursor = Cursor(text, "siege")
    reports: list[dict[str, Any]] = []
    users, version = 0, ""
    for line in cursor:
        like = next((key for key in _NAMES if line.lstrip('{\t "').startswith((f"{key}:", f'{key}"'))), "")
        if like and cursor.warn_if_cut(line.endswith(_WHOLE)):
            continue
        field = cursor.match(_FIELD)
        if field and (name := _NAMES.get(field[1])):
            if field[3] and not re.fullmatch(_UNITS[name], field[3]):
                cursor.fail(f"{name!r} in {_UNITS[name]!r}")
            if not reports or name in reports[-1]["fields"]:
                reports.append({"fields": {}, "users": users})
            reports[-1]["fields"][name] = (field[2], field[3] or "", cursor.number)
        elif like:
            cursor.fail(f"{like!r} and its number")
        elif match := cursor.match(_USERS):
            users = int(match[1])
        elif match := cursor.match(_VERSION):
            version = match[1]
        else:
            cursor.take_failure(_FAILURE)
    if not reports:
        return cursor.failed_run("a summary of siege, which begins with 'Transactions:'")
    rows = [{"generator": i, **_run(report, cursor)} for i, report in enumerate(reports)]
    rows = [row | ({"tool_version": version} if version else {}) for row in rows]
    return Parsed("siege", {"runs": rows}, tuple(cursor.warnings), version)


def _run(report: dict[str, Any], cursor: Cursor) -> dict[str, Any]:
    fields = report["fields"]
    values = {
        name: float(whole(token, line)) if name in (*_COUNTS, _OPTIONAL) else real(token, line)
        for name, (token, _, line) in fields.items()
    }
    run: dict[str, Any] = {"tool": "siege", "status": "finished", "latency_corrected": False}
    run |= {column: int(values[name]) for name, column in _COUNTS.items() if name in values}
    run["duration_s"] = values.get("Elapsed time", math.nan)
    run["throughput_rps"] = rate = values.get("Transaction rate", math.nan)
    run["received_body_bytes"] = values.get("Data transferred", math.nan) * _MEGABYTE
    run["received_bytes_per_s"] = values.get("Throughput", math.nan) * _MEGABYTE
    count, concurrency = run.get("requests", 0), values.get("Concurrency", math.nan)
    if report["users"]:
        run["connections"] = report["users"]
    if "Transactions" in values and not count:
        return run | {"status": "failed", "reason": cursor.failure or "no transaction"}
    if cursor.failure:
        run["reason"] = cursor.failure
    by_little = concurrency / rate if rate > 0 else math.nan
    scale = _scale(fields, values, by_little)
    for name, column in (("Response time", "mean"), ("Longest transaction", "max"), ("Shortest transaction", "min")):
        if name in values:
            run[f"latency_{column}_s"] = values[name] * scale
    if run.get("latency_mean_s", 0.0) > 0:
        run["latency_origin"] = "measured"
    elif "Response time" in values:
        run["latency_mean_s"] = by_little
        run |= {} if math.isnan(by_little) else {"latency_origin": "derived (N/X)"}
    _check(run, fields, cursor.warnings)
    return run


def _scale(fields: dict[str, Any], values: dict[str, Any], by_little: float) -> float:
    """Return the unit of the times in s: printed in the text; inferred from concurrency / rate for JSON."""
    unit = fields["Response time"][1] if "Response time" in fields else "secs"
    if unit:
        return 1e-3 if unit == "ms" else 1.0
    printed = values["Response time"]
    return 1e-3 if by_little > 0 and printed > 30 * by_little and printed > 0.05 else 1.0


def _check(run: dict[str, Any], fields: dict[str, Any], warnings: list[str]) -> None:
    """Warn if a line is missing, or if the rate is not transactions / time within two decimals."""
    if missing := [name for name in _UNITS if name not in fields and name != _OPTIONAL]:
        first = next(iter(fields.values()))[2]
        warnings.append(f"line {first}: lines of siege's summary are missing: {', '.join(missing)}")
    duration, rate = run["duration_s"], run["throughput_rps"]
    if "requests" in run and abs(rate * duration - run["requests"]) > 0.006 * (rate + duration) + 0.5:  # not of NaN
        line = fields["Transaction rate"][2]
        warnings.append(f"line {line}: {rate:g} per second for {duration:g} s is not {run['requests']} in all")
