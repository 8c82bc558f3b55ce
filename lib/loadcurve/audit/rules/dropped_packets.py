"""An interface dropped packets, so TCP may have had to send them again, and some responses may have been late.

What it means
-------------
An interface received a packet and dropped it, or could not send one. TCP repeats what was lost after a round trip at
best and after a timeout of 200 ms or more at worst, so drops show in the high percentiles first.

Why it happens
--------------
The receive ring was full because the processor of its queue did not empty it in time (`rx_missed_errors`), or
the send queue of the interface was full. Packets that are steered to another processor (`rps_cpus`) wait in its queue
of `net.core.netdev_max_backlog` packets, 1,000 by default; the second column of /proc/net/softnet_stat counts its
drops. Linux also counts packets of protocols that nobody reads, such as LLDP, as drops.

How to fix it
-------------
`ethtool -S eth0` names the counter that rises. Enlarge the ring (`ethtool -G eth0 rx 4096`) or the backlog, spread
the queues over processors (`ethtool -L`), and lower the load until the counter stands still. Then repeat the run.

When to ignore it
-----------------
One drop every 30 seconds is usually a neighbour's discovery protocol and no loss of the load's packets. If the rule
`retransmissions` reports 0, with both hosts recorded, TCP lost no data.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import DROPS
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst_host


def measure_drops(tables: Tables) -> pd.DataFrame:
    """Return the packets per second that the worst interface of each run dropped."""
    samples = samples_within(tables["network"], tables["runs"])
    samples["drops"] = samples["received_dropped_pps"].fillna(0) + samples["transmitted_dropped_pps"].fillna(0)
    return worst_host(samples, "drops", "interface")


RULE = threshold_rule(
    "dropped-packets",
    "Did every interface keep its packets?",
    measure_drops,
    evidence="Interface {interface} dropped {observed:pps}.",
    advice="Enlarge the receive ring (`ethtool -G`) or the queue of the processor (net.core.netdev_max_backlog), "
    "spread the packets over processors, and repeat.",
    limits={"warning": Limit(0.0, "a drop is usually a loss; a healthy network drops discovery protocols at most")},
    needs=(DROPS,),
    unit="pps",
    family="What saturated",
)
