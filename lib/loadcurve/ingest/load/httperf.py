"""httperf: its report into tables.

Tables: `runs`, `phases`.  Seen: httperf 0.9.1 of Debian 12 (the sample of the tests: ``httperf --server=H --rate=1000
--num-conns=2000 --num-calls=5``); 0.8 and 0.9.0 in public repositories.

What httperf itself does (``src/stat/basic.c``, ``src/stat/print_reply.c``):

- Times are in milliseconds with one decimal, so fast replies read 0.0; ``Reply rate`` is sampled every 5 s, and 0.0
  where the test was shorter.  ``Request rate`` counts requests sent, with one decimal.  The throughput is that rate
  where every request got a reply and one decimal is within 0.5 % (from 10 per second on), else replies / duration,
  unless the duration is so short that its three decimals are the coarser ones.
- ``response`` is the time from the request sent to the first byte of the reply, ``transfer`` the rest; their sum is the
  mean.  ``Connection time`` is the life of a whole connection of ``--num-calls`` requests.
- ``Errors: total`` counts connections (sessions) that failed; ``fd-unavail``, ``ftab-full`` and ``addrunavail`` are
  limits of the client's machine.  ``Net I/O`` is both directions together, in KB of 1024 bytes.
- It sends by schedule (``--rate``), and corrects nothing for coordinated omission.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import Strays, real, whole

_N = r"(\S{1,24})"
_LINES = {
    "Total:": re.compile(rf"Total: connections {_N} requests {_N} replies {_N} test-duration {_N} s"),
    "Connection rate:": re.compile(rf"Connection rate: {_N} conn/s \({_N} ms/conn, <={_N} concurrent connections\)"),
    "Connection time [ms]: min": re.compile(
        rf"Connection time \[ms\]: min {_N} avg {_N} max {_N} median {_N} stddev {_N}"
    ),
    "Connection time [ms]: connect": re.compile(rf"Connection time \[ms\]: connect {_N}"),
    "Connection length": re.compile(rf"Connection length \[replies/conn\]: {_N}"),
    "Request rate:": re.compile(rf"Request rate: {_N} req/s \({_N} ms/req\)"),
    "Request size": re.compile(rf"Request size \[B\]: {_N}"),
    "Reply rate": re.compile(
        rf"Reply rate \[replies/s\]: min {_N} avg {_N} max {_N} stddev {_N} \({_N} samples\)"
    ),
    "Reply time": re.compile(rf"Reply time \[ms\]: response {_N} transfer {_N}"),
    "Reply size": re.compile(rf"Reply size \[B\]: header {_N} content {_N} footer {_N} \(total {_N}\)"),
    "Reply status:": re.compile(r"Reply status: 1xx=(\S+) 2xx=(\S+) 3xx=(\S+) 4xx=(\S+) 5xx=(\S+)"),
    "CPU time": re.compile(rf"CPU time \[s\]: user {_N} system {_N} \(user {_N}% system {_N}% total {_N}%\)"),
    "Net I/O:": re.compile(rf"Net I/O: {_N} KB/s \({_N}\*10\^6 bps\)"),
    "Errors: total": re.compile(
        rf"Errors: total {_N} client-timo {_N} socket-timo {_N} connrefused {_N} connreset {_N}"
    ),
    "Errors: fd-unavail": re.compile(rf"Errors: fd-unavail {_N} addrunavail {_N} ftab-full {_N} other {_N}"),
}  # fmt: skip
_COMMAND = re.compile(r"httperf --(?:.{1,2000})")
_OPTION = re.compile(r"--(rate|num-calls|num-conns)[= ]([0-9.]{1,18})(?= |$)")
_FAILURE = re.compile(
    r"httperf(?:\.\S+)?: (?!warning|maximum|\*\*).*|Usage: httperf.*|.*httperf: (?:command )?not found.*"
)


def parse_httperf(text: str) -> Parsed:
    """Tables `runs` and `phases` of every report of httperf in a text.

    Raises
    ------
    ParseError
        Where a line of a report is not what httperf prints, and where there is no report.

    Examples
    --------
    >>> report = '''Total: connections 10 requests 50 replies 40 test-duration 2.000 s
    ... Request rate: 25.0 req/s (40.0 ms/req)
    ... Reply time [ms]: response 3.2 transfer 0.3
    ... Reply status: 1xx=0 2xx=30 3xx=0 4xx=0 5xx=10
    ... '''
    >>> parse_httperf(report).tables["runs"][["throughput_rps", "goodput_rps", "latency_mean_s"]].values.tolist()
    [[20.0, 15.0, 0.0035]]
    """
    lines = [line.strip() for line in text.split("\n")]
    strays = Strays("httperf")
    reports: list[dict] = []
    command = failure = ""
    for number, line in enumerate(lines, 1):
        begin = next((key for key in _LINES if line.startswith(key)), "")
        if number == len(lines) and begin and not line.endswith((")", " s")):
            strays.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif begin:
            match = _LINES[begin].fullmatch(line)
            if match is None:
                raise ParseError(number, f"the line {begin!r} of httperf", line)
            if begin == "Total:":
                reports.append({"lines": {}, "command": command, "line": number})
            elif not reports or begin in reports[-1]["lines"]:
                raise ParseError(number, "'Total: connections' before it, and each line once", line)
            count = begin in ("Reply status:", "Errors: total", "Errors: fd-unavail")
            read = (lambda token, at: float(whole(token, at))) if count else real
            reports[-1]["lines"][begin] = [read(token, number) for token in match.groups()]
            if begin == "Total:":
                for token in match.groups()[:3]:
                    whole(token, number)
        elif _COMMAND.fullmatch(line):
            command = line
        elif number < len(lines) and _FAILURE.fullmatch(line):
            failure = failure or line
        elif reports and line and not line.startswith(("httperf: warning", "Maximum connect", "Session ", "Session:")):
            strays.add(number, line)
    if not reports and failure:
        return Parsed("httperf", {"runs": [{"generator": 0, "tool": "httperf", "status": "failed", "reason": failure}]})
    if not reports:
        at = next((i for i, line in enumerate(lines) if line), 0)
        raise ParseError(at + 1, "a report of httperf, which begins with 'Total: connections'", lines[at])
    tables: dict[str, list[dict]] = {"runs": [], "phases": []}
    for generator, report in enumerate(reports):
        tables["runs"].append({"generator": generator, **_run(report, strays)})
        tables["phases"] += [{"generator": generator, **row} for row in _phases(report["lines"])]
    return Parsed("httperf", tables, tuple(strays.warnings))


def _run(report: dict, strays: Strays) -> dict:
    values = report["lines"]
    _, requests, replies, duration = values["Total:"]
    run: dict = {
        "tool": "httperf", "status": "finished", "duration_s": duration, "requests": int(replies),
        "requests_started": int(requests), "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip
    asked = {name: float(value) for name, value in _OPTION.findall(report["command"]) if value.count(".") < 2}
    if asked.get("rate"):
        run["target_rate_rps"] = asked["rate"] * asked.get("num-calls", 1.0)
    if "Reply status:" in values:
        status = [int(value) for value in values["Reply status:"]]
        run |= {f"responses_{n}xx": count for n, count in enumerate(status, 1)}
        run["errors_status"] = status[3] + status[4]
        if sum(status) != replies:
            strays.warnings.append(f"line {report['line']}: {replies:g} replies, but {sum(status)} have a status")
    if "Request rate:" in values:
        rate = values["Request rate:"][0]
        if abs(rate * duration - requests) > 0.051 * duration + 0.0006 * rate + 0.001 * requests + 1:
            strays.warnings.append(
                f"line {report['line']}: {rate:g} per second are not {requests:g} requests in the time"
            )
        finer = 0.0005 * rate < 0.05 * duration  # what rounding can add: half of the last decimal of each
        if not finer or (replies == requests and rate >= 10):
            run["throughput_rps"] = rate * replies / requests if requests else 0.0
        else:
            run["throughput_rps"] = replies / duration
        if "errors_status" in run:
            good = (replies - run["errors_status"]) / replies if replies else 0.0
            run["goodput_rps"] = run["throughput_rps"] * good
    if "Reply time" in values and replies:
        run["latency_mean_s"] = sum(values["Reply time"]) / 1000 or math.nan
        if not any(values["Reply time"]):
            strays.warnings.append(f"line {report['line']}: the reply time is below 0.05 ms, so it is missing")
    if "Reply size" in values and replies:
        run["document_bytes"] = values["Reply size"][1]
    if "Errors: total" in values:
        total, client, socket, refused, reset = (int(value) for value in values["Errors: total"])
        run |= {"requests_failed": total, "errors_timeout": client + socket, "errors_connect": refused,
                "errors_read": reset}  # fmt: skip
        run["errors_other"] = total - client - socket - refused - reset
        if run["errors_other"] < 0:
            strays.warnings.append(f"line {report['line']}: fewer errors in total than of their kinds")
            run["errors_other"] = None
    if not replies:
        run |= {"status": "failed", "reason": "no reply"}
    return run


def _phases(values: dict[str, list[float]]) -> list[dict]:
    rows = []
    replied = values["Total:"][2] > 0  # without a reply, the 0.0 that httperf prints for these times is no measurement
    if replied and "Connection time [ms]: min" in values:
        least, mean, most, median, deviation = (value / 1000 for value in values["Connection time [ms]: min"])
        times = {"mean_s": mean, "stdev_s": deviation, "min_s": least, "median_s": median, "max_s": most}
        rows.append({"phase": "connection", **times})
    if "Connection time [ms]: connect" in values:
        rows.append({"phase": "connect", "mean_s": values["Connection time [ms]: connect"][0] / 1000})
    if replied and "Reply time" in values:
        response, transfer = values["Reply time"]
        rows += [{"phase": "waiting", "mean_s": response / 1000}, {"phase": "read", "mean_s": transfer / 1000}]
    return rows
