"""httperf: read its report into tables.

Tables: `runs`, `phases`.  Seen: httperf 0.9.1 of Debian 12 (the sample of the tests: ``httperf --server=H --rate=1000
--num-conns=2000 --num-calls=5``); 0.8 and 0.9.0 in public repositories.

Output of httperf (``src/stat/basic.c``, ``src/stat/print_reply.c``):

- Times are in milliseconds with one decimal, so fast replies show as 0.0; ``Reply rate`` is sampled every 5 s, and 0.0
  if the test was shorter.  ``Request rate`` counts requests sent, with one decimal.  The throughput is that rate
  if every request got a reply and one decimal is within 0.5 % (from 10 per second on), else replies / duration,
  unless the duration is so short that its three decimals are coarser.
- ``response`` is the time from the request sent to the first byte of the reply, ``transfer`` the rest; their sum is the
  mean.  ``Connection time`` is the life of a whole connection of ``--num-calls`` requests.
- ``Errors: total`` counts connections (sessions) that failed; ``fd-unavail``, ``ftab-full`` and ``addrunavail`` are
  limits of the client's machine.  ``Net I/O`` is both directions together, in KB of 1024 bytes.
- httperf sends by schedule (``--rate``) and does not correct for coordinated omission.
"""

import math
import re
from typing import Any

from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import real, whole

# How each line begins, and the line with # in place of every number.
_LINES = {
    "Total:": "Total: connections # requests # replies # test-duration # s",
    "Connection rate:": "Connection rate: # conn/s (# ms/conn, <=# concurrent connections)",
    "Connection time [ms]: min": "Connection time [ms]: min # avg # max # median # stddev #",
    "Connection time [ms]: connect": "Connection time [ms]: connect #",
    "Connection length": "Connection length [replies/conn]: #",
    "Request rate:": "Request rate: # req/s (# ms/req)",
    "Request size": "Request size [B]: #",
    "Reply rate": "Reply rate [replies/s]: min # avg # max # stddev # (# samples)",
    "Reply time": "Reply time [ms]: response # transfer #",
    "Reply size": "Reply size [B]: header # content # footer # (total #)",
    "Reply status:": "Reply status: 1xx=# 2xx=# 3xx=# 4xx=# 5xx=#",
    "CPU time": "CPU time [s]: user # system # (user #% system #% total #%)",
    "Net I/O:": "Net I/O: # KB/s (#*10^6 bps)",
    "Errors: total": "Errors: total # client-timo # socket-timo # connrefused # connreset #",
    "Errors: fd-unavail": "Errors: fd-unavail # addrunavail # ftab-full # other #",
}
_PATTERNS = {name: re.compile(re.escape(line).replace(r"\#", r"(\S{1,24})")) for name, line in _LINES.items()}
_COUNTS = ("Reply status:", "Errors: total", "Errors: fd-unavail")
_COMMAND = re.compile(r"httperf --(?:.{1,2000})")
_OPTION = re.compile(r"--(rate|num-calls|num-conns)[= ]([0-9.]{1,18})(?= |$)")
_FAILURE = re.compile(
    r"httperf(?:\.\S+)?: (?!warning|maximum|\*\*).*|Usage: httperf.*|.*httperf: (?:command )?not found.*"
)
_CHATTER = ("httperf: warning", "Maximum connect", "Session ", "Session:")


