"""Numbers of Locust by request name into rows of `labels`, `runs` and `latency`; its CSV and its console share them."""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import real, whole

_MISSING = ("N/A", "", "None")
_NAMED = {0.5: "median", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%?")
ESTIMATOR = "of response times rounded to two significant digits from 100 ms on, to whole ms below"
TOTAL_NAMES = ("Aggregated", "Total")


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
