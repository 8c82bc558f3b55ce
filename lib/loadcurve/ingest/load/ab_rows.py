"""ab: convert one run to rows of `runs`, `phases` and `latency`, and check that they are consistent."""

import math
import re
from dataclasses import dataclass, field

from loadcurve.ingest.load.ab_labels import LABELS, PHASES
from loadcurve.ingest.load.ab_lines import UNANSWERED, Report

ESTIMATOR = "order statistic floor(n p), rounded to 1 ms"  # stats[count * p / 100] in output_results, support/ab.c
_RESOLVED_MS = 10  # from here on, the measured mean of whole milliseconds is within 5 % of the true mean
_FLOAT = 1e-6  # 1.3 and 2.0 calculate in 32-bit floats


@dataclass
class Rows:
    """Rows of one run, and warnings."""

    run: dict = field(default_factory=dict)
    phases: list[dict] = field(default_factory=list)
    latency: list[dict] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def rows_of(report: Report) -> Rows:
    """Rows of one run of ab."""
    rows = Rows({"tool": "ab", "latency_corrected": False})
    numbers = {label: _number(report, rows, label) for label in report.labels if LABELS[label].groups}
    if report.version:
        rows.run["tool_version"] = report.version
    _server(report, rows.run)
    _counts(report, numbers, rows)
    duration = _duration(report, numbers, rows)
    _rates(report, numbers, duration, rows)
    _times(report, numbers, rows)
    _status(report, numbers, rows)
    rows.warnings += [f"line {at}: {note}" for at, note in report.notes]
    rows.run = {name: value for name, value in rows.run.items() if value is not None}
    return rows


def _number(report: Report, rows: Rows, label: str) -> float | None:
    """Return the number of a label; None if it is text, not finite, or below 0."""
    match, at = report.labels[label]
    if match[1] is None or not re.match(r"-?[0-9]+(\.[0-9]+)?$", match[1]):
        return None
    value = float(match[1]) if "." in match[1] else int(match[1])
    if value < 0:
        rows.warnings.append(f"line {at}: {label} is below 0, as a counter of ab overflowed; it is left out")
        return None
    return value


def _server(report: Report, run: dict) -> None:
    text = {label: match[1] for label, (match, _) in report.labels.items() if match[1]}
    run["server_software"] = text.get("Server Software")
    run["tls"] = text.get("SSL/TLS Protocol")
    host, path = text.get("Server Hostname"), text.get("Document Path")
    if path:
        port = text.get("Server Port", "")
        secure = {"SSL/TLS Protocol", "TLS Server Name"} & text.keys() or port == "443"
        usual = "443" if secure else "80"
        host = f"[{host}]" if host and ":" in host and not host.startswith("[") else host
        server = f"http{'s' if secure else ''}://{host}{'' if port in (usual, '') else ':' + port}" if host else ""
        run["url"] = server + path  # the path alone if the host is missing


