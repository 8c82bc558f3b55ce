"""Keep track of the runs in a text of wrk: which heading, report and block of quantiles the next line belongs to."""

from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.load.wrk_distribution import Distribution
from loadcurve.ingest.load.wrk_failures import USAGE, is_whole
from loadcurve.ingest.load.wrk_runs import Heading, Report


class OpenRuns:
    """The headings, reports and failed runs found so far, and those that are still open.

    Attributes
    ----------
    events : list of Heading or Report
        In the order of the text.
    version : str
        As ``wrk -v`` prints it; empty if the text does not show it.
    otherwise : str
        Why a text holds no run at all: a process was killed, or wrk printed only its version.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.warnings = cursor.warnings
        self.events: list[Heading | Report] = []
        self.version = ""
        self.otherwise = ""
        self.heading: Heading | None = None  # the one whose lines or report follow
        self.report: Report | None = None
        self.failure: Heading | None = None
        self.block: Distribution | None = None
        self._foreign: tuple[int, int] | None = None  # first and last line inside a report that do not belong to it
        self.wrk2 = False  # the command since the last heading is of wrk2

    def inside(self) -> bool:
        """Whether a heading or a report is open."""
        return self.heading is not None or (self.report is not None and not self.report.ended)

    def note_own(self) -> None:
        """Note that the current line belongs to the open report or heading; warn of foreign lines before it."""
        opened = self.report or self.heading
        if opened is None:
            return
        if self._foreign:
            first, last = self._foreign
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            self.warnings.append(f"{where}: inside a report but not printed by wrk; ignored")
            self._foreign = None
        opened.last = self.cursor.number

    def open_report(self) -> Report:
        """Return the report that a line belongs to; one begins here when none is open."""
        if self.report is None or self.report.ended:
            self.cursor.warn("a report begins here without its line 'Thread Stats'")
            return self.begin_report(Report(self.cursor.number))
        return self.report

    def begin_report(self, report: Report) -> Report:
        """Open a report at the current line; the open heading is its own."""
        if self.heading is None:
            self._foreign = None  # those lines were before it
        self.heading = self.block = self.failure = None
        self.report = report
        report.last = self.cursor.number
        self.events.append(report)
        return report

    def begin_heading(self, heading: Heading) -> Heading:
        """Open a heading at the current line."""
        self._foreign = self.report = self.block = self.failure = None
        self.heading = heading
        heading.last = self.cursor.number
        self.events.append(heading)
        return heading

    def note_foreign(self) -> None:
        """Note that the current line was printed by another program."""
        number = self.cursor.number
        self._foreign = (self._foreign[0] if self._foreign else number, number)

    def begin_failure(self, reason: str) -> None:
        """Add a run that did not start, or the reason to the one before."""
        known = self.failure
        if known is not None and USAGE in (reason, known.facts.get("reason")):
            known.facts["reason"] = known.facts["reason"] if reason == USAGE else reason
        else:
            facts = {"status": "failed", "reason": reason}
            self.failure = known = Heading(self.cursor.number, facts, never_began=True)
            self.events.append(known)
        if reason.startswith("Throughput") or self.wrk2:
            known.tool = "wrk2"
        if self.cursor.at_end and reason != USAGE and not is_whole(reason):
            del known.facts["reason"]
            self.cursor.warn("the text ends in this line, so the reason may be cut; missing")

    def end_run(self, line: str) -> None:
        """End the open run, which was killed as a line says."""
        if self.report is not None and not self.report.ended:
            self.report.reason = line
            self.report.ended = True
        elif self.heading is not None:
            self.heading.facts |= {"status": "failed", "reason": line}
            self.heading.closed = True
            self.heading = None
        else:
            self.otherwise = self.otherwise or line
