"""mpstat: read its text and its JSON into the tables `cpu`, `interrupts`, `counters`, `averages` and `hosts`.

Seen: sysstat 12.6.1 on Debian 12 (``mpstat -P ALL 1 3``, ``mpstat -I ALL -P ALL 1 2``, in en_US) in the tests'
samples; 5 to 12.7 in public repositories (``%user %system … intr/s`` in one row, ``NODE`` rows, ``-T``).

Output of sysstat (12.6, ``mpstat.c``): ``%usr`` excludes guests and ``%sys`` excludes interrupts; every
percentage refers to that processor's own interval.  A processor that is off has a row of zeros in older versions, and
no row in newer ones.  ``-I SUM`` counts hardware interrupts, ``-I CPU`` each of them, ``-I SCPU`` softirqs.

JSON, seen: sysstat 12.6.1 on Debian 12 (``mpstat -A -o JSON 1 2``) in the tests' samples; 11 to 12.7 in public
repositories.  The JSON has no averages, and each time of day has no date; ``date`` holds the date of the whole
document.
"""

import re
from collections.abc import Iterator
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, rate_in, ratio_in, warn_unknown_keys
from loadcurve.ingest.sysstat.sections import CPU_COLUMNS
from loadcurve.ingest.sysstat.text_report import Reader, Row
from loadcurve.ingest.sysstat.values import check_ratios, ends_in_decimals, ratio_of, value_of

SOFT = frozenset(
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "BLOCK_IOPOLL", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
)  # kernel/softirq.c
_TOPOLOGY = ("CORE", "SOCK", "NODE")
_CPU = re.compile(r"all|[0-9]{1,6}")


def parse_mpstat(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``mpstat`` printed.

    Averages, including those since the machine was started, are in `averages`; NUMA nodes in `counters`.  Raises
    ParseError if a row does not fit its header, or if there is none.
    """
    warnings: list[str] = []
    reader = Reader(text, "mpstat", timezone, warnings)
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in ("cpu", "interrupts", "counters", "averages")}
    for row in reader.rows(_is_header, ends_in_decimals):
        cells = row.text.split()
        topology = sum(name in _TOPOLOGY for name in row.columns[1:])
        if topology and cells[0] == "all" and len(cells) == len(row.columns) - topology:
            cells[1:1] = [""] * topology  # -T leaves them blank for all processors
        if len(cells) != len(row.columns):
            raise ParseError(row.number, f"{len(row.columns)} columns ({' '.join(row.columns)[:200]})", row.text)
        if not _CPU.fullmatch(cells[0]):
            raise ParseError(row.number, f"'all' or a number under {row.columns[0]}", cells[0])
        _put(tables, row, cells, warnings)
    return reader.parsed(tables, "rows of mpstat")


def _is_header(cells: list[str]) -> bool:
    return len(cells) > 1 and cells[0] in ("CPU", "NODE") and (cells[1][0] == "%" or cells[1] == "CORE"
                                                              or cells[-1].endswith("/s"))  # fmt: skip


def _put(tables: dict[str, list[dict[str, Any]]], row: Row, cells: list[str], warnings: list[str]) -> None:
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
    if row.statistic or row.columns[0] == "NODE":
        group = "mpstat -N" if row.columns[0] == "NODE" else "mpstat -u" if ratios else "mpstat -I"
        for printed, value in {**ratios, **rates}.items():
            counter = {"tool": "mpstat", "group": group, "item": item, "counter": printed, "value": value,
                       "unit": "ratio" if printed in ratios else "per_s"}  # fmt: skip
            if row.statistic:
                tables["averages"].append({**row.sample, "statistic": row.statistic, **counter})
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


_SECTIONS = ("cpu-load", "node-load", "sum-interrupts", "individual-interrupts", "soft-interrupts")


def parse_mpstat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``mpstat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole interval.  Raises
    ParseError if the text is not JSON of mpstat; the error names the line at which the document begins.
    """
    warnings: list[str] = []
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in ("cpu", "interrupts", "counters")}
    reader = Reader(text, "mpstat", timezone, warnings)
    for number, stamp, interval in intervals_of(text, reader, "mpstat", "intervals", warnings):
        unknown = [name for name in interval if name not in (*_SECTIONS, "timestamp")]
        warn_unknown_keys("mpstat", unknown, number, warnings)
        for section in _SECTIONS:
            for entry in objects_in(interval.get(section), f"{section!r}", number):
                _put_json(tables, section, entry, {**stamp, "tool": "mpstat"}, number, warnings)
    return reader.parsed(tables, "intervals in the JSON of mpstat")


def _put_json(
    tables: dict[str, list[dict[str, Any]]],
    section: str,
    entry: dict[str, Any],
    sample: dict[str, Any],
    number: int,
    warnings: list[str],
) -> None:
    """Append the rows of one entry of a section to the tables."""
    item = str(entry.get("cpu", entry.get("node", "")))
    if not (item == "all" or item.isdigit()):
        raise ParseError(number, f"'all' or a number in {section}", item)
    if section in ("cpu-load", "node-load"):
        unknown = [name for name in entry if name not in ("cpu", "node") and f"%{name}" not in CPU_COLUMNS]
        warn_unknown_keys("mpstat", unknown, number, warnings)
        ratios = {
            f"%{name}": ratio_in(value, name, number) for name, value in entry.items() if f"%{name}" in CPU_COLUMNS
        }
        if section == "cpu-load" and item != "all" and not any(ratios.values()):
            warnings.append(f"line {number}: processor {item} was off: its zeros are left out")
            return
        check_ratios(ratios, number, warnings)
        if section == "cpu-load":
            named = {CPU_COLUMNS[name]: value for name, value in ratios.items()}
            tables["cpu"].append({**sample, "cpu": item, **named})
        else:
            tables["counters"] += [
                {**sample, "group": "mpstat -N", "item": item, "counter": name, "value": value, "unit": "ratio"}
                for name, value in ratios.items()
            ]
        return
    for name, value in _rates(section, entry, number):
        kind = "soft" if section == "soft-interrupts" or name in SOFT else "hard"
        tables["interrupts"].append({**sample, "kind": kind, "interrupt": name, "cpu": item, "interrupts_per_s": value})


def _rates(section: str, entry: dict[str, Any], number: int) -> Iterator[tuple[str, float]]:
    if section == "sum-interrupts":
        yield "sum", rate_in(entry.get("intr"), "intr", number)
        return
    for interrupt in objects_in(entry.get("intr"), f"'intr' of {section}", number):
        if "name" not in interrupt:
            raise ParseError(number, f"an interrupt with its name in {section}", str(interrupt))
        yield str(interrupt["name"]), rate_in(interrupt.get("value"), str(interrupt["name"]), number)
