"""Columns of ``runs`` under the names that people give them in their own tables."""

import difflib
import re

from loadcurve.tables.schemas import SCHEMAS

# Field words, letters of formulas, and options of load generators.
_OTHER_NAMES = {
    "connections": "c n clients concurrency concurrent conns users vus",
    "throughput_rps": "x qps req_per_s req_s requests_per_s requests_per_second requests_s rps throughput tps",
    "latency_mean_s": "avg avg_latency latency latency_avg mean mean_latency r response_time rt",
    "target_rate_rps": "arrival_rate offered_rate offered_rps rate target_rate target_rps",
    "duration_s": "duration seconds",
    "started_at": "date start start_time time timestamp",
    "requests_failed": "errors failed failures",
}
_COLUMN_OF = {name: column for column, names in _OTHER_NAMES.items() for name in names.split()}
SECONDS_IN = {"ms": 1e-3, "us": 1e-6}
"""Units of time that a column may end in instead of ``_s``."""
_UNIT = re.compile(r"_(s|secs?|seconds|ms|msecs?|us|usecs?)$")


def meant_column(name: str) -> str:
    """Return the column of ``runs`` that a name probably means, with the unit of the name; empty if there is none.

    Examples
    --------
    >>> meant_column("rt_ms"), meant_column("Conections"), meant_column("rate"), meant_column("kernel")
    ('latency_mean_ms', 'connections', 'target_rate_rps', '')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    known = list(SCHEMAS["runs"].columns)
    unit = _UNIT.search(plain)
    bare = plain[: unit.start()] if unit else plain
    found = plain if plain in known else _COLUMN_OF.get(plain) or _COLUMN_OF.get(bare)
    if not found:
        near = {one.removesuffix("_s"): one for one in known} | {one: one for one in known}
        close = difflib.get_close_matches(bare, near, n=1, cutoff=0.85)
        found = near[close[0]] if close else ""
    prefix = unit[1][0] if unit else "s"
    return found.removesuffix("_s") + f"_{prefix}s" if prefix in "mu" and found.endswith("_s") else found


def base_column(name: str) -> tuple[str, float]:
    """Return the column of ``runs`` that a name with another unit of time means, and that unit in seconds.

    Examples
    --------
    >>> base_column("latency_mean_ms"), base_column("connections")
    (('latency_mean_s', 0.001), ('connections', 1.0))
    """
    stem, _, unit = name.rpartition("_")
    if unit in SECONDS_IN and f"{stem}_s" in SCHEMAS["runs"].columns:
        return f"{stem}_s", SECONDS_IN[unit]
    return name, 1.0
