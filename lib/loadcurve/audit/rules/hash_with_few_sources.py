r"""The balancer hashes too few client addresses, so some servers are likely to get more load than others.

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
Send from many addresses: `ip address add 10.0.0.2/24 dev eth0` on the client, and one generator bound to each address.
`ip_hash` uses the first three octets of an IPv4 address only: take addresses of several /24 networks, or `hash
$remote_addr`.  Or hash the port too (`ipvsadm -b sh-port`, `mh-port`), or measure capacity with round robin.

When to ignore it
-----------------
The run studies the hash itself, or its few clients are the real ones, such as proxies in front of the balancer.
"""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Need, Rule, not_checked
from loadcurve.audit.rules._balancer import COUNTED, of_servers, service_of
from loadcurve.audit.run_tables import Tables, first_rows, key_of, rows_by_key

_HASHES = ("sh", "mh", "source", "ip_hash")  # of the client's address, in ipvsadm, haproxy and nginx
_MANY = 300  # addresses, beyond which the normal distribution is close and the sum takes a tenth of a second


@lru_cache(maxsize=256)
def expected_largest_share(sources: int, shares: tuple[float, ...]) -> float:
    r"""Return the expected share of the fullest server, if each source is assigned at random.

    .. math:: P(\max \le m) = \frac{k!}{k^k e^{-k}} [x^k] \prod_i \sum_{j \le m} p_{k w_i}(j)\, x^j

    Multinomial counts are Poisson counts given their sum (B. Levin, Annals of Statistics 9(5), 1981).
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


def judge_sources(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run whose balancer hashes addresses: the expected largest share over an even one."""
    hashing, of_hosts = _hashing(tables), _addresses_of_generators(tables)
    for key, run in first_rows(tables["runs"]):
        services = [one._replace(sources=of_hosts.get(key, 0) or 0) if not one.sources > 0 else one
                    for one in hashing.get(key, [])]  # fmt: skip
        if not services:
            continue
        known = [one for one in services if one.sources > 0]
        if not known:
            needs = f"needs the clients of scheduler {services[0].scheduler}"
            yield not_checked(run, needs, "Record `ipvsadm -Lnc` or `ss -tn` on the balancer.")
            continue
        over = [expected_largest_share(int(one.sources), tuple(one.shares)) / max(one.shares) - 1 for one in known]
        most, one = max(zip(over, known, strict=True), key=lambda each: each[0])
        sources, fair = int(one.sources), max(one.shares)
        evidence = f"Scheduler {one.scheduler} saw {sources} client address{'es' if sources > 1 else ''} for "
        evidence += f"{len(one.shares)} servers: the expected largest share is {fair * (1 + most) * 100:.3g} %, "
        evidence += f"an even one {fair * 100:.3g} %."
        advice = "Send from more addresses, hash the port too, or measure with round robin."
        yield Finding(run, "warning" if most > limits["ratio"] else "ok", evidence, advice, most, limits["ratio"])


def _hashing(tables: Tables) -> dict[str, list[Any]]:
    """Return ``scheduler sources shares`` of each service that hashes addresses, by run; 0 sources if not known."""
    balancer = tables["balancer"]
    named = balancer.assign(key=key_of(balancer), of=service_of(balancer)).dropna(subset=["scheduler"])
    flags = named["flags"].fillna("")
    hashed = named["scheduler"].isin(_HASHES) & ~flags.str.contains("-port")
    named = named[hashed | flags.str.contains("persistent")].drop_duplicates(["key", "of"])
    servers = of_servers(tables)
    servers = servers[servers["share"] > 0].groupby(["key", "of"])["share"].agg(list).rename("shares")
    rows = named.set_index(["key", "of"])[["scheduler"]].join(servers, how="inner")
    flows = tables.get("flows")
    if flows is not None and len(flows):
        seen = flows.assign(key=key_of(flows), of=service_of(flows.assign(service=None)))
        rows = rows.join(seen.groupby(["key", "of"])["client_address"].nunique().rename("sources"))
    else:
        rows = rows.assign(sources=0)
    return rows_by_key(rows[rows["shares"].str.len() > 1].fillna({"sources": 0}).reset_index())


def _addresses_of_generators(tables: Tables) -> dict[str, int]:
    """Return how many addresses the hosts of each run's load generators have, where the run's record names them."""
    settings = tables.get("settings")
    if settings is None or settings.empty:
        return {}
    rows = settings[settings["setting"] == "addresses"]
    rows = rows.assign(key=key_of(rows)).drop_duplicates(["key", "host"])
    runs = tables["runs"]
    hosts = runs.assign(key=key_of(runs))[["key", "host"]].dropna().drop_duplicates()
    known = hosts.merge(rows[["key", "host", "value"]], on=["key", "host"], how="left")
    counts = known["value"].astype("string").str.split().str.len().groupby(known["key"]).sum(min_count=1)
    whole = known["value"].notna().groupby(known["key"]).all()
    return {str(key): int(count) for key, count in counts[whole].items()}


RULE = Rule(
    "hash-with-few-sources",
    "Did a balancer that hashes client addresses see enough of them?",
    judge_sources,
    {"ok": "the expected largest share is at most a quarter above an even one", "warning": "it is larger"},
    limits={"ratio": Limit(0.25, "a server with a quarter more than its share holds the others to 80 %")},
    needs=(COUNTED, Need("balancer", ("scheduler",), "the scheduler of a balancer", applies=False)),
    family="Balance",
)
