"""Which heading belongs to which report of wrk: runs in the background print both, but not one after the other."""

from collections.abc import Iterator

from loadcurve.ingest.load.wrk_events import Failure, Heading, Report

Pair = tuple[Heading | None, Report | None]


def paired(events: list[Heading | Report | Failure], warnings: list[str]) -> Iterator[Pair]:
    """Each report with its heading; headings without a report, reports without a heading, failed runs alone.

    Examples
    --------
    >>> heading, report = Heading(1, {"url": "http://h/"}), Report(3)
    >>> [(h.line, r.line) for h, r in paired([heading, report], [])]
    [(1, 3)]
    """
    headings: list[Heading] = []
    reports: list[Report] = []
    for event in events:
        if isinstance(event, Failure):
            yield Heading(event.line, event.facts, event.tool), None
        elif isinstance(event, Report):
            reports.append(event)
        else:
            if reports:
                yield from _group(headings, reports, warnings)
                headings, reports = [], []
            headings.append(event)
    yield from _group(headings, reports, warnings)


def _group(headings: list[Heading], reports: list[Report], warnings: list[str]) -> Iterator[Pair]:
    """Pair the headings that stand in a row with the reports that follow them."""
    if len(headings) == 1 and len(reports) == 1 and not reports[0].url:  # as nearly always
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
            f"line {waiting[0].line}: {len(waiting)} headings in a row, {len(rest)} reports after them; which is whose "
            "cannot be told, so only what the headings share is kept"
        )
        shared = _shared(waiting)
        tool = waiting[0].tool
        waiting = [Heading(h.line, dict(shared), tool, last=h.last) for h in waiting]
    for at in range(max(len(waiting), len(rest))):
        yield waiting[at] if at < len(waiting) else None, rest[at] if at < len(rest) else None


def _shared(headings: list[Heading]) -> dict:
    """Facts that several headings share."""
    first = headings[0].facts if headings else {}
    return {k: v for k, v in first.items() if all(h.facts.get(k) == v for h in headings)}
