"""/proc/meminfo, /proc/stat and /proc/loadavg.

Output of the kernel (``fs/proc``): meminfo is in units of 1024 bytes though written ``kB``, and a line without a unit
is a number of pages; the times of stat are in ticks of USER_HZ, 1/100 s on all but the oldest machines, and since the
start of the machine; loadavg has the running and all tasks as ``1/123``, then the process number given last.
"""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.proc_rows import ProcRows
from loadcurve.ingest.plain_lines import Lines, counter, counter_rows

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


def take_memory(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read meminfo from an index on, into `memory`; numbers without a column go into `counters`."""
    row: dict = {"tool": "proc", **lines.stamp}
    start = at
    while at < len(lines) and (line := _MEMORY_LINE.fullmatch(lines.all[at])):
        if at > start and line[1] == "MemTotal":
            break  # the next snapshot of a series without times
        if lines.is_open(at) and not line[3]:
            lines.warn(at + 1, f"the text ends inside this line, which is left out: {lines.all[at]!r}")
        else:
            value = counter(line[2], at + 1) * (1024 if line[3] else 1)
            if line[1] in _MEMORY:
                row[_MEMORY[line[1]]] = value
            else:
                unit = "bytes" if line[3] else ""
                rows.add("counters", counter_rows(lines, "proc", "meminfo", "", [(line[1], value)], unit))
        at += 1
    if len(row) > 1 + len(lines.stamp):
        rows.add("memory", [row])
    return at


def take_stat(lines: Lines, at: int, rows: ProcRows) -> int:
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


def take_load(lines: Lines, at: int, rows: ProcRows) -> int:
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
