"""Runs of wrk and wrk2: their numbers, their quantiles, which heading belongs to which report, and their rows.

Numbers have two decimals and a unit without a space (wrk 4.1.0, ``src/units.c``): counts are 1000-based (``k M G``),
bytes 1024-based although written ``KB MB GB``, times ``us ms s m h``.  wrk switches to the next unit at 0.85 of it, so
``0.95m`` is a valid number, 57 s.

A block of quantiles has wrk's four lines, wrk2's eight, or wrk2's detailed spectrum (wrk 4.1.0 ``print_stats_latency``
in ``src/wrk.c``; wrk2 ``print_hdr_latency`` in ``src/wrk.c`` and ``hdr_percentiles_print`` in ``src/hdr_histogram.c``).
In a spectrum, value and mean are milliseconds (its microseconds / 1000), ``TotalCount`` is the number of responses up
to the value, and the last row has ``inf``.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.report_text import is_prose

_SIZES = {unit: 1024.0**power for power, unit in enumerate(["B", "KB", "MB", "GB", "TB", "PB"])}
# Suffix of a column → the units that wrk prints there, and an example.
_UNITS: dict[str, tuple[dict[str, float], str]] = {
    "_bytes_per_s": (_SIZES, "a size such as 2.03KB"),
    "_bytes": (_SIZES, "a size such as 2.03KB"),
    "_per_thread": ({unit: 1000.0**power for power, unit in enumerate(["", *"kMGTP"])}, "a count such as 1.20k"),
    "_ratio": ({"%": 0.01}, "a percentage such as 75.00%"),
    "_rps": ({"": 1.0}, "a rate such as 128408.94"),
    "_s": ({"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}, "a time such as 1.20ms"),
}
_NUMBER = re.compile(r"([0-9]{1,18}(?:\.([0-9]{1,9}))?)([A-Za-z%]*)")
_NAN = re.compile(r"-?nan(?:us|%)?|-?inf")
_WHOLE = re.compile(r"-?[0-9]{1,18}")

_HEADING = re.compile(r"Latency Distribution(?: \(HdrHistogram - (.*)\))?")
_SEVERAL = re.compile(r"[ \t]+(?=[0-9]{1,3}(?:\.[0-9]+)?%[ \t])")
_RANK = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")
_UNITLESS_TAIL = re.compile(r".*[0-9]m")  # at a text's end `2.55m` may have been `2.55ms`
_COLUMNS = re.compile(r"Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)")
_SPECTRUM_ROW = re.compile(
    r"(-?[0-9]{1,15}\.[0-9]{1,9})\s+(-?[0-9]{1,15}\.[0-9]{1,9})\s+(\S+)\s+(-?(?:[0-9]{1,15}\.[0-9]{1,9}|inf))"
)
_FOOTER_LIKE = re.compile(r"#?\[(?:Mean|Max|Buckets)\b")
_FOOTER = re.compile(r"#?\[(Mean|Max|Buckets)\s*=\s*(\S+),\s+(StdDeviation|Total count|SubBuckets)\s*=\s*(\S+)\]")
_FOOTER_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?|-?nan")
_FINE = 1e5  # 1/(1-percentile) from which six decimals no longer distinguish the percentiles of rows

_ESTIMATOR = {
    "wrk": "nearest rank in 1 us bins",  # stats_percentile in src/stats.c; printed with two decimals
    "wrk2": "highest value of an HdrHistogram bin, 3 digits",  # hdr_value_at_percentile in src/hdr_histogram.c
}
_ERRORS = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status")
_SHORTER = 0.9  # wrk2 starts its clock after its threads have begun to send (src/wrk.c)
_CORRECTS = 4  # first version of wrk with stats_correct
_OVER_RATE = 1.1  # a generator with a fixed rate does not exceed it by a tenth: the command belongs to another run
_MAJOR = re.compile(r"(?:\D*/)?([0-9]{1,2})\.[0-9]")  # also of Debian's debian/4.1.0; a hash of git has none


@cache
def units_of(column: str) -> tuple[dict[str, float], str]:
    """Return the units that wrk prints in a column, in SI, none for a count or a word; and what an error expects."""
    return next((known for suffix, known in _UNITS.items() if column.endswith(suffix)), ({}, "a whole number"))


def number(column: str, token: str, line: int, warnings: list[str]) -> float | int:
    """Return one printed number in the unit of its column; ``-nan`` is missing.

    A number that somebody rounded by hand (``70.2s``) is taken as written, with a warning; a count below 0, as ``%d``
    prints a counter over 2 147 483 647, is missing with a warning.
    """
    units, expected = units_of(column)
    if not units:
        if not _WHOLE.fullmatch(token):
            raise ParseError(line, expected, token)
        if token[0] == "-":
            warnings.append(f"line {line}: {token} is a counter that overflowed; missing")
            return math.nan
        return int(token)
    match = _NUMBER.fullmatch(token)
    if match is None or match[3] not in units:
        if _NAN.fullmatch(token):
            return math.nan
        raise ParseError(line, expected, token)
    if match[2] is None or len(match[2]) != 2:
        warnings.append(f"line {line}: {token!r} has not the two decimals that wrk prints; taken as written")
    return float(match[1]) * units[match[3]]


def _rounding(column: str, token: str) -> float:
    """Return half a unit of the last digit of a number that `number` has read, or 0 of a count."""
    match, (units, _) = _NUMBER.fullmatch(token), units_of(column)
    return 0.5 * 10.0 ** -len(match[2] or "") * units[match[3]] if match and units else 0.0


@dataclass(slots=True)
class Distribution:
    """One block of quantiles."""

    hdr: bool
    corrected: bool
    quantiles: list[tuple[float, float]] = field(default_factory=list)
    spectrum: list[tuple[float, float, float]] = field(default_factory=list)
    footer: dict[str, float] = field(default_factory=dict)
    detailed: bool = False  # the lines that follow are those of a spectrum
    longest: float = 0.0
    lines: dict[str, int] = field(default_factory=dict)  # of the last quantile, and of each number of the footer

    @classmethod
    def of_heading(cls, cursor: Cursor) -> "Distribution | None":
        """Return the block that the current line opens; None if it opens none."""
        if cursor.line.startswith("Latency"):
            match = cursor.expect(_HEADING, "'Latency Distribution' or 'Latency Distribution (HdrHistogram - …)'")
            return cls(match[1] is not None, not (match[1] or "").startswith("Uncorrected"))
        if not cursor.line.startswith("Detailed Percentile spectrum") and not cursor.match(_COLUMNS):
            return None
        cursor.warn("a spectrum begins here without its line 'Latency Distribution'; taken as corrected")
        return cls(hdr=True, corrected=True, detailed=True)

    def take(self, cursor: Cursor) -> bool:
        """Read the current line; False if it is not part of this block."""
        line = cursor.line
        first, *others = line.split()
        if first[-1] == "%" and not self.detailed:
            if not others or is_prose(line):
                return False
            if cursor.at_end and cursor.match(_UNITLESS_TAIL):
                cursor.fail("a time that is not cut")
            for part in _SEVERAL.split(line):  # people put two in one line
                self._take_quantile(part, cursor)
        elif line.startswith("Detailed Percentile spectrum"):
            self.detailed = True
        elif first == "Value" and "Percentile" in line:
            cursor.expect(_COLUMNS, "'Value   Percentile   TotalCount 1/(1-Percentile)'")
            self.detailed = True
        elif _FOOTER_LIKE.match(line):
            self._take_footer(cursor)
        elif not self.detailed or self.footer or len(others) != 3 or first in ("Detailed", "Value") or line[0] in "#[":
            return False
        else:
            self._take_row(cursor)
        return True

    def _take_quantile(self, part: str, cursor: Cursor) -> None:
        rank, value, rest = [*part.split(None, 2), "", ""][:3]
        match = _RANK.fullmatch(rank) or cursor.fail("a percentile such as 99%", rank)
        quantile = round(float(match[1]) / 100, 12)
        latency = number("latency_s", value, cursor.number, cursor.warnings)
        before = self.quantiles[-1][0] if self.quantiles else 0.0
        if not before < quantile <= 1:
            cursor.fail(f"a percentile over {before:.3%}, up to 100%", rank)
        if 0 < latency < self.longest:
            cursor.fail("a time not below that of the percentile before", value)
        self.quantiles.append((quantile, latency or math.nan))  # no response takes 0 us, so the counter was empty
        self.longest = max(self.longest, latency) if latency > 0 else self.longest
        self.lines["quantiles"] = cursor.number
        if rest:
            cursor.warn(f"{rest!r} after the time is ignored")

    def _take_row(self, cursor: Cursor) -> None:
        value, percentile, count, inverse = cursor.expect(
            _SPECTRUM_ROW, "milliseconds, percentile, count and 1/(1-percentile)"
        ).groups()
        latency, quantile, responses = float(value) / 1000, float(percentile), number("", count, cursor.number, [])
        if _FINE < float(inverse) < math.inf:
            quantile = 1 - 1 / float(inverse)
        before = self.spectrum[-1] if self.spectrum else (-1.0, -1.0, -1)
        if not before[0] <= quantile <= 1 or latency < max(before[1], 0) or responses < before[2]:
            cursor.fail("no number below that of the row before")
        self.spectrum.append((quantile, latency if responses else math.nan, responses))

    def _take_footer(self, cursor: Cursor) -> None:
        match = cursor.expect(_FOOTER, "a line such as '#[Mean    =        0.703, StdDeviation   =        0.386]'")
        for name, token in ((match[1], match[2]), (match[3], match[4])):
            if not _FOOTER_NUMBER.fullmatch(token):
                cursor.fail("a number", token)
            self.footer[name] = float(token)
            self.lines[name] = cursor.number

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield rows of `latency`: each quantile once, from its line if there is one, otherwise from the spectrum."""
        counts = {quantile: responses for quantile, _, responses in self.spectrum}
        printed = {quantile for quantile, _ in self.quantiles}
        for quantile, latency in self.quantiles:
            count = {"responses": counts[quantile]} if quantile in counts else {}
            yield {"quantile": quantile, "latency_s": latency, "corrected": self.corrected, **count}
        for quantile, latency, responses in self.spectrum:
            if quantile not in printed:
                yield {"quantile": quantile, "latency_s": latency, "corrected": self.corrected, "responses": responses}


