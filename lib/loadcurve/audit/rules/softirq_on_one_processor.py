"""One processor spends far more time in softirqs than the others, probably for received packets, and may be the limit.

What it means
-------------
The kernel handles a received packet in the softirq of the processor that took the interrupt of its queue. The finding
compares the processor with the most softirq time with the mean of the others. Softirqs send, run timers and serve disks
too: `/proc/softirqs` (NET_RX) and `/proc/net/softnet_stat` show whether it is received packets.

Why it happens
--------------
The network card or virtual interface has one receive queue, or the interrupts of all its queues go to one processor
(`irqbalance` is not running). Traffic between two hosts only has one pair of addresses: a card that hashes addresses
without ports (`ethtool -n eth0 rx-flow-hash tcp4`) puts all connections into one queue.

How to fix it
-------------
Raise the number of queues (`ethtool -L eth0 combined 8`), spread their interrupts (`/proc/irq/*/smp_affinity_list`),
and hash ports too (`ethtool -N eth0 rx-flow-hash tcp4 sdfn`). Where the card has one queue, let the kernel spread
packets: `echo ff > /sys/class/net/eth0/queues/rx-0/rps_cpus` (Linux, Documentation/networking/scaling.rst). Then
repeat the run.

When to ignore it
-----------------
On loopback and veth the softirq runs on the sender's processor, so a server pinned to one processor shows this shape
without any card. If that processor still has idle time, packets are not the limit.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import SOFTIRQ
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst


def measure_softirq(tables: Tables) -> pd.DataFrame:
    """Return, for the processor with the most softirq of each run, its share of softirq beyond that of the others."""
    samples = samples_within(tables["cpu"], tables["runs"])
    samples = samples[samples["cpu"] != "all"].assign(host=lambda frame: frame["host"].fillna(""))
    means = samples.groupby(["key", "host", "cpu"])["cpu_softirq_ratio"].mean().reset_index()
    groups = means.groupby(["key", "host"])["cpu_softirq_ratio"]
    others = (groups.transform("sum") - means["cpu_softirq_ratio"]) / (groups.transform("count") - 1)
    means["others"], means["more"] = others, means["cpu_softirq_ratio"] - others
    return worst(means.dropna(), "more")


RULE = threshold_rule(
    "softirq-on-one-processor",
    "Do several processors handle the packets?",
    measure_softirq,
    evidence="Processor {cpu} was in softirq for {cpu_softirq_ratio:ratio} of the load, the others for {others:ratio}.",
    advice="Spread the receive queues over processors (`ethtool -L`, /proc/irq/*/smp_affinity_list), or let the kernel "
    "do it (rps_cpus), and repeat.",
    limits={"warning": Limit(0.5, "half a processor: what is left cannot carry another such load")},
    needs=(SOFTIRQ,),
    family="What saturated",
)
