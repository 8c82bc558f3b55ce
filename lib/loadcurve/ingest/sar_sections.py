"""sar's sections: which columns each has, and under which names and in which units they enter our tables.

Seen: sysstat 12.6.1 on Debian 12, ``LC_ALL=C sar -u ALL -P ALL -n DEV,TCP,ETCP,SOCK``; the names of older versions.

What sysstat itself does (12.6, ``pr_stats.c``):

- ``print_net_dev_stats``: kB are bytes / 1024; ``%ifutil`` is of the speed the driver claims, so it can be over 100.
- ``print_cpu_stats``: ``-u`` has ``%user`` with guests and ``%system`` with interrupts in them, ``-u ALL`` has ``%usr``
  and ``%sys`` without.  The percentages add up to 100, except where a kernel counter ran backwards (a value is then
  printed as 0 but its share of the interval stays negative), so a wrong sum is a warning, not an error.
"""

import math
import re

from loadcurve.errors import ParseError

# Section → sysstat's column → ours.  The first column of a section is found in no other one.
_SECTIONS: dict[str, dict[str, str]] = {
    "cpu": {
        "%idle": "cpu_idle_ratio", "CPU": "cpu", "%user": "cpu_user_ratio", "%usr": "cpu_user_ratio",
        "%nice": "cpu_nice_ratio", "%system": "cpu_system_ratio", "%sys": "cpu_system_ratio",
        "%iowait": "cpu_iowait_ratio", "%steal": "cpu_steal_ratio", "%irq": "cpu_irq_ratio",
        "%soft": "cpu_softirq_ratio", "%guest": "cpu_guest_ratio", "%gnice": "cpu_guest_nice_ratio",
    },
    "network": {
        "rxpck/s": "received_pps", "IFACE": "interface", "txpck/s": "transmitted_pps",
        "rxkB/s": "received_bytes_per_s", "txkB/s": "transmitted_bytes_per_s",
        "rxcmp/s": "received_compressed_pps", "txcmp/s": "transmitted_compressed_pps",
        "rxmcst/s": "received_multicast_pps", "%ifutil": "utilisation_ratio",
    },
    "tcp": {
        "active/s": "active_opens_per_s", "passive/s": "passive_opens_per_s",
        "iseg/s": "segments_received_pps", "oseg/s": "segments_sent_pps",
    },
    "etcp": {
        "atmptf/s": "attempt_fails_per_s", "estres/s": "established_resets_per_s",
        "retrans/s": "retransmits_pps", "retrseg/s": "retransmits_pps",
        "isegerr/s": "receive_errors_pps", "orsts/s": "resets_sent_pps",
    },
    "sockets": {
        "totsck": "total", "tcpsck": "tcp", "udpsck": "udp", "rawsck": "raw",
        "ip-frag": "fragments", "tcp-tw": "time_wait",
    },
}  # fmt: skip
_ITEM = {"cpu": "CPU", "network": "IFACE"}  # sections with several rows for an instant
TABLE_OF = {"etcp": "tcp"}  # sections whose table has another name
_KB = 1024.0  # bytes, pr_stats.c: "rxkb / 1024"

_NUMBER = re.compile(r"[0-9]+(\.[0-9]{1,2})?")  # --dec=0, 1 or 2
_COUNT = re.compile(r"[0-9]+")
_CPU = re.compile(r"all|[0-9]+")


def is_header(cells: list[str], after_blank: bool, number: int, line: str) -> bool:
    """Whether a line names columns: after an empty line it must, elsewhere it does where a section begins."""
    names_only = bool(cells) and not any(_NUMBER.fullmatch(cell) for cell in cells)
    if after_blank and not names_only:
        raise ParseError(number, "a header row after an empty line", line)
    return after_blank or (names_only and bool(section_of(cells)))


def section_of(cells: list[str]) -> str:
    """Name of the section that a header row begins; empty where it has no table."""
    return next((name for name, columns in _SECTIONS.items() if next(iter(columns)) in cells), "")


def check_columns(section: str, columns: tuple[str, ...], number: int) -> None:
    """Raise where a section has a column that is unknown, or one twice, or lacks the one that tells its rows apart."""
    if not section:
        return
    known = _SECTIONS[section]
    if unknown := [name for name in columns if name not in known]:
        raise ParseError(number, f"columns of sar's {section} section", " ".join(unknown))
    if len({known[name] for name in columns}) < len(columns) or _ITEM.get(section, columns[0]) not in columns:
        raise ParseError(number, f"each column of sar's {section} section once", " ".join(columns))


def read_cells(section: str, columns: tuple[str, ...], cells: list[str], number: int, line: str) -> dict:
    """One row's values under our names and in our units."""
    if len(cells) != len(columns):
        raise ParseError(number, f"{len(columns)} columns ({' '.join(columns)})", line)
    row: dict = {}
    for column, cell in zip(columns, cells, strict=True):
        name = _SECTIONS[section][column]
        if column == "IFACE":
            row[name] = cell
        elif column == "CPU":
            row[name] = _matched(_CPU, cell, "'all' or a processor number", number)
        elif section == "sockets":
            row[name] = int(_matched(_COUNT, cell, f"a whole number for {column}", number))
        else:
            digits = _matched(_NUMBER, cell, f"a number such as 12.34 for {column}", number)
            value = float(f"{digits}e-2" if column[0] == "%" else digits)  # e-2: nearer than / 100
            row[name] = value * (_KB if column.endswith("kB/s") else 1)
    return row


def check_sum(row: dict, number: int, warnings: list[str]) -> None:
    """Warn where the percentages do not add up to 100; one over 100 is missing."""
    ratios = {name: value for name, value in row.items() if name != "cpu"}
    total = 100 * sum(ratios.values())
    if abs(total - 100) > 0.01 * len(ratios) + 0.5:
        warnings.append(f"line {number}: the percentages add up to {total:.2f}, not 100")
    row.update({name: math.nan for name, value in ratios.items() if value > 1})


def _matched(shape: re.Pattern[str], cell: str, expected: str, number: int) -> str:
    if not shape.fullmatch(cell):
        raise ParseError(number, expected, cell)
    return cell
