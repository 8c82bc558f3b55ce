"""/proc/PID/limits: the limits of a process.

Output of the kernel (``fs/proc/base.c``, ``proc_pid_limits``): a heading, then name, soft limit, hard limit and unit of
each.  A process reaches its soft limit first.  The file does not name its process.
"""

import re

from loadcurve.ingest.kernel.proc_rows import ProcRows
from loadcurve.ingest.plain_lines import Lines

_LIMIT = re.compile(r"(Max [a-z]+(?: [a-z]+){0,2}?)[ \t]+([0-9]+|unlimited)[ \t]+([0-9]+|unlimited)(?:[ \t]+[a-z]+)?")


def take_limits(lines: Lines, at: int, rows: ProcRows) -> int:
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