@dataclass(slots=True)
class Heading:
    """``Running 10s test @ URL`` and the lines that follow it before any number is known; or a run that failed."""

    line: int
    facts: dict[str, Any] = field(default_factory=dict)
    tool: str = ""
    option_s: float = 0.0  # the requested duration, rounded to whole units
    least_s: float = 0.0  # the least duration that wrk prints this way
    closed: bool = False  # other text was printed since
    last: int = 0  # line of its last line
    never_began: bool = False  # wrk printed an error instead of a heading


@dataclass(slots=True)
class Report:
    """The numbers of one run, from ``Thread Stats`` to ``Transfer/sec``."""

    line: int
    facts: dict[str, Any] = field(default_factory=dict)
    printed: dict[str, tuple[str, int]] = field(default_factory=dict)  # the facts as printed, and their lines
    tool: str = ""
    url: str = ""
    overall: bool = False  # sums the reports of several URLs
    third: str = ""  # the third column of Thread Stats: Max, or 99% in DeathStarBench's wrk2
    tail_s: float = math.nan  # its value when it is not the maximum
    measured: bool = True
    blocks: list[Distribution] = field(default_factory=list)
    ended: bool = False
    reason: str = ""
    last: int = 0


def paired(events: list[Heading | Report], warnings: list[str]) -> Iterator[tuple[Heading, Report | None]]:
    """Yield each report with its heading, headings without a report, and runs that did not start.

    Runs in the background print their headings and reports out of order.  A report without a heading gets one that
    knows only its line, with a warning.

    Examples
    --------
    >>> heading, report = Heading(1, {"url": "http://h/"}), Report(3)
    >>> [(h.line, r.line) for h, r in paired([heading, report], [])]
    [(1, 3)]
    """
    headings: list[Heading] = []
    reports: list[Report] = []
    for event in events:
        if isinstance(event, Report):
            reports.append(event)
        elif event.never_began:
            yield event, None
        else:
            if reports:
                yield from _group(headings, reports, warnings)
                headings, reports = [], []
            headings.append(event)
    yield from _group(headings, reports, warnings)


