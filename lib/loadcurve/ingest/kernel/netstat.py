"""netstat: ``netstat -s`` of Linux's net-tools into the table `counters`.

Seen: net-tools 2.10 on Debian 12 (``netstat -s``), versions from 1.60 on in public repositories.

Output of netstat (net-tools, ``statistics.c``): it puts each counter of /proc/net/snmp and netstat into a
sentence, which differs between versions (``segments send out``, ``retransmited``) and languages, and prints a name with
a colon for those it has no sentence for.  It leaves out most counters that are 0.  The counter's name here is the
sentence without its number: ``total packets received``; a number inside the sentence becomes ``N``: ``Quick
ack mode was activated N times``.  Two histograms of ICMP have a heading, which precedes their names.
"""

import re
from typing import Any

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_SECTION = re.compile(r"(Ip6?|Icmp6?|IcmpMsg|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt|MPTcpExt|Sctp|Xfrm|Dccp):")
_HISTOGRAM = re.compile(r"(\S[^0-9:]{2,60}):")
_NUMBER = re.compile(r"(?<!\S)-?[0-9]+(?!\S)")
_IN_WORDS = re.compile(r"(?:Forwarding|Default TTL|RTO algorithm|.{0,40}) is \S+", re.IGNORECASE)
_LONGEST = 200  # characters of the longest sentence, with room for other languages


def parse_netstat(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several ``netstat -s``, or of lines that ``grep`` selected from it.

    A row for each line with a number; `group` is the section, missing where no heading was seen.
    """
    lines = Lines(text, "netstat", timezone)
    raw = text.split("\n")
    rows: list[dict[str, Any]] = []
    section = histogram = ""
    found = False
    depth = 0
    for at, line in enumerate(lines.all):
        if head := _SECTION.fullmatch(line):
            section, histogram, found = head[1], "", True
            continue
        if not line or lines.is_time(at):
            continue
        numbers = list(_NUMBER.finditer(line)) if len(line) <= _LONGEST else []
        if len(numbers) == 1 and re.search(r"[^\W\d]", line) and not lines.is_open(at):
            indent = len(raw[at]) - len(raw[at].lstrip())
            histogram = histogram if histogram and indent > depth and ": " in line else ""
            rows += counter_rows(lines, "netstat", section, "", [_counter(line, numbers[0], histogram, at + 1)])
        elif section and _HISTOGRAM.fullmatch(line):
            histogram, depth = line[:-1], len(raw[at]) - len(raw[at].lstrip())
        elif lines.is_open(at):
            lines.warn(at + 1, f"the text ends inside this line, which is left out: {line[:60]!r}")
        elif not _IN_WORDS.fullmatch(line[:_LONGEST]):
            lines.stray(at)
    if not rows and not found:
        raise nothing_in(text, "counters of netstat -s")
    for row in rows:
        if not row["group"]:
            del row["group"]
    return Parsed("netstat", {"counters": rows}, lines.warnings)


def _counter(line: str, found: re.Match[str], histogram: str, number: int) -> tuple[str, float]:
    """Name and value of a line with one number."""
    before, after = line[: found.start()].strip(), line[found.end() :].strip()
    value = counter(found[0], number)
    name = f"{before} N {after}" if before and after else before.removesuffix(":") or after
    return (f"{histogram}: {name}" if histogram else name), value
