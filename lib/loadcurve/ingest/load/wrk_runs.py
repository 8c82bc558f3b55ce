"""Match headings and reports of wrk's text: runs in the background print them out of order."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from loadcurve.ingest.load.wrk_distribution import Distribution


@dataclass(slots=True)
class Heading:
    """``Running 10s test @ URL`` and the lines that follow it before any number is known; or a run that failed."""

    line: int
    facts: dict = field(default_factory=dict)
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
    facts: dict = field(default_factory=dict)
    tool: str = ""
    url: str = ""
    overall: bool = False  # sums the reports of several URLs
    third: str = ""  # the third column of Thread Stats: Max, or 99% in DeathStarBench's wrk2
    tail_s: float = math.nan  # its value when it is not the maximum
    measured: bool = True
    latency_line: int = 0
    blocks: list[Distribution] = field(default_factory=list)
    total: tuple[str, str] = ("", "")  # the printed duration and size
    throughput: tuple[str, int] = ("", 0)  # the printed rate, and its line
    transfer: tuple[str, int] = ("", 0)
    ended: bool = False
    reason: str = ""
    last: int = 0


Run = tuple[Heading, Report | None]


def paired(events: list[Heading | Report], warnings: list[str]) -> Iterator[Run]:
    """Yield each report with its heading, headings without a report, and runs that did not start.

    A report without a heading gets one that knows only its line, with a warning.

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


def _group(headings: list[Heading], reports: list[Report], warnings: list[str]) -> Iterator[Run]:
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
        tool = waiting[0].tool
        waiting = [Heading(h.line, dict(shared), tool, last=h.last) for h in waiting]
    for own, report in zip_longest(waiting, rest):
        if own is None and report is not None:
            own = Heading(report.line)
            known = "URL, threads and connections are not known"
            warnings.append(f"line {report.line}: no heading before this report; {known}")
        if own is not None:
            yield own, report


def _shared(headings: list[Heading]) -> dict:
    first = headings[0].facts if headings else {}
    return {k: v for k, v in first.items() if all(h.facts.get(k) == v for h in headings)}
