"""sadf -x: read the XML of a recording into the same tables as sar's text.

Seen: sysstat 12.6.1 on Debian 12 (``sadf -x FILE -- -A``) in the tests' samples; 12.0 to 12.7 in public repositories:
`sadf_rows` lists the elements.  Numbers and units are those of ``sadf -d``.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast
from xml.etree.ElementTree import Element, XMLPullParser
from xml.etree.ElementTree import ParseError as XMLError

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.sadf_rows import (
    Rows,
    put_event,
    put_group,
    put_host,
    put_interrupt,
    section_named,
    time_of,
)

_BEGINNING = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE sysstat[^>]*>|<sysstat[\s>]")
_EVENTS = ("boot", "comment")
_CHUNK = 1 << 16
_FACTS = ("sysname", "release", "machine", "number-of-cpus", "file-date")


def parse_sadf_xml(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``sadf -x`` printed.

    The tables that sar's text of the same recording gives, `events` and `hosts`.  `text` is one document; one that ends
    too early is read up to its last whole interval.  `timezone` is the IANA name of the zone of times that are not UTC
    (``-T``, ``-t``).  Raises ParseError if the text is not XML of sadf; for a wrong value, the error names the line at
    which its interval ends.

    Examples
    --------
    >>> text = '''<?xml version="1.0" encoding="UTF-8"?>
    ... <sysstat><host nodename="vm"><number-of-cpus>2</number-of-cpus><statistics>
    ... <timestamp date="2026-11-20" time="22:33:26" utc="1" interval="1">
    ... <network per="second"><net-dev iface="eth0" rxpck="127374.00" rxkB="1.50"/></network>
    ... </timestamp></statistics></host></sysstat>'''
    >>> parse_sadf_xml(text).tables["network"][["interface", "received_bytes_per_s"]].values.tolist()
    [['eth0', 1536.0]]
    """
    warnings: list[str] = []
    rows, instants = Rows(warnings), Instants(zone_named(timezone), warnings)
    start = next((match.start() for match in _BEGINNING.finditer(text)), -1)
    if start < 0:
        raise nothing_in(text, "XML of sadf")
    host, known, facts = "", False, {}
    for number, opened, node in _nodes(text, start, warnings):
        name = node.tag.rpartition("}")[2]
        if opened and name == "host":
            facts, known = {"nodename": node.get("nodename", "")}, False
        elif not opened and name in _FACTS:
            facts[name] = (node.text or "").strip()
        elif opened and name in ("statistics", "restarts") and not known:
            host, known = put_host(rows, facts, instants, number), True
        elif not opened and name == "timestamp":
            time = time_of(node.attrib, instants, number)
            for element in node:
                _put(rows, element, host, time, number)
            node.clear()
        elif not opened and name in _EVENTS:
            put_event(rows, name, node.attrib, host, instants, number)
    if not rows:
        raise nothing_in(text, "a host in the XML of sadf")
    return Parsed("sadf", rows.tables(), tuple(warnings))


def _nodes(text: str, start: int, warnings: list[str]) -> Iterator[tuple[int, bool, Element]]:
    """Yield line number, whether it begins or ends, and node, for every node before the XML becomes invalid."""
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    number = text.count("\n", 0, start) + 1
    depth = 1
    try:
        for at in range(start, len(text), _CHUNK):
            if depth == 0:
                break  # what a shell printed after the document
            parser.feed(text[at : at + _CHUNK])
            for event, node in cast(Iterator[tuple[str, Element]], parser.read_events()):
                depth += 1 if event == "start" else -1
                depth -= node.tag.rpartition("}")[2] == "sysstat"
                yield number, event == "start", node
            number += text.count("\n", at, at + _CHUNK)
        else:
            parser.close()
    except XMLError as error:
        line = text.count("\n", 0, start) + error.position[0]
        if "junk after document element" in str(error):
            return
        warnings.append(f"line {line}: the XML ends or is damaged here, so what follows is left out: {error.msg}")


def _put(rows: Rows, element: Element, host: str, time: datetime, number: int) -> None:
    """Add an element of an interval: values as attributes, as texts of its parts, or as parts with attributes."""
    name = element.tag.rpartition("}")[2]
    parts = [(part.tag.rpartition("}")[2], part) for part in element]
    if name == "interrupts":
        for irq in element.iter():
            if "intr" in irq.attrib:
                put_interrupt(rows, irq.attrib, host, time, number)
    elif section_named(name) is None and parts:  # network, power-management, psi
        for _, part in parts:
            _put(rows, part, host, time, number)
    elif name in ("io", "memory", "hugepages") or not parts:
        own = {key: value for key, value in element.attrib.items() if key not in ("per", "unit")}
        for part_name, part in parts:
            own.update(part.attrib or {part_name: (part.text or "").strip()})
        if own:
            put_group(rows, name, own, host, time, number)
    else:
        for _, part in parts:
            put_group(rows, name, part.attrib, host, time, number)
