"""vmstat: read ``vmstat`` and ``vmstat -s`` into the tables `cpu`, `load`, `memory`, `counters` and `averages`.

Seen: procps-ng 4.0.2 on Debian 12 (``vmstat [-a] [-t] [-w] [-y] [-S M] 1 5``, ``vmstat -s``) in the tests' samples;
procps 2 and 3 (columns ``w``, without ``st`` or ``wa``; rows with a time before them) in public repositories.

Output of vmstat (procps-ng 4.0, ``src/vmstat.c``, and its manual page):

- The first report holds averages since the machine was started, but its tasks and memory are those of the instant;
  ``-y`` omits it, and the text does not show that.
- ``unitConvert``: memory, ``si`` and ``so`` are in the unit of ``-S``, which is KiB unless the command says otherwise
  and is not printed; ``bi`` and ``bo`` are always in KiB per second.
- Percentages are rounded to whole numbers, so they add up to 97 to 103.
- ``-t`` prints local time, and the abbreviation of its zone in the header.
"""

import re
from datetime import datetime
from functools import cache
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.column_lists import Columns, extend, table_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import ABBREVIATION, CLOCK, DAY, Instants, zone_named
from loadcurve.ingest.sysstat.text_report import is_shell_noise

_LOAD = {"r": "run_queue", "b": "blocked"}
_MEMORY = {
    "swpd": "swap_used_bytes", "free": "free_bytes", "buff": "buffers_bytes", "cache": "cached_bytes",
    "inact": "inactive_bytes", "active": "active_bytes",
}  # fmt: skip
_CPU = {
    "us": "cpu_user_ratio", "sy": "cpu_system_ratio", "id": "cpu_idle_ratio", "wa": "cpu_iowait_ratio",
    "st": "cpu_steal_ratio", "gu": "cpu_guest_ratio",
}  # fmt: skip
# Unit of the columns that go to `counters`; the printed unit of si and so is that of memory.
_COUNTERS = {
    "w": "", "si": "bytes_per_s", "so": "bytes_per_s", "bi": "bytes_per_s", "bo": "bytes_per_s",
    "in": "per_s", "cs": "per_s",
}  # fmt: skip
_KNOWN = {**_LOAD, **_MEMORY, **_CPU, **_COUNTERS}
_KIB = 1024.0
_UNIT = {"k": 1000.0, "K": 1024.0, "m": 1e6, "M": 1024.0**2}  # manual page, -S

_COMMAND = re.compile(r"(?:^|[\s/])vmstat((?: .*)?)$")
_IN_UNIT = re.compile(r" (?:-[A-Za-z]*S|--unit)[ =]?([kKmM])(?:[ ;|>&]|$)")
_NO_FIRST = re.compile(r" (?:-[A-Za-z]*y|--no-first)")
_GROUPS = re.compile(r"(?:-+time-+ +)?-*procs-*[ -]+memory[ -].*")
_WHOLE = re.compile(r"[0-9]{1,18}")
_STATISTIC = re.compile(r"([0-9]{1,18}) (?:([kKmM]) )?([A-Za-z][A-Za-z0-9 -]*)")
_OTHERS = re.compile(
    r"disk- -+reads-+.*|Cache +Num +Total +Size +Pages|procs +memory +page +(?:disks?|faults)\b.*"
    r"|System configuration: .*"
)


class _ReportTables:
    """Columns of the tables; reports in a row with the same columns are converted together."""

    def __init__(self, warnings: list[str]) -> None:
        self.columns: dict[str, Columns] = {name: {} for name in ("cpu", "load", "memory", "counters", "averages")}
        self._warnings = warnings
        self._kind: tuple[list[str], bool, float] = ([], False, 0.0)
        self._values: list[int] = []
        self._times: list[datetime | None] = []

    def add(
        self, number: int, names: list[str], since_boot: bool, scale: float, values: list[int], times: list[Any]
    ) -> None:
        """Add reports from line `number` on: all their values, row by row, and the instant of each."""
        if self._kind != (kind := (names, since_boot, scale)):
            self.flush()
            self._kind = kind
        self._values += values
        self._times += times
        ratios = [values[i :: len(names)] for i, name in enumerate(names) if name in _CPU]
        for line, total in enumerate(map(sum, zip(*ratios, strict=True)), number):
            if not 97 <= total <= 103:
                self._warnings.append(f"line {line}: the percentages do not add up to 100")

    def flush(self) -> None:
        """Convert the reports that were added since the last time."""
        names, since_boot, scale = self._kind
        count = len(self._times)
        values = {name: self._values[i :: len(names)] for i, name in enumerate(names)}
        sample: Columns = {"time": self._times} if any(self._times) else {}
        sample["tool"] = ["vmstat"] * count
        self._values, self._times = [], []
        if not count:
            return
        extend(self.columns["load"], sample | {column: values[name] for name, column in _LOAD.items()})
        memory = {column: [v * scale for v in values[name]] for name, column in _MEMORY.items() if name in values}
        extend(self.columns["memory"], sample | memory)
        ratios = {name: [v / 100 for v in values[name]] for name in _CPU if name in values}
        if not since_boot:
            cpu: Columns = {_CPU[name]: column for name, column in ratios.items()}
            extend(self.columns["cpu"], sample | {"cpu": ["all"] * count} | cpu)
        counters: dict[str, list[float]] = {}
        for name in _COUNTERS.keys() & values:
            factor = scale if name in ("si", "so") else _KIB if name in ("bi", "bo") else 1.0
            counters[name] = [v * factor for v in values[name]]
        units = {name: unit for name, unit in _COUNTERS.items() if name in counters}
        rates = {name: unit for name, unit in units.items() if since_boot and unit}
        self._long("counters", sample, {name: unit for name, unit in units.items() if name not in rates}, counters)
        if since_boot:
            statistic: Columns = {"statistic": ["average"] * count, "tool": sample["tool"]}
            self._long("averages", statistic, rates | dict.fromkeys(ratios, "ratio"), counters | ratios)

    def _long(self, table: str, sample: Columns, units: dict[str, str], values: dict[str, list[float]]) -> None:
        """Add a row for each value of each report."""
        count = len(sample["tool"])
        if units:
            repeated = {name: [v for v in column for _ in units] for name, column in sample.items()}
            named = {"group": ["vmstat"] * count * len(units), "counter": [*units] * count}
            flat = [v for row in zip(*(values[name] for name in units), strict=True) for v in row]
            extend(self.columns[table], repeated | named | {"value": flat, "unit": [*units.values()] * count})


