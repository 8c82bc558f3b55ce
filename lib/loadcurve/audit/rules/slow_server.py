"""One server behind the balancer is slower than the others, so the run mixes two systems.

What it means
-------------
One server takes more than one and a half times as long as the median of the others. The high percentiles of the run
come mostly from the slow server.

Why it happens
--------------
The server has less memory or fewer processors, a cold cache, another version, or a neighbour on its host.  A server
with more than its share of the load is slow because of it (see uneven-balance).

How to fix it
-------------
Compare the servers' response times (`echo "show stat" | socat stdio SOCKET`, columns `rtime` and `ttime`), then load
each server alone: `wrk -c 16 -d 10 --latency http://SERVER/`.  Repair or remove the slow one, or lower its weight.

When to ignore it
-----------------
The servers differ on purpose, and their weights follow from measurements of each one alone.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.rules._balancer import of_servers
from loadcurve.audit.run_tables import Tables
from loadcurve.audit.utilisation import worst

# haproxy prints the mean of the last 1,024 requests in whole milliseconds (management.txt, ttime), so two servers that
# differ by less than 2 ms may be equally fast.
_ROUNDING_S = 0.002


def measure_slowest(tables: Tables) -> pd.DataFrame:
    """Return the slowest server of each run: its response time over the median of the others of its service."""
    servers = of_servers(tables)
    servers = servers[servers["latency_mean_s"].notna() & (servers["decisions"] > 0)]
    groups = servers.groupby(["key", "of"])["latency_mean_s"]
    servers = servers[groups.transform("size") > 1].sort_values("latency_mean_s", kind="stable")
    slowest = servers.drop_duplicates(["key", "of"], keep="last")
    others = servers.drop(slowest.index).groupby(["key", "of"])["latency_mean_s"].median().rename("others_s")
    slowest = slowest.join(others, on=["key", "of"])
    apart = slowest["latency_mean_s"] - slowest["others_s"] >= _ROUNDING_S
    ratio = slowest["latency_mean_s"] / slowest["others_s"].clip(lower=_ROUNDING_S / 2)
    return worst(slowest.assign(observed=ratio.where(apart, 1.0)))


RULE = threshold_rule(
    "slow-server",
    "Do all servers behind the balancer respond equally fast?",
    measure_slowest,
    evidence="Server {name} responds in {latency_mean_s:s}, the others in {others_s:s}.",
    advice="Load each server alone and compare; repair or remove the slow one, or give it a smaller weight.",
    limits={"warning": Limit(1.5, "repeats and whole milliseconds explain a tenth, not a half")},
    needs=(Need("balancer", ("latency_mean_s",), "the response times of each server", applies=False),),
    unit="",
    family="Balance",
)
