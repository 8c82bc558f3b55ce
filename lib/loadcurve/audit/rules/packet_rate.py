"""Packets per second were near the limit of a processor or of the network, perhaps before the link was full.

What it means
-------------
Small responses reach a limit of packets per second long before the link is full. loadcurve knows no general limit: it
depends on the card, its queues, the kernel and the virtual network. So it compares in two ways. A processor that
spends at least 90 % of its time in softirq can hardly take more packets than now. If you state a measured limit, the
packets of the busiest interface are compared with it.

Why it happens
--------------
The kernel needs some microseconds for each packet, in the softirq of the processor that received it. Virtual machines
have a limit for each instance, which the provider enforces by dropping packets. Connections without keep-alive need
about ten packets for a request, with keep-alive two to four.

How to fix it
-------------
Reuse connections, send larger responses, and use large segments (`ethtool -K eth0 gro on tso on`). Spread the queues
over processors (`ethtool -L`). To measure the limit, send the smallest packets without HTTP (several
`iperf3 -u -l 16 -b 0`, or the kernel's pktgen) and count them with `sar -n DEV 1`; then state it in loadcurve.toml:

    [audit.limits.packet-rate]
    pps = 650000

When to ignore it
-----------------
On loopback and veth a packet may hold 64 kB (segmentation offload), so packets per second are no measure there; only
the softirq time counts.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import NO_SAMPLE, Finding, Limit, Rule, not_checked
from loadcurve.audit.rules._monitored import PACKETS, SATURATION, SOFTIRQ
from loadcurve.audit.run_tables import Tables, rows_of
from loadcurve.audit.samples import samples_within
from loadcurve.audit.utilisation import worst_host
from loadcurve.units import format_quantity


def judge_packet_rate(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: softirq of the busiest processor, and packets against the limit if one is set."""
    packets, softirq = _packets(tables), _softirq(tables)
    rates = dict(zip(packets.index, packets.to_dict("records"), strict=True))
    busy = softirq["observed"].to_dict()
    stated, most = limits["pps"], limits["ratio"]
    for run, key in rows_of(tables):
        row, share = rates.get(key), busy.get(key, np.nan)
        if row is None or (np.isnan(share) and not np.isfinite(stated)):
            needs = NO_SAMPLE if row is None else f"needs {SOFTIRQ.what}, or a measured limit in packets/s"
            yield not_checked(run, needs, SOFTIRQ.record)
            continue
        rate = row["observed"]
        observed = float(np.fmax(rate / stated, share))
        evidence = f"Interface {row['interface']} carried {format_quantity(rate, 'pps')} in one direction"
        if np.isfinite(stated):
            evidence += f", {format_quantity(rate / stated, 'ratio')} of the stated limit"
        if not np.isnan(share):
            evidence += f"; the busiest processor was in softirq for {format_quantity(share, 'ratio')} of the load"
        yield Finding(run, "warning" if observed > most else "ok", f"{evidence}.", _ADVICE, observed, most)


def _packets(tables: Tables) -> pd.DataFrame:
    samples = samples_within(tables["network"], tables["runs"])
    samples = samples.assign(pps=samples[["received_pps", "transmitted_pps"]].max(axis=1))
    return worst_host(samples, "pps", "interface")


def _softirq(tables: Tables) -> pd.DataFrame:
    samples = samples_within(tables.get("cpu"), tables["runs"])
    if samples.empty:
        return pd.DataFrame(columns=["observed"])
    return worst_host(samples[samples["cpu"] != "all"], "cpu_softirq_ratio", "cpu")


_ADVICE = (
    "The packets may be the limit: reuse connections, send larger responses, and spread the receive queues over "
    "processors (`ethtool -L`), or use a larger instance where its provider sets the limit; then repeat."
)

RULE = Rule(
    "packet-rate",
    "Was there room for more packets per second?",
    judge_packet_rate,
    {
        "ok": "softirq of every processor and packets against the stated limit are at most 90 %",
        "warning": "one of them is above 90 %",
    },
    needs=(PACKETS,),
    limits={
        "ratio": SATURATION,
        "pps": Limit(np.inf, "no limit is known until you measure one on your network; state it in loadcurve.toml"),
    },
    family="What saturated",
)
