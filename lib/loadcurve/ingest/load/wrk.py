"""wrk and wrk2: reports of ``wrk [--latency] URL`` and ``wrk2 -R RATE [-L|-U] URL`` into `runs` and `latency`.

Seen: Debian's wrk 4.1.0 and wrk2 (the samples of the tests: ``wrk -t2 -c64 -d2s --latency URL``,
``wrk2 -t1 -c32 -d12s -R2000 --latency URL``); wrk 1.x to 4.2, wrk2 and DeathStarBench's wrk2 in public repositories.

What wrk itself does (wrk 4.1.0, ``src/wrk.c``, ``src/stats.c``; numbers and units: `wrk_numbers`):

- ``Requests/sec`` and ``Transfer/sec`` are the printed totals over the *measured* time of the line ``N requests in T``
  (the heading shows the rounded option); a request is every response, whatever its status; a response with a status
  over 399 counts as ``Non-2xx or 3xx``; the two error lines are left out exactly when all their counts are 0.
- One counter per microsecond; a quantile is the nearest rank in them.  The counters hold no response later than the
  ``--timeout``: with none in time wrk prints 0.  A quantile of 0 is an empty counter, not a time.
- ``stats_correct`` adds those that coordinated omission hid, so mean, deviation and quantiles are of the corrected
  distribution.  That is of wrk 4.0.0 (``CHANGES``: every response is recorded, and the correction is new); 1 to 3
  record random samples as they are (3.1: ``src/wrk.c``, ``sample_rate``).  The heading of wrk 1 tells it; 2 and 3 look
  like 4 unless the text holds their version, so a report without one is taken for wrk 4.
- The duration of the heading is rounded to a whole unit: ``2m`` is 90 s to 150 s.  wrk 4 measures at least as long, so
  a run that was shorter was interrupted.

wrk2 sends at a rate it does not print, and counts from the instant a request was due (HdrHistogram of three digits,
``src/hdr_histogram.c``); the first ten seconds of each thread (calibration) are in the totals, not in the latencies.
It is told by its calibration lines, by ``HdrHistogram`` or by an echoed ``-R``.  DeathStarBench's wrk2 prints the 99th
percentile where wrk prints the maximum, and counts from the instant of sending (``response_complete``): not corrected.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.ending import Ending
from loadcurve.ingest.form import Form
from loadcurve.ingest.load.wrk_events import Heading, Report, contradiction
from loadcurve.ingest.load.wrk_pairs import paired
from loadcurve.ingest.load.wrk_report import Reader
from loadcurve.ingest.load.wrk_spectrum import Distribution
from loadcurve.ingest.parsed import Parsed

_ESTIMATOR = {
    "wrk": "nearest rank in 1 us bins",  # stats_percentile in src/stats.c; printed with two decimals
    "wrk2": "highest value of an HdrHistogram bin, 3 digits",  # hdr_value_at_percentile in src/hdr_histogram.c
}
_ERRORS = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status")
_SHORTER = 0.9  # wrk2 starts its clock when all threads are created, and they have begun to send (src/wrk.c)
_CORRECTS = 4  # first version of wrk with stats_correct
_OVER_RATE = 1.1  # a generator that holds a rate does not exceed it by a tenth: the command is of another run


_VERSION = re.compile(r"(?:\D*/)?([0-9]{1,2})\.[0-9]")  # also Debian's debian/4.1.0; a hash of git tells nothing


def parse_wrk(text: str) -> Parsed:
    """Tables `runs` and `latency` of every report of wrk or wrk2 in a text; one without a trace of wrk2 is wrk's.

    Lines around the reports (prompts, banners, what a Lua ``done()`` prints) are passed over.

    Parameters
    ----------
    text : str
        Standard output, or error output, of one or several runs.

    Returns
    -------
    Parsed
        `runs`: one row for each report and for each run that failed, `generator` counting them from 0; `status` is
        missing where the text ends inside a report.  `latency`: one row for each quantile.  Response times that wrk
        prints as 0 because it measured none are missing (NaN).

    Raises
    ------
    ParseError
        Where a report is garbled or contradicts itself grossly, and where there is none.

    Examples
    --------
    >>> report = '''Running 1s test @ http://198.18.0.3/sleep100
    ...   1 threads and 1 connections
    ...   Thread Stats   Avg      Stdev     Max   +/- Stdev
    ...     Latency   100.32ms   30.43us 100.38ms   77.78%
    ...     Req/Sec     9.44      1.67    10.00     88.89%
    ...   9 requests in 1.00s, 1.49KB read
    ... Requests/sec:      8.99
    ... Transfer/sec:      1.48KB'''
    >>> parse_wrk(report).tables["runs"][["requests", "throughput_rps", "errors_status"]].values.tolist()
    [[9.0, 8.99, 0.0]]
    """
    return _parse(text, "wrk")


def parse_wrk2(text: str) -> Parsed:
    r"""Like `parse_wrk`, for a text known to be of wrk2: also a report without a trace of wrk2 is wrk2's.

    Examples
    --------
    >>> failed = parse_wrk2("unable to connect to lb1:80 Connection refused\n")
    >>> failed.tool, failed.tables["runs"]["status"].tolist()
    ('wrk2', ['failed'])
    """
    return _parse(text, "wrk2")


def _parse(text: str, default: str) -> Parsed:
    reader = Reader()
    reader.read(text)
    warnings = reader.warnings
    runs: list[dict] = []
    latency: list[dict] = []
    for heading, report in sorted(paired(reader.events, warnings), key=lambda pair: (pair[1] or pair[0]).line):
        row, quantiles = _row(heading, report, default, reader.version, warnings)
        if row:
            generator = len(runs)
            version = {"tool_version": reader.version} if reader.version else {}
            runs.append({"generator": generator, **version, **row})
            latency += [{"generator": generator, **quantile} for quantile in quantiles]
    if not runs and reader.otherwise:
        runs.append({"generator": 0, "tool": default, "status": "failed", "reason": reader.otherwise})
    if not runs:
        lines = [(at, line.strip()) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
        raise ParseError(*((lines[0][0], "a wrk report", lines[0][1]) if lines else (1, "a wrk report", "")))
    tool = next((row["tool"] for row in runs if "tool" in row), default)
    return Parsed(tool, {"runs": runs, "latency": latency}, tuple(warnings), reader.version)


def _row(
    heading: Heading | None, report: Report | None, default: str, version: str, warnings: list[str]
) -> tuple[dict, list[dict]]:
    """One row of `runs` and its rows of `latency`; an empty row where there is nothing to tell."""
    if report is None:
        row = dict(heading.facts)
        failed = row.get("status") == "failed"
        if not row:
            return {}, []
        if not failed:
            warnings.append(f"line {heading.last}: no report after this heading; the run has no numbers")
        tool = heading.tool or (default if failed or default == "wrk2" else "")
        return {**({"tool": tool} if tool else {}), **row}, []
    if heading is None:
        warnings.append(f"line {report.line}: no heading before this report; URL, threads, connections are not known")
        heading = Heading(report.line)
    row = heading.facts | report.facts
    finished = bool(report.total[0] or report.throughput[0])
    if finished:
        row["status"] = "finished"
    elif report.reason:
        row |= {"status": "failed", "reason": report.reason}
    else:
        warnings.append(f"line {report.last or report.line}: the report ends here, without its totals")
    sure = finished or report.reason or default == "wrk2"  # a report cut short may lack what tells wrk2
    traces = (report.tool, heading.tool)
    tool = "wrk2" if "wrk2" in traces else "wrk" if "wrk" in traces else default if sure else ""
    if tool:
        major = _VERSION.match(version) if tool == "wrk" else None
        corrected = report.third != "99%" and "requests_asked" not in heading.facts
        corrected &= major is None or int(major[1]) >= _CORRECTS
        row |= {"tool": tool, "percentile_estimator": _ESTIMATOR[tool], "latency_corrected": corrected}
    if tool and report.facts.get("duration_s", math.inf) < _SHORTER * heading.least_s:
        shorter = f"measured {row['duration_s']:g} s of the {heading.option_s:g} s asked for"
        if tool == "wrk2":
            shorter += ": interrupted, or wrk2 took that long to start its threads, and its rates are too high"
        elif row.get("status") == "finished":
            row |= {"status": "interrupted", "reason": shorter}
        warnings.append(f"line {report.last}: {shorter}")
    quantiles = _latencies(report, row, warnings)
    if report.throughput[0]:
        row = dict.fromkeys(_ERRORS, 0) | row  # wrk prints these lines before, unless they are all 0
    _check_rates(report, row, warnings)
    if not quantiles and row.keys() <= {"tool", "percentile_estimator", "latency_corrected"}:
        return {}, []
    for name in [
        k for k, v in row.items() if isinstance(v, float) and math.isnan(v) and not k.endswith(("_s", "_rps"))
    ]:
        del row[name]
    return row, quantiles


def _latencies(report: Report, row: dict, warnings: list[str]) -> list[dict]:
    """Rows of `latency`; what the line 'Latency' lacks is taken from the spectrum's footer."""
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
    """Warn where the footer of a spectrum, in milliseconds, is not what the rest of the report says."""
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
    """Goodput, and a warning where the rates are not what the totals say."""
    facts = report.facts
    if "requests" in facts:
        duration, size = report.total
        for name, rate, total in (("requests", report.throughput, ""), ("received_bytes", report.transfer, size)):
            if rate[0] and (odd := contradiction(report, name, rate, duration, total)):
                warnings.append(odd)
        if "throughput_rps" in facts and "errors_status" in row:
            requests = facts["requests"]
            good = (requests - row["errors_status"]) / requests if requests else 0.0
            row["goodput_rps"] = facts["throughput_rps"] * good
    elif report.throughput[0]:
        warnings.append(f"line {report.throughput[1]}: no line 'N requests in T, S read' in this report")
    if report.throughput[0] and not report.transfer[0]:
        warnings.append(f"line {report.throughput[1]}: no line 'Transfer/sec' after this line")
    if report.total[0] and not report.throughput[0]:
        warnings.append(f"line {report.last}: no line 'Requests/sec' in this report")
    target = row.get("target_rate_rps", math.inf)
    if row.get("throughput_rps", 0.0) > target * _OVER_RATE:
        del row["target_rate_rps"]
        warnings.append(f"line {report.line}: more requests than the command before asked for; it is of another run")


