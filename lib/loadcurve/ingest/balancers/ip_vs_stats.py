"""/proc/net/ip_vs_stats and /proc/net/ip_vs_stats_percpu into the table `counters`.

Seen: Linux 6.18 (samples of the tests).

Output of the kernel (Linux, ``net/netfilter/ipvs/ip_vs_ctl.c``, ``ip_vs_stats_show``, ``ip_vs_stats_percpu_show``):
every number in hexadecimal, the processor's number too; ``~`` is the sum over the processors.  Totals are since the
counters were zeroed; rates are estimates over the last seconds.
"""

import re
from typing import Any

from loadcurve.ingest.balancers.lists import ListCursor
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

_TITLE = re.compile(r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing")
_TOTALS = re.compile(r"(?:CPU\s+)?Conns\s+Packets\s+Packets\s+Bytes\s+Bytes")
_RATES = re.compile(r"(?:CPU\s+)?Conns/s\s+Pkts/s\s+Pkts/s\s+Bytes/s\s+Bytes/s")
_ROW = re.compile(r"(?:(?P<cpu>~|[0-9A-F]{1,4})\s+)?(?P<values>[0-9A-F]{1,15}(?:\s+[0-9A-F]{1,15}){4})")
_NAMES = ("Conns", "Incoming Packets", "Outgoing Packets", "Incoming Bytes", "Outgoing Bytes")
_RATE_NAMES = ("Conns/s", "Incoming Pkts/s", "Outgoing Pkts/s", "Incoming Bytes/s", "Outgoing Bytes/s")
_UNITS = ("", "", "", "bytes", "bytes")
_RATE_UNITS = ("per_s", "pps", "pps", "bytes_per_s", "bytes_per_s")


def parse_ip_vs_stats(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several /proc/net/ip_vs_stats or /proc/net/ip_vs_stats_percpu.

    A row for each number; `item` is the processor, ``all`` for the kernel's ``~``.
    """
    cursor = ListCursor(text, "proc", timezone)
    rows: list[dict[str, Any]] = []
    group = "ip_vs_stats"
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    for line in cursor:
        if cursor.take_time():
            continue
        if cursor.match(_TITLE):
            names = ()
        elif cursor.match(_TOTALS):
            group = "ip_vs_stats_percpu" if line.startswith("CPU") else "ip_vs_stats"
            names, units = _NAMES, _UNITS
        elif cursor.match(_RATES):
            names, units = _RATE_NAMES, _RATE_UNITS
        elif cursor.at_end:
            cursor.warn("the text ends inside this line, which is left out")
        elif names and (match := cursor.match(_ROW)):
            cpu = match["cpu"]
            item = {} if group == "ip_vs_stats" else {"item": "all" if cpu in (None, "~") else str(int(cpu, 16))}
            stamp = cursor.stamp
            shared = {"tool": "proc", "group": group, **item}
            rows += [
                {**shared, "counter": name, "value": int(value, 16), "unit": unit, **stamp}
                for name, unit, value in zip(names, units, match["values"].split(), strict=True)
            ]
        elif names and not is_noise(line):
            cursor.fail("five numbers in hexadecimal")
    if not rows:
        cursor.refuse("a line of numbers of ip_vs_stats")
    return Parsed("proc", {"counters": rows}, tuple(cursor.warnings))
