"""Lines that are not of a report, and what follows from them: the state of a reader of wrk's output."""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_events import Failure, Heading, Report
from loadcurve.ingest.load.wrk_failures import USAGE, is_command, is_whole, killed, rate_of_command, startup_failure
from loadcurve.ingest.load.wrk_spectrum import Distribution
from loadcurve.ingest.noise import is_noise

_VERSION = re.compile(r"wrk (\S+) \[\w+\] Copyright .*")
# Other tools copied wrk's heading: autocannon and go-wrk (the line after it tells them apart).
_LOOK_ALIKE = re.compile(r"[0-9]+ connections\b.*|[0-9]+ goroutine\(s\) running.*")
# DeathStarBench's wrk2 writes these while it runs, once for each connection.
_CHATTER = re.compile(r"reconnect_socket|script_want_response|filename \S+")


class Around:
    """What has been seen so far, and the lines around and between those of the reports.

    Attributes
    ----------
    events : list of Heading, Report or Failure
        In the order of the text.
    warnings : list of str
        What is odd, each with its line.
    version : str
        As ``wrk -v`` prints it; empty where it does not stand in the text.
    otherwise : str
        Why a text holds no run at all: a process was killed, or only the version was asked for.
    """

    def __init__(self) -> None:
        self.events: list[Heading | Report | Failure] = []
        self.warnings: list[str] = []
        self.version = ""
        self.otherwise = ""
        self._heading: Heading | None = None
        self._report: Report | None = None
        self._failure: Failure | None = None
        self._block: Distribution | None = None
        self._strangers: tuple[int, int] | tuple[()] = ()  # first and last line in a report that are not of it
        self._rates: set[float] = set()
        self._wrk2 = False
        self._tail = False
        self._asked_version = False

    def _mine(self, at: int) -> None:
        """Note that a line belongs to the report or to the heading; what stood between is worth a word."""
        opened = self._report or self._heading
        if opened is None:
            return
        if self._strangers:
            first, last = self._strangers
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            self.warnings.append(f"{where}: not of wrk, though inside a report; passed over")
            self._strangers = ()
        opened.last = at

    def _open(self, at: int) -> Report:
        """Return the report that a line belongs to; one begins here when none is open."""
        if self._report is None or self._report.ended:
            self._begin(Report(at))
            self.warnings.append(f"line {at}: a report begins here without its line 'Thread Stats'")
        return self._report

    def _begin(self, report: Report) -> None:
        if self._heading is None:
            self._strangers = ()  # they stood before it
        self._heading = self._block = self._failure = None
        self._report = report
        self.events.append(report)

    def _stranger(self, line: str, at: int) -> None:
        """A line that is not of a report: what it says of a run that failed, of the command, of the version."""
        if "Overall Statistics" in line and self._report is not None:
            self._begin(Report(at, tool="wrk2", overall=True, last=at))
            self.warnings.append(f"line {at}: the report from here on sums those of all URLs before it")
            return
        reason = startup_failure(line)
        if reason == USAGE and self._asked_version:
            self.otherwise = USAGE  # wrk -v prints it too
            return
        self._asked_version = False
        if reason:
            self._failed(reason, at)
            return
        if self._failure is not None and self._failure.facts.get("reason") and line.startswith(("-R, --rate", "-U")):
            self._failure.tool = "wrk2"  # its usage text
            return
        if killed(line):
            self._stop(line, at)
            return
        match = _VERSION.fullmatch(line)
        if match:
            self.version = self.version or match[1]
            self._asked_version = True
            return
        if "wrk" in line and is_command(line):
            rate = rate_of_command(line)
            self._wrk2 = "wrk2" in line or rate > 0
            self._rates.add(rate) if rate else self._rates.clear()
            self._failure = None
        waiting = self._heading is not None and "threads" not in self._heading.facts
        if waiting and _LOOK_ALIKE.fullmatch(line):
            raise ParseError(at, "'N threads and N connections' (another tool prints this)", line)
        if _CHATTER.fullmatch(line):
            return
        if is_noise(line):
            if self._heading is not None and line[0] not in "-`.":
                self._heading.closed = True
            return
        if self._report is not None and self._report.ended:
            return
        self._strangers = (self._strangers[0] if self._strangers else at, at)

    def _failed(self, reason: str, at: int) -> None:
        known = self._failure
        if known is not None and (reason == USAGE or known.facts["reason"] == USAGE):
            known.facts["reason"] = known.facts["reason"] if reason == USAGE else reason
        else:
            self._failure = known = Failure(at, {"status": "failed", "reason": reason})
            self.events.append(known)
        if reason.startswith("Throughput") or self._wrk2:
            known.tool = "wrk2"
        if self._tail and reason != USAGE and not is_whole(reason):
            del known.facts["reason"]
            self.warnings.append(f"line {at}: the text ends in this line, so the reason may be cut; missing")

    def _stop(self, line: str, at: int) -> None:
        if self._report is not None and not self._report.ended:
            self._report.reason = line
            self._report.ended = True
        elif self._heading is not None:
            self._heading.facts |= {"status": "failed", "reason": line}
            self._heading.closed = True
            self._heading = None
        else:
            self.otherwise = self.otherwise or line
