"""All processors of a host were busy, so the throughput may be the limit of that host.

What it means
-------------
All processors of a host together were busy for at least 90 % of the load. If it is the generator's host, the
throughput is the generator's limit and response times include its queue. If it is the server's, its processors are
the bottleneck. If both ran there, nothing shows which of the two took the last processor.

Why it happens
--------------
The sweep reached the capacity of the host, which is what a capacity test is for. Or another program used the
processors: a backup, a build, a monitor with a short interval. A generator on the server's host takes about as much
processor time for each request as a server of static files.

How to fix it
-------------
Move the generator to a host of its own, or bind server and generator to different processors (`taskset -c`), and
repeat. If only the server ran there, the limit is real: `pidstat -u 1` shows which process uses the time, and `perf
top` shows which function.

When to ignore it
-----------------
If only the server ran on that host, the finding is the result of the measurement. Use the runs below saturation for
response times.
"""

import pandas as pd

from loadcurve.audit.rule import threshold_rule
from loadcurve.audit.rules._monitored import CPU, SATURATION
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import busy_processors, by_others, worst


def measure_busy(tables: Tables) -> pd.DataFrame:
    """Return the busiest host of each run: the mean busy share of its processors, and the host."""
    busy = busy_processors(tables)
    whole = by_others(worst(busy[busy["cpu"] == "all"], "busy"), tables)
    return whole.assign(host=lambda found: found["host"].replace("", "the host"))


RULE = threshold_rule(
    "saturated-processors",
    "Did every host have processor time to spare?",
    measure_busy,
    evidence="The processors of {host} were busy for {observed:ratio} of the load{others}.",
    advice="{first}"
    "If the generator ran on {host}, move it to a host of its own or give it processors of its own (`taskset`), "
    "and repeat the run; if only the server ran there, its processors are the limit.",
    limits={"warning": SATURATION},
    needs=(CPU,),
    family="What saturated",
)
