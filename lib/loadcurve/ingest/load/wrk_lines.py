"""Sort the lines of wrk and wrk2 into headings, reports and runs that did not start, in the order of the text."""

import math
import re
from collections.abc import Callable

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.load.wrk_distribution import Distribution, is_spectrum
from loadcurve.ingest.load.wrk_failures import USAGE, is_command, killed, rate_of_command, startup_failure
from loadcurve.ingest.load.wrk_numbers import COUNT, PERCENT, PLAIN, SIZE, TIME, number, whole
from loadcurve.ingest.load.wrk_open_runs import OpenRuns
from loadcurve.ingest.load.wrk_runs import Heading, Report
from loadcurve.ingest.noise import is_noise

_LONGEST = 4096  # characters; wrk prints no longer line

_HEADING = re.compile(r"(?:Running (\S+) test @|Making (\S+) requests to)(?:\s+(\S+))?\s*(.*)")
_DURATION = re.compile(r"[0-9]{1,9}[smh]")
_SIZES = re.compile(r"(\S+)\s+threads and\s+(\S+)\s+connections")
_THREAD_STATS = re.compile(r"Thread Stats\s+Avg\s+Stdev\s+(Max|99%)(?:\s+(?:\+/-|±)\s*Stdev)?")
_TOTAL = re.compile(r"(?:Overall\s+)?(\S+)\s+requests in\s+(\S+),\s+(\S+)\s+read")
_SOCKET_ERRORS = re.compile(r"Socket errors:\s*connect (\S+),\s+read (\S+),\s+write (\S+),\s+timeout (\S+)")
_UNITLESS_TAIL = re.compile(r".*[0-9]m")  # at a text's end `2.55m` may have been `2.55ms`
_VERSION = re.compile(r"wrk (\S+) \[\w+\] Copyright .*")
# Other tools copied wrk's heading: autocannon and go-wrk (the line after it distinguishes them).
_LOOK_ALIKE = re.compile(r"[0-9]+ connections\b.*|[0-9]+ goroutine\(s\) running.*")
# DeathStarBench's wrk2 writes these while it runs, once for each connection.
_CHATTER = re.compile(r"reconnect_socket|script_want_response|filename \S+")


def _plain(line: str) -> str:
    """Remove what people and terminals add around a line: spaces, Markdown, ``^C``."""
    line = line.strip(" \t\r*`")
    while line.startswith("^C"):
        line = line[2:].lstrip()
    return line if line.strip() else ""  # control characters are not a word


