"""fortio: what ``fortio load`` prints into tables.

Tables: `runs`, `latency`, `histogram`.  Seen in public repositories (the tool was not at hand): fortio 0.6 to 1.75.
What the numbers mean is in `fortio_json`; the text holds five significant digits of the rate.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import Ending
from loadcurve.ingest.form import Form
from loadcurve.ingest.load.fortio_json import ESTIMATOR, answers, fortio_rates
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import go_time_s, real, whole

_HEADING = re.compile(
    r"Fortio (\S{1,40}) running at (-?[0-9.]{1,20}) queries per second, .{1,40} procs, for (?:([0-9]{1,18}) calls|\S+)"
    r"(?:: (\S.*))?"
)
_THREADS = re.compile(r"Starting at .{1,40} with ([0-9]{1,9}) thread\(s\).*")
_ENDED = re.compile(r"Ended after (\S{1,40}) : ([0-9]{1,18}) calls\. qps=(\S{1,30})")
_TIMES = re.compile(
    r"Aggregated (?:Function Time|Sleep Time) : count (\S+) avg (\S+) \+/- (\S+) min (\S+) max (\S+) sum (\S+)"
)
_CLASS = re.compile(r">=? (\S{1,30}) <=? (\S{1,30}) , (\S{1,30}) , (\S{1,30}), (\S{1,30})")
_TARGET = re.compile(r"# target (\S{1,20})% (\S{1,30})")
_CODE = re.compile(r"(?:Code|(?:tcp|udp)|Health|Ping)\s+(-?[0-9]{1,3}|[A-Za-z_]{2,30}) : (\S{1,20}) \(\S+ %\)")
_CODE_LIKE = re.compile(r"Code\s+\S+ :|(?:tcp|udp) OK :|Health ")
_BYTES = re.compile(r"Total Bytes sent: (\S{1,20}), received: (\S{1,20})")
_DONE = re.compile(r"All done (\S{1,20}) calls .*")
_OTHER_TIMES = re.compile(r"(?:Sleep times|Error cases|Response |Header|Body|Connection|# Socket|\[[0-9]+\]).*")
_FAILURE = re.compile(
    r".*(?:Aborting because|Unable to (?:connect|resolve)|Failed to|command not found|: Error |\[F(?:ATAL|TL)\]).*"
)


def parse_fortio(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of every run of ``fortio load`` in a text.

    Raises
    ------
    ParseError
        Where a line of a report is not what fortio prints, and where there is no report.

    Examples
    --------
    >>> report = '''Ended after 2s : 100 calls. qps=50
    ... Aggregated Function Time : count 100 avg 0.002 +/- 0.0001 min 0.001 max 0.003 sum 0.2
    ... # target 50% 0.002
    ... Code 200 : 90 (90.0 %)
    ... Code 503 : 10 (10.0 %)
    ... All done 100 calls (plus 0 warmup) 2.000 ms avg, 50.0 qps
    ... '''
    >>> parse_fortio(report).tables["runs"][["throughput_rps", "goodput_rps"]].values.tolist()
    [[50.0, 45.0]]
    """
    lines = [line.strip() for line in text.split("\n")]
    warnings: list[str] = []
    runs: list[dict] = []
    report: dict = {}
    failure = ""
    for number, line in enumerate(lines, 1):
        known = line.startswith(("Fortio ", "Ended after", "Aggregated ", ">", "# target", "All done", "Total Bytes"))
        if number == len(lines) and not line.endswith(" qps") and (known or _CODE_LIKE.match(line)):
            warnings.append(f"line {number}: the text ends inside a line, which is left out: {line[:60]!r}")
        elif match := _HEADING.fullmatch(line):
            report = _new(runs, number)
            _head(report, match, number)
        elif line.startswith("Starting at ") and report:
            if match := _THREADS.fullmatch(line):
                report["run"] |= {"threads": int(match[1]), "connections": int(match[1])}
            else:
                warnings.append(f"line {number}: the number of threads is not understood: {line[:60]!r}")
        elif line.startswith("Ended after") or line.startswith("Aggregated Function"):
            report = _times(report if report and "done" not in report else _new(runs, number), line, number)
        elif line.startswith((">", "# target")) and report.get("block") == "times":
            _row(report, line, number)
        elif _CODE_LIKE.match(line) and report:
            match = _CODE.fullmatch(line)
            if match is None:
                raise ParseError(number, "a code such as 'Code 200 : 14 (70.0 %)'", line)
            report["codes"][match[1]] = whole(match[2], number)
        elif line.startswith("Total Bytes sent") and report and (match := _BYTES.fullmatch(line)):
            for name, token in zip(("sent_bytes", "received_bytes"), match.groups(), strict=True):
                report["run"][name] = float(whole(token, number))
        elif line.startswith("All done") and report:
            match = _DONE.fullmatch(line)
            report["done"] = whole(match[1], number) if match else -1
            if report["done"] != report["run"].get("requests_started", report["done"]):
                raise ParseError(number, f"{report['run']['requests_started']} calls", line)
        elif _OTHER_TIMES.fullmatch(line) and report:
            report["block"] = "others"
        elif known and report and report.get("block") != "others":
            raise ParseError(number, "a line of fortio's report", line)
        elif _FAILURE.fullmatch(line):
            failure = failure or line
    done = [each for each in runs if "requests_started" in each["run"]]
    if not done and failure:
        return Parsed("fortio", {"runs": [{"generator": 0, "tool": "fortio", "status": "failed", "reason": failure}]})
    if not done:
        at = next((i for i, line in enumerate(lines) if line), 0)
        raise ParseError(at + 1, "a report of fortio with 'Aggregated Function Time'", lines[at])
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "histogram": []}
    for generator, each in enumerate(done):
        tables["runs"].append({"generator": generator, **_run(each, warnings)})
        tables["latency"] += [{"generator": generator, **row, "corrected": False} for row in each["latency"]]
        tables["histogram"] += [{"generator": generator, **row, "corrected": False} for row in each["histogram"]]
    return Parsed("fortio", tables, tuple(warnings), done[0]["run"].get("tool_version", ""))


