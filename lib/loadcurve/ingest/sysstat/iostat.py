"""iostat: read its text and its JSON into the tables `disks`, `cpu`, `counters` and `hosts`.

Seen: sysstat 12.6.1 on Debian 12 (``iostat``, ``-x``, ``-d``, ``-c``, ``-t``, ``-y``, ``-m``, ``-h``, ``-s``) in the
tests' samples; 5 to 12.7 in public repositories (``Blk_read/s``, ``rsec/s``, ``svctm``, ``Device:``, decimal commas,
a device alone on its line, ``-n``).

Output of sysstat (12.6, ``iostat.c``):

- The first report holds averages since the machine was started unless ``-y`` was given, which the text does not show.
- ``-t`` prints the date and the time in front of each report; without it the reports have no time.
- ``await`` and similar columns are milliseconds of the requests that ended in the interval, including the queue; 0.00
  also if no request ended.  ``%util`` exceeds 100 for several requests at once on some devices.
- ``kB_read`` and similar columns are amounts per interval, not rates; they go into `counters`.
- Sectors and blocks have 512 bytes, kB and MB are 1024-based; ``avgrq-sz`` is in sectors, ``areq-sz`` and similar
  columns are in kB also with ``-m``.

JSON, seen: sysstat 12.6.1 on Debian 12 (``iostat -x -o JSON 1 2``, with -t) in the tests' samples; 11 to 12.7 in public
repositories (``r`` for ``r/s``, ``kB_read_per_sec`` for ``kB_read/s``).  ``rrqm`` is a rate if there is no
``rrqm/s``, and the percentage of merged requests otherwise.
"""

import math
import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, rate_in, ratio_in, warn_unknown_keys
from loadcurve.ingest.sysstat.sections import CPU_COLUMNS
from loadcurve.ingest.sysstat.text_report import STAMP, Reader, is_shell_noise
from loadcurve.ingest.sysstat.values import check_ratios, ends_in_decimals, ratio_of, value_of

_SECTOR, _KB, _MB = 512.0, 1024.0, 1024.0**2
# Printed column → ours, factor, divisor.
_DISKS = {
    "tps": ("transfers_per_s", 1, 1), "r/s": ("reads_per_s", 1, 1), "w/s": ("writes_per_s", 1, 1),
    "Blk_read/s": ("read_bytes_per_s", _SECTOR, 1), "Blk_wrtn/s": ("written_bytes_per_s", _SECTOR, 1),
    "kB_read/s": ("read_bytes_per_s", _KB, 1), "kB_wrtn/s": ("written_bytes_per_s", _KB, 1),
    "MB_read/s": ("read_bytes_per_s", _MB, 1), "MB_wrtn/s": ("written_bytes_per_s", _MB, 1),
    "Blk_dscd/s": ("discarded_bytes_per_s", _SECTOR, 1), "kB_dscd/s": ("discarded_bytes_per_s", _KB, 1),
    "MB_dscd/s": ("discarded_bytes_per_s", _MB, 1),
    "rsec/s": ("read_bytes_per_s", _SECTOR, 1), "wsec/s": ("written_bytes_per_s", _SECTOR, 1),
    "rkB/s": ("read_bytes_per_s", _KB, 1), "wkB/s": ("written_bytes_per_s", _KB, 1),
    "rMB/s": ("read_bytes_per_s", _MB, 1), "wMB/s": ("written_bytes_per_s", _MB, 1),
    "dsec/s": ("discarded_bytes_per_s", _SECTOR, 1), "dkB/s": ("discarded_bytes_per_s", _KB, 1),
    "dMB/s": ("discarded_bytes_per_s", _MB, 1),
    "avgrq-sz": ("request_bytes", _SECTOR, 1), "areq-sz": ("request_bytes", _KB, 1),
    "avgqu-sz": ("queue", 1, 1), "aqu-sz": ("queue", 1, 1), "await": ("wait_mean_s", 1, 1000),
    "r_await": ("read_wait_mean_s", 1, 1000), "w_await": ("write_wait_mean_s", 1, 1000),
    "svctm": ("service_mean_s", 1, 1000), "%util": ("utilisation_ratio", 1, 100),
}  # fmt: skip
# Printed column → unit, factor, divisor.
_COUNTERS = {
    **dict.fromkeys(("rrqm/s", "wrqm/s", "drqm/s", "rqm/s", "d/s", "f/s"), ("per_s", 1, 1)),
    **dict.fromkeys(("%rrqm", "%wrqm", "%drqm"), ("ratio", 1, 100)),
    **dict.fromkeys(("rareq-sz", "wareq-sz", "dareq-sz"), ("bytes", _KB, 1)),
    **dict.fromkeys(("d_await", "f_await"), ("s", 1, 1000)),
    **{f"{unit}_{what}": ("bytes", size, 1) for unit, size in (("Blk", _SECTOR), ("kB", _KB), ("MB", _MB))
       for what in ("read", "wrtn", "dscd", "w+d")},
    **{f"{unit}_w+d/s": ("bytes_per_s", size, 1) for unit, size in (("Blk", _SECTOR), ("kB", _KB), ("MB", _MB))},
    # -n, up to version 10: NFS, with and without the page cache, and requests to the server.
    **{f"{way}{unit}_{what}/s": ("bytes_per_s", size, 1) for unit, size in (("Blk", _SECTOR), ("kB", _KB), ("MB", _MB))
       for way in "rw" for what in ("nor", "dir", "svr")},
    **dict.fromkeys(("ops/s", "rops/s", "wops/s", "fo/s", "fc/s", "fd/s"), ("per_s", 1, 1)),
    "sec/s": ("bytes_per_s", _SECTOR, 1), "kB/s": ("bytes_per_s", _KB, 1), "MB/s": ("bytes_per_s", _MB, 1),
}  # fmt: skip
_KNOWN = _DISKS.keys() | _COUNTERS.keys()  # columns whose unit is known
_HEADER = re.compile(r"\s*(?:Device|Filesystem):?\s+\S")
_CELL = re.compile(r"-?[0-9][0-9.,]*[%kMGTP]?|-?nan")
_CPU = "avg-cpu:"
_DEVICE = re.compile(r"(?:Device|Filesystem):?")
_DECIMAL = re.compile(r"-?[0-9]+[.,][0-9]+")
_FOREIGN = re.compile(r"tty: .*|(?:tty|cpu|disk[0-9]*|\s|tin|tout)+|extended device statistics.*", re.ASCII)


