"""Throughput stopped rising and nothing watched was saturated, so what limits it is unknown.

What it means
-------------
No processor, disk or link that was watched is close to its limit. Until the limit is known, the highest throughput
may not be the capacity of the server's hardware.

Why it happens
--------------
The limit is a resource without a monitor: one thread of the generator or of the server on a host with many
processors, a lock, a pool of workers or database connections, an accept queue, a CPU quota, packets per second, a
rate limit, a downstream service. In the published "Nginx status page test" 40 clients met a flat curve with all
resources half idle; the cause was one listening port for all workers.

How to fix it
-------------
Record more and repeat the highest load: the finding lists what was not recorded, the most frequent cause first. Then
change one thing: twice the generators (if throughput rises, the generator was the limit), twice the workers, a second
listening port. A server whose threads wait without using a processor needs a profiler of waits (`offcputime` of bcc,
or `perf trace -s`).

When to ignore it
-----------------
If an open loop was offered no more load, or the study limits the rate, the plateau is that of the input. In a closed
loop with few connections throughput is N / R, without any saturated resource; there it still rises with N.
"""

from collections.abc import Iterator, Mapping

import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.audit.rule import Finding, Rule, not_checked
from loadcurve.audit.run_tables import Tables, all_runs, key_of
from loadcurve.audit.utilisation import in_words, use_of_resources
from loadcurve.tables import merge_generators
from loadcurve.tables.curves import LOOPS, PLATEAU_RISE, SATURATED_RATIO, Saturation, curves, name_loops, saturation_of
from loadcurve.units import format_quantity

_FEWEST = 3  # loads: with two, nothing distinguishes a plateau from scatter
# What to record, the most frequent cause of a hidden limit first: table, column and pattern of its rows, command.
_ANY = ("", "")
_NEXT: tuple[tuple[str, tuple[str, str], str], ...] = (
    ("processes", _ANY, "each thread of generator and server (`pidstat -u -t 1`)"),
    ("cpu", ("cpu", "[0-9]"), "each processor of both hosts (`sar -u ALL -P ALL 1`)"),
    ("counters", ("counter", "nr_throttled"), "CPU quotas (`grep -H '' /sys/fs/cgroup/cpu.stat`)"),
    ("counters", ("counter", "Listen(?:Drops|Overflows)|listen queue"), "drops at listening sockets (`nstat -asz`)"),
    ("connections", _ANY, "the accept queues (`ss -ltn`)"),
    ("server", _ANY, "the server's workers (stub_status, server-status)"),
    ("network", _ANY, "packets and links (`sar -n DEV,EDEV 1`)"),
    ("disks", _ANY, "the disks (`sar -d 1`)"),
)
_LAST = "locks and waits of the server's threads (`offcputime`, `perf trace -s`)"


def judge_plateau(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each curve with at least three loads, about all its runs together."""
    runs = merge_generators(tables["runs"]).dropna(subset=["throughput_rps"])
    runs = runs[runs["throughput_rps"] > 0]
    if runs.empty or not runs[list(LOOPS)].notna().any(axis=None):
        return
    usage = use_of_resources(tables)
    for load, named in name_loops(runs, tables.get("factors")):
        for variant, group in curves(named.dropna(subset=[load])):
            if group[load].nunique() >= _FEWEST:
                yield _finding(variant, group, load, usage, tables)


def _finding(variant: str, group: pd.DataFrame, load: str, usage: pd.DataFrame, tables: Tables) -> Finding:
    of, name = all_runs(group), load.removesuffix("_rps").replace("_", " ")
    rows = usage.merge(group.assign(key=key_of(group)), on="key", suffixes=("_watched", ""))
    if rows.empty:
        return not_checked(of, f"no sample of a monitor belongs to {variant}", f"Record {_next(tables, group)}.")
    found = saturation_of(rows, load)
    busiest, at = found.busy.idxmax()
    share = float(found.busy.max())
    used = f"{format_quantity(share, 'ratio')} busy at {name} = {at:g}"
    where = f"the busiest resource is {in_words(str(busiest))}, {used}"
    if found.kind != "plateau":
        return Finding(of, "ok", f"{variant}: {_why_not(found, name)}; {where}.", "", share, SATURATED_RATIO)
    course = found.course(lambda rps: format_quantity(rps, "rps"))
    evidence = (
        f"{variant}: throughput {course} from {name} = {found.flat_from:g} to "
        f"{found.throughput.index.max():g}, yet {where}."
    )
    return Finding(of, "warning", evidence, f"Record, in this order: {_next(tables, group)}.", share, SATURATED_RATIO)


def _why_not(found: Saturation, name: str) -> str:
    if found.kind == "rising":
        return f"throughput still rises at {name} = {found.throughput.index.max():g}"
    return f"{' and '.join(found.resources)} reached {format_quantity(SATURATED_RATIO, 'ratio')}"


def _next(tables: Tables, group: pd.DataFrame) -> str:
    """List what was not recorded for these runs, the most frequent cause first."""
    keys = key_of(group).unique()
    return "; ".join([*(what for table, rows, what in _NEXT if not _has(tables.get(table), rows, keys)), _LAST])


def _has(frame: pd.DataFrame | None, rows: tuple[str, str], keys: ArrayLike) -> bool:
    """Whether a table has rows of these runs whose column, if one is named, matches a pattern."""
    if frame is None or frame.empty:
        return False
    own, (column, pattern) = key_of(frame).isin(keys), rows
    return bool((frame[column][own].str.contains(pattern, na=False) if column else own).any())


RULE = Rule(
    "nothing-saturated",
    "Is a watched resource saturated where throughput stops rising?",
    judge_plateau,
    {
        "ok": "a resource is at least 90 % busy, or throughput still rises",
        "warning": f"the highest load brings less than {PLATEAU_RISE:.0%} more than one of at most half of it, and no "
        "resource is 90 % busy",
    },
    family="What saturated",
)
