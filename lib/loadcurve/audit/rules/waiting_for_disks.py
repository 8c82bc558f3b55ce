"""Processors were idle because tasks waited for a disk, so the throughput may be the disk's.

What it means
-------------
iowait is the share of time in which a processor was idle while a task that last ran there waited for a disk. In a
test of an HTTP server the throughput may then be a disk's, and adding processors would change nothing.

Why it happens
--------------
The server writes access logs without a buffer, reads files that do not fit the page cache, or swaps. A database that
flushes each transaction waits too. A monitor that writes much to the same disk can cause it as well.

How to fix it
-------------
Find the device with `iostat -x 1` and the process with `pidstat -d 1`. Buffer or disable access logs, warm the page
cache before the load (`vmtouch -t` or one run that is thrown away), and write the monitors' files elsewhere.

When to ignore it
-----------------
If disk access is what you test. A low iowait is no proof of the contrary: as soon as other tasks use the processor,
the same wait is counted as busy time.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import IOWAIT
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst_host


def measure_iowait(tables: Tables) -> pd.DataFrame:
    """Return the mean iowait over the processors of the worst host of each run."""
    return worst_host(samples_within(tables["cpu"], tables["runs"]), "cpu_iowait_ratio")


RULE = threshold_rule(
    "waiting-for-disks",
    "Did the processors work, not wait for disks?",
    measure_iowait,
    evidence="Processors waited for disks for {observed:ratio} of the load.",
    advice="Find the device with `iostat -x 1` and the process with `pidstat -d 1`; buffer or disable access logs, and "
    "warm the page cache before the load.",
    limits={"warning": Limit(0.1, "a tenth of the processors' time is beyond the noise of log writers")},
    needs=(IOWAIT,),
    family="What saturated",
)
