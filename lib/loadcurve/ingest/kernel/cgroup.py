r"""Control groups: ``cpu.stat``, which counts how often a quota of CPU time was used up, into the table `counters`.

Seen: kernel 6.18 on Debian 12 with control groups of version 1, kernel 6.8 with version 2 in public repositories.

Format (Linux, ``kernel/sched/core.c``, ``cpu_cfs_stat_show`` and ``cpu_extra_stat_show``): a name and a number in each
line.  Version 1 writes ``throttled_time`` and ``burst_time`` in nanoseconds, version 2 ``throttled_usec`` and
``burst_usec`` in microseconds, beside ``usage_usec``.  ``nr_periods`` counts the periods (100 ms by default) in which a
task was runnable, ``nr_throttled`` those in which the quota was used up.

The file does not name its group; ``grep -H '' PATH/cpu.stat`` writes the path before each line.
"""

import re
from typing import Any

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_NAME = (
    r"(?:usage|user|system|nice|throttled|burst)_(?:usec|time)|nr_(?:periods|throttled|bursts)|[a-z_]+\.[a-z_]+_usec"
)
_ROW = re.compile(rf"(?:(\S*?)(?:/?cpu\.stat):)?({_NAME})[ \t]+([0-9]+)")
_TIME_UNITS = {"usec": 1e-6, "time": 1e-9}  # of version 2, and of version 1


def parse_cgroup(text: str, timezone: str = "UTC") -> Parsed:
    """Table `counters` of one or several ``cpu.stat`` of control groups, times in seconds.

    A row for each number; `item` is the path of the group where the text names it.
    """
    lines = Lines(text, "cgroup", timezone)
    rows: list[dict[str, Any]] = []
    for at, line in enumerate(lines.all):
        if match := _ROW.fullmatch(line[:400]):
            group, name, token = match[1] or "", match[2], match[3]
            if not lines.without_cut_token(at, [token]):
                continue
            per_unit = _TIME_UNITS.get(name.rpartition("_")[2])
            value = counter(token, at + 1) * (per_unit or 1.0)
            rows += counter_rows(lines, "cgroup", "cpu.stat", group, [(name, value)], "s" if per_unit else "")
        elif lines.is_open(at):
            lines.without_cut_token(at, [line])
        elif line and not lines.is_time(at):
            lines.stray(at)
    if not rows:
        raise nothing_in(text, "counters of a control group's cpu.stat")
    return Parsed("cgroup", {"counters": rows}, lines.warnings)
