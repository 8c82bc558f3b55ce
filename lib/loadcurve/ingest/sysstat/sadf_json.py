"""sadf -j: read the JSON of a recording into the same tables as sar's text.

Seen: sysstat 12.6.1 on Debian 12 (``sadf -j FILE -- -A``, with -T) in the tests' samples; 10 to 12.7 in public
repositories: `sadf_rows` lists the elements.  Numbers and units are those of ``sadf -d``.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.json_report import hosts_of, objects_in
from loadcurve.ingest.sysstat.sadf_rows import Group, Rows, put_event, put_group, put_host, put_interrupt, time_of

_GROUPS = ("network", "power-management", "psi")  # they hold elements, not values
_FLATTENED = ("io",)  # its objects are parts of one section


def parse_sadf_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sadf -j`` printed.

    The same tables as for sar's text of the recording, `events` and `hosts`.  `text` is output of one or several runs;
    one that ends too early is read up to its last whole interval.  `timezone` is the IANA name of the zone of times
    that are not UTC (``-T``, ``-t``).  Raises ParseError if the text is not JSON of sadf; the error names the line at
    which the document begins.
    """
    warnings: list[str] = []
    rows, instants = Rows(warnings), Instants(zone_named(timezone), warnings)
    for number, document in hosts_of(text, "sadf", warnings):
        facts = {name: str(value) for name, value in document.items() if isinstance(value, str | int)}
        host = put_host(rows, facts, instants, number)
        for interval in objects_in(document.get("statistics"), "the intervals of sadf", number):
            stamp = interval.get("timestamp")
            if not isinstance(stamp, dict):
                if interval:
                    raise ParseError(number, "a timestamp in each interval of sadf's JSON", str(interval))
                continue  # sadf prints {} if nothing was recorded
            time = time_of(stamp, instants, number)
            for element, value in interval.items():
                if element != "timestamp":
                    _put(rows, element, value, host, time, number)
        for kind in ("restarts", "comments"):
            for event, group in _events(document, kind, number):
                put_event(rows, event, group, host, instants, number)
    if not rows:
        raise nothing_in(text, "a host in the JSON of sadf")
    return Parsed("sadf", rows.tables(), tuple(warnings))


def _put(rows: Rows, element: str, value: object, host: str, time: datetime, number: int) -> None:
    for part, groups in value.items() if element in _GROUPS and isinstance(value, dict) else [(element, value)]:
        for group in groups if isinstance(groups, list) else [groups]:
            if not isinstance(group, dict):
                raise ParseError(number, f"an object for {part}", str(group))
            if part == "interrupts":
                put_interrupt(rows, group, host, time, number)
            else:
                put_group(rows, part, _flat(group) if part in _FLATTENED else group, host, time, number)


def _flat(group: Group) -> Group:
    """One object of the values in it and in the objects in it."""
    flat: dict[str, Any] = {}
    for name, value in group.items():
        flat.update(value if isinstance(value, dict) else {name: value})
    return flat


def _events(document: Group, name: str, number: int) -> Iterator[tuple[str, Group]]:
    for entry in objects_in(document.get(name), f"{name!r}", number):
        for event, group in entry.items():
            if not isinstance(group, dict):
                raise ParseError(number, f"an object for {event!r}", str(group))
            yield event, group
