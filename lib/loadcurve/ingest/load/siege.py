"""siege: its text summary and its JSON into the table `runs`.

Seen: siege 4.0.7 of Debian 12 (samples of the tests: ``siege -b -c 10 -t 2s -j URL``); 2.6 to 4.1 in public
repositories.

What siege itself does (``src/main.c``, ``src/data.c``, ``src/browser.c``):

- Everything has two decimals; megabytes are of 1024 * 1024; ``Response time`` and the longest and shortest transaction
  are in seconds, in the newest versions in milliseconds, which the text says and the JSON does not.
- ``Transaction rate`` is transactions over time; redirects and parsed page elements count as transactions too.
- ``Successful transactions`` are those with a status below 400; ``Failed transactions`` are failures of the socket and
  bad statuses, and need not complete the transactions.
- ``Concurrency`` is the sum of all response times over the time, so the mean is exactly concurrency / rate.  Where the
  printed mean is rounded to nothing, that is taken: `latency_origin` says so.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import Strays, real, whole

_TEXT = {
    "Transactions": "hits", "Availability": "%", "Elapsed time": "secs?", "Data transferred": "MB",
    "Response time": "secs?|ms", "Transaction rate": "trans/sec", "Throughput": "MB/sec", "Concurrency": "",
    "Successful transactions": "", "HTTP OK received": "", "Failed transactions": "",
    "Longest transaction": "secs?|ms|", "Shortest transaction": "secs?|ms|",
}  # fmt: skip
_FIELD = re.compile(
    r'[{]?\s*+"?([A-Z][A-Za-z ]{8,22}|[a-z_]{10,24}|HTTP OK received|http_ok_received)"?\s*+'
    r":\s*+([0-9.]{1,24}|-?nan|-?inf)"
    r"(?:\s*+([A-Za-z%/]{1,9}))?\s*+,?\s*+(?:(?://|#|<).{0,200})?"
)
_NAMES = {name: name for name in _TEXT} | {name.lower().replace(" ", "_"): name for name in _TEXT}
_USERS = re.compile(r"\*\* Preparing ([0-9]{1,9}) concurrent users for battle\.")
_VERSION = re.compile(r"\*\* SIEGE (\S{1,20})")
_FAILURE = re.compile(
    r"(?:siege aborted|\[(?:error|fatal|alert)\]|.*siege: (?:command )?not found|Usage: siege|ERROR: ).*", re.IGNORECASE
)
_COUNTS = ("Transactions", "Successful transactions", "HTTP OK received", "Failed transactions")
_NOT_ALWAYS = "HTTP OK received"
_LAST = "Shortest transaction"
_MEGABYTE = 1024.0**2


def parse_siege(text: str) -> Parsed:
    """Table `runs` of every summary of siege in a text, printed or JSON.

    Raises
    ------
    ParseError
        Where a line of a summary is not what siege prints, and where there is none.

    Examples
    --------
    >>> report = '''Transactions:		         626 hits
    ... Elapsed time:		       52.29 secs
    ... Response time:		        6.95 secs
    ... Transaction rate:	       11.97 trans/sec
    ... Successful transactions:         626
    ... Failed transactions:	        1123
    ... '''
    >>> parse_siege(report).tables["runs"][["requests", "throughput_rps", "latency_mean_s"]].values.tolist()
    [[626.0, 11.97, 6.95]]
    """
    lines = [line.strip() for line in text.split("\n")]
    strays = Strays("siege")
    reports: list[dict] = []
    users, version, failure = 0, "", ""
    for number, line in enumerate(lines, 1):
        match = _FIELD.fullmatch(line)
        name = _NAMES.get(match[1], "") if match else ""
        like = next((key for key in _NAMES if line.lstrip('{\t "').startswith((f"{key}:", f'{key}"'))), "")
        if number == len(lines) and like and not line.endswith(("hits", "secs", "MB", "sec", "%", "ms")):
            strays.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif like and not name:
            raise ParseError(number, f"{like!r} and its number", line)
        elif name:
            if not reports or name in reports[-1]["fields"]:
                reports.append({"fields": {}, "line": number, "users": users})
            if not re.fullmatch(_TEXT[name], match[3] or "") and match[3]:
                raise ParseError(number, f"{name!r} in {_TEXT[name]!r}", line)
            reports[-1]["fields"][name] = (match[2], match[3] or "", number)
        elif found := _USERS.fullmatch(line):
            users = int(found[1])
        elif found := _VERSION.fullmatch(line):
            version = found[1]
        elif _FAILURE.fullmatch(line):
            failure = failure or line
    if not reports and failure:
        return Parsed("siege", {"runs": [{"generator": 0, "tool": "siege", "status": "failed", "reason": failure}]})
    if not reports:
        at = next((i for i, line in enumerate(lines) if line), 0)
        raise ParseError(at + 1, "a summary of siege, which begins with 'Transactions:'", lines[at])
    rows = [{"generator": i, **_run(report, failure, strays)} for i, report in enumerate(reports)]
    rows = [row | ({"tool_version": version} if version else {}) for row in rows]
    return Parsed("siege", {"runs": rows}, tuple(strays.warnings), version)


def _run(report: dict, failure: str, strays: Strays) -> dict:
    fields = report["fields"]
    values = {
        name: float(whole(token, line)) if name in _COUNTS else real(token, line)
        for name, (token, _, line) in fields.items()
    }
    run: dict = {"tool": "siege", "status": "finished", "latency_corrected": False}
    for name, column in (("Transactions", "requests"), ("Successful transactions", "requests_succeeded"),
                         ("Failed transactions", "requests_failed")):  # fmt: skip
        if name in values:
            run[column] = int(values[name])
    run |= {"duration_s": values.get("Elapsed time", math.nan)}
    run["throughput_rps"] = rate = values.get("Transaction rate", math.nan)
    run["received_body_bytes"] = values.get("Data transferred", math.nan) * _MEGABYTE
    run["received_bytes_per_s"] = values.get("Throughput", math.nan) * _MEGABYTE
    count, concurrency = run.get("requests", 0), values.get("Concurrency", math.nan)
    if report["users"]:
        run["connections"] = report["users"]
    if "requests_succeeded" in run:
        run["goodput_rps"] = rate * min(1.0, run["requests_succeeded"] / count) if count else 0.0
    if "Transactions" in values and not count:
        return run | {"status": "failed", "reason": failure or "no transaction"}
    if failure:
        run["reason"] = failure
    by_little = concurrency / rate if rate > 0 else math.nan
    scale = _scale(fields, values, by_little)
    for name, column in (("Response time", "mean"), ("Longest transaction", "max"), (_LAST, "min")):
        if name in values:
            run[f"latency_{column}_s"] = values[name] * scale
    if "Response time" in values:
        mean = run["latency_mean_s"]
        run |= {"latency_origin": "measured"} if mean > 0 else {"latency_mean_s": by_little}
        run |= {"latency_origin": "derived (N/X)"} if not mean > 0 and not math.isnan(by_little) else {}
    _check(run, values, fields, strays)
    return run


def _scale(fields: dict, values: dict, by_little: float) -> float:
    """Seconds in the unit of the times: as the text says; the JSON does not, so as concurrency / rate says."""
    if "Response time" not in fields or fields["Response time"][1].startswith("sec"):
        return 1.0
    if fields["Response time"][1] == "ms":
        return 1e-3
    printed = values["Response time"]
    return 1e-3 if by_little > 0 and printed > 30 * by_little and printed > 0.05 else 1.0


def _check(run: dict, values: dict, fields: dict, strays: Strays) -> None:
    """Warn where the rate is not transactions / time, within two decimals."""
    duration, rate = run["duration_s"], run["throughput_rps"]
    if missing := [name for name in _TEXT if name not in fields and name != _NOT_ALWAYS]:
        said = f"a part of siege's summary is missing: {', '.join(missing)}"
        strays.warnings.append(f"line {next(iter(fields.values()))[2]}: {said}")
    if "requests" not in run or math.isnan(duration) or math.isnan(rate):
        return
    if abs(rate * duration - run["requests"]) > 0.006 * (rate + duration) + 0.5:
        line = fields["Transaction rate"][2]
        strays.warnings.append(f"line {line}: {rate:g} per second for {duration:g} s is not {run['requests']} in all")
