"""A disk was busy nearly all the time, so it may set the throughput.

What it means
-------------
A disk that has work all the time may set the throughput. `%util` is the share of time in which at least one request
was open. A disk that serves one request at a time is then full. An SSD or a RAID serves many side by side, and may
take more.

Why it happens
--------------
The server writes access logs without a buffer, the files do not fit the page cache, a database flushes each
transaction, or the host swaps. On shared storage, another machine may use the disk.

How to fix it
-------------
`pidstat -d 1` shows which process uses the disk. Buffer access logs (`access_log … buffer=64k flush=1s`) or disable
them, read the files once before the load so that they are in memory, and move data to another device. Repeat the run.

When to ignore it
-----------------
If the mean wait (`r_await`, `w_await` of `iostat -x`) stays as low as with one request at a time, an SSD is not the
limit even at 100 %. If the disk is what you test, this is the result.
"""

import pandas as pd

from loadcurve.audit.rule import threshold_rule
from loadcurve.audit.rules._monitored import DISKS, SATURATION
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import busy_disks, worst


def measure_disks(tables: Tables) -> pd.DataFrame:
    """Return the busiest disk of each run."""
    return worst(busy_disks(tables), "busy")


RULE = threshold_rule(
    "saturated-disk",
    "Did every disk have time to spare?",
    measure_disks,
    evidence="Disk {device} was in use for {observed:ratio} of the load.",
    advice="Find out who uses it (`pidstat -d 1`); move logs and data to another device, or to memory, and repeat.",
    limits={"warning": SATURATION},
    needs=(DISKS,),
    family="What saturated",
)