def _counts(report: Report, numbers: dict, rows: Rows) -> None:
    names = {
        "connections": "Concurrency Level", "requests": "Complete requests", "requests_failed": "Failed requests",
        "requests_keepalive": "Keep-Alive requests", "errors_status": "Non-2xx responses",
        "received_bytes": "Total transferred", "received_body_bytes": "HTML transferred",
        "document_bytes": "Document Length", "threads": "Number of workers", "requests_asked": "Number of requests",
    }  # fmt: skip
    run = rows.run
    run |= {column: numbers.get(label) for column, label in names.items()}
    window = report.labels.get("Number of requests")
    if window and window[0][2]:
        run["requests_asked"] = None
        if (run["requests"] or 0) > (numbers["Number of requests"] or 0):
            rows.warnings.append(
                f"line {window[1]}: ab kept fewer times than requests, so its times are of means over several requests"
            )
    if "Complete requests" in report.labels and "Number of workers" not in report.labels:
        run["threads"] = 1  # only the ab of httpd's trunk has more lines
    run["sent_bytes"] = next(
        (numbers[s] for s in ("Total body sent", "Total POSTed", "Total PUT") if s in numbers), None
    )
    broken = next((numbers[s] for s in ("Write errors", "Broken pipe errors") if s in numbers), None)
    after = "Total transferred" in report.labels  # ab prints those lines before it, and omits them when they are 0
    run["errors_write"] = 0 if broken is None and after and not report.is_html else broken
    if after and "Non-2xx responses" not in report.labels:
        run["errors_status"] = 0
    no_response = [text for text, _ in report.refusals if UNANSWERED.fullmatch(text)]
    run["errors_other"] = len(no_response) or None
    kinds = {"Connect": "connect", "Receive": "read", "Length": "length", "Exceptions": "exception"}
    failures = report.failures or (dict.fromkeys(kinds, 0) if run["requests_failed"] == 0 else {})
    run |= {f"errors_{kinds[kind]}": count for kind, count in failures.items()}
    if run["requests_failed"] is not None and failures and sum(failures.values()) != run["requests_failed"]:
        at = report.labels["Failed requests"][1]
        rows.warnings.append(f"line {at}: Failed requests is not the sum of its classes, {sum(failures.values())}")


def _duration(report: Report, numbers: dict, rows: Rows) -> tuple[float, float]:
    """Set `duration_s`; return the least and the greatest value that ab prints this way, NaN if none is known.

    ab 2.0 prints ``%ld.%03ld`` of seconds and microseconds, so that 2.034689 s is ``2.34689``.  Its HTML takes
    milliseconds for microseconds, so that 2034 ms are ``0.2034``.
    """
    unknown = (math.nan, math.nan)
    if "Time taken for tests" not in report.labels:
        return unknown
    match, at = report.labels["Time taken for tests"]
    seconds, fraction = match[1].split(".")
    micros = int(fraction)
    printed, rounding = float(match[1]), 0.5 * 10.0 ** -len(fraction)
    readings = [(printed, rounding)]
    if len(fraction) != 6:
        readings.append((int(seconds) + micros * 1e-6, 0.5e-6))
    if report.is_html:
        readings.append((int(seconds) * 1e3 + micros * 1e-3, 0.5e-3))
    requests, rate = numbers.get("Complete requests"), numbers.get("Requests per second")
    old = report.version.startswith("2.0")
    if old:
        readings = readings[1:] + readings[:1]
    value, slack = readings[0]
    if requests and rate:
        fits = [
            r for r in readings if _is_quotient(rate, requests, (max(r[0] - 2 * r[1], 0.0), r[0] + 2 * r[1]), cut=0)
        ]
        if fits:
            value, slack = fits[0]
        else:
            rows.warnings.append(f"line {at}: {requests} requests in {match[1]} s are not {rate} requests per second")
    if value != printed:
        rows.warnings.append(f"line {at}: {match[1]} is printed without leading zeros and means {value:.6f} s")
    if value == 0:
        if not (requests and rate):
            return unknown
        value, slack = requests / rate, requests / rate * (0.005 / rate + _FLOAT)
        rows.warnings.append(f"line {at}: printed as {match[1]}; the duration is requests / requests per second")
    rows.run["duration_s"] = value
    return max(value - 2 * slack, 0.0), value + 2 * slack


