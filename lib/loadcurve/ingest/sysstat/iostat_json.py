"""iostat -o JSON: read it into the same tables as its text.

Seen: sysstat 12.6.1 on Debian 12 (``iostat -x -o JSON 1 2``, with -t) in the tests' samples; 11 to 12.7 in public
repositories (``r`` for ``r/s``, ``kB_read_per_sec`` for ``kB_read/s``).  ``rrqm`` is a rate if there is no
``rrqm/s``, and the percentage of merged requests otherwise.
"""

import math

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sysstat.iostat import put_cpu, put_disk, scale_of, warn_first, warn_unknown
from loadcurve.ingest.sysstat.json_report import intervals_of, objects_in, rate_in, ratio_in, warn_unknown_keys
from loadcurve.ingest.sysstat.text_report import Reader

_MERGED = ("rrqm", "wrqm", "drqm")
_PER_S = ("r", "w", "d", "f", "rkB", "wkB", "dkB", "rMB", "wMB", "dMB", "rsec", "wsec", "dsec")
_PERCENT = ("util",)
_NAMES = ("disk_device", "device", "group")


def parse_iostat_json(text: str, timezone: str = "UTC") -> Parsed:
    """Tables of what ``iostat -o JSON`` printed.

    `text` is output of one or several runs; one that ends too early is read up to its last whole report.  Raises
    ParseError if the text is not JSON of iostat; the error names the line at which the document begins.

    Examples
    --------
    >>> text = '''{"sysstat": {"hosts": [{"nodename": "vm", "release": "6.1", "machine": "x86_64", "number-of-cpus": 2,
    ... "date": "11/20/26", "statistics": [{"disk": [{"disk_device": "vda", "r/s": 4.00, "rkB/s": 252.00}]}]}]}}'''
    >>> parse_iostat_json(text).tables["disks"][["device", "reads_per_s", "read_bytes_per_s"]].values.tolist()
    [['vda', 4.0, 258048.0]]
    """
    warnings: list[str] = []
    tables: dict[str, list[dict]] = {"disks": [], "cpu": [], "counters": []}
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


def _values(disk: dict, number: int) -> dict[str, float]:
    """Return the SI values of a disk by the column names of iostat's text."""
    values = {}
    for name, raw in disk.items():
        if name in _NAMES:
            continue
        printed = name.replace("_per_sec", "/s")
        if name in _MERGED:
            printed = f"%{name}" if f"{name}/s" in disk else f"{name}/s"
        elif name in _PERCENT:
            printed = f"%{name}"
        elif name in _PER_S:
            printed = f"{name}/s"
        times, per = scale_of(printed)
        value = rate_in(raw, name, number) * times / per
        if not math.isnan(value):
            values[printed] = value
    return values