def unwrap_rows(text: str) -> tuple[str, int]:
    r"""Join header rows and rows of disks that mail wrapped, in the last line of each; the others become empty.

    The rest of a header row has only column names, that of a row only numbers, until it is as long as its header.  Rows
    below a header that was not wrapped stay as they are: ``-h`` of old versions prints each in two lines.

    Examples
    --------
    >>> unwrap_rows("Device: r/s w/s\n%util\nsda 1.00 2.00\n3.00\n")
    ('\nDevice: r/s w/s %util\n\nsda 1.00 2.00 3.00\n', 1)
    """
    lines = text.split("\n")
    found, width, begun = 0, 0, ""  # `width` is the number of columns of a joined header
    for at, line in enumerate(lines):
        words = line.split()
        if _HEADER.match(line) and _KNOWN.issuperset(words[1:]):
            begun, width = "header", 0
        elif words and begun == "header" and _KNOWN.issuperset(words):
            _join(lines, at)
            found = found or at
            width = len(lines[at].split())
        elif not words or not width:
            begun = ""
        elif begun == "row" and all(map(_CELL.fullmatch, words)) and len(lines[at - 1].split()) + len(words) <= width:
            _join(lines, at)
        else:
            begun = "row" if len(words) < width else ""
    return "\n".join(lines), found


def _join(lines: list[str], at: int) -> None:
    lines[at - 1], lines[at] = "", f"{lines[at - 1].rstrip()} {lines[at].strip()}"


