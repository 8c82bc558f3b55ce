"""Locust: read the tables of its console into `runs`, `latency` and `labels`.

Seen: Locust 2.15.1 and 2.47.0 (``locust --headless -u 8 -t 6s``, the samples of the tests); 0.7 to 2.x in public
repositories.  `locust_csv` documents what the numbers mean; the console cuts times to whole ms.  Locust prints the
table every 2 s, where the rates are of the last 10 s, and once more at the end, where they are of the whole run: only
the last table is read.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import error_counts, real, whole

_MISSING = ("N/A", "", "None")
_NAMED = {0.5: "median", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%?")
ESTIMATOR = "of response times rounded to two significant digits from 100 ms on, to whole ms below"
TOTAL_NAMES = ("Aggregated", "Total")
_HEADING = re.compile(
    r"(Type\s+)?Name\s+# reqs\s+# fails\s*\|?\s+Avg\s+Min\s+Max\s*\|?\s+Med(?:ian)?\s*\|?\s+req/s(\s+failures/s)?"
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
    table: dict | None = None
    last: dict | None = None
    for line in cursor:
        if match := cursor.match(_USERS):
            users = max(users, int(match[1] or match[2] or match[3]))
        elif heading := cursor.match(_HEADING):
            table = {"typed": bool(heading[1]), "old": not heading[2], "labels": [], "errors": [], "times": {}}
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


def _take_row(table: dict, cursor: Cursor) -> bool:
    """Add a row to a table; True if it is the last, of all requests."""
    match, number = cursor.expect(_ROW, "a row such as 'GET / 644 0(0.00%) | 0 0 20 1 | 128.82 0.00'"), cursor.number
    method, name = _named(match[1], table["typed"])
    ended, failed = whole(match[2], number), whole(match[3], number)
    share = real(match[4], number, "a percentage")
    # Before 0.13, requests and failures are counted apart.
    apart = table["old"] and ended + failed > 0 and abs(share - 100 * failed / (ended + failed)) < 0.0051
    numbers = counts(match[2], match[3], apart, number)
    known: dict = dict(numbers)
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


def _named(text: str, typed: bool) -> tuple[str, str]:
    method, _, name = text.partition(" ")
    return (method, name.strip()) if name.strip() else ("", text) if not typed or not name else (method, name)


def _percentiles(line: str, names: list[str], first: bool) -> tuple[str, dict[str, str], str] | None:
    tokens = line.split()
    width = len(names) + 1
    if len(tokens) <= width or not all(re.fullmatch(r"[0-9x]+|N/A", token) for token in tokens[-width:]):
        return None
    values = tokens[-width:]
    count = values.pop(0) if first else values.pop()
    return " ".join(tokens[:-width]), dict(zip(names, values, strict=True)), count


def _tables(table: dict, warnings: list[str]) -> Parsed:
    total = {name: value for name, value in table["total"].items() if name != "latency_median_s"}
    run = run_row(total, table["lost"]) | _errors(table["errors"])
    times: dict[float, float] = next(
        (table["times"][name] for name in ("Aggregated", "Total", "None Total") if name in table["times"]), {}
    )
    if not times:
        times = {0.5: table["total"]["latency_median_s"]} if "latency_median_s" in table["total"] else {}
        warnings.append(
            f"line {table['line']}: the table of percentiles does not follow, so more requests may have come"
        )
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


def is_percentage(name: str) -> bool:
    """Whether the name of a column is that of a quantile, such as ``99.9%``."""
    return _PERCENT.fullmatch(name) is not None


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
        match = _PERCENT.fullmatch(name)
        if match and 0 < float(match[1]) < 100:
            found[round(float(match[1]) / 100, 9)] = seconds(token, line)
        elif match:
            seconds(token, line)
    return found


def label_row(method: str, name: str, known: dict, times: dict[float, float]) -> dict:
    """Row of `labels` with the quantiles that have a column."""
    named = {f"latency_{_NAMED[q]}_s": value for q, value in times.items() if q in _NAMED}
    return {"generator": 0, "label": name} | ({"method": method} if method else {}) | named | known


def run_row(known: dict, failures_per_s: float) -> dict:
    """Row of `runs` of the row of all requests."""
    requests, failed, rate = known["requests"], known["requests_failed"], known.get("throughput_rps", math.nan)
    good = rate - failures_per_s if not math.isnan(failures_per_s) else rate * (1 - failed / max(requests, 1))
    return known | {
        "generator": 0, "tool": "locust", "status": "finished", "requests_succeeded": requests - failed,
        "goodput_rps": max(good, 0.0), "duration_s": requests / rate if rate else math.nan,
        "percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip


def latency_rows(times: dict[float, float]) -> list[dict]:
    """Rows of `latency`."""
    return [{"generator": 0, "quantile": q, "latency_s": t, "corrected": False} for q, t in times.items()]
