"""TCP sent segments again, so some responses may be late by a round trip, or by a timeout of 200 ms and more.

What it means
-------------
A lost segment is sent again about a round trip later if later ones are acknowledged. If it was the last of several,
Linux probes after about two round trips; if it was alone, it waits for a timeout of at least 200 ms (`TCP_RTO_MIN`). So
one loss in a thousand responses of one segment can set their 99.9th percentile to 200 ms and more. A lost SYN is
repeated after 1 s.

Why it happens
--------------
A queue on the way was full: the receive ring of a card, a switch port, a policer, an accept queue. A firewall or a
connection table that is full drops packets too.

How to fix it
-------------
Look for the place: `ip -s link` and `ethtool -S` on both hosts, `nstat -az TcpExtListenDrops TcpExtTCPTimeouts`, the
counters of the switch. Enlarge the queue or lower the rate, and repeat.

When to ignore it
-----------------
If the study injects loss, the share should be that loss or less, because lost acknowledgements are not sent again.
Retransmissions at the start only, while thousands of connections open at once, do not affect a warm measurement.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, threshold_rule
from loadcurve.audit.rules._monitored import TCP
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import host_of, worst

# Of the segments that a host sends on average: the few beside a load, such as those of a login, say nothing about it.
_PART = 0.1


def measure_retransmissions(tables: Tables) -> pd.DataFrame:
    """Return the retransmitted share of the segments of each run's worst host that sent much; 0 where none did."""
    samples = samples_within(tables["tcp"], tables["runs"])
    hosts = samples.assign(host=host_of(samples)).groupby(["key", "host"], observed=True)
    means = hosts[["retransmits_pps", "segments_sent_pps"]].mean().reset_index()
    sent = means["segments_sent_pps"].where(means["segments_sent_pps"] > 0)
    means["observed"] = (means["retransmits_pps"] / sent).fillna(0.0)
    means["of_host"] = (" of " + means["host"]).where(~means["host"].isin(["", "local"]), "")
    return worst(means[~(sent < _PART * sent.groupby(means["key"]).transform("mean"))])


RULE = threshold_rule(
    "retransmissions",
    "Did TCP send each segment once?",
    measure_retransmissions,
    evidence="{observed:ratio} of the segments{of_host} were sent again ({retransmits_pps:pps} of "
    "{segments_sent_pps:pps}).",
    advice="Look for drops on the way (`ip -s link`, `nstat -az TcpExtListenDrops`, the switch): response times "
    "may include timeouts of 200 ms and more.",
    limits={
        "warning": Limit(0.001, "one segment in a thousand can set the 99.9th percentile of responses of one segment"),
        "error": Limit(0.01, "one in a hundred can set the 99th percentile, which most objectives name"),
    },
    needs=(TCP,),
    family="What saturated",
)