_WRK = (
    r"Running \S+ test @",
    r"Making [0-9]+ requests to ",
    r"[0-9]+\s+threads and\s+[0-9]+\s+connections\s*$",
    r"Thread (?:Stats\s+Avg\s+Stdev\s|calibration: mean lat)",
    r"Test Results @ ",
    r"Latency Distribution(?: \(HdrHistogram - .*)?$",
    r"Usage: wrk ",
    r"invalid URL: ",
    r"number of connections must be >= threads",
    r"Throughput MUST be specified",
    r"unable to (?:connect to|resolve) \S+:\S+ [A-Za-z]",
    r"unable to create thread [0-9]",
    r"(?:[\w./-]+: )?(?:line )?(?:[0-9]+: )?(?:[\w./-]*/)?wrk2?: (?:command )?not found",
    r"zsh: command not found: wrk",
    r"PANIC: unprotected error in call to Lua API",
    r"(?<![\s\S])Killed by signal [0-9]+\.\s*\Z",
)

_WRK_ENDING = Ending(
    r"Transfer/sec:[ \t]+[0-9.]+[KMGTP]?B",
    section=r"Transfer/sec:",
    after=r"[0-9]+ requests in ",
    name="'Transfer/sec:'",
)

WRK = Form(
    "wrk",
    "",
    parse_wrk,
    _WRK,
    ending=_WRK_ENDING,
    # wrk2 prints the headings of wrk; `parse_wrk` reads both.
    before=("wrk2",),
)

WRK2 = Form("wrk2", "", parse_wrk2, _WRK, ending=_WRK_ENDING)