def parse_httperf(text: str) -> Parsed:
    """Tables `runs` and `phases` of every report of httperf in a text."""
    cursor = Cursor(text, "httperf")
    reports: list[dict[str, Any]] = []
    command = ""
    for line in cursor:
        name = next((name for name in _LINES if line.startswith(name)), "")
        if name and cursor.warn_if_cut(line.endswith((")", " s"))):
            continue
        if name:
            tokens = cursor.expect(_PATTERNS[name], f"a line such as {_LINES[name]!r}").groups()
            if name == "Total:":
                reports.append({"lines": {}, "command": command, "line": cursor.number})
                for token in tokens[:3]:
                    whole(token, cursor.number)
            elif not reports or name in reports[-1]["lines"]:
                cursor.fail("'Total: connections' before it, and each line once")
            read = whole if name in _COUNTS else real
            reports[-1]["lines"][name] = [float(read(token, cursor.number)) for token in tokens]
        elif cursor.match(_COMMAND):
            command = line
        elif not (not cursor.at_end and cursor.take_failure(_FAILURE)) and reports and not line.startswith(_CHATTER):
            cursor.skip_unknown()
    if not reports:
        return cursor.failed_run("a report of httperf, which begins with 'Total: connections'")
    runs = [{"runs": [_run(report, cursor.warnings)], "phases": _phases(report["lines"])} for report in reports]
    return Parsed("httperf", with_generator_numbers(("runs", "phases"), runs), tuple(cursor.warnings))


def _run(report: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    values, line = report["lines"], report["line"]
    _, requests, replies, duration = values["Total:"]
    run: dict[str, Any] = {
        "tool": "httperf", "status": "finished", "duration_s": duration, "requests": int(replies),
        "requests_started": int(requests), "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip
    options = {name: float(value) for name, value in _OPTION.findall(report["command"]) if value.count(".") < 2}
    if options.get("rate"):
        run["target_rate_rps"] = options["rate"] * options.get("num-calls", 1.0)
    if "Reply status:" in values:
        status = [int(value) for value in values["Reply status:"]]
        run |= {f"responses_{n}xx": count for n, count in enumerate(status, 1)}
        run["errors_status"] = status[3] + status[4]
        if sum(status) != replies:
            warnings.append(f"line {line}: {replies:g} replies, but {sum(status)} have a status")
    if "Request rate:" in values:
        rate = values["Request rate:"][0]
        if abs(rate * duration - requests) > 0.051 * duration + 0.0006 * rate + 0.001 * requests + 1:
            warnings.append(f"line {line}: {rate:g} per second are not {requests:g} requests in the time")
        finer = 0.0005 * rate < 0.05 * duration  # what rounding can add: half of the last decimal of each
        if not finer or (replies == requests and rate >= 10):
            run["throughput_rps"] = rate * replies / requests if requests else 0.0
        else:
            run["throughput_rps"] = replies / duration
    if "Reply time" in values and replies:
        run["latency_mean_s"] = sum(values["Reply time"]) / 1000 or math.nan
        if not any(values["Reply time"]):
            warnings.append(f"line {line}: the reply time is below 0.05 ms, so it is missing")
    if "Reply size" in values and replies:
        run["document_bytes"] = values["Reply size"][1]
    if "Errors: total" in values:
        total, client, socket, refused, reset = (int(value) for value in values["Errors: total"])
        run |= {"requests_failed": total, "errors_timeout": client + socket, "errors_connect": refused,
                "errors_read": reset}  # fmt: skip
        run["errors_other"] = total - client - socket - refused - reset
        if run["errors_other"] < 0:
            warnings.append(f"line {line}: fewer errors in total than of their kinds")
            run["errors_other"] = None
    if not replies:
        run |= {"status": "failed", "reason": "no reply"}
    return run


def _phases(values: dict[str, list[float]]) -> list[dict[str, Any]]:
    rows = []
    replied = values["Total:"][2] > 0  # without a reply, the 0.0 that httperf prints for these times is no measurement
    if replied and "Connection time [ms]: min" in values:
        least, mean, most, median, deviation = (value / 1000 for value in values["Connection time [ms]: min"])
        times = {"mean_s": mean, "stdev_s": deviation, "min_s": least, "median_s": median, "max_s": most}
        rows.append({"phase": "connection", **times})
    connect = values.get("Connection time [ms]: connect", [math.nan])[0]
    if connect > 0 or (replied and connect == 0):
        rows.append({"phase": "connect", "mean_s": connect / 1000})
    if replied and "Reply time" in values:
        response, transfer = values["Reply time"]
        rows += [{"phase": "waiting", "mean_s": response / 1000}, {"phase": "read", "mean_s": transfer / 1000}]
    return rows
