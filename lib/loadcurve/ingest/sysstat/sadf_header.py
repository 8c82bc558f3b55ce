"""sadf -H: read the header of a recording into the table `hosts`; reject output of sadf without readable values.

Only sysstat's own sadf can read a binary recording (`sa` file); `is_sa` recognises one by its first bytes.

Seen: sysstat 12.6.1 on Debian 12 (``sadf -H FILE``, ``sadf -r FILE``, ``sadf -g FILE``) in the tests' samples; 12.0
to 12.7 in public repositories.
"""

import re
import struct

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named

_VERSION = re.compile(r"File created by \S+ from sysstat version ([0-9][0-9.]*)")
_HOST = re.compile(r"Host: (\S+) (\S+) \((.*)\)\s+\S.*?(?:_(\S+)_)?\s*(?:\(([0-9]{1,6}) CPU\))?")
_DATE = re.compile(r"File date: ([0-9]{4}-[0-9]{2}-[0-9]{2})")
_MAGIC = 0xD596  # sysstat, sa.h: SYSSTAT_MAGIC
_FORMATS = range(0x2100, 0x2200)  # sa.h: FORMAT_MAGIC, 0x2170 (sysstat 9.1) to 0x2175 (12)


def parse_sadf_header(text: str, timezone: str = "UTC") -> Parsed:
    """Table `hosts` of what ``sadf -H`` printed; `version` is that of the recorder.

    Raises ParseError if the lines with the host or the date are missing.
    """
    warnings: list[str] = []
    instants = Instants(zone_named(timezone), warnings)
    version, hosts = "", []
    lines = text.split("\n")
    for number, raw in enumerate(lines[:-1], 1):
        line = raw.strip()
        if found := _VERSION.fullmatch(line):
            version = found[1]
        elif (found := _HOST.fullmatch(line)) and (found[5] or "CPU)" not in line):
            hosts.append({"host": found[3], "tool": "sadf", "kernel": found[2], "system": found[1]})
            hosts[-1].update({"architecture": found[4]} if found[4] else {})
            hosts[-1].update({"cpus": int(found[5])} if found[5] else {})
        elif found := _DATE.fullmatch(line):
            if not hosts:
                raise ParseError(number, "the line 'Host: …' before this line", line)
            hosts[-1]["date"] = instants.read(f"{found[1]} 00:00:00", number)
        elif re.match(r"File date|Host|File created", line):
            raise ParseError(number, "a line such as 'File date: 2026-11-20' of sadf -H", line)
    if not hosts:
        raise nothing_in(text, "the line 'Host: …' of sadf -H")
    return Parsed("sadf", {"hosts": hosts}, tuple(warnings), version)


def refuse_sadf(text: str) -> Parsed:
    """Reject what ``sadf -r`` and ``sadf -g`` print: raw counters without rates, and a picture."""
    raise nothing_in(text, "sadf -d, -p, -j or -x (-r prints raw counters, -g a picture)")


def is_sa(raw: bytes) -> bool:
    r"""Whether these bytes begin a recording of sysstat 8.1.6 or newer, of a machine of either byte order.

    Examples
    --------
    >>> is_sa(b"\x96\xd5\x75\x21\x0c"), is_sa(b"\xd5\x96\x21\x71"), is_sa(b"Linux 6.1")
    (True, True, False)
    """
    if len(raw) < 4:
        return False
    return any(
        magic == _MAGIC and form in _FORMATS
        for magic, form in (struct.unpack("<HH", raw[:4]), struct.unpack(">HH", raw[:4]))
    )
