r"""Rule ``hash-with-few-sources``: a balancer that hashes the client's address has enough clients to hash.

What it means
-------------
The scheduler sends all connections of one client address to one server, and the load came from few addresses.  With
$k$ addresses and $s$ servers, the fullest server is expected to get the largest of $s$ multinomial counts of $k$:
with 8 addresses and 4 servers, 44 % of the load instead of 25 %.  With fewer addresses than servers, some servers get
nothing.

Why it happens
--------------
A load test has one or two client hosts where production has thousands.  IPVS `sh` and `mh`, `balance source` of
haproxy, `ip_hash` of nginx and persistence (`ipvsadm -p`) hash or remember the address only.

How to fix it
-------------
Send from many addresses: `ip address add 10.0.0.2/24 dev eth0` on the client, and one generator bound to each
address. Or hash the port too (`ipvsadm -b sh-port`, `mh-port`), or measure capacity with round robin.

When to ignore it
-----------------
The run studies the hash itself, or its few clients are the real ones, such as proxies in front of the balancer.
"""

import math
from functools import lru_cache

import numpy as np
import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Limit, Need
from loadcurve.audit.rules._balancer import COUNTED, of_servers, service_of, worst_of_each
from loadcurve.audit.threshold import threshold_rule

_HASHES = ("sh", "mh", "source", "ip_hash")  # of the client's address, in ipvsadm, haproxy and nginx
_MANY = 300  # addresses, beyond which the normal distribution is close and the sum takes a tenth of a second


@lru_cache(maxsize=256)
def expected_largest_share(sources: int, shares: tuple[float, ...]) -> float:
    r"""Return the expected share of the fullest server, if each source is assigned at random.

    .. math:: P(\max \le m) = \frac{k!}{k^k e^{-k}} [x^k] \prod_i \sum_{j \le m} p_{k w_i}(j)\, x^j

    Multinomial counts are Poisson counts given their sum (B. Levin, Annals of Statistics 9(5), 1981).

    Examples
    --------
    Three sources and two servers: 3 : 0 with probability 1/4, else 2 : 1.

    >>> expected_largest_share(3, (0.5, 0.5))
    0.75
    """
    if sources > _MANY:
        return max(shares) + math.sqrt(2 * math.log(len(shares)) * max(shares) / sources)
    counts = np.arange(sources + 1)
    logs = np.array([math.lgamma(j + 1) for j in counts])
    poisson = [np.exp(counts * math.log(sources * share) - sources * share - logs) for share in shares]
    whole = math.exp(sources * math.log(sources) - sources - logs[-1])
    largest = 0.0
    for most in range(sources):
        sums = np.zeros(sources + 1)
        sums[0] = 1.0
        for one in poisson:
            sums = np.convolve(sums, one[: most + 1])[: sources + 1]
        largest += 1 - min(sums[sources] / whole, 1.0)  # P(max > most)
    return float(round(largest / sources, 12))


def measure_sources(tables: Tables) -> pd.DataFrame:
    """Return how far the fullest server of each run is expected to be above its share, over that share."""
    balancer, flows = tables["balancer"], tables["flows"]
    named = balancer.assign(key=key_of(balancer), of=service_of(balancer)).dropna(subset=["scheduler"])
    flags = named["flags"].fillna("")
    hashed = named["scheduler"].isin(_HASHES) & ~flags.str.contains("-port")
    named = named[hashed | flags.str.contains("persistent")].drop_duplicates(["key", "of"])
    seen = flows.assign(key=key_of(flows), of=service_of(flows.assign(service=None)))
    sources = seen.groupby(["key", "of"])["client_address"].nunique().rename("sources")
    servers = of_servers(tables)
    servers = servers[servers["share"] > 0].groupby(["key", "of"])["share"].agg(list).rename("shares")
    rows = named.set_index(["key", "of"])[["scheduler"]].join([sources, servers], how="inner").reset_index()
    rows = rows[(rows["sources"] > 0) & (rows["shares"].str.len() > 1)]
    places = zip(rows["sources"], rows["shares"], strict=True)
    largest = [expected_largest_share(int(number), tuple(shares)) for number, shares in places]
    rows = rows.assign(largest=largest, fair=rows["shares"].map(max), servers=rows["shares"].str.len())
    rows = rows.astype({"largest": float, "fair": float})
    return worst_of_each(rows.assign(observed=rows["largest"] / rows["fair"] - 1))


RULE = threshold_rule(
    "hash-with-few-sources",
    "Did a balancer that hashes client addresses see enough of them?",
    measure_sources,
    evidence="Scheduler {scheduler} saw {sources:.0f} client addresses for {servers:.0f} servers: the expected largest "
    "share is {largest:ratio}, an even one {fair:ratio}.",
    advice="Send from more addresses, hash the port too, or measure with round robin.",
    limits={"warning": Limit(0.25, "a server with a quarter more than its share holds the others to 80 %")},
    needs=(
        COUNTED,
        Need("balancer", ("scheduler",), "the scheduler of a balancer", "", applies=False),
        Need("flows", ("client_address",), "the clients of the balancer", "Record `ipvsadm -Lnc` on the balancer."),
    ),
    family="Balance",
)
