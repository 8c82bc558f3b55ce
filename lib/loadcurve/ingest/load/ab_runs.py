"""Runs of ab: the lines that its report has, their rows in `runs`, `phases` and `latency`, and whether they agree."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

WHOLE = r"(-?[0-9]{1,18})"  # negative if a 32-bit counter of ab overflowed
REAL = r"(-?[0-9]{1,18}(?:\.[0-9]{1,9})?|-?nan|-?inf|-?1\.#\w{1,4})"
_COUNT = re.compile(WHOLE)
_BYTES = re.compile(rf"{WHOLE}(?: bytes)?")
TEXT = re.compile(r"(.*)")
# ab copies a server's name up to its first space, and none of the other values has one; further words are a comment.
WORD = re.compile(r"([^\s（【←，。；]*)")

# Label → its value, with runs of spaces collapsed, and its column where the number is taken as it is; in the order of
# the report.
LABELS: dict[str, tuple[re.Pattern[str], str]] = {
    "Server Software": (WORD, ""),
    "Server Hostname": (WORD, ""),
    "Server Port": (_COUNT, ""),
    "SSL/TLS Protocol": (WORD, ""),
    "TLS Server Name": (WORD, ""),
    "Document Path": (WORD, ""),
    "Server Temp Key": (TEXT, ""),
    "Document Length": (re.compile(rf"(?:{WHOLE}(?: bytes)?|Variable)"), "document_bytes"),
    "Number of workers": (_COUNT, "threads"),
    "Concurrency Level": (_COUNT, "connections"),
    "Concurrency achieved": (_COUNT, ""),
    "Rampup delay": (re.compile(rf"{WHOLE}(?: \[ms\])?"), ""),
    "Time taken for tests": (re.compile(r"([0-9]{1,9}\.[0-9]{1,9})(?: seconds)?"), ""),
    "Number of requests": (re.compile(rf"{WHOLE}( \(window\))?"), "requests_asked"),
    "Complete requests": (_COUNT, "requests"),
    "Failed requests": (_COUNT, "requests_failed"),
    "Broken pipe errors": (_COUNT, "errors_write"),
    "Write errors": (_COUNT, "errors_write"),
    "Non-2xx responses": (_COUNT, "errors_status"),
    "Keep-Alive requests": (_COUNT, "requests_keepalive"),
    "Keep-Alive aborts": (_COUNT, ""),
    "Total transferred": (_BYTES, "received_bytes"),
    "Total PUT": (_BYTES, "sent_bytes"),
    "Total POSTed": (_BYTES, "sent_bytes"),
    "Total body sent": (_BYTES, "sent_bytes"),
    "HTML transferred": (_BYTES, "received_body_bytes"),
    "Requests per second": (re.compile(rf"{REAL}(?: \[#/sec\](?: \(mean\))?)?"), "throughput_rps"),
    "Time per request": (re.compile(rf"{REAL}(?: \[ms\])?(?: \(mean(, ?across[^)]{{0,40}})?\)?)?"), ""),
    "Transfer rate": (re.compile(rf"{REAL}(?: (?:\[Kbytes/sec\]|kb/s)(?: received)?)?"), ""),
}
PHASES = ("Connect", "Processing", "Waiting", "Total")
_FAILURES = {"Connect": "connect", "Receive": "read", "Length": "length", "Exceptions": "exception"}
# Number of columns of Connection Times → what they are.
_TIMES = {3: ("min_s", "mean_s", "max_s"), 5: ("min_s", "mean_s", "stdev_s", "median_s", "max_s")}
_FINITE = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
# ab prints this of a request that it then counts as complete: it closes the connection, as after a response.
_UNANSWERED = re.compile(r"SSL (?:handshake|read|write) failed.*|Send request (?:timed out|failed)!")
ESTIMATOR = "order statistic floor(n p), rounded to 1 ms"  # stats[count * p / 100] in output_results, support/ab.c
_RESOLVED_MS = 10  # from here on, the measured mean of whole milliseconds is within 5 % of the true mean
_FLOAT = 1e-6  # 1.3 and 2.0 calculate in 32-bit floats


@dataclass
class Report:
    """The lines of one run of ab, each with its number."""

    line: int
    version: str = ""
    is_html: bool = False
    labels: dict[str, tuple[re.Match[str], int]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    sent_rate: str = ""
    phases: dict[str, tuple[list[str], int]] = field(default_factory=dict)
    percentiles: list[tuple[int, str, int]] = field(default_factory=list)
    fatal: list[tuple[str, int]] = field(default_factory=list)
    reason_cut: bool = False
    refusals: list[tuple[str, int]] = field(default_factory=list)
    progress: tuple[int, int] = (0, 0)
    finished: bool = False
    total_of: int | None = None
    interrupted: bool = False
    notes: list[tuple[int, str]] = field(default_factory=list)
    # State of the reader.
    stage: int = 0  # 0 before the banner, 1 after it, 2 after "Benchmarking", 3 in the report, 4 after a refused start
    region: str = ""  # head, tail, times, percentages: what the next line must be
    columns: int = 0
    pending: str = ""
    verbose: bool = False
    usage: bool = False


class Rows:
    """The rows of one run, made of its report, and warnings where its numbers contradict each other."""

    def __init__(self, report: Report) -> None:
        self.run: dict[str, Any] = {"tool": "ab", "latency_corrected": False}
        self.phases: list[dict[str, Any]] = []
        self.latency: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._report = report
        self._numbers = {label: self._number(label) for label in report.labels if LABELS[label][0].groups}
        if report.version:
            self.run["tool_version"] = report.version
        self._add_server()
        self._add_counts()
        self._add_rates(*self._add_duration())
        self._add_times()
        self._add_percentiles()
        self._add_status()
        self.warnings += [f"line {at}: {note}" for at, note in report.notes]
        self.run = {name: value for name, value in self.run.items() if value is not None}

    def _warn(self, line: int, sentence: str) -> None:
        self.warnings.append(f"line {line}: {sentence}")

    def _line(self, label: str) -> int:
        return self._report.labels[label][1]

    def _number(self, label: str) -> float | None:
        """Return the number of a label; None if it is text, not finite, or below 0."""
        match, at = self._report.labels[label]
        if match[1] is None or not _FINITE.fullmatch(match[1]):
            return None
        value = float(match[1]) if "." in match[1] else int(match[1])
        if value < 0:
            self._warn(at, f"{label} is below 0, as a counter of ab overflowed; it is left out")
            return None
        return value

    def _add_server(self) -> None:
        text = {label: match[1] for label, (match, _) in self._report.labels.items() if match[1]}
        self.run["server_software"] = text.get("Server Software")
        self.run["tls"] = text.get("SSL/TLS Protocol")
        host, path = text.get("Server Hostname"), text.get("Document Path")
        if path:
            port = text.get("Server Port", "")
            secure = {"SSL/TLS Protocol", "TLS Server Name"} & text.keys() or port == "443"
            usual = "443" if secure else "80"
            host = f"[{host}]" if host and ":" in host and not host.startswith("[") else host
            server = f"http{'s' if secure else ''}://{host}{'' if port in (usual, '') else ':' + port}" if host else ""
            self.run["url"] = server + path  # the path alone if the host is missing

    def _add_counts(self) -> None:
        run, report, numbers = self.run, self._report, self._numbers
        run |= dict.fromkeys(column for _, column in LABELS.values() if column)
        run |= {LABELS[label][1]: numbers[label] for label in LABELS if label in numbers and LABELS[label][1]}
        window = report.labels.get("Number of requests")
        if window and window[0][2]:
            run["requests_asked"] = None
            if (run["requests"] or 0) > (numbers["Number of requests"] or 0):
                fewer = "ab kept fewer times than requests, so its times are of means over several requests"
                self._warn(window[1], fewer)
        if "Complete requests" in report.labels and "Number of workers" not in report.labels:
            run["threads"] = 1  # only the ab of httpd's trunk has more lines
        # ab omits these lines when they are 0; "Total transferred" follows them.
        if "Total transferred" in report.labels:
            if "Non-2xx responses" not in report.labels:
                run["errors_status"] = 0
            if run["errors_write"] is None and not report.is_html:
                run["errors_write"] = 0
        run["errors_other"] = sum(_UNANSWERED.fullmatch(text) is not None for text, _ in report.refusals) or None
        failures = report.failures or (dict.fromkeys(_FAILURES, 0) if run["requests_failed"] == 0 else {})
        run |= {f"errors_{_FAILURES[kind]}": count for kind, count in failures.items()}
        if run["requests_failed"] is not None and failures and sum(failures.values()) != run["requests_failed"]:
            total = sum(failures.values())
            self._warn(self._line("Failed requests"), f"Failed requests is not the sum of its classes, {total}")

    def _add_duration(self) -> tuple[float, float]:
        """Set `duration_s`; return the least and the greatest value that ab prints this way, NaN if none is known.

        ab 2.0 prints ``%ld.%03ld`` of seconds and microseconds, so that 2.034689 s is ``2.34689``.  Its HTML takes
        milliseconds for microseconds, so that 2034 ms are ``0.2034``.
        """
        report, numbers, unknown = self._report, self._numbers, (math.nan, math.nan)
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
        if report.version.startswith("2.0"):
            readings = readings[1:] + readings[:1]
        value, slack = readings[0]
        if requests and rate:
            for near, half in readings:
                if _is_quotient(rate, requests, max(near - 2 * half, 0.0), near + 2 * half, cut=0):
                    value, slack = near, half
                    break
            else:
                self._warn(at, f"{requests} requests in {match[1]} s are not {rate} requests per second")
        if value != printed:
            self._warn(at, f"{match[1]} is printed without leading zeros and means {value:.6f} s")
        if value == 0:
            if not (requests and rate):
                return unknown
            value, slack = requests / rate, requests / rate * (0.005 / rate + _FLOAT)
            self._warn(at, f"printed as {match[1]}; the duration is requests / requests per second")
        self.run["duration_s"] = value
        return max(value - 2 * slack, 0.0), value + 2 * slack

    def _add_rates(self, shortest_s: float, longest_s: float) -> None:
        run, report, numbers = self.run, self._report, self._numbers
        requests, rate = numbers.get("Complete requests"), numbers.get("Requests per second")
        if rate is not None and requests:
            if (run.get("errors_status") or 0) + (run.get("errors_other") or 0) > requests:
                at = self._line("Non-2xx responses" if "Non-2xx responses" in report.labels else "Complete requests")
                both = "Non-2xx responses and requests without a response"
                self._warn(at, f"more {both} than Complete requests, {requests}")
            self._check_period(rate)
        received, transfer = run.get("received_bytes"), numbers.get("Transfer rate")
        if transfer is None:
            return
        # 1.3 divides bytes by milliseconds, so its kB has 1000 bytes; so does the HTML of 2.0.
        thousand = report.version.startswith("1.") or (report.is_html and report.version.startswith("2.0"))
        units = (1000, 1024) if thousand else (1024, 1000)
        unit = units[0]
        if received is not None and not math.isnan(shortest_s):
            fits = [u for u in units if _is_quotient(transfer, received / u, shortest_s, longest_s)]
            unit = fits[0] if fits else unit
            if not fits:
                self._warn(self._line("Transfer rate"), "Transfer rate is not Total transferred / Time taken for tests")
        run["received_bytes_per_s"] = transfer * unit
        if report.sent_rate and float(report.sent_rate) >= 0:
            run["sent_bytes_per_s"] = float(report.sent_rate) * unit

    def _check_period(self, rate: float) -> None:
        connections, period = self._numbers.get("Concurrency Level"), self._numbers.get("Time per request")
        if not (connections and period and rate):
            return
        low, high = rate * (1 - _FLOAT) - 0.0051, rate * (1 + _FLOAT) + 0.0051
        longest = 1e3 * connections / low + 0.0051 if low > 0 else math.inf
        if not 1e3 * connections / high - 0.0051 <= period <= longest:
            at = self._line("Time per request")
            self._warn(at, "Time per request is not Concurrency Level / Requests per second")

    def _add_times(self) -> None:
        report, run, numbers = self._report, self.run, self._numbers
        for phase, (tokens, at) in report.phases.items():
            values = {name: _milliseconds(token) for name, token in zip(_TIMES[len(tokens)], tokens, strict=True)}
            if None in values.values():
                self._warn(at, "a time that is no number, below 0 or absurd is left out")
            self.phases.append({"phase": phase.lower(), **{k: v for k, v in values.items() if v is not None}})
        missing = [phase for phase in PHASES if phase not in report.phases]
        if report.phases and set(missing) - {"Waiting"}:
            at = max(at for _, at in report.phases.values())
            self._warn(at, f"Connection Times lacks {', '.join(missing)}")
        total = next((row for row in self.phases if row["phase"] == "total"), {})
        run |= {f"latency_{name}": total[name] for name in ("stdev_s", "min_s", "max_s") if name in total}
        if "mean_s" not in total:
            return
        rate, connections = numbers.get("Requests per second"), numbers.get("Concurrency Level")
        measured, period = total["mean_s"] * 1e3, numbers.get("Time per request")
        below, above = 0.5, 0.5
        if report.is_html:  # it truncates its mean to whole milliseconds, and has no Time per request
            below, above = 0.0, 1.0
            period = 1e3 * connections / rate if rate and connections else period
        # The mean of "Total:" is measured, but rounded to 1 ms.  "Time per request (mean)" is connections x duration /
        # requests, which has three decimals and is the mean only if every connection always waits for a response.  So
        # it is used if the measured mean is coarse and does not contradict it.
        within = period is not None and measured - below - 0.0005 <= period <= measured + above + 0.0005
        if period and measured < _RESOLVED_MS and (within or measured == 0):
            run |= {"latency_mean_s": period / 1e3, "latency_origin": "derived (N/X)"}
        else:
            run |= {"latency_mean_s": measured / 1e3, "latency_origin": "measured"}

    def _add_percentiles(self) -> None:
        before = 0.0
        for rank, token, at in self._report.percentiles:
            value = _milliseconds(token)
            if value is None or value < before:
                self._warn(at, f"the time of {rank}% is below that of the percentage before, or no time")
            before = max(before, value or 0.0)
            row = {"quantile": rank / 100, "corrected": False}
            self.latency.append(row if value is None else {**row, "latency_s": value})
        if not self.latency:
            return
        self.run["percentile_estimator"] = ESTIMATOR
        rank, token, at = self._report.percentiles[-1]
        longest = self.run.get("latency_max_s")
        if rank < 100:
            self._warn(at, f"the percentages end at {rank}%")
        elif longest is not None and _milliseconds(token) not in (None, longest):
            self._warn(at, f"the longest request is not the maximum of line {self._report.phases['Total'][1]}")
        if any(rank == 50 and token == "0" for rank, token, _ in self._report.percentiles):
            self._warn(self._report.percentiles[0][2], "ab prints whole milliseconds; 0 means less than 0.5 ms")

    def _add_status(self) -> None:
        run, report = self.run, self._report
        # ab prints "Test aborted after 10 failures" before the failure; only 1.3, or a total after it, prints no
        # failure.
        causes = [text for text, _ in report.fatal if not text.startswith("Test aborted")]
        alone = report.total_of is not None or report.version.startswith("1.")
        reason = causes[0] if causes else report.fatal[0][0] if report.fatal and alone else ""
        requested, done = run.get("requests_asked"), run.get("requests")
        if report.refusals:
            more = f" and {len(report.refusals) - 1} more such" if len(report.refusals) > 1 else ""
            self._warn(report.refusals[0][1], f"{report.refusals[0][0]}{more}")
        if "HTML transferred" in report.labels:
            run["status"] = "finished"
            if run.get("received_bytes") == 0 or not done:
                run["status"] = "failed"
                run["reason"] = reason or f"Complete requests: {done}, Total transferred: 0 bytes"
                unread = "not one byte was received; ab counts closed connections as complete"
                self._warn(self._line("HTML transferred"), unread)
            elif reason and requested and done < requested:
                run |= {"status": "failed", "reason": reason}
            elif reason:
                self._warn(report.fatal[0][1], reason)
            elif report.interrupted:
                run |= {"status": "interrupted", "reason": "^C"}
        elif report.fatal:
            run["status"] = "failed"
            if reason and not report.reason_cut:
                run["reason"] = reason
        elif report.stage < 3 and report.finished:
            run |= {"status": "finished", "requests": report.progress[0]}
            self._warn(report.progress[1], "the standard error of ab; its report is in the standard output")
        elif report.interrupted:
            run |= {"status": "interrupted", "reason": "^C"}
        elif report.stage == 3:
            self._warn(report.line, "this report is not whole")
        else:
            self._warn(report.line, "no report follows; the error is elsewhere or cut off")
        if "Complete requests" not in report.labels:
            if report.total_of is not None:
                run["requests"] = report.total_of
            elif report.progress[0] and not report.finished:
                self._warn(report.progress[1], f"at least {report.progress[0]} requests were completed")


def _is_quotient(rate: float, total: float, shortest_s: float, longest_s: float, cut: int = 1) -> bool:
    """Whether a rate of two decimals is total / duration; 2.0 truncates a total of bytes to whole kB first."""
    low = (total - cut) / longest_s if longest_s > 0 else 0.0
    high = total / shortest_s if shortest_s > 0 else math.inf
    return low * (1 - _FLOAT) - 0.006 <= rate <= high * (1 + _FLOAT) + 0.006


def _milliseconds(token: str) -> float | None:
    """Return seconds from milliseconds; None if ab printed no time: nan, below 0, or the largest possible number."""
    known = _FINITE.fullmatch(token) and token[0] != "-" and float(token) <= 1e12
    return float(token) / 1e3 if known else None
