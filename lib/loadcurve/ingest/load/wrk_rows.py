"""Convert one run of wrk or wrk2 to rows of `runs` and `latency`, and check that they are consistent."""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_distribution import Distribution
from loadcurve.ingest.load.wrk_numbers import PLAIN, SIZE, TIME, rounding
from loadcurve.ingest.load.wrk_runs import Heading, Report

_ESTIMATOR = {
    "wrk": "nearest rank in 1 us bins",  # stats_percentile in src/stats.c; printed with two decimals
    "wrk2": "highest value of an HdrHistogram bin, 3 digits",  # hdr_value_at_percentile in src/hdr_histogram.c
}
_ERRORS = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status")
_SHORTER = 0.9  # wrk2 starts its clock after its threads have begun to send (src/wrk.c)
_CORRECTS = 4  # first version of wrk with stats_correct
_OVER_RATE = 1.1  # a generator with a fixed rate does not exceed it by a tenth: the command belongs to another run
_MAJOR = re.compile(r"(?:\D*/)?([0-9]{1,2})\.[0-9]")  # also of Debian's debian/4.1.0; a hash of git has none


def rows_of(
    heading: Heading, report: Report | None, default: str, version: str, warnings: list[str]
) -> tuple[dict, list[dict]]:
    """Return the row of `runs` and the rows of `latency` of one run, checked against each other."""
    if report is None:
        row = dict(heading.facts)
        failed = row.get("status") == "failed"
        if not row:
            return {}, []
        if not failed:
            warnings.append(f"line {heading.last}: no report after this heading; the run has no numbers")
        tool = heading.tool or (default if failed or default == "wrk2" else "")
        return {**({"tool": tool} if tool else {}), **row}, []
    row = heading.facts | report.facts
    finished = bool(report.total[0] or report.throughput[0])
    if finished:
        row["status"] = "finished"
    elif report.reason:
        row |= {"status": "failed", "reason": report.reason}
    else:
        warnings.append(f"line {report.last or report.line}: the report ends here, without its totals")
    sure = finished or report.reason or default == "wrk2"  # the lines that show wrk2 may be cut off
    traces = (report.tool, heading.tool)
    tool = "wrk2" if "wrk2" in traces else "wrk" if "wrk" in traces else default if sure else ""
    if tool:
        major = _MAJOR.match(version) if tool == "wrk" else None
        corrected = report.third != "99%" and "requests_asked" not in heading.facts
        corrected &= major is None or int(major[1]) >= _CORRECTS
        row |= {"tool": tool, "percentile_estimator": _ESTIMATOR[tool], "latency_corrected": corrected}
    if tool and report.facts.get("duration_s", math.inf) < _SHORTER * heading.least_s:
        shorter = f"measured {row['duration_s']:g} s of the {heading.option_s:g} s asked for"
        if tool == "wrk2":
            shorter += ": interrupted, or wrk2 took that long to start its threads and its rates are too high"
        elif row.get("status") == "finished":
            row |= {"status": "interrupted", "reason": shorter}
        warnings.append(f"line {report.last}: {shorter}")
    if tool and heading.least_s and heading.least_s == heading.option_s:
        row["duration_asked_s"] = heading.option_s
    quantiles = _latencies(report, row, warnings)
    if report.throughput[0]:
        row = dict.fromkeys(_ERRORS, 0) | row  # wrk prints these lines before, unless they are all 0
    _check_rates(report, row, warnings)
    if not quantiles and row.keys() <= {"tool", "percentile_estimator", "latency_corrected"}:
        return {}, []
    missing = [name for name, value in row.items() if value != value and not name.endswith(("_s", "_rps"))]
    return {name: value for name, value in row.items() if name not in missing}, quantiles


