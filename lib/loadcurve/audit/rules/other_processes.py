"""Other processes used the processors of the run, so its throughput may be too low and not repeatable.

What it means
-------------
The share of other processes is missing from the capacity, so the throughput of a saturated run is too low, and response
times include waits for them. A saturated processor is then no property of the server: repeats at a quiet time differ.

Why it happens
--------------
A build, a backup, an update, a browser, a second measurement, or a monitor with a short interval ran at the same time.
On a machine with two processors, one busy process takes half of them.

How to fix it
-------------
`top` or `pidstat -u 1` shows which process it is. Stop it and repeat the run; `loadcurve launch` reports the share
after each run. For a series, reserve processors (`isolcpus`, `cpuset`), or take a machine of its own. See
[A quiet machine](../guides/quiet_machine.md).

When to ignore it
-----------------
If the same processes will run beside the server in production, they belong to its capacity. Then record what they were,
and repeat over hours.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.study import BUSY_RATIO

SHARE = Need(
    "runs",
    ("cpu_other_ratio",),
    "the use of the run's processors by other processes",
    "Launch the study by `loadcurve launch`, which measures it, or record `pidstat -u 1` and look for other processes.",
)


def measure_others(tables: Tables) -> pd.DataFrame:
    """Return the share of each run's processors that other processes used."""
    runs = tables["runs"].assign(key=key_of(tables["runs"]))
    shares = runs.groupby("key")["cpu_other_ratio"].max().astype(float)
    return shares.to_frame("observed")


RULE = threshold_rule(
    "other-processes",
    "Did other processes leave the processors to the run?",
    measure_others,
    evidence="Other processes used {observed:ratio} of the run's processors.",
    advice="Stop them (`pidstat -u 1` names them) and repeat the run: throughput and response times are those of a "
    "shared machine.",
    limits={
        "warning": Limit(BUSY_RATIO, "it shifts the mean of a study, though no single run shows it"),
        "error": Limit(0.1, "a saturated run is too slow by about this share, more than most comparisons look for"),
    },
    needs=(SHARE,),
    family="What saturated",
)
