"""Rule ``saturated-processors``: the processors of the generator's host had time to spare.

A generator without a free processor sends late and reads late: its throughput is its own limit and its response times
include its own queue.  On one host for server and generator, nothing tells which of the two took the last processor.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import CPU
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_busy(tables: Tables) -> pd.DataFrame:
    """Return the busiest host of each run: the mean busy share of its processors, and the host."""
    samples = samples_within(tables["cpu"], tables["runs"])
    samples["busy"] = 1 - samples["cpu_idle_ratio"] - samples["cpu_iowait_ratio"].fillna(0.0)
    samples["host"] = samples["host"].fillna("the host")
    together = samples[samples["cpu"] == "all"]
    each = samples[(samples["cpu"] != "all") & ~samples["key"].isin(together["key"])]
    busy = pd.concat([together, each]).groupby(["key", "host"])["busy"].mean().reset_index(name="observed")
    return busy.sort_values("observed").drop_duplicates("key", keep="last").set_index("key")


RULE = threshold_rule(
    "saturated-processors",
    "Did every host have processor time to spare?",
    measure_busy,
    evidence="The processors of {host} were busy for {observed:ratio} of the load.",
    advice="If the generator ran on {host}, move it to a host of its own or give it processors of its own (`taskset`), "
    "and repeat the run; if only the server ran there, its processors are the limit.",
    limits={"warning": Limit(0.95, "the samples at the edges of the load are partly idle; above it none is free")},
    needs=(CPU,),
)