def _latencies(report: Report, row: dict, warnings: list[str]) -> list[dict]:
    """Return the rows of `latency`, and complete `row` from the footer of the spectrum."""
    quantiles = [quantile for block in report.blocks for quantile in block.rows()]
    tail = (
        report.third == "99%"
        and report.latency_line
        and report.total[0]
        and all(q["quantile"] != 0.99 for q in quantiles)
    )
    if tail:
        quantiles.append({"quantile": 0.99, "latency_s": report.tail_s, "corrected": False})
    for quantile in quantiles:
        quantile["corrected"] = quantile["corrected"] and row.get("latency_corrected", quantile["corrected"])
        if not report.measured:
            quantile["latency_s"] = math.nan
    if not report.measured:
        warnings.append(f"line {report.latency_line}: no response time was measured; what is printed as 0 is missing")
    elif report.latency_line:
        row["latency_origin"] = "measured"
        if any(math.isnan(v) for v in (row["latency_stdev_s"], *(q["latency_s"] for q in quantiles))):
            at = next((b.lines["quantiles"] for b in report.blocks if "quantiles" in b.lines), report.latency_line)
            warnings.append(f"line {at}: times that are printed as 0 or nan were not measured; missing")
    for block in report.blocks:
        if block.footer and block.corrected:
            _check_footer(block, report, row, warnings)
    return quantiles


def _check_footer(block: Distribution, report: Report, row: dict, warnings: list[str]) -> None:
    """Warn if the footer of a spectrum, in milliseconds, contradicts the rest of the report."""
    footer = block.footer
    for name, column in (("Mean", "latency_mean_s"), ("StdDeviation", "latency_stdev_s"), ("Max", "latency_max_s")):
        value = footer.get(name, math.nan) / 1000
        if not report.measured or math.isnan(value):
            continue
        # Two decimals from 0.85 of a unit on: 0.6 %; a bin of the histogram: 0.1 %.
        if column in row and abs(value - row[column]) > 0.007 * value + 1e-6:
            warnings.append(f"line {block.lines[name]}: {name} {footer[name]} ms is not that of the line 'Latency'")
        row.setdefault(column, value)
    last = block.spectrum[-1][2] if block.spectrum else 0
    if block.spectrum and footer.get("Total count", last) != last:
        at = block.lines["Total count"]
        warnings.append(f"line {at}: the spectrum counts {last} responses, this line another number")


def _check_rates(report: Report, row: dict, warnings: list[str]) -> None:
    """Warn if the rates contradict the totals."""
    facts = report.facts
    if "requests" in facts:
        duration, size = report.total
        for name, rate, total in (("requests", report.throughput, ""), ("received_bytes", report.transfer, size)):
            if rate[0] and (contradiction := _contradiction(report, name, rate, duration, total)):
                warnings.append(contradiction)
    elif report.throughput[0]:
        warnings.append(f"line {report.throughput[1]}: no line 'N requests in T, S read' in this report")
    if report.throughput[0] and not report.transfer[0]:
        warnings.append(f"line {report.throughput[1]}: no line 'Transfer/sec' after this line")
    if report.total[0] and not report.throughput[0]:
        warnings.append(f"line {report.last}: no line 'Requests/sec' in this report")
    target = row.get("target_rate_rps", math.inf)
    if row.get("throughput_rps", 0.0) > target * _OVER_RATE:
        del row["target_rate_rps"]
        warnings.append(
            f"line {report.line}: more requests than the command before it asked for, so that command is of another run"
        )


def _contradiction(report: Report, name: str, per_second: tuple[str, int], duration: str, total: str) -> str:
    """Describe the expected rate if a rate is not total / duration within the rounding; return "" otherwise.

    A rate that is wrong by more than a factor of two is rejected: a digit or a unit is lost, or the lines belong to
    several runs.
    """
    token, at = per_second
    facts = report.facts
    column = "throughput_rps" if name == "requests" else "received_bytes_per_s"
    amount, seconds, rate = facts[name], facts["duration_s"], facts[column]
    if not (math.isfinite(amount) and math.isfinite(seconds) and math.isfinite(rate)):
        return ""
    around = rounding(SIZE, total) if total else 0.0
    around_s, around_rate = rounding(TIME, duration), rounding(SIZE if total else PLAIN, token)
    low = (amount - around) / (seconds + around_s) * (1 - 1e-9)
    high = (amount + around) / (seconds - around_s) * (1 + 1e-9) if seconds > around_s else math.inf
    if low <= rate + around_rate and rate - around_rate <= high:
        return ""
    expected = f"{name} / duration, which is {low:.2f} to {high:.2f} per second"
    if rate < low / 2 or rate > high * 2:
        raise ParseError(at, expected, token)
    return f"line {at}: expected {expected}, got {token!r}; taken as written"