class Reader(OpenRuns):
    """Sorts the lines of a text into headings, reports and runs that did not start.

    The words of each line identify it, so lines of a Lua script, prompts and rulers may occur between them.
    """

    def __init__(self, text: str) -> None:
        super().__init__(Cursor(text, "wrk", _plain))
        self._rates: set[float] = set()  # of the commands since the last heading
        self._asked_version = False

    def read(self) -> None:
        """Read every line; a last line without a newline may be cut off, and is left out if that is visible."""
        for line in self.cursor:
            if len(line) > _LONGEST:
                self._take_other(line[:_LONGEST])
                continue
            inside = self.inside()
            try:
                if self._take(line):
                    if inside or self.inside():
                        self.note_own()
                else:
                    self._take_other(line)
            except ParseError as error:
                if not (inside or self.inside()):  # prose such as "Requests/sec: about 500"
                    self.cursor.warn(f"like a line of wrk, but outside a report, so left out: {error.got!r}")
                elif not self.cursor.at_end:
                    raise
                else:
                    self.cursor.warn(f"the text ends in this line, so it is left out: {error.got!r}")

    def _take(self, line: str) -> bool:
        """Take a line of wrk; False if it is another line."""
        if self.block is not None and self.block.takes(line):
            if self.cursor.at_end and _UNITLESS_TAIL.fullmatch(line):
                self.cursor.fail("a time that is not cut")
            self.block.take(line, self.cursor.number, self.warnings)
            return True
        possible = _LINES.get(line.split(None, 1)[0], ())
        take = next((take for start, take in possible if line.startswith(start)), None)
        if take is None and "threads and" in line:
            take = Reader._take_sizes
        elif take is None and "requests in" in line:
            take = Reader._take_totals
        return take is not None and take(self, line)

    def _whole(self, token: str) -> float | int:
        return whole(token, self.cursor.number, self.warnings)

    def _number(self, scale: dict[str, float], token: str) -> float:
        return number(scale, token, self.cursor.number, self.warnings)

    # Each of these takes the lines that begin with certain words, and returns False for a line of another program.

    def _take_heading(self, line: str) -> bool:
        match = self.cursor.match(_HEADING)
        if match is None:
            return False
        duration, requests, url, rest = match.groups()
        if "threads and" in rest or "Thread Stats" in rest:
            self.cursor.fail("a line's end after the URL")
        heading = Heading(self.cursor.number)
        if requests is not None:
            heading.facts["requests_asked"] = self._whole(requests)
            heading.tool = "wrk"
        elif _DURATION.fullmatch(duration):
            count, unit = int(duration[:-1]), TIME[duration[-1]]
            heading.option_s = count * unit
            # Seconds are whole; from 0.85 of a minute or an hour on they are rounded to it (src/units.c).
            heading.least_s = count if unit == 1 else max(count - 0.5, 0.85) * unit
        else:
            self.cursor.warn(f"{duration!r} is not a duration such as 10s")
        if url and not self.cursor.at_end:
            heading.facts["url"] = url
        if rest:
            self.cursor.warn(f"{rest!r} after the URL is ignored")
        if self.wrk2:
            heading.tool = "wrk2"
        if len(self._rates) == 1:
            heading.facts["target_rate_rps"] = next(iter(self._rates))
        self._rates.clear()
        self.wrk2 = False
        self.begin_heading(heading)
        return True

    def _take_sizes(self, line: str) -> bool:
        match = self.cursor.match(_SIZES)
        heading = self.heading if self.heading and "threads" not in self.heading.facts else None
        if match is None:
            return self.cursor.fail("'N threads and N connections'") if heading else False
        threads, connections = (self._whole(token) for token in match.groups())
        if heading is None:
            heading = self.begin_heading(Heading(self.cursor.number))
            self.cursor.warn("no heading 'Running … test @ URL' before this line; the URL is not known")
        heading.facts |= {"threads": threads, "connections": connections}
        return True

    def _take_calibration(self, line: str) -> bool:
        for event in reversed(self.events):  # with several URLs or in the background, headings follow each other
            if not isinstance(event, Heading) or event.never_began or event.closed or event.tool:
                break
            event.tool = "wrk2"
        return True

    def _take_thread_stats(self, line: str) -> bool:
        match = self.cursor.expect(_THREAD_STATS, "'Thread Stats   Avg      Stdev     Max   +/- Stdev'")
        report = self.report
        if report is None or report.third or not (report.url or report.overall):
            report = self.begin_report(Report(self.cursor.number))
        report.third = match[1]
        if match[1] == "99%":
            report.tool = "wrk2"
        return True

    def _take_url(self, line: str) -> bool:
        url = "" if self.cursor.at_end else line.removeprefix("Test Results @").strip()
        self.begin_report(Report(self.cursor.number, tool="wrk2", url=url))
        return True

    def _take_sent(self, line: str) -> bool:
        words = line.split()
        if self.report is None or len(words) != 3 or words[2] != "requests":
            return False
        self.report.facts["requests_started"] = self._whole(words[1])
        return True

    def _take_distribution(self, line: str) -> bool:
        if line.startswith("Latency"):
            block = Distribution.of_heading(line, self.cursor.number)
        elif is_spectrum(line):
            self.cursor.warn("a spectrum begins here without its line 'Latency Distribution'; taken as corrected")
            block = Distribution(hdr=True, corrected=True, detailed=True)
        else:
            return False
        report = self.open_report()
        self.block = block
        report.blocks.append(block)
        report.tool = "wrk2" if block.hdr else report.tool or "wrk"
        return True

    def _take_latency(self, line: str) -> bool:
        words = line.split()
        if len(words) != 5 or not (words[4].endswith("%") or self.report is not None):
            return False
        mean, stdev, third = (self._number(TIME, token) for token in words[1:4])
        within = self._number(PERCENT, words[4])
        report = self.open_report()
        if report.latency_line:
            self.cursor.fail("one line 'Latency' in a report")
        report.latency_line = self.cursor.number
        report.measured = not (math.isnan(within) or math.isnan(mean) or mean == third == 0)
        if not report.measured:
            mean = stdev = third = math.nan
        report.facts |= {"latency_mean_s": mean, "latency_stdev_s": stdev}
        if report.third == "Max":
            report.facts["latency_max_s"] = third
        else:
            report.tail_s = third
        return True

    def _take_thread_rates(self, line: str) -> bool:
        words = line.split()
        if len(words) != 5:
            self.cursor.fail("'Req/Sec' and its four numbers")
        for token in words[1:4]:
            self._number(COUNT, token)  # per thread, of the recent intervals: checked, not kept
        self._number(PERCENT, words[4])
        self.open_report()
        return True

    def _take_totals(self, line: str) -> bool:
        match = self.cursor.match(_TOTAL)
        if match is None:
            if self.report is not None and not self.report.ended and " read" in line:
                self.cursor.fail("'N requests in T, S read'")
            return False
        row = {
            "requests": self._whole(match[1]), "duration_s": self._number(TIME, match[2]),
            "received_bytes": self._number(SIZE, match[3]),
        }  # fmt: skip
        report = self.open_report()
        if "requests" in report.facts:
            self.cursor.fail("one line 'N requests in T, S read' in a report")
        report.facts |= row
        report.total = (match[2], match[3])
        self.block = None
        return True

    def _take_socket_errors(self, line: str) -> bool:
        match = self.cursor.expect(_SOCKET_ERRORS, "'Socket errors: connect N, read N, write N, timeout N'")
        report = self.open_report()
        for name, token in zip(("connect", "read", "write", "timeout"), match.groups(), strict=True):
            self._count(report, f"errors_{name}", token)
        if self.cursor.at_end:
            del report.facts["errors_timeout"]
            self.cursor.warn("the text ends in this line, so its last number may be cut; missing")
        return True

    def _take_status_errors(self, line: str) -> bool:
        token = line.rpartition(":")[2].strip()
        whole(token, self.cursor.number, [])
        report = self.open_report()
        errors = self._count(report, "errors_status", token)
        if self.cursor.at_end:
            del report.facts["errors_status"]
            self.cursor.fail("a newline after this number")
        if errors > report.facts.get("requests", math.inf):
            self.cursor.fail(f"at most the {report.facts['requests']} requests", token)
        return True

    def _count(self, report: Report, name: str, token: str) -> float | int:
        if name in report.facts:
            self.cursor.fail("one such line in a report", token)
        report.facts[name] = self._whole(token)
        return report.facts[name]

    def _take_rate(self, line: str) -> bool:
        token, note, _ = (part.strip() for part in line.partition(":")[2].partition(" #"))
        if note:
            self.cursor.warn("what follows the # was not printed by wrk and is left out")
        requests = line.startswith("Requests")
        if self.cursor.at_end and requests and len(token.rpartition(".")[2]) != 2:
            self.cursor.fail("two decimals")
        value = self._number(PLAIN if requests else SIZE, token)
        name = "throughput_rps" if requests else "received_bytes_per_s"
        if not self.inside() and self.report is not None and self.report.facts.get(name) == value:
            return True  # the report repeats its own line, as grep shows it
        report = self.open_report()
        if name in report.facts:
            self.cursor.fail("one such line in a report")
        report.facts[name] = value
        if requests:
            report.throughput = (token, self.cursor.number)
        else:
            report.transfer = (token, self.cursor.number)
        self.block = None
        report.ended = not requests
        return True

    # Lines around the reports: runs that failed, commands, the version.

    def _take_other(self, line: str) -> None:
        if "Overall Statistics" in line and self.report is not None:
            self.begin_report(Report(self.cursor.number, tool="wrk2", overall=True))
            self.cursor.warn("the report from here on sums those of all URLs before it")
            return
        reason = startup_failure(line)
        if reason == USAGE and self._asked_version:
            self.otherwise = USAGE  # wrk -v prints it too
            return
        self._asked_version = False
        if reason:
            self.begin_failure(reason)
        elif self.failure is not None and self.failure.facts.get("reason") and line.startswith(("-R, --rate", "-U")):
            self.failure.tool = "wrk2"  # its usage text
        elif killed(line):
            self.end_run(line)
        elif match := _VERSION.fullmatch(line):
            self.version = self.version or match[1]
            self._asked_version = True
        else:
            self._take_command(line)

    def _take_command(self, line: str) -> None:
        if "wrk" in line and is_command(line):
            rate = rate_of_command(line)
            self.wrk2 = "wrk2" in line or rate > 0
            self._rates.add(rate) if rate else self._rates.clear()
            self.failure = None
        if self.heading is not None and "threads" not in self.heading.facts and _LOOK_ALIKE.fullmatch(line):
            self.cursor.fail("'N threads and N connections' (another tool prints this)", line)
        if _CHATTER.fullmatch(line):
            return
        if is_noise(line):
            if self.heading is not None and line[0] not in "-`.":
                self.heading.closed = True
        elif self.report is None or not self.report.ended:
            self.note_foreign()


# First word → how lines of wrk begin; those that begin with a number are found by their words.
_LINES: dict[str, tuple[tuple[str, Callable[[Reader, str], bool]], ...]] = {
    "Running": (("Running", Reader._take_heading),),
    "Making": (("Making", Reader._take_heading),),
    "Thread": (("Thread calibration:", Reader._take_calibration), ("Thread Stats", Reader._take_thread_stats)),
    "Test": (("Test Results @", Reader._take_url),),
    "Sent": (("Sent", Reader._take_sent),),
    "Latency": (("Latency Distribution", Reader._take_distribution), ("Latency", Reader._take_latency)),
    "Detailed": (("Detailed Percentile spectrum", Reader._take_distribution),),
    "Value": (("Value", Reader._take_distribution),),
    "Req/Sec": (("Req/Sec", Reader._take_thread_rates),),
    "Socket": (("Socket errors:", Reader._take_socket_errors),),
    "Non-2xx": (("Non-2xx or 3xx responses:", Reader._take_status_errors),),
    "Requests/sec:": (("Requests/sec:", Reader._take_rate),),
    "Transfer/sec:": (("Transfer/sec:", Reader._take_rate),),
}
