"""vegeta: its text reports and histograms into tables.

Tables: `runs` and `latency` of ``vegeta report``; `histogram` of ``-type=hist``; `latency` of ``-type=hdrplot``.
Seen: vegeta 5 to 12 in public repositories; the tool was not at hand.  Its JSON is read by `vegeta_json`, the single
hits by `vegeta_requests`.

What vegeta itself does (``lib/metrics.go``, ``lib/reporters.go``):

- ``rate`` is hits per second of the attack, from the first hit to the last; ``throughput`` (vegeta 12 on) is
  *successes* (status 200 to 399) over attack and wait together.  Code 0 stands for a hit without a response.
- Latencies are of all hits, failed ones too; code 0 is in them with the time until it failed.
- Quantiles are estimates: of a biased quantile sketch up to 11, of a t-digest (compression 1000) from 12 on.
- vegeta sends by schedule (open loop), and a hit's time begins when it is sent: hits that wait for a free worker are
  not corrected for.
- Durations are rounded to three decimals of their unit from 12 on; ``success`` has two decimals.
- ``-type=hist``: a class holds its lower end but not its upper one.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import Ending
from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import Strays, go_time_s, real, response_counts, whole

_ROW = re.compile(
    r"(Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\[([a-z0-9, :]{1,60})\]\s+(\S.{0,4000})"
)
_ROW_LIKE = re.compile(r"(?:Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\[")
_ERRORS = re.compile(r"Error Set:(.*)")
_HIST = re.compile(r"Bucket\s+#\s+%\s+Histogram")
_CLASS = re.compile(r"\[([^,\s]{1,40}),\s+([^\]\s]{1,40})\]\s+(\S+)\s+(\S+)%\s*#*")
_HDR = re.compile(r"Value\((ms|ns|us|s)\),?\s+Percentile,?\s+TotalCount,?\s+1/\(1-Percentile\)")
_HDR_ROW = re.compile(r"([0-9.]{1,24})\s+([01]\.[0-9]{1,12})\s+([0-9]{1,18})\s+(inf|[0-9.]{1,24})")
# Last lines that are whole without a newline: a row's count is not at its end, and hdrplot writes six decimals.
_WHOLE = re.compile(r"Error Set:.*|\[.*%(?:\s+#+)?|[0-9.]+\s+[01]\.[0-9]+\s+[0-9]+\s+[0-9]+\.[0-9]{6}")
_FAILURE = re.compile(
    r"(?:Usage: vegeta |encode: can't detect|bad (?:target|method|URL|header)|.*vegeta: (?:command )?not|Error decoding"
    r"|no targets|[0-9/]{10} [0-9:]{8} (?:bad|no|open|EOF|encode)).*"
)
_HDR_UNIT = {"ms": 1e-3, "ns": 1e-9, "us": 1e-6, "s": 1.0}
ESTIMATOR = "t-digest, or a quantile sketch before vegeta 12"


def parse_vegeta(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of the text reports of vegeta in a text.

    Parameters
    ----------
    text : str
        Output of ``vegeta report``, also with ``-type=hist`` or ``-type=hdrplot``, once or several times.

    Returns
    -------
    Parsed
        `throughput_rps`: responses of any status over attack and wait; `goodput_rps`: vegeta's ``throughput``;
        `target_rate_rps`: vegeta's ``rate``, at which it really sent.

    Raises
    ------
    ParseError
        Where a line of a report is not what vegeta prints, and where there is no report.

    Examples
    --------
    >>> report = '''Requests      [total, rate, throughput]  200, 10.05, 7.50
    ... Duration      [total, attack, wait]      20s, 19.9s, 100ms
    ... Status Codes  [code:count]               200:150  500:40  0:10
    ... '''
    >>> parse_vegeta(report).tables["runs"][["throughput_rps", "goodput_rps", "target_rate_rps"]].values.tolist()
    [[9.5, 7.5, 10.05]]
    """
    lines = [line.strip() for line in text.split("\n")]
    strays = Strays("vegeta")
    reports: list[dict] = []
    block = failure = ""
    for number, line in enumerate(lines, 1):
        if number == len(lines) and line and block != "errors" and not _WHOLE.fullmatch(line):
            if _ROW_LIKE.match(line) or block:
                strays.warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif _ROW_LIKE.match(line):
            match = _ROW.fullmatch(line)
            if match is None:
                raise ParseError(number, "a line such as 'Requests  [total, rate]  1200, 120.00'", line)
            if match[1] == "Requests" or not reports or match[1] in reports[-1]["rows"]:
                reports.append({"line": number, "rows": {}, "errors": []})
            reports[-1]["rows"][match[1]] = ([n.strip() for n in match[2].split(",")], match[3], number)
            block = ""
        elif match := _ERRORS.fullmatch(line):
            block = "errors"
            if match[1].strip() and reports:
                reports[-1]["errors"].append(match[1].strip())
        elif _HIST.fullmatch(line) or _HDR.fullmatch(line):
            block = "hist" if _HIST.fullmatch(line) else "hdr"
            # A histogram below a report is of the same attack.
            if not reports or block in reports[-1] or (block == "hdr" and reports[-1]["rows"]):
                reports.append({"line": number, "rows": {}, "errors": []})
            reports[-1][block] = []
            if block == "hdr":
                reports[-1]["unit"] = _HDR_UNIT[_HDR.fullmatch(line)[1]]
        elif not line:
            continue
        elif block == "hist" and line.startswith("["):
            reports[-1]["hist"].append(_class(line, number))
        elif block == "hdr" and line[0].isdigit():
            _hdr_row(reports[-1], line, number)
        elif block == "errors" and reports:
            reports[-1]["errors"].append(line)
        elif not reports:
            failure = failure or (line if _FAILURE.fullmatch(line) else "")
        else:
            strays.add(number, line)
    if not reports and failure:
        return Parsed("vegeta", {"runs": [{"generator": 0, "tool": "vegeta", "status": "failed", "reason": failure}]})
    if not reports:
        at = next((i for i, line in enumerate(lines) if line), 0)
        raise ParseError(at + 1, "a report of vegeta, which begins with 'Requests  [total'", lines[at])
    tables: dict[str, list[dict]] = {}
    notes: list[str] = []
    for generator, report in enumerate(reports):
        if report["rows"]:
            run, quantiles = _run(report, notes)
            tables.setdefault("runs", []).append({"generator": generator, **run})
            rows = [{"generator": generator, **row, "corrected": False} for row in quantiles]
            tables.setdefault("latency", []).extend(rows)
        for block, table in (("hist", "histogram"), ("hdr", "latency")):
            rows = [{"generator": generator, **row, "corrected": False} for row in report.get(block, [])]
            if rows:
                tables.setdefault(table, []).extend(rows)
    if not any(tables.values()):
        raise ParseError(reports[0]["line"], "rows below this heading", lines[reports[0]["line"] - 1])
    return Parsed("vegeta", tables, tuple(notes + strays.warnings))


