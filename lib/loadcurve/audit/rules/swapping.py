"""Memory was written to swap, so response times may contain waits for a disk.

What it means
-------------
A page that comes back from swap takes a disk access: 0.1 ms on an SSD and 10 ms on a hard disk, a thousand to a hundred
thousand times as long as memory. A curve that was measured while swapping may be a disk's.

Why it happens
--------------
Processes need more memory than the host has: too many workers, a Java heap as large as the memory, 100,000 connections
with large buffers, files in tmpfs. A generator that keeps each response time in memory grows for as long as it runs.

How to fix it
-------------
`pidstat -r 1` shows which process grows. Give the host more memory, start fewer processes, or limit heaps and buffers.
For a measurement, switch swap off (`swapoff -a`): the kernel then ends a process, so the shortage does not go
unnoticed.

When to ignore it
-----------------
The kernel moves idle pages to swap now and then, also with free memory. If `vmstat 1` shows no page coming back (`si`
is 0), no request waited.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import SWAP
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst


def measure_swap(tables: Tables) -> pd.DataFrame:
    """Return by how much the swap in use grew during each run, in bytes."""
    samples = samples_within(tables["memory"], tables["runs"]).assign(host=lambda frame: frame["host"].fillna(""))
    groups = samples.sort_values("time").groupby(["key", "host"])["swap_used_bytes"]
    return worst((groups.last() - groups.first()).reset_index(name="growth"), "growth")


RULE = threshold_rule(
    "swapping",
    "Was memory enough?",
    measure_swap,
    evidence="The swap in use grew by {observed:bytes} during the load.",
    advice="Give the host more memory, or start fewer processes; a curve measured while swapping may be a disk's.",
    limits={"warning": Limit(1048576.0, "1 MiB: sar counts in KiB, and the kernel moves idle pages now and then")},
    needs=(SWAP,),
    unit="bytes",
    family="What saturated",
)
