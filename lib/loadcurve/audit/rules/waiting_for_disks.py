"""Rule ``waiting-for-disks``: the processors did not wait for disks.

iowait is idle time while a disk request is open.  In a test of an HTTP server it usually comes from access logs, swap,
or files that do not fit the page cache, so the throughput is a disk's.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import IOWAIT
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_iowait(tables: Tables) -> pd.DataFrame:
    """Return the mean iowait of each run."""
    samples = samples_within(tables["cpu"], tables["runs"])
    return samples.groupby("key")[["cpu_iowait_ratio"]].mean().rename(columns={"cpu_iowait_ratio": "observed"})


RULE = threshold_rule(
    "waiting-for-disks",
    "Did the processors work, not wait for disks?",
    measure_iowait,
    evidence="Processors waited for disks for {observed:ratio} of the load.",
    advice="Find the device with `iostat -x 1` and the process with `pidstat -d 1`; buffer or disable access logs, and "
    "warm the page cache before the load.",
    limits={"warning": Limit(0.1, "a tenth of the processors' time is beyond the noise of log writers")},
    needs=(IOWAIT,),
)
