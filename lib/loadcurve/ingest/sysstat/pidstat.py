"""pidstat: read its text and its JSON into the tables `processes`, `counters`, `averages` and `hosts`.

Seen: sysstat 12.6.1 on Debian 12 (``pidstat -C nginx 1 3``, ``pidstat -h -u -r -d -w 1 2``, and with -s -t -v -R -l
and --human) in the tests' samples; 8 to 12.7 in public repositories.

Output of sysstat (12.6, ``pidstat.c``):

- Without ``-h`` each activity has its own section; the sections of an instant become one row.
- ``%usr`` and the others are relative to one processor, so a process with threads can exceed 100; with ``-I`` ``%CPU``
  is relative to all processors, which the text does not show.  ``VSZ``, ``RSS`` and the stack are kB of 1024 bytes,
  ``%MEM`` is relative to the machine's memory, ``iodelay`` counts clock ticks.
- ``-t``: a thread's row has ``-`` (old ``-h``: 0) for TGID; it follows the row of its process.
- I/O rates are -1.00 if pidstat has no permission to read them.
- ``-T CHILD`` counts milliseconds and faults of a task and its children; the tables have no columns for them.

JSON, seen: the fields that programs in public repositories read from sysstat 12.7; no recorded sample.  ``statistics``
holds intervals; in each, lists of tasks by activity (``io``; in older builds ``task``), with the columns of the text as
keys, some of them without ``%`` or ``/s`` or in lower case; the command is ``cmd`` or ``command``.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, warn_unknown_keys
from loadcurve.ingest.sysstat.text_report import Reader, Row
from loadcurve.ingest.sysstat.values import value_of

_KB = 1024.0
# Printed column → ours, factor, divisor.  Those without decimals are in `PLAIN`.
COLUMNS = {
    "%usr": ("cpu_user_ratio", 1, 100), "%user": ("cpu_user_ratio", 1, 100),
    "%system": ("cpu_system_ratio", 1, 100), "%guest": ("cpu_guest_ratio", 1, 100),
    "%wait": ("cpu_wait_ratio", 1, 100), "%CPU": ("cpu_used_ratio", 1, 100),
    "minflt/s": ("minor_faults_per_s", 1, 1), "majflt/s": ("major_faults_per_s", 1, 1),
    "VSZ": ("virtual_bytes", _KB, 1), "RSS": ("resident_bytes", _KB, 1), "%MEM": ("memory_ratio", 1, 100),
    "kB_rd/s": ("read_bytes_per_s", _KB, 1), "kB_wr/s": ("written_bytes_per_s", _KB, 1),
    "kB_ccwr/s": ("cancelled_bytes_per_s", _KB, 1), "iodelay": ("io_delay_ticks", 1, 1),
    "cswch/s": ("voluntary_switches_per_s", 1, 1), "nvcswch/s": ("involuntary_switches_per_s", 1, 1),
    "StkSize": ("stack_bytes", _KB, 1), "StkRef": ("stack_used_bytes", _KB, 1),
    "threads": ("threads", 1, 1), "fd-nr": ("descriptors", 1, 1),
}  # fmt: skip
WORDS = {"UID": "uid", "USER": "uid", "CPU": "cpu", "prio": "priority", "policy": "policy"}
_CHILDREN = {"usr-ms": "s", "system-ms": "s", "guest-ms": "s", "minflt-nr": "", "majflt-nr": ""}
_UNITS = {"bytes_per_s": "bytes_per_s", "per_s": "per_s", "ratio": "ratio", "bytes": "bytes"}
_WHOLE = ("threads", "descriptors")
PLAIN = ("VSZ", "RSS", "StkSize", "StkRef", "threads", "fd-nr", "iodelay", *_CHILDREN)
_CPU = re.compile(r"-|[0-9]{1,6}")
_PRIORITY = re.compile(r"-|-?[0-9]{1,3}")
_POLICY = re.compile(r"-|[A-Z?]{1,10}")  # NORMAL FIFO RR BATCH ISO IDLE DEADLN
_DECIMALS = re.compile(r"-?[0-9]+(?:[.,]([0-9]*))?")
_THREAD = re.compile(r"^(?:\||\([^()]{0,64}\))__")  # prefix of the name of a thread: |__ or (process)__
_ID = re.compile(r"[0-9]{1,10}")


def parse_pidstat(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``pidstat`` printed.

    One row of `processes` for each task and instant; averages, including those since boot, are in `averages`, with the
    process and its command as `item`.  Raises ParseError if a row does not fit its header, or if there is neither row
    nor header.
    """
    warnings: list[str] = []
    reader = Reader(text, "pidstat", timezone, warnings)
    tasks = Tasks(warnings)
    any_row = False
    for row in reader.rows(_is_header, lambda _: False):
        any_row = True
        tasks.add(row)
    if not any_row and not reader.hosts:
        raise nothing_in(text, "rows of pidstat")
    if not any_row:
        warnings.append("line 1: no row: no task was active")
    return Parsed("pidstat", tasks.tables(reader.hosts), tuple(warnings))


