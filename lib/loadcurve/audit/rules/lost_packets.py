"""Rules ``retransmissions`` and ``dropped-packets``: the network delivered what was sent.

A lost segment is sent again after a retransmission timeout of at least 200 ms (Linux, TCP_RTO_MIN), or after duplicate
acknowledgements.  A few losses are enough to set the high percentiles of the response time.
"""

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import Limit
from loadcurve.audit.rules._monitored import DROPS, TCP
from loadcurve.audit.samples import samples_within
from loadcurve.audit.threshold import threshold_rule


def measure_retransmissions(tables: Tables) -> pd.DataFrame:
    """Return the retransmitted share of the segments of each run; 0 where nothing was sent."""
    samples = samples_within(tables["tcp"], tables["runs"])
    sums = samples.groupby("key")[["retransmits_pps", "segments_sent_pps"]].mean()
    sent = sums["segments_sent_pps"].where(sums["segments_sent_pps"] > 0)
    return sums.assign(observed=(sums["retransmits_pps"] / sent).fillna(0.0))


def measure_drops(tables: Tables) -> pd.DataFrame:
    """Return the packets per second that the worst interface of each run dropped."""
    samples = samples_within(tables["network"], tables["runs"])
    samples["observed"] = samples["received_dropped_pps"].fillna(0) + samples["transmitted_dropped_pps"].fillna(0)
    means = samples.groupby(["key", "interface"], observed=True)["observed"].mean().reset_index()
    return means.sort_values("observed").drop_duplicates("key", keep="last").set_index("key")


RETRANSMISSIONS = threshold_rule(
    "retransmissions",
    "Did TCP send each segment once?",
    measure_retransmissions,
    evidence="{observed:ratio} of the segments were sent again ({retransmits_pps:pps} of {segments_sent_pps:pps}).",
    advice="Look for drops on the way (`ip -s link`, `nstat -az TcpExtListenDrops`, the switch): response times "
    "include timeouts of 200 ms and more.",
    limits={
        "warning": Limit(0.001, "one segment in a thousand is enough to set the 99.9th percentile"),
        "error": Limit(0.01, "one in a hundred sets the 99th percentile, which most objectives name"),
    },
    needs=(TCP,),
)
DROPPED = threshold_rule(
    "dropped-packets",
    "Did every interface keep its packets?",
    measure_drops,
    evidence="Interface {interface} dropped {observed:pps}.",
    advice="Enlarge the receive ring (`ethtool -G`) and spread the queues over processors, and repeat.",
    limits={"warning": Limit(0.0, "a drop is a loss; a healthy local network has none")},
    needs=(DROPS,),
    unit="pps",
)