def parse_iostat(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``iostat`` printed.

    `disks` and `cpu` in the order of the reports; columns that `disks` does not have are in `counters`.  Raises
    ParseError if a row does not fit its header, or if there is none.
    """
    warnings: list[str] = []
    text, wrapped = unwrap_rows(text)
    if wrapped:
        warnings.append(f"line {wrapped}: lines of iostat broken in parts, which were joined")
    reader = Reader(text, "iostat", timezone, warnings)
    reports = _Reports(reader, warnings)
    for number, raw in enumerate(reader.lines, 1):
        if line := raw.strip():
            reports.take(line, number, last=number == len(reader.lines))
    warn_first(reports.first, warnings)
    return reader.parsed(reports.tables, "a report of iostat")


class _Reports:
    """Tables of the reports read so far, and the header row above the current line."""

    def __init__(self, reader: Reader, warnings: list[str]) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {"disks": [], "cpu": [], "counters": []}
        self.first = 0  # line of the first header row; 0 before it
        self._reader, self._warnings = reader, warnings
        self._columns: list[str] = []
        self._device = ""  # alone on the line above
        self._sample: dict[str, object] = {}

    def take(self, line: str, number: int, last: bool) -> None:
        """Read a line that is not empty; no newline ends the last one, so that a part of it may be missing."""
        cells = line.split()
        of_cpu = self._columns[:1] == [_CPU]
        if line.startswith("Linux ") and not last:
            self._reader.heading(line, number)
            self._columns, self._sample, self.first = [], {"host": self._reader.host}, 0
        elif header := _header(cells):
            self._columns, self._device, self.first = header, "", self.first or number
            warn_unknown(header, number, self._warnings)
        elif match := STAMP.fullmatch(line):
            self._sample = self._reader.sample(self._reader.stamped(match, number))
        elif last and not (ends_in_decimals(line) and len(cells) == len(self._columns) - of_cpu):
            self._warnings.append(f"line {number}: the text ends inside a row, which is left out")
        elif of_cpu and len(cells) == len(self._columns) - 1:
            ratios = {name: ratio_of(cell, name, number) for name, cell in zip(self._columns[1:], cells, strict=True)}
            put_cpu(self.tables["cpu"], ratios, self._sample, number, self._warnings)
            self._columns = []
        elif of_cpu or not self._columns or not self._take_disk(line, cells, number):
            self._refuse(line, number)

    def _take_disk(self, line: str, cells: list[str], number: int) -> bool:
        """Read a line below a header row of disks; False where it is no row."""
        if not self._device and _is_prose(cells):
            self._warnings.append(f"line {number}: not a row of iostat, left out: {line[:60]!r}")
            self._columns = []
        elif not self._device and len(cells) == 1:
            self._device = cells[0]  # -h of older versions: its numbers are on the next line
        elif self._device or len(cells) >= len(self._columns):
            named, values = _device(self._columns, line, self._device, number)
            put_disk(self.tables, named, values, self._sample)
            self._device = ""
        else:
            return False
        return True

    def _refuse(self, line: str, number: int) -> None:
        """Raise about a line that iostat does not print; only warn of other programs' lines outside a report."""
        if is_shell_noise(line):
            return
        if self._columns or _FOREIGN.fullmatch(line):
            under = f" with {' '.join(self._columns)}" if self._columns else ""
            raise ParseError(number, f"a row of iostat on Linux{under}", line)
        self._warnings.append(f"line {number}: not understood, left out: {line[:60]!r}")


def warn_first(number: int, warnings: list[str]) -> None:
    """Warn that the first report may hold averages since boot, unlike the later ones."""
    warnings.append(
        f"line {number}: the first report holds averages since the start of the machine, unless -y was given"
    )


def _header(cells: list[str]) -> list[str]:
    """Columns of a line that names them: ``avg-cpu:`` or ``Device`` and what follows; empty for any other line.

    Some languages of old versions translate the first word; with ``--pretty`` the device is the last.
    """
    first, *names = cells
    if names and (first == _CPU or (first[-1] in ":：" and all(name in CPU_COLUMNS for name in names))):
        return [_CPU, *names]
    if _DEVICE.fullmatch(cells[-1]) and not _DEVICE.fullmatch(first):
        *names, first = cells
        return [] if any(name[0].isdigit() for name in names) else [*names, "Device"]
    if _DEVICE.fullmatch(first) and names and not any(name[0].isdigit() for name in names):
        return ["Device", *names]
    named = len(names) > 1 and not (first in _KNOWN or first[0].isdigit()) and _KNOWN.issuperset(names)
    return ["Device", *names] if named else []


def _is_prose(cells: list[str]) -> bool:
    """Whether a line below a header has words in place of numbers."""
    return len(cells) > 3 and sum(cell[0] in "-.0123456789" for cell in cells) < 2


def warn_unknown(columns: list[str], number: int, warnings: list[str]) -> None:
    """Warn of columns without a known unit, once for each set of them."""
    unknown = [name for name in columns if columns[0] != _CPU and name != "Device" and name not in _KNOWN]
    sentence = f"columns of iostat not known, their numbers in no known unit: {' '.join(unknown)}"
    if unknown and not any(warning.endswith(sentence) for warning in warnings):
        warnings.append(f"line {number}: {sentence}")


def _device(columns: list[str], line: str, device: str, number: int) -> tuple[str, dict[str, float]]:
    """Name of a device, and its values in SI units by printed column."""
    names = [name for name in columns if not _DEVICE.fullmatch(name)]
    if device:
        cells = line.split()
    elif _DEVICE.fullmatch(columns[0]):
        device, *cells = line.rsplit(None, len(names))
    else:
        *cells, device = line.split(None, len(names))
    if len(cells) != len(names) or _DECIMAL.fullmatch(device):
        raise ParseError(number, f"a device and {len(names)} numbers ({' '.join(names)})", line)
    values = {}
    for name, cell in zip(names, cells, strict=True):
        times, per = scale_of(name)
        values[name] = value_of(cell, name, number, times) / per
    return device, values


def put_disk(
    tables: dict[str, list[dict[str, Any]]], device: str, values: dict[str, float], sample: dict[str, Any]
) -> None:
    """Add one device of one report: SI values by printed column, those without a column of `disks` as counters."""
    known = {_DISKS[name][0]: value for name, value in values.items() if name in _DISKS and value >= 0}
    if known:
        tables["disks"].append({**sample, "tool": "iostat", "device": device, **known})
    place = {**sample, "tool": "iostat", "group": "iostat", "item": device}
    tables["counters"] += [
        {**place, "counter": name, "value": value, "unit": _COUNTERS.get(name, ("", 1, 1))[0]}
        for name, value in values.items()
        if name not in _DISKS and not math.isnan(value)
    ]


def put_cpu(
    rows: list[dict[str, Any]], ratios: dict[str, float], sample: dict[str, Any], number: int, warnings: list[str]
) -> None:
    """Add the processors' ratios of one report, by printed column."""
    if unknown := [name for name in ratios if name not in CPU_COLUMNS]:
        raise ParseError(number, "columns of iostat's avg-cpu", " ".join(unknown))
    check_ratios(ratios, number, warnings)
    named = {CPU_COLUMNS[name]: value for name, value in ratios.items()}
    rows.append({**sample, "tool": "iostat", "cpu": "all", **named})


def scale_of(printed: str) -> tuple[float, float]:
    """Factor and divisor of a column; 1 and 1 if it is unknown.

    Examples
    --------
    >>> scale_of("rsec/s"), scale_of("await"), scale_of("%rrqm")
    ((512.0, 1), (1, 1000), (1, 100))
    """
    _, times, per = _DISKS.get(printed) or _COUNTERS.get(printed) or ("", 1, 1)
    return times, per


_MERGED = ("rrqm", "wrqm", "drqm")
_PER_S = ("r", "w", "d", "f", "rkB", "wkB", "dkB", "rMB", "wMB", "dMB", "rsec", "wsec", "dsec")
_NAMES = ("disk_device", "device", "group")


def parse_iostat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``iostat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole report.  Raises
    ParseError if the text is not JSON of iostat; the error names the line at which the document begins.
    """
    warnings: list[str] = []
    tables: dict[str, list[dict[str, Any]]] = {"disks": [], "cpu": [], "counters": []}
    reader = Reader(text, "iostat", timezone, warnings)
    for number, sample, report in intervals_of(text, reader, "iostat", "reports", warnings):
        unknown = [name for name in report if name not in ("timestamp", "avg-cpu", "disk")]
        warn_unknown_keys("iostat", unknown, number, warnings)
        cpu = report.get("avg-cpu")
        if isinstance(cpu, dict):
            ratios = {f"%{name}": ratio_in(value, name, number) for name, value in cpu.items()}
            put_cpu(tables["cpu"], ratios, sample, number, warnings)
        for disk in objects_in(report.get("disk"), "'disk'", number):
            if not any(name in disk for name in _NAMES):
                raise ParseError(number, "a disk with its name in the JSON of iostat", str(disk))
            device = str(next(disk[name] for name in _NAMES if name in disk))
            values = _values(disk, number)
            warn_unknown(["Device", *values], number, warnings)
            put_disk(tables, device, values, sample)
    warn_first(1, warnings)
    return reader.parsed(tables, "reports in the JSON of iostat")


def _values(disk: dict[str, Any], number: int) -> dict[str, float]:
    """Return the SI values of a disk by the column names of iostat's text."""
    values = {}
    for name, raw in disk.items():
        if name in _NAMES:
            continue
        printed = name.replace("_per_sec", "/s")
        if name in _MERGED:
            printed = f"%{name}" if f"{name}/s" in disk else f"{name}/s"
        elif name == "util":
            printed = "%util"
        elif name in _PER_S:
            printed = f"{name}/s"
        times, per = scale_of(printed)
        value = rate_in(raw, name, number) * times / per
        if not math.isnan(value):
            values[printed] = value
    return values