class Tasks:
    """Rows of `processes`, joined from the sections of an instant, and the other counters of pidstat."""

    def __init__(self, warnings: list[str]) -> None:
        self._warnings = warnings
        self._tasks: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._rest: dict[str, list[dict[str, Any]]] = {"counters": [], "averages": []}
        self._group = -1  # process of the threads that follow

    def add(self, row: Row) -> None:
        """Add one row, which must fit its header."""
        words, numbers, self._group = _cells(row, self._group)
        if _DECIMALS.fullmatch(words.get("command", "").partition(" ")[0]):
            self._warnings.append(
                f"line {row.number}: the command begins with a number; if it does not, the heading lacks a column"
            )
        children = {name: numbers.pop(name) for name in _CHILDREN if name in numbers}
        if row.statistic:
            counters = _counters(words, {**numbers, **children})
            self._rest["averages"] += [{"statistic": row.statistic, **row.sample, **counter} for counter in counters]
            return
        self._rest["counters"] += [{**row.sample, **counter} for counter in _counters(words, children)]
        if not numbers and "policy" not in words:
            return
        key = (row.host, row.time, words["pid"], words.get("tid"))
        again = self._seen[row.columns, *key] = self._seen.get((row.columns, *key), 0) + 1
        task = self._tasks.setdefault((*key, again), {**row.sample})
        task.update(words)
        for printed, value in numbers.items():
            name = COLUMNS[printed][0]
            if not math.isnan(value):
                task[name] = int(value) if name in _WHOLE else value

    def tables(self, hosts: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Return the tables that have rows."""
        tables = {"processes": list(self._tasks.values()), **self._rest, "hosts": hosts}
        return {name: rows for name, rows in tables.items() if rows}


def _is_header(cells: list[str]) -> bool:
    known = any(cell in COLUMNS or cell in _CHILDREN or cell == "policy" for cell in cells)
    return known and cells[-1] == "Command" and cells[0] in ("UID", "USER", "PID", "TGID")


def _cells(row: Row, group: int) -> tuple[dict[str, Any], dict[str, float], int]:
    """Words and numbers of a row, and the process that its threads belong to."""
    cells = row.text.split(None, len(row.columns) - 1)
    if len(cells) < len(row.columns) - 1:
        raise ParseError(row.number, f"{len(row.columns)} columns ({' '.join(row.columns)[:200]})", row.text)
    _check_decimals(row, cells)
    words: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    ids: dict[str, str] = {}
    for printed, cell in zip(row.columns, cells, strict=False):
        if printed in ("PID", "TGID", "TID"):
            ids[printed] = cell
        elif printed == "Command":
            words["command"] = _THREAD.sub("", cell) if "TID" in row.columns else cell
        elif printed in WORDS:
            pattern = {"CPU": _CPU, "prio": _PRIORITY, "policy": _POLICY}.get(printed)
            if pattern and not pattern.fullmatch(cell):
                raise ParseError(row.number, f"a value of {printed} in {' '.join(row.columns)}", row.text)
            if cell != "-":
                words[WORDS[printed]] = cell
        elif printed in _CHILDREN:
            numbers[printed] = value_of(cell, printed, row.number)
        elif printed in COLUMNS:
            _, factor, divisor = COLUMNS[printed]
            value = round(value_of(cell, printed, row.number, factor) / divisor, 9)
            numbers[printed] = math.nan if value < 0 else value  # -1.00: not known
        else:
            raise ParseError(row.number, "columns of pidstat", printed)
    if "PID" in ids:
        words["pid"] = _id(ids["PID"], "PID", row.number)
        return words, numbers, group
    if ids.get("TGID", "-") not in ("-", "0"):
        group = words["pid"] = _id(ids["TGID"], "TGID", row.number)
        if ids.get("TID", "-") not in ("-", "0"):  # a thread whose process has no row
            words["tid"] = _id(ids["TID"], "TID", row.number)
        return words, numbers, group
    if group < 0 or "TID" not in ids:
        raise ParseError(row.number, "the row of a process before those of its threads", row.text)
    return {**words, "pid": group, "tid": _id(ids["TID"], "TID", row.number)}, numbers, group


def _check_decimals(row: Row, cells: list[str]) -> None:
    """Refuse cells of other columns: all rates of a row have equally many decimals, sizes and counts have none."""
    decimals = set()
    for printed, cell in zip(row.columns, cells, strict=False):
        found = _DECIMALS.fullmatch(cell) if printed in COLUMNS or printed in _CHILDREN else None
        if found and printed in PLAIN and found[1]:
            raise ParseError(row.number, f"a whole number for {printed} in {' '.join(row.columns)}", row.text)
        if found and printed not in PLAIN:
            decimals.add(len(found[1] or ""))
    if len(decimals) > 1:
        raise ParseError(row.number, f"numbers with as many decimals each for {' '.join(row.columns)}", row.text)


def _id(cell: str, printed: str, number: int) -> int:
    if not _ID.fullmatch(cell):
        raise ParseError(number, f"a number for {printed}", cell)
    return int(cell)


def _counters(words: dict[str, Any], numbers: dict[str, float]) -> list[dict[str, Any]]:
    """Rows of `counters` and `averages` for one task."""
    task = "/".join(str(words[name]) for name in ("pid", "tid") if name in words)
    named = f"{task} {words['command']}" if "command" in words else task
    rows = []
    for printed, value in numbers.items():
        name = COLUMNS[printed][0] if printed in COLUMNS else ""
        unit = _CHILDREN.get(printed, next((unit for end, unit in _UNITS.items() if name.endswith(end)), ""))
        si = value / 1000 if printed.endswith("-ms") else value
        group = "pidstat -T CHILD" if printed in _CHILDREN else "pidstat"
        rows.append({"tool": "pidstat", "group": group, "item": named, "counter": printed, "value": si, "unit": unit})
    return rows


_IDS = ("UID", "USER", "PID", "TGID", "TID")
_COMMANDS = ("cmd", "command", "comm")


def _bare(name: str) -> str:
    return name.casefold().removesuffix("-percent").removesuffix("/s").removeprefix("%")


_NAMES = {_bare(name): name for name in (*COLUMNS, *_IDS, *WORDS)} | {"cpu": "%CPU"}


def parse_pidstat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``pidstat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole interval.  Raises
    ParseError if the text is not JSON of pidstat; the error names the line at which the document begins.
    """
    warnings: list[str] = []
    reader = Reader(text, "pidstat", timezone, warnings)
    tasks, found = Tasks(warnings), False
    unknown: set[str] = set()
    for number, stamp, interval in intervals_of(text, reader, "pidstat", "intervals", warnings):
        for activity, value in interval.items():
            for entry in objects_in(value, f"{activity!r}", number) if activity != "timestamp" else []:
                columns, cells, left = _json_cells(entry, number)
                found, unknown = True, unknown | left
                tasks.add(Row(number, reader.host, columns, " ".join(cells), stamp.get("time"), ""))
    if not found:
        raise nothing_in(text, "tasks in the JSON of pidstat")
    warn_unknown_keys("pidstat", sorted(unknown), 1, warnings)
    return Parsed("pidstat", tasks.tables(reader.hosts), tuple(warnings))


def _json_cells(entry: dict[str, Any], number: int) -> tuple[tuple[str, ...], list[str], set[str]]:
    """Return the columns and cells that the text would have, and the unknown keys; the command is last."""
    pairs, command, unknown = [], "", set()
    for key, value in entry.items():
        if key.casefold() in _COMMANDS:
            command = str(value)
        elif printed := next(_printed(key, value), None):
            if not isinstance(value, int | float | str) or isinstance(value, bool) or len(str(value).split()) != 1:
                raise ParseError(number, f"a number or a word for {key!r}", str(value))
            rate = isinstance(value, int | float) and printed in COLUMNS and printed not in PLAIN
            pairs.append((printed, f"{value:.2f}" if rate or isinstance(value, float) else str(value)))
        else:
            unknown.add(key)
    columns, cells = zip(*pairs, strict=True) if pairs else ((), ())
    if len(set(columns)) < len(columns):
        raise ParseError(number, "each column of pidstat once", " ".join(entry))
    return (*columns, "Command"), [*cells, command], unknown


def _printed(key: str, value: object) -> Iterator[str]:
    """Yield the printed column of a key; ``cpu`` is a percentage if it has decimals, otherwise a processor."""
    if key in COLUMNS or key in WORDS or key in _IDS:
        yield key
    elif key == "cpu" and not isinstance(value, float):
        yield "CPU"
    elif _bare(key) in _NAMES:
        yield _NAMES[_bare(key)]
