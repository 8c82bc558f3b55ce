"""The interfaces carried too few packets: part of the requests took another way, or several shared a packet.

What it means
-------------
Part of the requests did not cross the monitored interfaces, or several shared a packet. A request is at least
one packet, and so is its response. Acknowledgements come with them when both are short (RFC 1122, section
4.2.3.2), so two packets are the least, and ten are usual for a request with a connection of its own. Offloads
(GSO, GRO) join only packets of one connection, which has one request in flight under HTTP/1.1 without
pipelining. So fewer than two packets for each request are impossible: part of the requests did not cross these
interfaces.

Why it happens
--------------
The requests used another interface or network namespace than the monitor (`ip netns identify PID`); a cache or
a proxy on the generator's host served them; a wrk script sends several requests at once (pipelining), so that
throughput is not that of separate requests; or the throughput was counted wrongly.

How to fix it
-------------
Run `sar -n DEV 1` in the namespace of the generator, and compare `ip -s link` before and after the run. Send
each request after the response before it. To count in the kernel instead, compare `nstat -a TcpInSegs
TcpOutSegs` with the requests.

When to ignore it
-----------------
When the generator pipelines on purpose: then the rule counts packets of several requests. HTTP/2 and HTTP/3
share packets between requests, so this rule examines only generators of HTTP/1.1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from loadcurve.audit.identities import SAMPLE, monitored, summarise_traffic
from loadcurve.audit.rule import THROUGHPUT, Finding, Limit, Rule, Severity, not_checked
from loadcurve.audit.rules._monitored import PACKETS
from loadcurve.audit.run_tables import Tables, first_rows, key_of
from loadcurve.audit.samples import samples_within

_HOST = (
    "Record `sar -n DEV 1` on the generator's host, and note the host of each report and file of sar in a factors.csv "
    "(file,host)."
)


def judge_packets(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: packets in both directions over requests, on the generator's host."""
    own = monitored(tables["runs"], tables["network"])
    runs = own.assign(key=key_of(own))
    samples = samples_within(tables["network"], tables["runs"], edges=True)
    samples = samples.merge(runs[["key", "host"]].dropna().drop_duplicates(), on=["key", "host"])
    samples["pps"] = samples["received_pps"] + samples["transmitted_pps"]
    most = samples.groupby(SAMPLE, dropna=False)["pps"].sum(min_count=1)
    most = most.groupby(["key", "host"]).max().groupby("key").sum(min_count=1)
    rates = runs.groupby("key", sort=False)["throughput_rps"].sum()
    sampled = summarise_traffic(tables)["samples"]
    for key, run in first_rows(own):
        packets = most.get(key)
        if packets is None or pd.isna(packets) or not rates[key]:
            yield not_checked(run, "needs the packets of the generator's host", _HOST)
            continue
        if sampled.get(key, np.nan) < limits["samples"]:
            few = f"{sampled[key]:.0f} samples of the interfaces lie within the load"
            yield not_checked(run, few, "Measure for at least 10 s.")
            continue
        ratio = float(packets / rates[key])
        severity: Severity = "error" if ratio < limits["packets"] else "ok"
        evidence = (
            f"The interfaces of {run.host} carried at most {packets:,.0f} packets/s for {rates[key]:,.0f} "
            f"requests/s: {ratio:.2f} for each request."
        )
        yield Finding(run, severity, evidence, _ADVICE, ratio, 2.0)


_ADVICE = (
    "Part of the requests did not cross these interfaces, or several shared a packet: look for a cache or a proxy on "
    "the generator's host, monitor the generator's network namespace, and switch off pipelining."
)

RULE = Rule(
    "packets-per-request",
    "Did every request cross the monitored interfaces?",
    judge_packets,
    {"ok": "at least 1.8 packets for each request", "error": "fewer"},
    needs=(THROUGHPUT, replace(PACKETS, record=_HOST)),
    limits={
        "packets": Limit(1.8, "two, less a tenth for samples that the load does not fill; every sample is below"),
        "samples": Limit(3, "one second of an unsteady run is not its mean"),
    },
    tools=("wrk", "wrk2", "ab", "weighttp", "siege"),
    family="Physics",
)
