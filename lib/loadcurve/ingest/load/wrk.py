"""wrk and wrk2: read reports of ``wrk [--latency] URL``, ``wrk2 -R RATE [-L|-U] URL`` into `runs` and `latency`.

Seen: Debian's wrk 4.1.0 and wrk2 (the samples of the tests: ``wrk -t2 -c64 -d2s --latency URL``,
``wrk2 -t1 -c32 -d12s -R2000 --latency URL``); wrk 1.x to 4.2, wrk2 and DeathStarBench's wrk2 in public repositories.

Output of wrk (wrk 4.1.0, ``src/wrk.c``, ``src/stats.c``; for its numbers and units see `wrk_runs`):

- ``Requests/sec`` and ``Transfer/sec`` are the printed totals divided by the *measured* time of the line
  ``N requests in T`` (the heading shows the rounded option).  A response of any status counts as a request; one with a
  status over 399 counts as ``Non-2xx or 3xx``.  wrk omits each of the two error lines when all its counts are 0.
- wrk has one counter per microsecond; a quantile is the nearest rank in them.  No counter holds a response later than
  ``--timeout``: if every response is late, wrk prints 0.  A quantile of 0 is an empty counter, not a time.
- ``stats_correct`` adds the responses that coordinated omission hid, so mean, deviation and quantiles describe the
  corrected distribution.  wrk 4.0.0 introduced it (``CHANGES``: every response is recorded, and the correction is new);
  1 to 3 record random samples without a correction (3.1: ``src/wrk.c``, ``sample_rate``).  wrk 1 has another heading; 2
  and 3 print the heading of 4, so a report without a version is read as one of wrk 4.
- The duration of the heading is rounded to a whole unit: ``2m`` is 90 s to 150 s.  wrk 4 measures at least as long, so
  a shorter run was interrupted.

wrk2 sends at a rate that it does not print, and times a request from when it was due (HdrHistogram of three digits,
``src/hdr_histogram.c``); the first ten seconds of each thread (calibration) are in the totals, not in the latencies.
Its calibration lines, ``HdrHistogram`` or an echoed ``-R`` distinguish it from wrk.  DeathStarBench's wrk2 prints the
99th percentile where wrk prints the maximum, and times a request from when it is sent (``response_complete``): not
corrected.
"""

import math
import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.load.wrk_runs import Distribution, Heading, Report, number, paired, rows_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

# Kind → how its lines begin; the whole line, in which a group's name is the column and its suffix the unit; and what an
# error expects where a line only begins so (empty where another program may print such a line).  The first kind that
# fits takes the line, by the method `_take_KIND` of `Reader`.
_LINES = {
    "heading": (
        r"(?:Running|Making)(?!\S)",
        r"(?:Running (\S+) test @|Making (\S+) requests to)(?:\s+(\S+))?\s*(.*)",
        "",
    ),
    "calibration": (r"Thread calibration:", r".*", ""),
    "thread_stats": (
        r"Thread Stats",
        r"Thread Stats\s+Avg\s+Stdev\s+(Max|99%)(?:\s+(?:\+/-|±)\s*Stdev)?",
        "'Thread Stats   Avg      Stdev     Max   +/- Stdev'",
    ),
    "url": (r"Test Results @", r"Test Results @\s*(.*)", ""),
    "sent": (r"Sent(?!\S)", r"Sent\s+(?P<requests_started>\S+)\s+requests", ""),
    "distribution": (r"Latency Distribution|Detailed Percentile spectrum|Value(?!\S)", r".*", ""),
    "latency": (
        r"Latency(?!\S)",
        r"Latency\s+(?P<latency_mean_s>\S+)\s+(?P<latency_stdev_s>\S+)\s+(?P<third_s>\S+)\s+(?P<within_ratio>\S+)",
        "",
    ),
    "thread_rates": (
        r"Req/Sec(?!\S)",
        r"Req/Sec\s+(?P<mean_per_thread>\S+)\s+(?P<stdev_per_thread>\S+)\s+(?P<max_per_thread>\S+)"
        r"\s+(?P<within_ratio>\S+)",
        "'Req/Sec' and its four numbers",
    ),
    "socket_errors": (
        r"Socket errors:",
        r"Socket errors:\s*connect (?P<errors_connect>\S+),\s+read (?P<errors_read>\S+),"
        r"\s+write (?P<errors_write>\S+),\s+timeout (?P<errors_timeout>\S+)",
        "'Socket errors: connect N, read N, write N, timeout N'",
    ),
    "status_errors": (
        r"Non-2xx or 3xx responses:",
        r"Non-2xx or 3xx responses:\s*(?P<errors_status>\S+)",
        "'Non-2xx or 3xx responses: N'",
    ),
    "rate": (r"(?:Requests|Transfer)/sec:(?!\S)", r"(Requests|Transfer)/sec:(.*)", ""),
    "sizes": (
        r".*threads and",
        r"(?P<threads>\S+)\s+threads and\s+(?P<connections>\S+)\s+connections",
        "'N threads and N connections'",
    ),
    "totals": (
        r".*requests in",
        r"(?:Overall\s+)?(?P<requests>\S+)\s+requests in\s+(?P<duration_s>\S+),\s+(?P<received_bytes>\S+)\s+read",
        "'N requests in T, S read'",
    ),
}
_KIND = re.compile("|".join(f"(?P<{kind}>{begins})" for kind, (begins, _, _) in _LINES.items()))
_PATTERNS = {kind: re.compile(pattern) for kind, (_, pattern, _) in _LINES.items()}
_LONGEST = 4096  # characters; wrk prints no longer line
_DURATION = re.compile(r"([0-9]{1,9})([smh])")