def rates(requests: int, codes: dict[int, int], rate: float, throughput: float, duration: float) -> dict:
    """Rates of a report: sent, answered, and answered well.

    Examples
    --------
    >>> rates(200, {200: 150, 500: 40, 0: 10}, 10.05, 7.5, 20.0)["throughput_rps"]
    9.5
    """
    answered = requests - codes.get(0, 0)
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    if math.isnan(throughput) and duration > 0:  # before vegeta 12
        throughput = good / duration
    every = throughput * answered / good if good else (answered / duration if duration > 0 else math.nan)
    return {"target_rate_rps": rate, "throughput_rps": every, "goodput_rps": throughput}


def counts(requests: int, codes: dict[int, int], messages: list[str]) -> dict:
    """Counts of a report: what was answered, by status; vegeta names each error once, without its count."""
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    row = {
        "requests_started": requests, "requests": requests - codes.get(0, 0), "requests_succeeded": good,
        "status": "finished", "requests_failed": requests - good, "errors_other": codes.get(0, 0),
        **response_counts(codes),
    }  # fmt: skip
    if codes.get(0, 0) == requests:
        row |= {"status": "failed"} | ({"reason": messages[0]} if messages else {})
    return row


def _run(report: dict, notes: list[str]) -> tuple[dict, list[dict]]:
    """Row of `runs` and rows of `latency` of a report."""
    run: dict = {"tool": "vegeta", "latency_corrected": False, "latency_origin": "measured"}
    values = {name: _values(*report["rows"][name]) for name in report["rows"] if name != "Status Codes"}
    request, duration = values.get("Requests", {}), values.get("Duration", {})
    if "total" in duration:
        run["duration_s"] = go_time_s(duration["total"], report["rows"]["Duration"][2])
        for name in ("attack", "wait"):
            go_time_s(duration.get(name, "0"), report["rows"]["Duration"][2])
    for name, column in (("Bytes In", "received_body_bytes"), ("Bytes Out", "sent_bytes")):
        if name in values:
            run[column] = float(whole(values[name].get("total", ""), report["rows"][name][2]))
            real(values[name].get("mean", "0"), report["rows"][name][2])
    quantiles = _latencies(run, values.get("Latencies", {}), report["rows"].get("Latencies", ([], "", 0))[2])
    line = report["line"]
    if not request:
        notes.append(f"line {line}: the report has no line 'Requests', so its rates are missing")
        return run, quantiles
    number = report["rows"]["Requests"][2]
    requests = whole(request.get("total", ""), number)
    if "Status Codes" not in report["rows"]:
        notes.append(f"line {line}: the report has no status codes, so how many hits were answered is not known")
        run["requests_started"] = requests
        for name, column in (("rate", "target_rate_rps"), ("throughput", "goodput_rps")):
            run |= {column: real(request[name], number, "a rate")} if name in request else {}
        return run, quantiles
    codes = _codes(*report["rows"]["Status Codes"][1:])
    if sum(codes.values()) != requests:
        raise ParseError(report["rows"]["Status Codes"][2], f"status codes of {requests} hits", str(codes))
    if "Success" in report["rows"]:
        _success(report["rows"]["Success"], codes, requests)
    run |= counts(requests, codes, report["errors"])
    rate = real(request["rate"], number, "a rate") if "rate" in request else math.nan
    if requests and "throughput" in request and "total" in duration:
        _check_throughput(request["throughput"], run, number, notes)
    throughput = real(request["throughput"], number, "a rate") if "throughput" in request else math.nan
    run |= rates(requests, codes, rate, throughput, run.get("duration_s", math.nan))
    return run, quantiles


