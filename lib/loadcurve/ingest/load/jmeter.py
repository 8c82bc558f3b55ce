"""JMeter: read what its summariser prints on the console and in jmeter.log, and the statistics of its dashboard.

Seen: JMeter 3.3, 4.0 and 5.6.3 (``jmeter -n -t PLAN``, the samples of the tests); 2.x to 5.x in public repositories.
`jmeter_jtl` reads the samples.

Output of JMeter (``Summariser`` and ``SummariserRunningSample``): a line ``summary +`` is of the last interval,
``summary =`` of all samples so far.  Transaction controllers and sub-samples are not counted, failed samples are.
``Avg``, ``Min`` and ``Max`` are whole ms; the time is cut to whole seconds, the rate has one decimal.

Statistics of the dashboard, seen: JMeter 5.6.3 (``jmeter -n -t PLAN -l FILE.jtl -e -o FOLDER``, the samples of the
tests); 3.x to 5.x in public repositories.

Output of JMeter (``StatisticsSummaryConsumer`` and its template): times are in ms, ``errorPct`` in per cent,
``receivedKBytesPerSec`` in units of 1024 bytes.  ``Total`` leaves out transaction controllers, but counts sub-samples
(``Moved-0``).  ``pct1`` to ``pct3`` are the percentiles 90, 95 and 99, unless ``aggregate_rpt_pct1`` to ``3`` set
others; they are interpolated, of the last 20,000 samples of each label (``jmeter.reportgenerator.statistic_window``).
"""

import math
import re
from typing import Any

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.json_text import integer_at, line_of, load_json, number_at, numbers_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in, real, whole

_LOG = r"(?:[0-9/-]{8,10}[ T][0-9:,.]{8,12} INFO\s+-?\s*\S+: )?"
_SUMMARY = re.compile(
    rf"{_LOG}(\S[^=+\n]{{0,60}}?)\s*([=+])\s+(\S+) in\s+(\S+) =\s+(\S+?)/s"
    r" Avg:\s+(\S+) Min:\s+(\S+) Max:\s+(\S+) Err:\s+(\S+) \((\S+)%\)(.*)"
)
_ACTIVE = re.compile(r"\s*Active: (\S+) Started: (\S+) Finished: (\S+)")
_LIKE = re.compile(r".* [=+]\s+\S+ in\s+\S+ =.*/s Avg:.*|.* [=+]\s+[0-9]+ in\s+[0-9:.s]{3,12} =.*")
_START = re.compile(r"Starting (?:the|standalone|remote) test (?:on host \S+ )?@ .*\(([0-9]{13})\)")
_END = re.compile(r"(?:Tidying up|\.\.\. end of run).*")
_STOPPED = re.compile(r".*Notifying test listeners of end of test")  # in jmeter.log, before the last summary
_ANNOUNCED = re.compile(
    r"Creating summariser <.*|Created the tree successfully using .*|Waiting for possible .*|Starting remote engines"
    r"|Remote engines have been started.*|Configuring remote engine: .*|Using local port: .*|(?:WARN|INFO|ERROR)[: ].*"
    r"|[0-9/-]{8,10}[ T][0-9:,.]{8,12} (?:INFO|WARN|DEBUG).*|=+|-+|.*jmeter.*"
)
_FAILURE = re.compile(
    r"(?:Error in NonGUIDriver|An error occurred: |Could not open |.*jmeter: (?:command )?not found).*"
)
_CLOCK = re.compile(r"([0-9]{1,6}):([0-5][0-9]):([0-5][0-9])|([0-9]{1,9}(?:\.[0-9]{1,3})?)s")
_WHOLE = re.compile(r".*%\)|.*Finished: [0-9]+")


def parse_jmeter(text: str) -> Parsed:
    """Table `runs` of the lines of JMeter's summariser: the last total of each run."""
    cursor = Cursor(text, "jmeter")
    runs: list[dict[str, Any]] = []
    started: int | None = None
    active = ended = stopped = last = 0
    for line in cursor:
        if match := cursor.match(_START):
            started, active, ended = int(match[1]), 0, 1
        elif match := cursor.match(_SUMMARY):
            if cursor.warn_if_cut(_WHOLE.fullmatch(line)):
                continue
            row = _row(match, cursor)
            users = _ACTIVE.fullmatch(match[11])
            active = max(active, whole(users[1], cursor.number)) if users else active
            if match[2] == "+":
                continue
            if ended or not runs or row["requests"] < runs[-1]["requests"]:
                runs.append({})
            runs[-1] = row | {"generator": len(runs) - 1} | ({"connections": active} if active else {})
            runs[-1] |= {"started_at": pd.Timestamp(started, unit="ms", tz="UTC")} if started else {}
            ended, last, stopped = stopped, 0 if stopped else cursor.number, 0
        elif cursor.match(_END):
            ended, last = 1, 0
        elif cursor.match(_STOPPED):
            stopped = 1
        elif _LIKE.fullmatch(line) and not cursor.at_end:
            cursor.fail("a line such as 'summary = 160 in 00:00:02 = 106.6/s Avg: 17 Min: 0 Max: 100 Err: 49 (30.63%)'")
        elif cursor.warn_if_cut(not _LIKE.fullmatch(line)):
            continue
        elif not cursor.take_failure(_FAILURE) and not cursor.match(_ANNOUNCED):
            cursor.skip_unknown()
    if not runs:
        return cursor.failed_run("a line of JMeter's summariser, such as 'summary = 160 in 00:00:02'")
    if last:
        cursor.warnings.append(f"line {last}: the end of the run does not follow, so more samples may have come")
    return Parsed("jmeter", {"runs": runs}, tuple(cursor.warnings))