_VERSION = re.compile(r"wrk (\S+) \[\w+\] Copyright .*")
# Other tools copied wrk's heading: autocannon and go-wrk (the line after it distinguishes them).
_LOOK_ALIKE = re.compile(r"[0-9]+ connections\b.*|[0-9]+ goroutine\(s\) running.*")
# DeathStarBench's wrk2 writes these while it runs, once for each connection.
_CHATTER = re.compile(r"reconnect_socket|script_want_response|filename \S+")
_USAGE = "Usage: wrk <options> <url>"
# src/wrk.c of wrk 4.1.0 and wrk2; getopt; the shells; LuaJIT.  After each of them there is no run.
_STARTUP = re.compile(
    r"unable to (?:connect to|resolve|create thread|initialize SSL)\b.*"
    r"|invalid URL: .*"
    r"|number of connections must be >= threads"
    r"|Throughput MUST be specified with the --rate or -R option"
    r"|Usage: wrk\b.*"
    r"|(?:\S+: ){0,2}(?:line [0-9]+: |[0-9]+: )?(?:\S*/)?[‘']?wrk2?['’]?: "
    r"(?:command not found|not found|No such file or directory|Permission denied"
    r"|cannot execute.*|unrecognized option.*|invalid option.*|option requires.*|error while loading.*)"
    r"|zsh: (?:command not found|no such file or directory|permission denied): \S*wrk2?"
    r"|PANIC: unprotected error.*"
)
_KILLED = re.compile(
    r"(?:\S+: line [0-9]+: +)?(?:\[[0-9]+\][+-]? +)?(?:[0-9]+ +)?(?:zsh: )?"
    r"(?:[Kk]illed|[Tt]erminated|[Ss]egmentation fault|[Aa]borted|[Aa]bort|[Bb]us error|Illegal instruction)"
    r"(?:: [0-9]+)?(?: \(core dumped\))?(?:\.|\s+\S*wrk.*)?"
    r"|Killed by signal [0-9]+\."
    r"|Command terminated by signal [0-9]+"
)
# A text that ends in one of these ends in a complete sentence (strerror and gai_strerror of glibc, musl and macOS).
_WHOLE_REASON = (
    "onnection refused", "onnection timed out", "peration timed out", "onnection reset by peer", "o route to host",
    "etwork is unreachable", "ost is unreachable", "ost is down", "oo many open files", "annot allocate memory",
    "esource temporarily unavailable", "annot assign requested address", "nvalid argument", "ermission denied",
    "emporary failure in name resolution", "ame or service not known", "ame does not resolve", "ry again",
    "servname provided, or not known", "o such file or directory", "roken pipe", "rotocol not supported",
    "ot found", ">= threads", "-R option", "signal 2.", "Usage: wrk <options> <url>",
)  # fmt: skip

_COMMAND = re.compile(r"(?:^|[\s/$#>(`])wrk2?\s+\S")
_RATE = re.compile(r"\s(?:-R|--rate)[ =]?\s{0,9}([0-9]{1,12}(?:\.[0-9]{1,6})?)([kKmMgG]?)(?=[\s`'\")]|$)")
_RATE_UNIT = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


def parse_wrk(text: str) -> Parsed:
    """Tables `runs` and `latency` of every report of wrk or wrk2 in a text; wrk is assumed unless a line shows wrk2.

    Lines around the reports (prompts, banners, what a Lua ``done()`` prints) are skipped.
    """
    return _parse(text, "wrk")