def _group(
    headings: list[Heading], reports: list[Report], warnings: list[str]
) -> Iterator[tuple[Heading, Report | None]]:
    """Pair headings that follow each other with the reports after them."""
    if len(headings) == 1 and len(reports) == 1 and not reports[0].url:  # the usual case
        yield headings[0], reports[0]
        return
    shared = _shared(headings)
    by_url: dict[str, list[Heading]] = {}
    for heading in reversed(headings):
        by_url.setdefault(heading.facts.get("url", ""), []).append(heading)
    taken: set[int] = set()
    rest = []
    for report in reports:
        if report.url and by_url.get(report.url):
            own = by_url[report.url].pop()
            taken.add(own.line)
            yield own, report
        elif report.overall or report.url:  # DeathStarBench's wrk2, whose URLs have the same threads and connections
            facts = {k: v for k, v in shared.items() if k != "url"} | ({"url": report.url} if report.url else {})
            if report.overall or len(headings) == 1:
                taken.update(h.line for h in headings)
            yield Heading(report.line, facts, "wrk2", last=report.line), report
        else:
            rest.append(report)
    left = [h for h in headings if h.line not in taken]
    waiting = [h for h in left if not h.closed]
    if len(rest) > len(waiting):
        waiting = left
    else:
        yield from ((h, None) for h in left if h.closed)
    if len(waiting) > 1:
        warnings.append(
            f"line {waiting[0].line}: {len(waiting)} headings in a row, {len(rest)} reports after them; which belong "
            "together is not known, so only what the headings share is kept"
        )
        shared = _shared(waiting)
        waiting = [Heading(h.line, dict(shared), waiting[0].tool, last=h.last) for h in waiting]
    for own, report in zip_longest(waiting, rest):
        if own is None and report is not None:
            own = Heading(report.line)
            known = "URL, threads and connections are not known"
            warnings.append(f"line {report.line}: no heading before this report; {known}")
        if own is not None:
            yield own, report