def _new(runs: list[dict], number: int) -> dict:
    runs.append({"run": {}, "codes": {}, "latency": [], "histogram": [], "line": number, "block": ""})
    return runs[-1]


def _head(report: dict, match: re.Match[str], number: int) -> None:
    rate = real(match[2].removeprefix("-"), number, "a rate")
    report["run"]["tool_version"] = match[1]
    if not match[2].startswith("-") and rate > 0:
        report["run"]["target_rate_rps"] = rate
    if match[3]:
        report["run"]["requests_asked"] = int(match[3])
    if match[4]:
        report["run"]["url"] = match[4]


def _times(report: dict, line: str, number: int) -> dict:
    run = report["run"]
    if match := _ENDED.fullmatch(line):
        run["duration_s"], report["calls"] = go_time_s(match[1], number), int(match[2])
        report["qps"] = real(match[3], number, "a rate")
        # Five significant digits, cut or rounded.
        if abs(report["qps"] * run["duration_s"] - report["calls"]) > 2e-3 * report["calls"] + 1e-6:
            raise ParseError(number, f"a rate of {report['calls']} calls / {run['duration_s']:g} s", match[3])
        return report
    match = _TIMES.fullmatch(line)
    if match is None:
        raise ParseError(number, "'Ended after' or 'Aggregated Function Time' of fortio", line)
    count = whole(match[1], number)
    mean, deviation, least, most, total = (real(token, number) for token in match.groups()[1:])
    if count and abs(mean * count - total) > 1e-6 * total + 1e-9:
        raise ParseError(number, f"a mean of {total:g} s / {count}", match[2])
    if "calls" in report and report["calls"] != count:
        raise ParseError(number, f"{report['calls']} calls", match[1])
    times = {"mean": mean, "stdev": deviation, "min": least, "max": most}
    run |= {f"latency_{name}_s": value if count else math.nan for name, value in times.items()}
    run["requests_started"] = count
    report["block"] = "times"
    return report


def _row(report: dict, line: str, number: int) -> None:
    if match := _TARGET.fullmatch(line):
        quantile = round(real(match[1], number, "a percentile") / 100, 9)
        if quantile > 1:
            raise ParseError(number, "a percentile up to 100", match[1])
        report["latency"].append({"quantile": quantile, "latency_s": real(match[2], number)})
    elif match := _CLASS.fullmatch(line):
        lower, upper, middle, share = (real(match[i], number) for i in (1, 2, 3, 4))
        count = whole(match[5], number)
        if abs((lower + upper) / 2 - middle) > 1e-4 * upper + 1e-9:
            raise ParseError(number, f"a mid point of {(lower + upper) / 2:g}", match[3])
        report["histogram"].append({"lower_s": lower, "upper_s": upper, "responses": count})
        every = report["run"]["requests_started"]
        so_far = 100 * sum(row["responses"] for row in report["histogram"]) / every if every else 0.0
        if abs(so_far - share) > 0.011:
            raise ParseError(number, f"a percentile of {so_far:.2f}", match[4])
    else:
        raise ParseError(number, "a class or a target of fortio's histogram", line)


def _run(report: dict, warnings: list[str]) -> dict:
    run = {"tool": "fortio", "status": "finished", **report["run"]}
    run |= {"percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured"}
    count = run["requests_started"]
    if sum(report["codes"].values()) == count:
        run |= answers(report["codes"], count)
        if "qps" in report:
            run |= fortio_rates(run, report["qps"])
    else:
        warnings.append(f"line {report['line']}: no codes of all {count} calls, so what was answered is not known")
    if "qps" not in report:
        warnings.append(f"line {report['line']}: no line 'Ended after', so the rate is missing")
    return run


FORTIO = Form(
    "fortio",
    "",
    parse_fortio,
    (
        r"Fortio \S+ running at ",
        r"Ended after \S+ : [0-9]+ calls\.",
        r"Aggregated Function Time : count ",
    ),
    ending=Ending(r"All done .* qps", section=r"All done ", after=r"Sockets used:", name="'All done'"),
)
