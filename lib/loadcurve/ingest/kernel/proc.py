"""Files of Linux's /proc: interrupts, packets, protocols, sockets, memory, limits; a text may hold several of them.

Seen: kernel 6.18 on Debian 12 (``cat /proc/interrupts``), kernels from 2.6 on in public repositories.

A collector that copies the files in a loop writes the time before each round; then every row has its `time`.

Output of the kernel (`proc_net` describes the files of /proc/net):

- interrupts and softirqs (``kernel/irq/proc.c``, ``arch/*/kernel/irq.c``, ``fs/proc/softirqs.c``): a heading with the
  processors that are online (for softirqs: possible), a row for each interrupt with one count for each of them, then
  the controller, the trigger and the devices.  ``ERR`` and ``MIS`` are machine-wide: one number, whose `cpu` is
  ``all``.  Counts are since the start of the machine, 32 bits wide in most kernels, so they can start again at 0.
- meminfo (``fs/proc``) is in units of 1024 bytes though written ``kB``, and a line without a unit is a number of pages.
- stat: times in ticks of USER_HZ, 1/100 s on all but the oldest machines, since the start of the machine.
- loadavg has the running and all tasks as ``1/123``, then the process number given last.
- /proc/PID/limits (``fs/proc/base.c``, ``proc_pid_limits``): a heading, then name, soft limit, hard limit and unit of
  each.  A process reaches its soft limit first.  The file does not name its process.
"""

import re
from collections.abc import Callable
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.proc_net import (
    ProcRows,
    take_devices,
    take_named,
    take_pairs,
    take_sockets,
    take_sockets_in_hexadecimal,
    take_softnet,
)
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import whole
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

# The kernel pads a count to ten characters, so one of ten digits follows the colon without a blank: "IPI0:2768808080".
_INTERRUPT = re.compile(r"(\S{1,20}?):(?:(?:[ \t]+|(?=[0-9]{10}[ \t]))(.*))?")
_HARD = re.compile(r"[0-9]+|[A-Z][A-Z/]{1,4}[0-9]{0,3}|C[0-9]{2}|Err")
_SOFT = re.compile(r"[A-Z_]{2,12}")
_COUNT = re.compile(r"[0-9]{1,18}")
_MEMORY = {
    "MemFree": "free_bytes", "MemAvailable": "available_bytes", "Buffers": "buffers_bytes", "Cached": "cached_bytes",
    "SwapCached": "swap_cached_bytes", "Active": "active_bytes", "Inactive": "inactive_bytes", "Dirty": "dirty_bytes",
    "AnonPages": "anonymous_bytes", "Shmem": "shared_bytes", "Slab": "slab_bytes", "KernelStack": "kernel_stack_bytes",
    "PageTables": "page_table_bytes", "SwapFree": "swap_free_bytes", "Committed_AS": "committed_bytes",
    "VmallocUsed": "vmalloc_used_bytes",
}  # fmt: skip
_MEMORY_LINE = re.compile(r"([A-Za-z][\w()]*):[ \t]+(\S+)(?:[ \t]+(kB))?")
_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_STAT_LINE = re.compile(
    r"(cpu[0-9]*|intr|ctxt|btime|processes|procs_running|procs_blocked|softirq|page|swap|disk_io:?)[ \t]+(\S.*)"
)
_LIMIT = re.compile(r"(Max [a-z]+(?: [a-z]+){0,2}?)[ \t]+([0-9]+|unlimited)[ \t]+([0-9]+|unlimited)(?:[ \t]+[a-z]+)?")


