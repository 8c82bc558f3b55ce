"""Rule ``softirq-on-one-processor``: no single processor handles all packets.

The kernel handles received packets in the softirq of the processor that took the interrupt.  With one receive queue, or
with all queues on one processor, this processor is the limit while the others are idle.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import SOFTIRQ
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_softirq(tables: Tables) -> pd.DataFrame:
    """Return, for the processor with the most softirq of each run, its share of softirq beyond that of the others."""
    samples = samples_within(tables["cpu"], tables["runs"])
    samples = samples[samples["cpu"] != "all"].assign(host=lambda frame: frame["host"].fillna(""))
    means = samples.groupby(["key", "host", "cpu"])["cpu_softirq_ratio"].mean().reset_index()
    groups = means.groupby(["key", "host"])["cpu_softirq_ratio"]
    others = (groups.transform("sum") - means["cpu_softirq_ratio"]) / (groups.transform("count") - 1)
    means["others"], means["observed"] = others, means["cpu_softirq_ratio"] - others
    return means.dropna().sort_values("observed").drop_duplicates("key", keep="last").set_index("key")


RULE = threshold_rule(
    "softirq-on-one-processor",
    "Do several processors handle the packets?",
    measure_softirq,
    evidence="Processor {cpu} was in softirq for {cpu_softirq_ratio:ratio} of the load, the others for {others:ratio}.",
    advice="Spread the receive queues over processors (`ethtool -L`, /proc/irq/*/smp_affinity_list), or let the kernel "
    "do it (rps_cpus), and repeat.",
    limits={"warning": Limit(0.5, "half a processor: what is left cannot carry another such load")},
    needs=(SOFTIRQ,),
)