def parse_wrk2(text: str) -> Parsed:
    """Like `parse_wrk`, but wrk2 is assumed for every report."""
    return _parse(text, "wrk2")


def _parse(text: str, default: str) -> Parsed:
    reader = Reader(text)
    warnings = reader.warnings
    version = {"tool_version": reader.version} if reader.version else {}
    runs: list[dict[str, list[dict[str, Any]]]] = []
    for heading, report in sorted(paired(reader.events, warnings), key=lambda run: (run[1] or run[0]).line):
        row, quantiles = rows_of(heading, report, default, reader.version, warnings)
        if row:
            runs.append({"runs": [{**version, **row}], "latency": quantiles})
    if not runs and reader.otherwise:
        runs.append({"runs": [{"tool": default, "status": "failed", "reason": reader.otherwise}]})
    if not runs:
        return reader.cursor.failed_run("a wrk report")
    tables = with_generator_numbers(("runs", "latency"), runs)
    tool = next((row["tool"] for row in tables["runs"] if "tool" in row), default)
    return Parsed(tool, tables, tuple(warnings), reader.version)


def _plain(line: str) -> str:
    """Remove what people and terminals add around a line: spaces, Markdown, ``^C``."""
    line = line.strip(" \t\r*`")
    while line.startswith("^C"):
        line = line[2:].lstrip()
    return line if line.strip() else ""  # control characters are not a word