def _check_throughput(token: str, run: dict, number: int, notes: list[str]) -> None:
    duration = max(run["duration_s"], 1e-9)
    expected, slack = run["requests_succeeded"] / duration, 0.006
    # vegeta rounds a duration to the next smaller unit (round in lib/reporters.go): 60.433 s reads 1m0s.
    rounding = (30 if duration >= 3600 else 0.5 if duration >= 60 else 0) / duration
    if abs(real(token, number, "a rate") - expected) > slack + (0.005 + rounding) * expected:
        notes.append(f"line {number}: throughput {token} is not {run['requests_succeeded']} successes / duration")


def _success(row: tuple[list[str], str, int], codes: dict[int, int], requests: int) -> None:
    token = row[1]
    ratio = real(token.removesuffix("%"), row[2], "a percentage") / 100
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    if not token.endswith("%") or (requests and abs(ratio - good / requests) > 0.0011):
        raise ParseError(row[2], f"a success ratio of {good} / {requests}", token)


def _values(names: list[str], text: str, number: int) -> dict[str, str]:
    tokens = [token.strip() for token in text.split(",")]
    if len(tokens) != len(names):
        raise ParseError(number, f"{len(names)} values: {', '.join(names)}", text)
    return dict(zip(names, tokens, strict=True))


def _latencies(run: dict, values: dict[str, str], number: int) -> list[dict]:
    quantiles = []
    for name, token in values.items():
        seconds = go_time_s(token, number)
        if name in ("min", "mean", "max"):
            run[f"latency_{name}_s"] = seconds
        else:
            quantile = round(real(name, number, "a percentile") / 100, 9)
            if not 0 < quantile < 1:
                raise ParseError(number, "percentiles between 0 and 100", name)
            quantiles.append({"quantile": quantile, "latency_s": seconds})
    if quantiles:
        run["percentile_estimator"] = ESTIMATOR
    return quantiles


def _codes(text: str, number: int) -> dict[int, int]:
    codes: dict[int, int] = {}
    for token in text.split():
        code, colon, count = token.partition(":")
        if not colon or len(code) > 3:
            raise ParseError(number, "status codes such as 200:1200", token)
        codes[whole(code, number)] = whole(count, number)
    return codes


def _class(line: str, number: int) -> dict:
    match = _CLASS.fullmatch(line)
    if match is None:
        raise ParseError(number, "a class such as '[2ms,   4ms]   5505  29.92%  ####'", line)
    real(match[4], number, "a percentage")
    upper = math.nan if match[2] == "+Inf" else go_time_s(match[2], number)
    return {"lower_s": go_time_s(match[1], number), "upper_s": upper, "responses": whole(match[3], number)}


def _hdr_row(report: dict, line: str, number: int) -> None:
    match = _HDR_ROW.fullmatch(line)
    if match is None:
        raise ParseError(number, "a value, a percentile, a count and a number", line)
    quantile = real(match[2], number)
    inverse = math.inf if match[4] == "inf" else real(match[4], number)
    if quantile > 1 or (quantile < 1 and math.isfinite(inverse) and abs(1 / (1 - quantile) - inverse) > 0.01 * inverse):
        raise ParseError(number, "1/(1-Percentile) at the end", line)
    row = {"quantile": quantile, "latency_s": real(match[1], number) * report["unit"], "responses": int(match[3])}
    before = report["hdr"][-1] if report["hdr"] else row
    if quantile < before["quantile"] or row["responses"] < before["responses"]:
        raise ParseError(number, "percentiles and counts that do not fall", line)
    report["hdr"].append(row)


VEGETA = Form(
    "vegeta",
    "",
    parse_vegeta,
    (
        r"Requests\s+\[total",
        r"Duration\s+\[total, attack",
        r"Latencies\s+\[m",
        r"Bucket\s+#\s+%\s+Histogram",
        r"Value\(ms\)\s+Percentile\s+TotalCount",
        r"Usage: vegeta ",
        r"(?:[\w./-]{1,40}: ){1,3}vegeta: (?:command )?not found",
    ),
    ending=Ending(
        r"\[.*%(?:[ \t]+#+)?|[0-9.]+[ \t]+[01]\.[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9]{6}",
        section=r"Error Set:",
        after=r"Requests\s+\[total",
        name="'Error Set:'",
    ),
)
