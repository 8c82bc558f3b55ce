"""mpstat: read its text into the tables `cpu`, `interrupts`, `counters`, `averages` and `hosts`.

Seen: sysstat 12.6.1 on Debian 12 (``mpstat -P ALL 1 3``, ``mpstat -I ALL -P ALL 1 2``, in en_US) in the tests'
samples; 5 to 12.7 in public repositories (``%user %system … intr/s`` in one row, ``NODE`` rows, ``-T``).

Output of sysstat (12.6, ``mpstat.c``): ``%usr`` excludes guests and ``%sys`` excludes interrupts; every
percentage refers to that processor's own interval.  A processor that is off has a row of zeros in older versions, and
no row in newer ones.  ``-I SUM`` counts hardware interrupts, ``-I CPU`` each of them, ``-I SCPU`` softirqs.
"""

import re

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.text_report import Reader, Row
from loadcurve.ingest.sysstat.values import CPU_COLUMNS, check_ratios, ends_in_decimals, ratio_of, value_of

SOFT = frozenset(
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "BLOCK_IOPOLL", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
)  # kernel/softirq.c
_TOPOLOGY = ("CORE", "SOCK", "NODE")
_CPU = re.compile(r"all|[0-9]{1,6}")


def parse_mpstat(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``mpstat`` printed.

    Averages, including those since the machine was started, are in `averages`; NUMA nodes in `counters`.  Raises
    ParseError if a row does not fit its header, or if there is none.

    Examples
    --------
    >>> text = '''Linux 6.1.0 (srv1)  11/20/26  _x86_64_ (2 CPU)
    ...
    ... 22:33:25     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
    ... 22:33:26     all   20.42    0.00   42.41    0.00    0.00   29.84    0.00    0.00    0.00    7.33
    ... '''
    >>> cpu = parse_mpstat(text).tables["cpu"]
    >>> str(cpu.time[0]), cpu[["cpu", "cpu_user_ratio", "cpu_idle_ratio"]].values.tolist()
    ('2026-11-20 22:33:26+00:00', [['all', 0.2042, 0.0733]])
    """
    warnings: list[str] = []
    reader = Reader(text, "mpstat", timezone, warnings)
    tables: dict[str, list[dict]] = {name: [] for name in ("cpu", "interrupts", "counters", "averages")}
    for row in reader.rows(_is_header, ends_in_decimals):
        cells = row.text.split()
        topology = sum(name in _TOPOLOGY for name in row.columns[1:])
        if topology and cells[0] == "all" and len(cells) == len(row.columns) - topology:
            cells[1:1] = [""] * topology  # -T leaves them blank for all processors
        if len(cells) != len(row.columns):
            raise ParseError(row.number, f"{len(row.columns)} columns ({' '.join(row.columns)})", row.text)
        if not _CPU.fullmatch(cells[0]):
            raise ParseError(row.number, f"'all' or a number under {row.columns[0]}", cells[0])
        _put(tables, row, cells, warnings)
    return reader.parsed(tables, "rows of mpstat")


def _is_header(cells: list[str]) -> bool:
    return len(cells) > 1 and cells[0] in ("CPU", "NODE") and (cells[1][0] == "%" or cells[1] == "CORE"
                                                              or cells[-1].endswith("/s"))  # fmt: skip


def _put(tables: dict[str, list[dict]], row: Row, cells: list[str], warnings: list[str]) -> None:
    item, ratios, rates = cells[0], {}, {}
    for printed, cell in zip(row.columns[1:], cells[1:], strict=True):
        if printed in CPU_COLUMNS:
            ratios[printed] = ratio_of(cell, printed, row.number)
        elif printed.endswith("/s"):
            rates[printed] = value_of(cell, printed, row.number)
        elif printed not in _TOPOLOGY:
            raise ParseError(row.number, "columns of mpstat", printed)
    if row.columns[0] == "CPU" and ratios and item != "all" and not any(ratios.values()):
        warnings.append(f"line {row.number}: processor {item} was off: its zeros are left out")
        return
    check_ratios(ratios, row.number, warnings)
    host = {"host": row.host} if row.host else {}
    if row.average or row.columns[0] == "NODE":
        group = "mpstat -N" if row.columns[0] == "NODE" else "mpstat -u" if ratios else "mpstat -I"
        for printed, value in {**ratios, **rates}.items():
            counter = {"tool": "mpstat", "group": group, "item": item, "counter": printed, "value": value,
                       "unit": "ratio" if printed in ratios else "per_s"}  # fmt: skip
            if row.average:
                tables["averages"].append({**host, "statistic": row.statistic, **counter})
            else:
                tables["counters"].append({**row.sample, **counter})
        return
    sample = {**row.sample, "tool": "mpstat"}
    if ratios:
        named = {CPU_COLUMNS[printed]: value for printed, value in ratios.items()}
        tables["cpu"].append({**sample, "cpu": item, **named})
    for printed, value in rates.items():
        name = printed.removesuffix("/s")
        if value < 0:
            warnings.append(f"line {row.number}: {printed} of {value:g} cannot be, so it is missing")
            value = float("nan")
        kind = "soft" if name in SOFT else "hard"
        interrupt = "sum" if name == "intr" else name
        tables["interrupts"].append(
            {**sample, "kind": kind, "interrupt": interrupt, "cpu": item, "interrupts_per_s": value}
        )