class Reader:
    """Sorts the lines of a text into headings, reports and runs that did not start.

    The words of each line identify it, so lines of a Lua script, prompts and rulers may occur between them.
    """

    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text, "wrk", _plain)
        self.warnings = self.cursor.warnings
        self.events: list[Heading | Report] = []  # in the order of the text
        self.version = ""  # as `wrk -v` prints it; empty if the text does not show it
        self.otherwise = ""  # why a text holds no run: a process was killed, or wrk printed only its version
        self._heading: Heading | None = None  # the one whose lines or report follow
        self._report: Report | None = None
        self._failure: Heading | None = None
        self._block: Distribution | None = None
        self._foreign: tuple[int, int] | None = None  # first and last line inside a report that do not belong to it
        self._rates: set[float] = set()  # of the commands since the last heading
        self._wrk2 = False  # the command since the last heading is of wrk2
        self._asked_version = False
        for line in self.cursor:
            self._read(line)

    def _read(self, line: str) -> None:
        """Read a line; a last line without a newline may be cut off, and is left out if that is visible."""
        inside = self._is_inside()
        try:
            if len(line) > _LONGEST or not self._take(line):
                self._take_other(line[:_LONGEST])
            elif inside or self._is_inside():
                self._note_own()
        except ParseError as error:
            if not (inside or self._is_inside()):  # prose such as "Requests/sec: about 500"
                self.cursor.warn(f"like a line of wrk, but outside a report, so left out: {error.got!r}")
            elif not self.cursor.at_end:
                raise
            else:
                self.cursor.warn(f"the text ends in this line, so it is left out: {error.got!r}")

    def _take(self, line: str) -> bool:
        """Take a line of wrk; False if it is another line."""
        if self._block is not None and self._block.take(self.cursor):
            return True
        found = _KIND.match(line)
        if found is None or found.lastgroup is None:
            return False
        kind, expected = found.lastgroup, _LINES[found.lastgroup][2]
        if match := self.cursor.match(_PATTERNS[kind]):
            return getattr(self, f"_take_{kind}")(match) is not False
        others = (kind == "sizes" and not self._awaits_sizes()) or (
            kind == "totals" and not (self._report and not self._report.ended and " read" in line)
        )
        return self.cursor.fail(expected) if expected and not others else False

    def _is_inside(self) -> bool:
        return self._heading is not None or (self._report is not None and not self._report.ended)

    def _awaits_sizes(self) -> bool:
        return self._heading is not None and "threads" not in self._heading.facts

    def _number(self, column: str, token: str) -> float | int:
        return number(column, token, self.cursor.number, self.warnings)

    def _add(self, tokens: dict[str, str]) -> Report:
        """Add the numbers of the current line to its report; a report has each of them once."""
        columns = {name: self._number(name, token) for name, token in tokens.items()}
        report = self._open_report()
        if not columns.keys().isdisjoint(report.facts):
            self.cursor.fail("one such line in a report")
        report.facts |= columns
        report.printed |= {name: (token, self.cursor.number) for name, token in tokens.items()}
        return report

    def _note_own(self) -> None:
        """Note that the current line belongs to the open report or heading; warn of foreign lines before it."""
        opened = self._report or self._heading
        if opened is None:
            return
        if self._foreign:
            first, last = self._foreign
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            self.warnings.append(f"{where}: inside a report but not printed by wrk; ignored")
            self._foreign = None
        opened.last = self.cursor.number

    def _open_report(self) -> Report:
        """Return the report that a line belongs to; one begins here when none is open."""
        if self._report is None or self._report.ended:
            self.cursor.warn("a report begins here without its line 'Thread Stats'")
            return self._begin_report(Report(self.cursor.number))
        return self._report

    def _begin_report(self, report: Report) -> Report:
        """Open a report at the current line; the open heading is its own."""
        if self._heading is None:
            self._foreign = None  # those lines were before it
        self._heading = self._block = self._failure = None
        self._report = report
        report.last = self.cursor.number
        self.events.append(report)
        return report

    def _begin_heading(self, heading: Heading) -> Heading:
        """Open a heading at the current line."""
        self._foreign = self._report = self._block = self._failure = None
        self._heading = heading
        heading.last = self.cursor.number
        self.events.append(heading)
        return heading

    # Each of these takes the lines of one kind; False for a line that another program printed.

    def _take_heading(self, match: re.Match[str]) -> None:
        option, requests, url, rest = match.groups()
        if "threads and" in rest or "Thread Stats" in rest:
            self.cursor.fail("a line's end after the URL")
        heading = Heading(self.cursor.number)
        if requests is not None:
            heading.facts["requests_asked"] = self._number("requests_asked", requests)
            heading.tool = "wrk"
        elif duration := _DURATION.fullmatch(option):
            count, unit = int(duration[1]), {"s": 1.0, "m": 60.0, "h": 3600.0}[duration[2]]
            heading.option_s = count * unit
            # Seconds are whole; from 0.85 of a minute or an hour on they are rounded to it (src/units.c).
            heading.least_s = count if unit == 1 else max(count - 0.5, 0.85) * unit
        else:
            self.cursor.warn(f"{option!r} is not a duration such as 10s")
        if url and not self.cursor.at_end:
            heading.facts["url"] = url
        if rest:
            self.cursor.warn(f"{rest!r} after the URL is ignored")
        if self._wrk2:
            heading.tool = "wrk2"
        if len(self._rates) == 1:
            heading.facts["target_rate_rps"] = next(iter(self._rates))
        self._rates.clear()
        self._wrk2 = False
        self._begin_heading(heading)

    def _take_sizes(self, match: re.Match[str]) -> None:
        heading = self._heading if self._awaits_sizes() else None
        sizes = {name: self._number(name, token) for name, token in match.groupdict().items()}
        if heading is None:
            heading = self._begin_heading(Heading(self.cursor.number))
            self.cursor.warn("no heading 'Running … test @ URL' before this line; the URL is not known")
        heading.facts |= sizes

    def _take_calibration(self, match: re.Match[str]) -> None:
        for event in reversed(self.events):  # with several URLs or in the background, headings follow each other
            if not isinstance(event, Heading) or event.never_began or event.closed or event.tool:
                break
            event.tool = "wrk2"

    def _take_thread_stats(self, match: re.Match[str]) -> None:
        report = self._report
        if report is None or report.third or not (report.url or report.overall):
            report = self._begin_report(Report(self.cursor.number))
        report.third = match[1]
        if match[1] == "99%":
            report.tool = "wrk2"

    def _take_url(self, match: re.Match[str]) -> None:
        url = "" if self.cursor.at_end else match[1]
        self._begin_report(Report(self.cursor.number, tool="wrk2", url=url))

    def _take_sent(self, match: re.Match[str]) -> bool:
        if self._report is None:
            return False
        self._report.facts["requests_started"] = self._number("requests_started", match[1])
        return True

    def _take_distribution(self, match: re.Match[str]) -> bool:
        block = Distribution.of_heading(self.cursor)
        if block is None:
            return False
        report = self._open_report()
        self._block = block
        report.blocks.append(block)
        report.tool = "wrk2" if block.hdr else report.tool or "wrk"
        return True

    def _take_latency(self, match: re.Match[str]) -> bool:
        if self._report is None and not match["within_ratio"].endswith("%"):
            return False
        report = self._add(match.groupdict())
        facts = report.facts
        third, within, mean = facts.pop("third_s"), facts.pop("within_ratio"), facts["latency_mean_s"]
        report.measured = not (math.isnan(within) or math.isnan(mean) or mean == third == 0)
        if not report.measured:
            third = facts["latency_mean_s"] = facts["latency_stdev_s"] = math.nan
        if report.third == "Max":
            facts["latency_max_s"] = third
        else:
            report.tail_s = third
        return True

    def _take_thread_rates(self, match: re.Match[str]) -> None:
        for name, token in match.groupdict().items():
            self._number(name, token)  # per thread, of the recent intervals: checked, not kept
        self._open_report()

    def _take_totals(self, match: re.Match[str]) -> None:
        self._add(match.groupdict())
        self._block = None

    def _take_socket_errors(self, match: re.Match[str]) -> None:
        report = self._add(match.groupdict())
        if self.cursor.at_end:
            del report.facts["errors_timeout"]
            self.cursor.warn("the text ends in this line, so its last number may be cut; missing")

    def _take_status_errors(self, match: re.Match[str]) -> None:
        report = self._add(match.groupdict())
        if self.cursor.at_end:
            del report.facts["errors_status"]
            self.cursor.fail("a newline after this number")
        if report.facts["errors_status"] > report.facts.get("requests", math.inf):
            self.cursor.fail(f"at most the {report.facts['requests']} requests", match[1])

    def _take_rate(self, match: re.Match[str]) -> None:
        token, note, _ = (part.strip() for part in match[2].partition(" #"))
        if note:
            self.cursor.warn("what follows the # was not printed by wrk and is left out")
        requests = match[1] == "Requests"
        if self.cursor.at_end and requests and len(token.rpartition(".")[2]) != 2:
            self.cursor.fail("two decimals")
        name = "throughput_rps" if requests else "received_bytes_per_s"
        if not self._is_inside() and self._report is not None and self._report.printed.get(name, ("",))[0] == token:
            return  # the report repeats its own line, as grep shows it
        report = self._add({name: token})
        self._block = None
        report.ended = not requests

    # Lines around the reports: runs that failed, commands, the version.

    def _take_other(self, line: str) -> None:
        if "Overall Statistics" in line and self._report is not None:
            self._begin_report(Report(self.cursor.number, tool="wrk2", overall=True))
            self.cursor.warn("the report from here on sums those of all URLs before it")
            return
        reason = "" if not _STARTUP.fullmatch(line) else _USAGE if line.startswith("Usage:") else line
        if reason == _USAGE and self._asked_version:
            self.otherwise = _USAGE  # wrk -v prints it too
            return
        self._asked_version = False
        if reason:
            self._begin_failure(reason)
        elif self._failure is not None and self._failure.facts.get("reason") and line.startswith(("-R, --rate", "-U")):
            self._failure.tool = "wrk2"  # its usage text
        elif _KILLED.fullmatch(line):
            self._end_run(line)
        elif match := _VERSION.fullmatch(line):
            self.version = self.version or match[1]
            self._asked_version = True
        else:
            self._take_command(line)

    def _begin_failure(self, reason: str) -> None:
        """Add a run that did not start, or the reason to the one before."""
        known = self._failure
        if known is not None and _USAGE in (reason, known.facts.get("reason")):
            known.facts["reason"] = known.facts["reason"] if reason == _USAGE else reason
        else:
            facts = {"status": "failed", "reason": reason}
            self._failure = known = Heading(self.cursor.number, facts, never_began=True)
            self.events.append(known)
        if reason.startswith("Throughput") or self._wrk2:
            known.tool = "wrk2"
        if self.cursor.at_end and not reason.endswith(_WHOLE_REASON):
            del known.facts["reason"]
            self.cursor.warn("the text ends in this line, so the reason may be cut; missing")

    def _end_run(self, line: str) -> None:
        """End the open run, which was killed as a line says."""
        if self._report is not None and not self._report.ended:
            self._report.reason = line
            self._report.ended = True
        elif self._heading is not None:
            self._heading.facts |= {"status": "failed", "reason": line}
            self._heading.closed = True
            self._heading = None
        else:
            self.otherwise = self.otherwise or line

    def _take_command(self, line: str) -> None:
        if "wrk" in line and _COMMAND.search(line):
            option = _RATE.search(line)  # wrk has no -R
            rate = float(option[1]) * _RATE_UNIT[option[2].lower()] if option else 0.0
            self._wrk2 = "wrk2" in line or rate > 0
            self._rates.add(rate) if rate else self._rates.clear()
            self._failure = None
        if self._awaits_sizes() and _LOOK_ALIKE.fullmatch(line):
            self.cursor.fail("'N threads and N connections' (another tool prints this)", line)
        if _CHATTER.fullmatch(line):
            return
        if is_noise(line):
            if self._heading is not None and line[0] not in "-`.":
                self._heading.closed = True
        elif self._report is None or not self._report.ended:
            foreign, _ = self._foreign or (self.cursor.number, 0)
            self._foreign = (foreign, self.cursor.number)