def _rates(report: Report, numbers: dict, duration: tuple[float, float], rows: Rows) -> None:
    run, requests, rate = rows.run, numbers.get("Complete requests"), numbers.get("Requests per second")
    run["throughput_rps"] = rate
    if rate is not None and requests:
        if (run.get("errors_status") or 0) + (run.get("errors_other") or 0) > requests:
            at = report.labels.get("Non-2xx responses", report.labels["Complete requests"])[1]
            rows.warnings.append(
                f"line {at}: more Non-2xx responses and requests without a response than Complete requests, {requests}"
            )
        _check_period(report, numbers, rate, rows)
    received, transfer = run.get("received_bytes"), numbers.get("Transfer rate")
    if transfer is None:
        return
    # 1.3 divides bytes by milliseconds, so its kB has 1000 bytes; so does the HTML of 2.0.
    thousand = report.version.startswith("1.") or (report.is_html and report.version.startswith("2.0"))
    units = (1000, 1024) if thousand else (1024, 1000)
    at = report.labels["Transfer rate"][1]
    unit = units[0]
    if received is not None and not math.isnan(duration[0]):
        fits = [u for u in units if _is_quotient(transfer, received / u, duration)]
        unit = fits[0] if fits else unit
        if not fits:
            rows.warnings.append(f"line {at}: Transfer rate is not Total transferred / Time taken for tests")
    run["received_bytes_per_s"] = transfer * unit
    if report.sent_rate and float(report.sent_rate) >= 0:
        run["sent_bytes_per_s"] = float(report.sent_rate) * unit


def _is_quotient(rate: float, total: float, duration: tuple[float, float], cut: int = 1) -> bool:
    """Whether a rate of two decimals is total / duration; 2.0 truncates a total of bytes to whole kB first."""
    low = (total - cut) / duration[1] if duration[1] > 0 else 0.0
    high = total / duration[0] if duration[0] > 0 else math.inf
    return low * (1 - _FLOAT) - 0.006 <= rate <= high * (1 + _FLOAT) + 0.006


def _check_period(report: Report, numbers: dict, rate: float, rows: Rows) -> None:
    connections, period = numbers.get("Concurrency Level"), numbers.get("Time per request")
    if not (connections and period and rate):
        return
    low, high = rate * (1 - _FLOAT) - 0.0051, rate * (1 + _FLOAT) + 0.0051
    if not 1e3 * connections / high - 0.0051 <= period <= (1e3 * connections / low + 0.0051 if low > 0 else math.inf):
        at = report.labels["Time per request"][1]
        rows.warnings.append(f"line {at}: Time per request is not Concurrency Level / Requests per second")


def _times(report: Report, numbers: dict, rows: Rows) -> None:
    names = {3: ("min_s", "mean_s", "max_s"), 5: ("min_s", "mean_s", "stdev_s", "median_s", "max_s")}
    for phase, (tokens, at) in report.phases.items():
        values = {name: _milliseconds(token) for name, token in zip(names[len(tokens)], tokens, strict=True)}
        if any(value is None for value in values.values()):
            rows.warnings.append(f"line {at}: a time that is no number, below 0 or absurd is left out")
        rows.phases.append({"phase": phase.lower(), **{k: v for k, v in values.items() if v is not None}})
    missing = [phase for phase in PHASES if phase not in report.phases]
    if report.phases and set(missing) - {"Waiting"}:
        at = max(at for _, at in report.phases.values())
        rows.warnings.append(f"line {at}: Connection Times lacks {', '.join(missing)}")
    total = next((row for row in rows.phases if row["phase"] == "total"), {})
    rows.run |= {f"latency_{name}": total[name] for name in ("stdev_s", "min_s", "max_s") if name in total}
    if "mean_s" in total:
        rate, connections = numbers.get("Requests per second"), numbers.get("Concurrency Level")
        # The HTML has no Time per request, and truncates its mean to whole milliseconds.
        period = (
            1e3 * connections / rate if report.is_html and rate and connections else numbers.get("Time per request")
        )
        run_mean = _mean(
            total["mean_s"] * 1e3, math.nan if period is None else period, (0, 1) if report.is_html else (-0.5, 0.5)
        )
        rows.run["latency_mean_s"], rows.run["latency_origin"] = run_mean
    before = 0.0
    for rank, token, at in report.percentiles:
        value = _milliseconds(token)
        if value is None or value < before:
            rows.warnings.append(f"line {at}: the time of {rank}% is below that of the percentage before, or no time")
        before = max(before, value or 0.0)
        row = {"quantile": rank / 100, "corrected": False}
        rows.latency.append(row if value is None else {**row, "latency_s": value})
    if rows.latency:
        rows.run["percentile_estimator"] = ESTIMATOR
        rank, token, at = report.percentiles[-1]
        if rank < 100:
            rows.warnings.append(f"line {at}: the percentages end at {rank}%")
        elif "max_s" in total and _milliseconds(token) not in (None, total["max_s"]):
            rows.warnings.append(
                f"line {at}: the longest request is not the maximum of line {report.phases['Total'][1]}"
            )
        if any(rank == 50 and token == "0" for rank, token, _ in report.percentiles):
            at = report.percentiles[0][2]
            rows.warnings.append(f"line {at}: ab prints whole milliseconds; 0 means less than 0.5 ms")


