"""/proc/interrupts and /proc/softirqs into the table `interrupts`.

Output of the kernel (``kernel/irq/proc.c``, ``arch/*/kernel/irq.c``, ``fs/proc/softirqs.c``): a heading with the
processors that are online (for softirqs: possible), a row for each interrupt with one count for each of them, then the
controller, the trigger and the devices.  ``ERR`` and ``MIS`` are machine-wide: one number, whose `cpu` is ``all``.
Counts are since the start of the machine, 32 bits wide in most kernels, so they can start again at 0.
"""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.proc_rows import ProcRows
from loadcurve.ingest.plain_lines import Lines

# The kernel pads a count to ten characters, so one of ten digits follows the colon without a blank: "IPI0:2768808080".
_ROW = re.compile(r"(\S{1,20}?):(?:(?:[ \t]+|(?=[0-9]{10}[ \t]))(.*))?")
_HARD = re.compile(r"[0-9]+|[A-Z][A-Z/]{1,4}[0-9]{0,3}|C[0-9]{2}|Err")
_SOFT = re.compile(r"[A-Z_]{2,12}")
_COUNT = re.compile(r"[0-9]{1,18}")


def take_counts(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read one file from its heading at an index on; return the index after it."""
    cpus = [name.removeprefix("CPU") for name in lines.all[at].split()]
    soft = False
    at += 1
    first = at
    while at < len(lines) and (row := _ROW.fullmatch(lines.all[at])):
        soft = row[1] == "HI" if at == first else soft
        if not (_SOFT if soft else _HARD).fullmatch(row[1]):
            if not _COUNT.match(row[2] or ""):
                break
            raise ParseError(at + 1, "the name of an interrupt", row[1])
        _row(lines, at, row, cpus, "soft" if soft else "hard", rows)
        at += 1
    return at


def take_counts_without_header(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read a row of /proc/interrupts that ``grep`` printed without its heading; return the index after it."""
    row = _ROW.fullmatch(lines.all[at])
    if row is None:
        raise ParseError(at + 1, "the number of an interrupt", lines.all[at])
    counts = re.match(r"(?:[0-9]+[ \t]+)+", row[2])
    number = len(counts[0].split()) if counts else 0
    lines.warn(at + 1, f"no heading names the {number} processors, so they are counted from 0")
    _row(lines, at, row, [str(i) for i in range(number)], "hard", rows)
    return at + 1


def _row(lines: Lines, at: int, row: re.Match[str], cpus: list[str], kind: str, rows: ProcRows) -> None:
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
