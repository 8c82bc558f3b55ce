"""A quota of CPU time stopped the server or the generator, while the processors of the host looked idle.

What it means
-------------
A control group with a quota, such as a container with a CPU limit, may use a fixed CPU time in each period of 100 ms.
Once it is used up, all tasks of the group wait for the next period. The host's processors look idle meanwhile, and
`sar` shows nothing. Responses that were waiting come up to 100 ms later.

Why it happens
--------------
The limit of the container is below what the load needs, or many threads use it up at the start of each period: 8
threads spend a quota of 1 processor in 12.5 ms and then wait for 87.5 ms. If only some periods are so busy, the mean
use stays below the limit, and the high percentiles still suffer.

How to fix it
-------------
Raise or remove the limit (`docker run --cpus`, `resources.limits.cpu`, `cpu.max`), or start as many threads as the
quota has processors. To confine a process to some processors, use `cpuset` or `taskset`, which never throttle. Watch
`nr_throttled` in `/sys/fs/cgroup/cpu.stat`, and repeat the run.

When to ignore it
-----------------
If the quota is part of the system under test, it is the capacity that you measured: report it with the result.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import growth_of_counters
from loadcurve.audit.utilisation import worst

_NAMES = {"nr_periods": "periods", "nr_throttled": "throttled"}
COUNTERS = Need(
    "counters",
    ("counter", "value"),
    "`cpu.stat` of the control groups",
    "Record `grep -H '' /sys/fs/cgroup/cpu.stat` in the container of the server and of the generator, before the load, "
    "every second and after it.",
)


def measure_throttling(tables: Tables) -> pd.DataFrame:
    """Return the share of periods in which the worst control group of each run had used up its quota."""
    grown = growth_of_counters(tables, _NAMES).dropna(subset=["periods", "throttled"])
    share = (grown["throttled"] / grown["periods"].where(grown["periods"] > 0)).fillna(0.0)
    found = worst(grown.assign(share=share), "share")
    return found.assign(group=found["item"].replace("", "a control group"), host=found["host"].replace("", "the host"))


RULE = threshold_rule(
    "cpu-quota",
    "Was there no quota of CPU time, or was it never used up?",
    measure_throttling,
    evidence="The quota of {group} on {host} was used up in {observed:ratio} of {periods:.0f} periods.",
    advice="Raise or remove the CPU limit, or start no more threads than it has processors; until then response times "
    "include waits for the next period of 100 ms.",
    limits={"warning": Limit(0.01, "one period in a hundred is what the 99th percentile of response times shows")},
    needs=(COUNTERS,),
    family="What saturated",
)