def _milliseconds(token: str) -> float | None:
    """Return seconds from milliseconds; None if ab printed no time: nan, below 0, or the largest possible number."""
    if not re.match(r"[0-9]+(\.[0-9]+)?$", token) or float(token) > 1e12:
        return None
    return float(token) / 1e3


def _mean(measured: float, period: float, rounding: tuple[float, float]) -> tuple[float, str]:
    """Return the mean response time in s and its origin, chosen from two means in ms.

    The mean of ``Total:`` is measured, but rounded to 1 ms.  ``Time per request (mean)`` is
    connections × duration / requests, which has three decimals and is the mean only if every connection always
    waits for a response.  So it is used if the measured mean is coarse and does not contradict it.
    """
    within = measured + rounding[0] - 0.0005 <= period <= measured + rounding[1] + 0.0005
    if measured < _RESOLVED_MS and period > 0 and (within or measured == 0):
        return period / 1e3, "derived (N/X)"
    return measured / 1e3, "measured"


def _status(report: Report, numbers: dict, rows: Rows) -> None:
    run, warnings = rows.run, rows.warnings
    # ab prints "Test aborted after 10 failures" before the failure; only 1.3, or a total after it, prints no failure.
    causes = [text for text, _ in report.fatal if not text.startswith("Test aborted")]
    alone = report.total_of is not None or report.version.startswith("1.")
    reason = causes[0] if causes else report.fatal[0][0] if report.fatal and alone else ""
    requested, done = run.get("requests_asked"), run.get("requests")
    if report.refusals:
        more = f" and {len(report.refusals) - 1} more such" if len(report.refusals) > 1 else ""
        warnings.append(f"line {report.refusals[0][1]}: {report.refusals[0][0]}{more}")
    if "HTML transferred" in report.labels:
        run["status"] = "finished"
        if run.get("received_bytes") == 0 or not done:
            run |= {"status": "failed", "reason": reason or f"Complete requests: {done}, Total transferred: 0 bytes"}
            at = report.labels["HTML transferred"][1]
            warnings.append(f"line {at}: not one byte was received; ab counts closed connections as complete")
        elif reason and requested and done < requested:
            run |= {"status": "failed", "reason": reason}
        elif reason:
            warnings.append(f"line {report.fatal[0][1]}: {reason}")
        elif report.interrupted:
            run |= {"status": "interrupted", "reason": "^C"}
    elif report.fatal:
        run["status"] = "failed"
        if reason and not report.reason_cut:
            run["reason"] = reason
    elif report.stage < 3 and report.finished:
        run |= {"status": "finished", "requests": report.progress[0]}
        warnings.append(f"line {report.progress[1]}: the standard error of ab; its report is in the standard output")
    elif report.interrupted:
        run |= {"status": "interrupted", "reason": "^C"}
    else:
        what = (
            "this report is not whole" if report.stage == 3 else "no report follows; the error is elsewhere or cut off"
        )
        warnings.append(f"line {report.line}: {what}")
    if "Complete requests" not in report.labels:
        if report.total_of is not None:
            run["requests"] = report.total_of
        elif report.progress[0] and not report.finished:
            warnings.append(f"line {report.progress[1]}: at least {report.progress[0]} requests were completed")
