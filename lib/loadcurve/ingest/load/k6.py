"""k6: the summary that it prints at the end of a test into tables.

Tables: `runs`, `latency`, `phases`.  Seen in public repositories (the tool was not at hand): k6 0.2x to 1.x.  What its
numbers mean is in `k6_json`, which reads the same summary as JSON.

What k6 itself does (``internal/js/summary.js``, before 1.0 ``js/summary.js``):

- A name, dots, ``:`` and values.  Times are cut (not rounded) to two decimals of ns, µs, ms or s; from a minute on
  to whole seconds (``1m1s``).  Sizes are in steps of 1000 (``kB``, ``MB``) with two digits or so.
- ``http_req_failed`` before 1.0: ``0.57%  ✓ 12  ✗ 2088``, where ✓ are the *failed* ones; then ``12 out of 2100``.
- From 1.0 on the whole stands under ``TOTAL RESULTS``; groups and scenarios have blocks of their own, which are
  passed over, as are thresholds, checks, submetrics (``{ expected_response:true }``) and a script's own metrics.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.form import Form
from loadcurve.ingest.load.k6_json import PHASES, k6_rows
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import Strays, go_time_s, real, whole

_METRIC = re.compile(r"(?:[✓✗] )?\s*([a-z][a-z0-9_]{1,60})\.{0,120}:\s+(\S.{0,2000})")
_METRIC_LIKE = re.compile(
    r"(?:[✓✗] )?\s*"
    r"(http_req(?:s|_[a-z_]+)|data_received|data_sent|vus|vus_max|iterations|iteration_duration)\.{2,120}(:?)"
)
_TREND = re.compile(r"(avg|min|med|max|count|sum|p\((?:[0-9]{1,2}(?:\.[0-9]{1,9})?|100)\))=\s*([^\s,=]{1,40}),?")
_OLD_RATE = re.compile(r"(\S{1,12})%(?:\s+✓\s+([0-9]{1,18})\s+✗\s+([0-9]{1,18}))?")
_NEW_RATE = re.compile(r"(\S{1,12})%\s+([0-9]{1,18}) out of ([0-9]{1,18})")
_COUNTER = re.compile(r"([0-9]{1,18})\s+\(?([0-9.]{1,30})/s\)?")
_DATA = re.compile(r"(-?[0-9.]{1,12}) ([kMGTP]?B)\s+(-?[0-9.]{1,12}) ([kMGTP]?B)/s")
_GAUGE = re.compile(r"([0-9]{1,12})(?:\s+min=([0-9]{1,12})\s+max=([0-9]{1,12}))?")
_BLOCK = re.compile(r"█ ([A-Z][A-Za-z ]{1,80}+)(?::.*)?")
_USERS = re.compile(r"scenarios: \(.{1,12}\) [0-9]+ scenarios?, ([0-9]{1,12}) max VUs,.*")
_FAILURE = re.compile(
    r"(?:(?:time=\S+ level=(?:error|fatal)|ERRO\[[0-9]+\]|FATA\[[0-9]+\]).*|.*k6: (?:command )?not found.*)"
)
_SIZE = {"B": 1.0} | {f"{unit}B": 1000.0**power for power, unit in enumerate("kMGTP", 1)}
_TRENDS = {*PHASES, "http_req_duration"}


def parse_k6(text: str) -> Parsed:
    """Tables `runs`, `latency` and `phases` of every end-of-test summary of k6 in a text.

    Raises
    ------
    ParseError
        Where a line of a summary is not what k6 prints, and where there is none.

    Examples
    --------
    >>> report = '''     http_req_duration..............: avg=2.5ms min=1ms med=2ms max=1m0s p(90)=3ms p(95)=5ms
    ...      http_req_failed................: 10.00% ✓ 30        ✗ 270
    ...      http_reqs......................: 300    10/s
    ... '''
    >>> parse_k6(report).tables["runs"][["requests", "goodput_rps", "latency_max_s"]].values.tolist()
    [[300.0, 9.0, 60.0]]
    """
    lines = [line.strip() for line in text.split("\n")]
    strays = Strays("k6")
    summaries: list[dict] = []
    users = math.nan
    block = "TOTAL RESULTS"
    failure = ""
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        like = _METRIC_LIKE.match(line)
        if number == len(lines) and like:
            strays.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif like:
            match = _METRIC.fullmatch(line)
            if match is None or not like[2]:
                raise ParseError(number, f"{like[1]!r} and its numbers", line)
            if block != "TOTAL RESULTS":
                continue
            if not summaries or match[1] in summaries[-1]["metrics"]:
                summaries.append({"metrics": {}, "line": number, "users": users})
            summaries[-1]["metrics"][match[1]] = _numbers(match[1], match[2], number, strays)
        elif match := _BLOCK.fullmatch(line):
            block = match[1].strip()
        elif match := _USERS.fullmatch(line):
            users, block = float(match[1]), "TOTAL RESULTS"
        elif not is_noise(line) and _FAILURE.fullmatch(line):
            failure = failure or line
    summaries = [each for each in summaries if "http_reqs" in each["metrics"] or "http_req_duration" in each["metrics"]]
    if not summaries and failure:
        return Parsed("k6", {"runs": [{"generator": 0, "tool": "k6", "status": "failed", "reason": failure}]})
    if not summaries:
        at = next((i for i, line in enumerate(lines) if line), 0)
        raise ParseError(at + 1, "a summary of k6 with http_reqs or http_req_duration", lines[at])
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "phases": []}
    for generator, each in enumerate(summaries):
        metrics = each["metrics"]
        run, quantiles, phases = k6_rows(metrics, math.nan, each["line"], strays.warnings)
        if "connections" not in run and not math.isnan(each["users"]):
            run["connections"] = int(each["users"])
        tables["runs"].append({"generator": generator, **run})
        tables["latency"] += [{"generator": generator, **row} for row in quantiles]
        tables["phases"] += [{"generator": generator, **row} for row in phases]
    return Parsed("k6", tables, tuple(strays.warnings))


def _numbers(name: str, text: str, number: int, strays: Strays) -> dict[str, float]:
    """Numbers of a metric by their names in JSON, trends in milliseconds."""
    text = text.strip()
    if name in _TRENDS or name == "iteration_duration":
        found = _TREND.findall(text)
        if not found or _TREND.sub("", text).strip():
            raise ParseError(number, "avg=… min=… and so on", text)
        if len(found) > 1 and found[-1][1].replace(".", "", 1).isdigit() and found[-1][0] != "count":
            strays.warnings.append(f"line {number}: cut at its right end, so {'='.join(found.pop())!r} is left out")
        return {
            key: float(whole(value, number)) if key == "count" else go_time_s(value, number) * 1000
            for key, value in found
        }
    if name == "http_req_failed":
        return _failed(text, number)
    shape = {"data_received": _DATA, "data_sent": _DATA, "vus": _GAUGE, "vus_max": _GAUGE}.get(name)
    if shape is None and name not in ("http_reqs", "iterations"):
        return {}
    match = (shape or _COUNTER).fullmatch(text)
    if match is None:
        raise ParseError(number, f"the numbers of {name}", text)
    if shape is _DATA:
        total, rate = (real(match[i].removeprefix("-"), number) * _SIZE[match[i + 1]] for i in (1, 3))
        return {"count": total, "rate": rate}
    if shape is _GAUGE:
        return {"value": float(match[1])} | ({"max": float(match[3])} if match[3] else {})
    return {"count": float(match[1]), "rate": real(match[2], number, "a rate")}


def _failed(text: str, number: int) -> dict[str, float]:
    if match := _NEW_RATE.fullmatch(text):
        passes, every = int(match[2]), int(match[3])
        if passes > every:
            raise ParseError(number, "at most all requests", text)
        share = real(match[1], number, "a percentage") / 100
        return {"rate": share, "passes": float(passes), "fails": float(every - passes)}
    match = _OLD_RATE.fullmatch(text)
    if match is None:
        raise ParseError(number, "a percentage and counts of http_req_failed", text)
    share = {"rate": real(match[1], number, "a percentage") / 100}
    return share | ({"passes": float(match[2]), "fails": float(match[3])} if match[2] else {})


K6 = Form(
    "k6",
    "",
    parse_k6,
    (
        r"(?:[✓✗][ \t]{1,9})?(?:http_req(?:s|_[a-z_]+)|data_received|data_sent)\.{2,120}:",
        r"█ TOTAL RESULTS",
        r"execution: (?:local|cloud)[ \t]*$",
        r"(?:[\w./-]{1,40}: ){1,3}k6: (?:command )?not found",
    ),
)
