"""The hypervisor ran other guests on the processors of the run, so part of the capacity is missing.

What it means
-------------
On a virtual machine, steal is the time for which the guest was ready to run and the hypervisor did not run it. The
stolen time is missing from the capacity. It comes in bursts of some milliseconds, so it adds to the high percentiles,
and repeats of another hour differ.

Why it happens
--------------
The host sells more virtual processors than it has, or a neighbour is busy. Instances with CPU credits (burstable
types) are throttled by steal when their credits are used up.

How to fix it
-------------
Measure on a machine of its own, on a dedicated instance, or at another time; compare only runs without steal. Record
`sar -u 1` with every run, and repeat a run with steal at once instead of at the end.

When to ignore it
-----------------
If the system will run under the same neighbours, steal belongs to its capacity; then repeat over hours, so that the
interval contains it. On hardware without a hypervisor steal is always 0.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import STEAL
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst_host
from loadcurve.study import BUSY_RATIO


def measure_steal(tables: Tables) -> pd.DataFrame:
    """Return the mean steal over the processors of the worst host of each run."""
    return worst_host(samples_within(tables["cpu"], tables["runs"]), "cpu_steal_ratio")


RULE = threshold_rule(
    "stolen-processors",
    "Did the run have its processors to itself?",
    measure_steal,
    evidence="The hypervisor took {observed:ratio} of the processors' time.",
    advice="Repeat the run at another time, or measure on a host of its own; compare only runs without steal.",
    limits={
        "warning": Limit(
            BUSY_RATIO, "as for other processes: it shifts the mean of a study, though no single run shows it"
        ),
        "error": Limit(0.1, "a tenth of the capacity is more than most differences that a study looks for"),
    },
    needs=(STEAL,),
    family="What saturated",
)
