"""Lines of wrk and wrk2 into headings and reports, in the order of the text; `wrk` puts them together.

Every line of a report names itself, so lines of a Lua script, prompts and rulers may stand between them.
"""

import math
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_around import Around
from loadcurve.ingest.load.wrk_events import Heading, Report
from loadcurve.ingest.load.wrk_numbers import COUNT, PERCENT, PLAIN, SIZE, TIME, number, whole
from loadcurve.ingest.load.wrk_spectrum import Distribution

_LONGEST = 4096  # characters; a longer line is none of wrk's

_HEADING = re.compile(r"(?:Running (\S+) test @|Making (\S+) requests to)(?:\s+(\S+))?\s*(.*)")
_DURATION = re.compile(r"[0-9]{1,9}[smh]")
_SIZES = re.compile(r"(\S+)\s+threads and\s+(\S+)\s+connections")
_THREAD_STATS = re.compile(r"Thread Stats\s+Avg\s+Stdev\s+(Max|99%)(?:\s+(?:\+/-|±)\s*Stdev)?")
_TOTAL = re.compile(r"(?:Overall\s+)?(\S+)\s+requests in\s+(\S+),\s+(\S+)\s+read")
_SOCKET_ERRORS = re.compile(r"Socket errors:\s*connect (\S+),\s+read (\S+),\s+write (\S+),\s+timeout (\S+)")
_UNITLESS_TAIL = re.compile(r".*[0-9]m")  # at a text's end `2.55m` may have been `2.55ms`