def _shared(headings: list[Heading]) -> dict[str, Any]:
    first = headings[0].facts if headings else {}
    return {k: v for k, v in first.items() if all(h.facts.get(k) == v for h in headings)}


def rows_of(
    heading: Heading, report: Report | None, default: str, version: str, warnings: list[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
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
    finished = not report.facts.keys().isdisjoint(("requests", "throughput_rps"))
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
        elif finished:
            row |= {"status": "interrupted", "reason": shorter}
        warnings.append(f"line {report.last}: {shorter}")
    if tool and heading.least_s and heading.least_s == heading.option_s:
        row["duration_asked_s"] = heading.option_s
    quantiles = _latencies(report, row, warnings)
    if "throughput_rps" in report.facts:
        row = dict.fromkeys(_ERRORS, 0) | row  # wrk prints these lines before, unless they are all 0
    _check_rates(report, row, warnings)
    if not quantiles and row.keys() <= {"tool", "percentile_estimator", "latency_corrected"}:
        return {}, []
    missing = [name for name, value in row.items() if value != value and not name.endswith(("_s", "_rps"))]
    return {name: value for name, value in row.items() if name not in missing}, quantiles


def _latencies(report: Report, row: dict[str, Any], warnings: list[str]) -> list[dict[str, Any]]:
    """Return the rows of `latency`, and complete `row` from the footer of the spectrum."""
    quantiles = [quantile for block in report.blocks for quantile in block.rows()]
    _, line = report.printed.get("latency_mean_s", ("", 0))
    if report.third == "99%" and line and "requests" in report.facts and all(q["quantile"] != 0.99 for q in quantiles):
        quantiles.append({"quantile": 0.99, "latency_s": report.tail_s, "corrected": False})
    for quantile in quantiles:
        quantile["corrected"] = quantile["corrected"] and row.get("latency_corrected", quantile["corrected"])
        if not report.measured:
            quantile["latency_s"] = math.nan
    if not report.measured:
        warnings.append(f"line {line}: no response time was measured; what is printed as 0 is missing")
    elif line:
        row["latency_origin"] = "measured"
        if any(math.isnan(v) for v in (row["latency_stdev_s"], *(q["latency_s"] for q in quantiles))):
            at = next((b.lines["quantiles"] for b in report.blocks if "quantiles" in b.lines), line)
            warnings.append(f"line {at}: times that are printed as 0 or nan were not measured; missing")
    for block in report.blocks:
        if block.footer and block.corrected:
            _check_footer(block, report, row, warnings)
    return quantiles


def _check_footer(block: Distribution, report: Report, row: dict[str, Any], warnings: list[str]) -> None:
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


def _check_rates(report: Report, row: dict[str, Any], warnings: list[str]) -> None:
    """Warn if the rates contradict the totals."""
    printed = report.printed
    if "requests" in printed:
        _check_rate(report, "requests", "throughput_rps", warnings)
        _check_rate(report, "received_bytes", "received_bytes_per_s", warnings)
        if "throughput_rps" not in printed:
            warnings.append(f"line {report.last}: no line 'Requests/sec' in this report")
    elif "throughput_rps" in printed:
        at = printed["throughput_rps"][1]
        warnings.append(f"line {at}: no line 'N requests in T, S read' in this report")
    if "throughput_rps" in printed and "received_bytes_per_s" not in printed:
        warnings.append(f"line {printed['throughput_rps'][1]}: no line 'Transfer/sec' after this line")
    if row.get("throughput_rps", 0.0) > row.get("target_rate_rps", math.inf) * _OVER_RATE:
        del row["target_rate_rps"]
        more = "more requests than the command before it asked for, so that command is of another run"
        warnings.append(f"line {report.line}: {more}")


def _check_rate(report: Report, total: str, column: str, warnings: list[str]) -> None:
    """Warn if a rate is not total / duration within the rounding.

    A rate that is wrong by more than a factor of two is rejected: a digit or a unit is lost, or the lines belong to
    several runs.
    """
    amount, seconds, rate = (report.facts.get(name, math.nan) for name in (total, "duration_s", column))
    if not (math.isfinite(amount) and math.isfinite(seconds) and math.isfinite(rate)):
        return
    token, at = report.printed[column]
    around, around_s, around_rate = (_rounding(name, report.printed[name][0]) for name in (total, "duration_s", column))
    low = (amount - around) / (seconds + around_s) * (1 - 1e-9)
    high = (amount + around) / (seconds - around_s) * (1 + 1e-9) if seconds > around_s else math.inf
    if low <= rate + around_rate and rate - around_rate <= high:
        return
    expected = f"{total} / duration, which is {low:.2f} to {high:.2f} per second"
    if rate < low / 2 or rate > high * 2:
        raise ParseError(at, expected, token)
    warnings.append(f"line {at}: expected {expected}, got {token!r}; taken as written")
