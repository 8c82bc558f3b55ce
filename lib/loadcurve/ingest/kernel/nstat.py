"""nstat: the kernel's network counters as text or JSON into the table `counters`.

Seen: iproute2 6.1 on Debian 12 (``nstat -az``, ``nstat -az --json``), versions from 2.6 on in public repositories.

Output of nstat (iproute2, ``misc/nstat.c``):

- It prints the names of /proc/net/snmp, netstat and snmp6 with their protocol in front: ``TcpExtListenOverflows``.
- Without ``-a`` it prints what came since its last call of the same user, not since the start of the machine: the text
  does not say which.  Without ``-z`` it leaves out what is 0.
- The third column is a rate per second, and only that of the daemon (``nstat -d``) is one: its heading names the
  sampling interval.  Elsewhere it is 0.0, and is not kept.
- A name takes 32 columns; one of 32 or more touches its value.
- As JSON it writes the lower 32 bits of each counter (``jsonw_uint_field``; the sample of the tests shows it beside its
  text), so bytes start again at 0 after 4 GiB.  Where no value is larger than that, a warning says so.
"""

import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import each_json, line_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_HEADING = re.compile(r"#(kernel|[0-9]+\.[0-9]+ sampling_interval=[0-9]+ time_const=[0-9]+)")
_ROW = re.compile(r"([A-Z][A-Za-z0-9_]*)[ \t]+([0-9]+)[ \t]+([0-9]+\.[0-9])(?: \(overflow\))?")
_GLUED = re.compile(r"([A-Z][A-Za-z0-9_]{30,}[A-Za-z_])([0-9]+)[ \t]+([0-9]+\.[0-9])(?: \(overflow\))?")
_ROW_LIKE = re.compile(r"[A-Z][A-Za-z0-9_]*[ \t]+\S+(?:[ \t]+\S+)?")
_PROTOCOLS = (
    "MPTcpExt", "TcpExt", "IpExt", "UdpLite6", "UdpLite", "IcmpMsg", "Icmp6", "Icmp", "Udp6", "Udp", "Tcp", "Ip6",
    "Ip", "Sctp", "Xfrm", "Tls",
)  # fmt: skip


def parse_nstat(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several outputs of nstat.

    A row for each counter; `group` is the protocol its name begins with.
    """
    lines = Lines(text, "nstat", timezone)
    rows: list[dict[str, Any]] = []
    found = daemon = False
    for at, line in enumerate(lines.all):
        if heading := _HEADING.fullmatch(line):
            found, daemon = True, heading[1] != "kernel"
            continue
        match = _ROW.fullmatch(line) or _GLUED.fullmatch(line)
        if match:
            name, value, rate = match.groups()
            rows += _rows(lines, name, counter(value, at + 1))
            if daemon and len(rate) < 20:
                rows += counter_rows(lines, "nstat", _protocol(name), "", [(name, float(rate))], "per_s")
        elif lines.is_open(at) and _ROW_LIKE.fullmatch(line):
            lines.without_cut_token(at, [line])
        elif line and not lines.is_time(at):
            lines.stray(at)
    if not rows and not found:
        raise nothing_in(text, "counters of nstat")
    return Parsed("nstat", {"counters": rows}, lines.warnings)


def parse_nstat_json(text: str) -> Parsed:
    """Table `counters` of ``nstat --json``."""
    documents, warnings = each_json(text, "JSON of nstat")
    lines = Lines("", "nstat")
    rows: list[dict[str, Any]] = []
    for document, number in documents:
        counts = next(iter(document.values()), None) if isinstance(document, dict) else None
        if not isinstance(counts, dict):
            raise ParseError(number, "an object with counters by name", str(document)[:80])
        for name, value in counts.items():
            if type(value) is not int or not 0 <= value < 2**64:
                raise ParseError(line_of(name.replace(".", ""), text), f"a counter for {name!r}", str(value)[:80])
            rows += _rows(lines, name, float(value))
        if max(counts.values(), default=0) < 2**32:
            warnings.append(f"line {number}: nstat's JSON may hold the lower 32 bits of its counters only")
    return Parsed("nstat", {"counters": rows}, tuple(warnings))


def _rows(lines: Lines, name: str, value: float) -> list[dict[str, Any]]:
    return counter_rows(lines, "nstat", _protocol(name), "", [(name, value)])


def _protocol(name: str) -> str:
    return next((protocol for protocol in _PROTOCOLS if name.startswith(protocol)), "")