def _take_interrupts(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read one file from its heading at an index on; return the index after it."""
    cpus = [name.removeprefix("CPU") for name in lines.all[at].split()]
    soft = False
    at += 1
    first = at
    while at < len(lines) and (row := _INTERRUPT.fullmatch(lines.all[at])):
        soft = row[1] == "HI" if at == first else soft
        if not (_SOFT if soft else _HARD).fullmatch(row[1]):
            if not _COUNT.match(row[2] or ""):
                break
            raise ParseError(at + 1, "the name of an interrupt", row[1])
        _take_interrupt(lines, at, row, cpus, "soft" if soft else "hard", rows)
        at += 1
    return at


def _take_interrupts_without_header(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read a row of /proc/interrupts that ``grep`` printed without its heading; return the index after it."""
    row = _INTERRUPT.fullmatch(lines.all[at])
    if row is None:
        raise ParseError(at + 1, "the number of an interrupt", lines.all[at])
    counts = re.match(r"(?:[0-9]+[ \t]+)+", row[2])
    number = len(counts[0].split()) if counts else 0
    lines.warn(at + 1, f"no heading names the {number} processors, so they are counted from 0")
    _take_interrupt(lines, at, row, [str(i) for i in range(number)], "hard", rows)
    return at + 1


def _take_interrupt(lines: Lines, at: int, row: re.Match[str], cpus: list[str], kind: str, rows: ProcRows) -> None:
    cells = (row[2] or "").split(None, len(cpus))
    counts, description = cells[: len(cpus)], " ".join(cells[len(cpus) :])
    if lines.is_open(at):
        cells = lines.without_cut_token(at, (row[2] or "").split())
        counts = counts[: len(cells)]
        description = ""
        cpus = cpus[: len(counts)]
    elif len(cells) == 1 < len(cpus) and kind == "hard" and not row[1].isdigit() and _COUNT.fullmatch(cells[0]):
        cpus = ["all"]
    elif row[1] == "FIQ" and not _COUNT.match(row[2] or ""):
        return  # ARM: the name of the driver that has the fast interrupt, without a count
    elif len(counts) < len(cpus):
        raise ParseError(at + 1, f"{len(cpus)} counts", row[2] or "")
    for count in counts:
        if not _COUNT.fullmatch(count):
            raise ParseError(at + 1, "a count of interrupts", count)
    name = {"kind": kind, "interrupt": row[1], "description": " ".join(description.split()) or None}
    rows.interrupts.add(name | lines.stamp, cpus, [int(count) for count in counts])


def _take_memory(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read meminfo from an index on, into `memory`; numbers without a column go into `counters`."""
    row: dict[str, Any] = {"tool": "proc", **lines.stamp}
    start = at
    while at < len(lines) and (line := _MEMORY_LINE.fullmatch(lines.all[at])):
        if at > start and line[1] == "MemTotal":
            break  # the next snapshot of a series without times
        if lines.is_open(at) and not line[3]:
            lines.warn(at + 1, f"the text ends inside this line, which is left out: {lines.all[at]!r}")
        else:
            value = float(whole(line[2], at + 1)) * (1024 if line[3] else 1)
            if line[1] in _MEMORY:
                row[_MEMORY[line[1]]] = value
            else:
                unit = "bytes" if line[3] else ""
                rows.add("counters", counter_rows(lines, "proc", "meminfo", "", [(line[1], value)], unit))
        at += 1
    if len(row) > 1 + len(lines.stamp):
        rows.add("memory", [row])
    return at


def _take_stat(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read stat from an index on: ticks of each processor, and the totals of the other lines."""
    start = at
    while at < len(lines) and (line := _STAT_LINE.fullmatch(lines.all[at])):
        name = line[1]
        if at > start and name == "cpu":
            return at  # the next snapshot of a series without times
        tokens = lines.without_cut_token(at, line[2].split())
        if name.startswith("cpu"):
            named = [(tick, counter(token, at + 1)) for tick, token in zip(_TICKS, tokens, strict=False)]
        else:
            # Only the totals of intr and softirq: /proc/interrupts and softirqs name the single interrupts.
            named = [(name, counter(token, at + 1)) for token in tokens[:1]] if not name.startswith("disk_io") else []
        item = name if name.startswith("cpu") else ""
        rows.add("counters", counter_rows(lines, "proc", "stat", item, named))
        at += 1
    if at < len(lines) and re.match(r"cpu\S*[ \t]", lines.all[at]):
        raise ParseError(at + 1, "a row of a processor", lines.all[at])
    return at


def _take_load(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read loadavg at an index, into `load`."""
    one, five, fifteen, tasks, _ = lines.all[at].split()
    running, total = tasks.split("/")
    if max(len(one), len(five), len(fifteen), len(running), len(total)) > 18:
        raise ParseError(at + 1, "load averages", lines.all[at])
    row = {
        "tool": "proc", "run_queue": int(running), "tasks": int(total),
        "load_1min": float(one), "load_5min": float(five), "load_15min": float(fifteen), **lines.stamp,
    }  # fmt: skip
    rows.add("load", [row])
    return at + 1


def _take_limits(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read limits from their heading at an index on, the soft ones into `settings`; return the index after them."""
    at += 1
    while at < len(lines) and (line := _LIMIT.fullmatch(lines.all[at])):
        if lines.is_open(at):
            lines.warn(at + 1, "the text ends inside this line, which is left out")
        else:
            row = {"tool": "proc", "setting": line[1], "value": line[2], **lines.stamp}
            rows.add("settings", [row])
        at += 1
    return at


_FILES: tuple[tuple[re.Pattern[str], Callable[[Lines, int, ProcRows], int]], ...] = tuple(
    (re.compile(shape), reader)
    for shape, reader in (
        (r"CPU[0-9]+(?:[ \t]+CPU[0-9]+)*$", _take_interrupts),
        (r"[0-9]+:[ \t]+(?:[0-9]+[ \t]+)+(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|GIC)", _take_interrupts_without_header),
        (r"[0-9a-f]{8}(?:[ \t]+[0-9a-f]{8}){8}", take_softnet),
        (r"Inter-\|[ \t]*Receive", take_devices),
        (r"(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|Sctp|TcpExt|IpExt|MPTcpExt):[ \t]+[A-Z]", take_pairs),
        (r"(?:Ip6InReceives|ifIndex)[ \t]+[0-9]+$", take_named),
        (r"sockets:[ \t]+used[ \t]|(?:TCP|UDP|UDPLITE|RAW|FRAG)6?:[ \t]+inuse[ \t]", take_sockets),
        (r"sl[ \t]+local_address[ \t]+rem", take_sockets_in_hexadecimal),
        (r"MemTotal:[ \t]", _take_memory),
        (r"Limit[ \t]+Soft Limit[ \t]+Hard Limit", _take_limits),
        (r"cpu[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]", _take_stat),
        (r"[0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+/[0-9]+ [0-9]+$", _take_load),
    )
)


def parse_proc(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of files of /proc: `interrupts counters sockets connections memory load settings`.

    Counters since the machine was started (or since the network namespace was made), never rates.  `text` is one or
    several files, once or in a series, perhaps with times, prompts or the names of the files between them.
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
    # A list without sockets is a result.
    tables |= {name: table for name, table in rows.tables.items() if table or name == "connections"}
    if not tables:
        at = next((i for i, line in enumerate(lines.all) if line), 0)
        expected = "a complete file of /proc" if found else "a file of /proc of a known kind"
        raise ParseError(at + 1, expected, lines.all[at])
    return Parsed("proc", tables, lines.warnings)
