"""A link was used nearly all the time, so it probably sets the throughput, whatever the server could do.

What it means
-------------
Requests/s times bytes per response is the rate of the link. Response times then contain the queue in front of the link.

Why it happens
--------------
The responses are large for the link: a link of 1 Gbit/s carries at most 117 MB/s of TCP payload in full frames, which
is 11,700 responses of 10 kB each second. Small frames reach the limit earlier than sar shows: each occupies 24 bytes
more than the interface counts (checksum, preamble and gap; IEEE 802.3). loadcurve adds them. A limit may also be set
by a cloud provider or by `tc`, below the nominal speed.

How to fix it
-------------
Use a faster link, smaller or compressed responses, or several links. Compare the measured rate with the [wire
model](../method/packets_and_wire.md), which says how many responses of this size a link carries.

When to ignore it
-----------------
If the question is how fast the link can be filled, this is the answer. A virtual interface (veth, virtio, bridge)
reports a nominal speed, such as 10 Gbit/s, which limits nothing; check `ethtool eth0`.
"""

import pandas as pd

from loadcurve.audit.rule import threshold_rule
from loadcurve.audit.rules._monitored import LINKS, SATURATION
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import busy_links, worst


def measure_links(tables: Tables) -> pd.DataFrame:
    """Return the busiest link of each run."""
    return worst(busy_links(tables), "busy")


RULE = threshold_rule(
    "saturated-link",
    "Did every link have bandwidth to spare?",
    measure_links,
    evidence="Link {interface} was used to {observed:ratio} of its speed.",
    advice="The link limits the throughput: compare with the wire model, use smaller responses, or a faster link.",
    limits={"warning": SATURATION},
    needs=(LINKS,),
    family="What saturated",
)