def parse_vmstat(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `cpu`, `load`, `memory`, `counters` and `averages` of what ``vmstat`` printed.

    A row of `cpu`, `load` and `memory` and several of `counters` for each report.  The rates and percentages of a run's
    first report are averages since the machine was started and go into `averages`.  `text` is output of one or several
    runs of ``vmstat``, perhaps after the command that printed it: ``-S`` and ``-y`` are taken from that command,
    because the output does not show them.  `timezone` is the IANA name of the zone of ``-t``'s local times, unless the
    header says UTC.  Raises ParseError if a header or a row is not what vmstat prints, or if there is none.
    """
    warnings: list[str] = []
    tables = _ReportTables(warnings)
    _read(text, tables, Instants(zone_named(timezone), warnings), warnings)
    tables.flush()
    if not tables.columns["load"]:
        lines = text.split("\n")
        first = next((i for i, line in enumerate(lines) if line.strip()), 0)
        at = next((i for i, line in enumerate(lines) if _OTHERS.fullmatch(line.strip())), first)
        raise ParseError(at + 1, "a header and rows of vmstat or vmstat -s on Linux", lines[at].strip())
    return Parsed("vmstat", {name: table_of(found) for name, found in tables.columns.items() if found}, tuple(warnings))


def _read(text: str, tables: _ReportTables, instants: Instants, warnings: list[str]) -> None:
    """Read the reports of all runs in a text."""
    columns: list[str] = []
    zone_name, scale, command = "", _KIB, ""
    first, since_boot, foreign = True, True, True
    height, under = 0, 0  # rows under the first header of a run, and under the last
    at, number, last = 0, 1, text.count("\n") + 1
    while number <= last:
        if columns and not first and (plain := _rows_of(len(columns)).match(text, at)):
            values, times = _plain_rows(plain[0], len(columns), zone_name, instants, number)
            tables.add(number, columns, False, scale, values, times)
            under += len(times)
            at, number = plain.end(), number + len(times)
            continue
        end = text.find("\n", at) if number < last else len(text)
        line = text[at:end].strip()
        tokens = line.split()
        if _GROUPS.fullmatch(line):
            pass
        elif tokens[:2] == ["r", "b"] and number < last:
            before = columns
            columns, zone_name = _columns(tokens, number, line)
            # vmstat repeats its header once for each height of the terminal.
            if under >= 10 and under == (height or under) and columns == before and not foreign:
                height = under
            else:
                height, first = 0, True
                scale = _UNIT[unit[1]] if (unit := _IN_UNIT.search(command)) else _KIB
                since_boot, command, foreign = not _NO_FIRST.search(command), "", False
            under = 0
        elif (found := _COMMAND.search(line)) and not tokens[0].isdigit():
            command, columns, foreign = f"{found[1]} ", [], True
        elif _OTHERS.fullmatch(line):
            columns, foreign = [], True
            warnings.append(f"line {number}: not of vmstat or vmstat -s on Linux, left out: {line[:60]!r}")
        elif not columns or not _is_row(tokens, columns):
            foreign = True
            if columns and not is_shell_noise(line):
                warnings.append(f"line {number}: not understood, left out: {line[:60]!r}")
        elif number == last and not _is_whole(tokens, columns):
            warnings.append(f"line {number}: the text ends inside a row, which is left out")
        else:
            row, time = _row(tokens, columns, zone_name, instants, number)
            tables.add(number, columns, first and since_boot, scale, row, [time])
            if first and since_boot:
                warnings.append(
                    f"line {number}: the first report is taken for averages since the start of the machine, as it is"
                    " without -y; its rates are in `averages`"
                )
            first = False
            under += 1
        at, number = end + 1, number + 1


@cache
def _rows_of(width: int) -> re.Pattern[str]:
    """Whole lines with this many numbers, all with or all without a time behind them."""
    row = rf"[ \t]*[0-9]{{1,18}}(?:[ \t]+[0-9]{{1,18}}){{{width - 1}}}"
    return re.compile(rf"(?:{row}[ \t]*\n)++|(?:{row}[ \t]+{DAY.pattern}[ \t]+{CLOCK.pattern}[ \t]*\n)++")


def _plain_rows(
    text: str, width: int, zone_name: str, instants: Instants, number: int
) -> tuple[list[int], list[datetime | None]]:
    """Return the numbers of lines that `_rows_of` matches, and the instant of each."""
    tokens, count = text.split(), text.count("\n")
    words = len(tokens) // count
    if words == width:
        return list(map(int, tokens)), [None] * count
    rows = [tokens[i : i + words] for i in range(0, len(tokens), words)]
    times: list[datetime | None] = [
        instants.read(" ".join([*row[width:], zone_name]), line) for line, row in enumerate(rows, number)
    ]
    return [int(token) for row in rows for token in row[:width]], times


def _columns(tokens: list[str], number: int, line: str) -> tuple[list[str], str]:
    """Names of the columns of a header row, and the abbreviation of the zone where times follow."""
    zone_name = tokens.pop() if tokens[-1] not in _KNOWN and ABBREVIATION.fullmatch(tokens[-1]) else ""
    if unknown := [name for name in tokens if name not in _KNOWN]:
        raise ParseError(number, f"columns of vmstat ({' '.join(_KNOWN)})", " ".join(unknown))
    if len(set(tokens)) < len(tokens) or not {"free", "us", "sy", "id"} <= set(tokens):
        raise ParseError(number, "each column of vmstat once", line)
    return tokens, zone_name


def _is_row(tokens: list[str], columns: list[str]) -> bool:
    """Whether a line is a row (complete, garbled or cut off), not other text between the rows."""
    numbers = sum(token.isdigit() for token in tokens)
    return numbers >= 4 and 2 * numbers > len(tokens) and len(tokens) <= len(columns) + 5


def _is_whole(tokens: list[str], columns: list[str]) -> bool:
    """Whether a last line without a newline is certainly complete."""
    if len(tokens) >= len(columns) + 2 and CLOCK.fullmatch(tokens[-1]):
        return True
    if len(tokens) != len(columns) or not all(_WHOLE.fullmatch(token) for token in tokens):
        return False
    return 97 <= sum(int(token) for token, name in zip(tokens, columns, strict=True) if name in _CPU) <= 103


def _row(
    tokens: list[str], columns: list[str], zone_name: str, instants: Instants, number: int
) -> tuple[list[int], datetime | None]:
    """Return the values of a row, and its instant, None if it has none."""
    start = next((i for i, token in enumerate(tokens) if _WHOLE.fullmatch(token)), 0)
    before, numbers, after = tokens[:start], tokens[start : start + len(columns)], tokens[start + len(columns) :]
    for name, token in zip(columns, numbers, strict=False):
        if not _WHOLE.fullmatch(token):
            raise ParseError(number, f"a whole number for {name}", token)
    if len(numbers) < len(columns):
        raise ParseError(number, f"{len(columns)} columns ({' '.join(columns)[:200]})", " ".join(tokens))
    values = list(map(int, numbers))
    words = after or before  # before: a script may print a time before each row
    if after or (words and DAY.fullmatch(words[0])):
        return values, instants.read(" ".join([*words, zone_name] if len(words) == 2 else words), number)
    if before and not all(CLOCK.fullmatch(word) for word in before):
        raise ParseError(number, f"{len(columns)} numbers, perhaps after a time", " ".join(tokens))
    if before:
        instants.doubt("the rows have times of day without a date, which are left out", number)
    return values, None


def parse_vmstat_statistics(text: str) -> Parsed:
    """Table `counters` of what ``vmstat -s`` printed: sizes in bytes, everything else as counts since the start.

    Raises ParseError if a line is not what vmstat prints, or if there is none.
    """
    lines = text.split("\n")
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        match = _STATISTIC.fullmatch(line)
        if number == len(lines) and line:
            warnings.append(f"line {number}: the text ends inside a line, which is left out")
        elif match:
            factor, unit = (_UNIT[match[2]], "bytes") if match[2] else (1.0, "")
            counter = {"counter": match[3], "value": int(match[1]) * factor, "unit": unit}
            rows.append({"tool": "vmstat", "group": "vmstat -s", **counter})
        elif line[:1].isdigit():
            raise ParseError(number, "a line such as '24682416 K total memory'", line)
        elif not is_shell_noise(line):
            warnings.append(f"line {number}: not understood, left out: {line[:60]!r}")
    if not rows:
        raise nothing_in(text, "lines of vmstat -s")
    return Parsed("vmstat", {"counters": rows}, tuple(warnings))
