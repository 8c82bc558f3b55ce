"""iostat's columns: the column of `disks`, or `counters`, and the unit of each.

Names from ``iostat.c`` (sysstat 5 to 12.7): sectors and blocks have 512 bytes, kB and MB are 1024-based, times are
milliseconds; ``avgrq-sz`` is in sectors, ``areq-sz`` and similar columns are in kB also with ``-m``.
"""

import math

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


def is_known(printed: str) -> bool:
    """Whether the unit of a column is known."""
    return printed in _DISKS or printed in _COUNTERS


def scale_of(printed: str) -> tuple[float, float]:
    """Factor and divisor of a column; 1 and 1 if it is unknown.

    Examples
    --------
    >>> scale_of("rsec/s"), scale_of("await"), scale_of("%rrqm")
    ((512.0, 1), (1, 1000), (1, 100))
    """
    _, times, per = _DISKS.get(printed) or _COUNTERS.get(printed) or ("", 1, 1)
    return times, per


def split(values: dict[str, float]) -> tuple[dict[str, float], list[dict]]:
    """Values in SI units, by printed column, into those of `disks` and rows for `counters`.

    Examples
    --------
    >>> split({"tps": 2.0, "rrqm/s": 0.5})
    ({'transfers_per_s': 2.0}, [{'counter': 'rrqm/s', 'value': 0.5, 'unit': 'per_s'}])
    """
    known = {
        _DISKS[name][0]: value
        for name, value in values.items()
        if name in _DISKS and not math.isnan(value) and value >= 0
    }
    rest = [
        {"counter": name, "value": value, "unit": _COUNTERS.get(name, ("", 1, 1))[0]}
        for name, value in values.items()
        if name not in _DISKS
    ]
    return known, rest