def _row(match: re.Match[str], cursor: Cursor) -> dict[str, Any]:
    """Row of `runs` of a line; the duration is the requests over the rate, which is finer than the printed time."""
    number = cursor.number
    requests, failed = whole(match[3], number), whole(match[9], number)
    printed, rate = _seconds(match[4], cursor), real(match[5], number, "a rate")
    mean, least, most = (_milliseconds(match[i], cursor) for i in (6, 7, 8))
    share = real(match[10], number, "a percentage")
    if failed > requests or (requests and abs(share - 100 * failed / requests) > 0.011):
        cursor.fail(f"a share of {failed} of {requests} samples", match[10])
    duration = requests / rate if rate else printed
    if abs(duration - printed) > 1.1 + 0.06 * printed / max(rate, 0.1):
        cursor.warn(f"{requests} samples in {match[4]} are not {match[5]}/s")
    return {
        "tool": "jmeter", "status": "finished", "duration_s": duration, "requests": requests, "requests_failed": failed,
        "requests_succeeded": requests - failed, "throughput_rps": rate,
        "latency_mean_s": mean, "latency_min_s": least, "latency_max_s": most,
        "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip


def _seconds(token: str, cursor: Cursor) -> float:
    match = _CLOCK.fullmatch(token) or cursor.fail("a time such as 00:00:02", token)
    return float(match[4]) if match[4] else int(match[1]) * 3600.0 + int(match[2]) * 60.0 + int(match[3])


def _milliseconds(token: str, cursor: Cursor) -> float:
    """Seconds; JMeter prints the largest and the smallest whole number before the first sample."""
    value = whole(token.removeprefix("-"), cursor.number, "a time in ms") if len(token) < 19 else 2**63
    return math.nan if value >= 10**15 or token.startswith("-") else value / 1000.0


_TIMES = {"latency_mean_s": "meanResTime", "latency_min_s": "minResTime", "latency_max_s": "maxResTime"}
_QUANTILES = {0.5: "medianResTime", 0.9: "pct1ResTime", 0.95: "pct2ResTime", 0.99: "pct3ResTime"}
_NAMES = {0.5: "median", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
_KIB = 1024.0


def parse_jmeter_statistics(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of JMeter's ``statistics.json``."""
    warnings: list[str] = []
    document = load_json(text, "statistics.json of JMeter", warnings)
    if not isinstance(document, dict) or not document or not all(isinstance(each, dict) for each in document.values()):
        raise nothing_in(text, "an object with statistics by label")
    labels = [_json_row(each, name, text) for name, each in document.items() if name != "Total"]
    tables: dict[str, list[dict[str, Any]]] = {"runs": [], "latency": [], "labels": [row for row, _ in labels]}
    if "Total" in document:
        total, tables["latency"] = _json_row(document["Total"], "Total", text)
        requests, failed, rate = total["requests"], total["requests_failed"], total["throughput_rps"]
        of_labels = ("label", "latency_p", "latency_med")
        run = {name: value for name, value in total.items() if not name.startswith(of_labels)}
        run |= {
            "tool": "jmeter", "status": "finished", "requests_succeeded": requests - failed,
            "duration_s": requests / rate if rate else 0.0,
            "percentile_estimator": "interpolated, of the last 20,000 samples by default",
            "latency_corrected": False, "latency_origin": "measured",
        }  # fmt: skip
        tables["runs"] = [run]
    else:
        warnings.append("there is no 'Total', so the run as a whole is missing")
    return Parsed("jmeter", tables, tuple(warnings))


def _json_row(document: dict[str, Any], name: str, text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Row of `labels`, and its quantiles as rows of `latency`."""
    at = text.find(f'"{name}"')
    part = "\n" * text.count("\n", 0, max(at, 0)) + text[max(at, 0) :]  # errors name a line of this label
    requests, failed = integer_at(document, "sampleCount", part), integer_at(document, "errorCount", part)
    share = number_at(document, "errorPct", part, required=False)
    if failed > requests or (requests and abs(share - 100 * failed / requests) > 0.01):
        raise ParseError(line_of("errorPct", part), f"a share of {failed} of {requests} samples", str(share))
    row = {
        "generator": 0, "label": name, "requests": requests, "requests_failed": failed,
        "throughput_rps": number_at(document, "throughput", part),
        "received_bytes_per_s": number_at(document, "receivedKBytesPerSec", part, required=False) * _KIB,
        "sent_bytes_per_s": number_at(document, "sentKBytesPerSec", part, required=False) * _KIB,
        **numbers_at(document, _TIMES, part, per=1000),
    }  # fmt: skip
    times = {q: number_at(document, path, part, required=False) / 1000 for q, path in _QUANTILES.items()}
    latency = [{"generator": 0, "quantile": q, "latency_s": t, "corrected": False} for q, t in times.items()]
    return row | {f"latency_{_NAMES[q]}_s": t for q, t in times.items()}, latency