class Reader(Around):
    """Reads lines one after the other into `events`."""

    def read(self, text: str) -> None:
        """Read every line; the last one, when no newline ends it, may be cut and is dropped where that shows."""
        lines = text.split("\n")
        for at, raw in enumerate(lines, 1):
            line = raw.strip(" \t\r*`")
            while line.startswith("^C"):
                line = line[2:].lstrip()
            if line:
                self._tail = at == len(lines)
                self._line(line, at)

    def _line(self, line: str, at: int) -> None:
        if len(line) > _LONGEST:
            self._stranger(line[:_LONGEST], at)
            return
        if self._block is not None and self._block.takes(line):
            try:
                if self._tail and _UNITLESS_TAIL.fullmatch(line):
                    raise ParseError(at, "a time that is not cut", line)
                self._block.take(line, at, self.warnings)
                self._mine(at)
            except ParseError as error:
                self._cut(error)
            return
        take = _WORDS.get(next(iter(line.split(None, 1)), ""))  # control characters are no word
        if take is None and ("threads and" in line or "requests in" in line):
            take = Reader._sizes if "threads and" in line else Reader._totals
        try:
            if take is None or not take(self, line, at):
                self._stranger(line, at)
        except ParseError as error:
            if self._inside():
                self._cut(error)
            else:  # prose such as "Requests/sec: about 500"
                self.warnings.append(f"line {at}: like a line of wrk, but outside a report, so left out: {error.got!r}")

    def _inside(self) -> bool:
        return self._heading is not None or (self._report is not None and not self._report.ended)

    def _cut(self, error: ParseError) -> None:
        if not self._tail:
            raise error
        self.warnings.append(f"line {error.line}: the text ends in this line, so it is left out: {error.got!r}")

    # Each of these takes the lines that begin with one word, and says whether a line was its own.

    def _headings(self, line: str, at: int) -> bool:
        match = _HEADING.fullmatch(line)
        if match is None:
            return False
        duration, requests, url, rest = match.groups()
        if "threads and" in rest or "Thread Stats" in rest:
            raise ParseError(at, "a line's end after the URL", line)
        heading = Heading(at, last=at)
        if requests is None:
            if _DURATION.fullmatch(duration):
                count, unit = int(duration[:-1]), TIME[duration[-1]]
                heading.option_s = count * unit
                # Seconds are whole; from 0.85 of a minute or an hour on they are rounded to it (src/units.c).
                heading.least_s = count if unit == 1 else max(count - 0.5, 0.85) * unit
            else:
                self.warnings.append(f"line {at}: {duration!r} is not a duration such as 10s")
        else:
            heading.facts["requests_asked"] = whole(requests, at, self.warnings)
            heading.tool = "wrk"
        if url and not self._tail:
            heading.facts["url"] = url
        if rest:
            self.warnings.append(f"line {at}: {rest!r} after the URL is passed over")
        if self._wrk2:
            heading.tool = "wrk2"
        if len(self._rates) == 1:
            heading.facts["target_rate_rps"] = next(iter(self._rates))
        self._rates.clear()
        self._wrk2 = False
        self._add_heading(heading)
        return True

    def _add_heading(self, heading: Heading) -> None:
        self._strangers = ()
        self._report = self._block = self._failure = None
        self._heading = heading
        self.events.append(heading)

    def _sizes(self, line: str, at: int) -> bool:
        match = _SIZES.fullmatch(line)
        waiting = self._heading is not None and "threads" not in self._heading.facts
        if match is None:
            if waiting:
                raise ParseError(at, "'N threads and N connections'", line)
            return False
        threads, connections = (whole(token, at, self.warnings) for token in match.groups())
        if not waiting:
            self._add_heading(Heading(at, last=at))
            self.warnings.append(f"line {at}: no heading 'Running … test @ URL' before this line; the URL is not known")
        self._heading.facts |= {"threads": threads, "connections": connections}
        self._mine(at)
        return True

    def _threads(self, line: str, at: int) -> bool:
        if line.startswith("Thread calibration:"):
            for event in reversed(self.events):  # with several URLs or in the background, headings stand in a row
                if not isinstance(event, Heading) or event.closed or event.tool:
                    break
                event.tool = "wrk2"
            if self._heading is not None:
                self._mine(at)
            return True
        if not line.startswith("Thread Stats"):
            return False
        match = _THREAD_STATS.fullmatch(line)
        if match is None:
            raise ParseError(at, "'Thread Stats   Avg      Stdev     Max   +/- Stdev'", line)
        opened = self._report
        if opened is None or opened.third or not (opened.url or opened.overall):
            self._begin(Report(at))
        self._report.third = match[1]
        if match[1] == "99%":
            self._report.tool = "wrk2"
        self._mine(at)
        return True

    def _test_results(self, line: str, at: int) -> bool:
        if not line.startswith("Test Results @"):
            return False
        self._begin(Report(at, tool="wrk2", last=at))
        if not self._tail:
            self._report.url = line[len("Test Results @") :].strip()
        return True

    def _sent(self, line: str, at: int) -> bool:
        words = line.split()
        if self._report is None or len(words) != 3 or words[2] != "requests":
            return False
        self._report.facts["requests_started"] = whole(words[1], at, self.warnings)
        self._mine(at)
        return True

    def _latency(self, line: str, at: int) -> bool:
        if line.startswith("Latency Distribution"):
            block = Distribution.of_heading(line, at)
            report = self._open(at)
            self._block = block
            report.blocks.append(block)
            report.tool = "wrk2" if self._block.hdr else report.tool or "wrk"
            self._mine(at)
            return True
        words = line.split()
        if len(words) != 5 or not (words[4].endswith("%") or self._report is not None):
            return False
        values = [number(TIME, token, at, self.warnings) for token in words[1:4]]
        within = number(PERCENT, words[4], at, self.warnings)
        report = self._open(at)
        if report.latency_line:
            raise ParseError(at, "one line 'Latency' in a report", line)
        mean, stdev, third = values
        report.latency_line = at
        report.measured = not (math.isnan(within) or math.isnan(mean) or mean == third == 0)
        if not report.measured:
            mean = stdev = third = math.nan
        report.facts |= {"latency_mean_s": mean, "latency_stdev_s": stdev}
        if report.third == "Max":
            report.facts["latency_max_s"] = third
        else:
            report.tail_s = third
        self._mine(at)
        return True

    def _rates_of_threads(self, line: str, at: int) -> bool:
        words = line.split()
        if len(words) != 5:
            raise ParseError(at, "'Req/Sec' and its four numbers", line)
        for token in words[1:4]:
            number(COUNT, token, at, self.warnings)  # per thread, of the recent intervals: checked, not kept
        number(PERCENT, words[4], at, self.warnings)
        self._open(at)
        self._mine(at)
        return True

    def _totals(self, line: str, at: int) -> bool:
        match = _TOTAL.fullmatch(line)
        if match is None:
            if self._report is not None and not self._report.ended and " read" in line:
                raise ParseError(at, "'N requests in T, S read'", line)
            return False
        count = whole(match[1], at, self.warnings)
        duration = number(TIME, match[2], at, self.warnings)
        size = number(SIZE, match[3], at, self.warnings)
        report = self._open(at)
        if "requests" in report.facts:
            raise ParseError(at, "one line 'N requests in T, S read' in a report", line)
        report.facts |= {"requests": count, "duration_s": duration, "received_bytes": size}
        report.total = (match[2], match[3])
        self._block = None
        self._mine(at)
        return True

    def _overall(self, line: str, at: int) -> bool:
        return self._totals(line, at) if "requests in" in line else False

    def _socket_errors(self, line: str, at: int) -> bool:
        if not line.startswith("Socket errors:"):
            return False
        match = _SOCKET_ERRORS.fullmatch(line)
        if match is None:
            raise ParseError(at, "'Socket errors: connect N, read N, write N, timeout N'", line)
        report = self._open(at)
        for name, token in zip(("connect", "read", "write", "timeout"), match.groups(), strict=True):
            self._count(report, f"errors_{name}", token, at)
        if self._tail:
            del report.facts["errors_timeout"]
            self.warnings.append(f"line {at}: the text ends in this line, so its last number may be cut; missing")
        self._mine(at)
        return True

    def _status_errors(self, line: str, at: int) -> bool:
        if not line.startswith("Non-2xx or 3xx responses:"):
            return False
        token = line.rpartition(":")[2].strip()
        whole(token, at, [])
        report = self._open(at)
        self._count(report, "errors_status", token, at)
        if self._tail:
            raise ParseError(at, "a newline after this number", report.facts.pop("errors_status") and line)
        if report.facts["errors_status"] > report.facts.get("requests", math.inf):
            raise ParseError(at, f"at most the {report.facts['requests']} requests", token)
        self._mine(at)
        return True

    def _count(self, report: Report, name: str, token: str, at: int) -> None:
        if name in report.facts:
            raise ParseError(at, "one such line in a report", token)
        report.facts[name] = whole(token, at, self.warnings)

    def _per_second(self, line: str, at: int) -> bool:
        token, note, _ = (part.strip() for part in line.partition(":")[2].partition(" #"))
        if note:
            self.warnings.append(f"line {at}: what stands behind the # is none of wrk's and is left out")
        requests = line.startswith("Requests")
        if self._tail and requests and len(token.rpartition(".")[2]) != 2:
            raise ParseError(at, "two decimals", line)
        value = number(PLAIN if requests else SIZE, token, at, self.warnings)
        name = "throughput_rps" if requests else "received_bytes_per_s"
        if not self._inside() and self._report is not None and self._report.facts.get(name) == value:
            return True  # the report's own line again, as grep shows it
        report = self._open(at)
        if name in report.facts:
            raise ParseError(at, "one such line in a report", line)
        report.facts[name] = value
        if requests:
            report.throughput = (token, at)
        else:
            report.transfer = (token, at)
        self._block = None
        self._mine(at)
        report.ended = not requests
        return True


_WORDS = {
    "Running": Reader._headings, "Making": Reader._headings, "Thread": Reader._threads, "Test": Reader._test_results,
    "Sent": Reader._sent, "Latency": Reader._latency, "Req/Sec": Reader._rates_of_threads, "Overall": Reader._overall,
    "Socket": Reader._socket_errors, "Non-2xx": Reader._status_errors, "Requests/sec:": Reader._per_second,
    "Transfer/sec:": Reader._per_second,
}  # fmt: skip
