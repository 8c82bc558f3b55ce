"""Files of Linux's /proc: interrupts, packets, protocols, sockets, memory, limits; a text may hold several of them.

Seen: kernel 6.18 on Debian 12 (``cat /proc/interrupts``), kernels from 2.6 on in public repositories.  Each file has a
reader in `proc_interrupts`, `proc_net`, `proc_tcp`, `proc_system` or `proc_limits`, which describes the format.

A collector that copies the files in a loop writes the time before each round; then every row has its `time`.
"""

import re
from collections.abc import Callable

from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.proc_interrupts import take_counts, take_counts_without_header
from loadcurve.ingest.kernel.proc_limits import take_limits
from loadcurve.ingest.kernel.proc_net import take_devices, take_named, take_pairs, take_sockets, take_softnet
from loadcurve.ingest.kernel.proc_rows import ProcRows
from loadcurve.ingest.kernel.proc_system import take_load, take_memory, take_stat
from loadcurve.ingest.kernel.proc_tcp import take_sockets_in_hexadecimal
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.plain_lines import Lines

_FILES: tuple[tuple[re.Pattern[str], Callable[[Lines, int, ProcRows], int]], ...] = tuple(
    (re.compile(shape), reader)
    for shape, reader in (
        (r"CPU[0-9]+(?:[ \t]+CPU[0-9]+)*$", take_counts),
        (r"[0-9]+:[ \t]+(?:[0-9]+[ \t]+)+(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|GIC)", take_counts_without_header),
        (r"[0-9a-f]{8}(?:[ \t]+[0-9a-f]{8}){8}", take_softnet),
        (r"Inter-\|[ \t]*Receive", take_devices),
        (r"(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|Sctp|TcpExt|IpExt|MPTcpExt):[ \t]+[A-Z]", take_pairs),
        (r"(?:Ip6InReceives|ifIndex)[ \t]+[0-9]+$", take_named),
        (r"sockets:[ \t]+used[ \t]|(?:TCP|UDP|UDPLITE|RAW|FRAG)6?:[ \t]+inuse[ \t]", take_sockets),
        (r"sl[ \t]+local_address[ \t]+rem", take_sockets_in_hexadecimal),
        (r"MemTotal:[ \t]", take_memory),
        (r"Limit[ \t]+Soft Limit[ \t]+Hard Limit", take_limits),
        (r"cpu[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]", take_stat),
        (r"[0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+/[0-9]+ [0-9]+$", take_load),
    )
)


def parse_proc(text: str, timezone: str = "UTC") -> Parsed:
    r"""Tables of files of /proc: `interrupts counters sockets connections memory load settings`.

    Counters since the machine was started (or since the network namespace was made), never rates.  `text` is one or
    several files, once or in a series, perhaps with times, prompts or the names of the files between them.  Raises
    ParseError where a file is garbled, and where there is none.

    Examples
    --------
    >>> text = "sockets: used 24\nTCP: inuse 22 orphan 0 tw 14087 alloc 48 mem 82\n"
    >>> parse_proc(text).tables["sockets"][["total", "tcp", "time_wait"]].values.tolist()
    [[24, 22, 14087]]
    """
    lines = Lines(text, "proc", timezone)
    rows = ProcRows()
    at, found = 0, False
    while at < len(lines):
        line = lines.all[at]
        reader = next((read for shape, read in _FILES if shape.match(line)), None) if line else None
        if reader is not None:
            start, at = at, reader(lines, at, rows)
            if at == start:
                raise ParseError(at + 1, "a line of this file of /proc", line)
            found = True
            continue
        if line and not lines.is_time(at):
            lines.stray(at)
        at += 1
    tables = {"interrupts": rows.interrupts.table()} if len(rows.interrupts) else {}
    tables |= {
        name: table for name, table in rows.tables.items() if table or name == "connections"
    }  # a list without sockets is a result
    if not tables:
        at = next((i for i, line in enumerate(lines.all) if line), 0)
        raise ParseError(
            at + 1, "a complete file of /proc" if found else "a file of /proc of a known kind", lines.all[at]
        )
    return Parsed("proc", tables, lines.warnings)
