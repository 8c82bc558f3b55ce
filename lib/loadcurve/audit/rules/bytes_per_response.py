r"""The bytes on the interface do not fit the responses: rate and bytes are not of the same traffic.

What it means
-------------
Bytes per second of the interface over requests per second are the bytes of one response. A response of $F$ bytes with a
header of $H$ bytes makes $P = \lceil (F + H) / 1448 \rceil$ TCP segments and $F + H + 66\,P$ bytes in frames: 14
Ethernet, 20 IP and 32 TCP with time stamps for each segment (RFC 894, RFC 9293, RFC 7323). An interface that counts
what the sender hands over as one packet, up to 45 segments, counts fewer headers; the least is $F + H + 66\,\lceil P /
45 \rceil$. Fewer bytes than that are impossible. Many more mean that something else was sent.

Why it happens
--------------
Too few: rate and bandwidth are peaks of different moments, or of different runs; the requests did not cross
this link; or the responses are shorter than stated. The report “Nginx 万兆网络环境测试” (test 2) prints 586,296
requests/s and 459.435 MiB/s for 616 bytes: 821.7 bytes for each response, where the wire needs 898.

Too many: a proxy sends its own requests through the same interface (in test 5 of that report, 441.4 bytes
instead of 282); header and body are sent in segments of their own (`tcp_nopush off`); packets are sent again;
or other programs use the link.

How to fix it
-------------
Count requests and bytes over the same seconds: totals of the load generator, and the bytes of `sar -n DEV 1` or
`ip -s link` before and after. Take the header from `curl -sD - -o /dev/null URL | wc -c`. On a proxy, count
each side by itself.

When to ignore it
-----------------
When the link is known to carry other traffic, such as a proxy's requests, and the finding is “more bytes”.
IPv6 and VLAN tags change a response by less than the limit, unless it is tiny; of a compressed response, state
the compressed size. With TLS the rule looks for missing bytes only.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from loadcurve.audit.identities import SIZES, monitored, summarise_traffic, summarise_wire
from loadcurve.audit.rule import THROUGHPUT, Finding, Limit, Need, Rule, not_checked
from loadcurve.audit.run_tables import Tables, first_rows

Row = Mapping[Hashable, Any]

_HOST = (
    "Record `sar -n DEV 1` on the generator's host, or on the server alone, and note the host of each report and file "
    "of sar in a factors.csv (file,host)."
)


def judge_bytes(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: bytes per response on the wire, and by the wire model."""
    runs = tables["runs"]
    wire = summarise_wire(monitored(runs, tables.get("network"))).to_dict("index")
    traffic = summarise_traffic(tables).to_dict("index")
    for key, run in first_rows(runs):
        model, carried = wire[key], traffic.get(key)
        if carried is not None and pd.notna(model["payload_bytes"]):
            yield _on_the_wire(run, model, carried, limits)
        elif pd.notna(run.document_bytes) and pd.notna(run.received_bytes_per_s) and run.throughput_rps:
            yield _received(run, limits)
        else:
            yield not_checked(run, "it is not known which host sent the responses", _HOST)


def _received(run: Any, limits: Mapping[str, float]) -> Finding:
    """Judge the bytes that reached the program: at least those of the body."""
    received = run.received_bytes_per_s / run.throughput_rps
    evidence = f"The generator received {received:,.1f} bytes for each response, "
    evidence += f"whose body has {run.document_bytes:,.0f}."
    few = received < run.document_bytes * (1 - limits["missing"])
    return Finding(run, "error" if few else "ok", evidence, _MISSING, received, run.document_bytes)


def _on_the_wire(run: Any, model: Row, carried: Row, limits: Mapping[str, float]) -> Finding:
    rate, payload = model["throughput_rps"], model["payload_bytes"]
    most, least = carried["most_bytes_per_s"] / rate, carried["least_bytes_per_s"] / rate
    with_tls = pd.isna(model["model_bytes"])  # its records add bytes that are not counted
    expected = model["least_bytes"] if with_tls else model["model_bytes"]
    verb = f"Host{'s' * (', ' in carried['host'])} {carried['host']} {carried['verb']}"
    takes = f"a response of {payload:,.0f} bytes, header included, takes {expected:,.0f} in frames"
    if carried["samples"] < limits["samples"]:
        few = f"{carried['samples']:.0f} samples of the link lie within the load"
        return not_checked(run, few, "Measure for at least 10 s.")
    if most < model["least_bytes"] * (1 - limits["missing"]):
        evidence = f"{verb} {carried['most_bytes_per_s']:,.0f} bytes/s at {rate:,.0f} requests/s, "
        evidence += f"{most:,.1f} bytes for each response; {takes}."
        return Finding(run, "error", evidence, _MISSING, most, expected)
    others = model["other_bytes"] + limits["background"] / rate
    if least > (expected + others) * (1 + limits["more"]) and not with_tls:
        evidence = f"{verb} {least:,.1f} bytes for each response, {least - expected:,.0f} more than expected; {takes}."
        return Finding(run, "warning", evidence, _MORE, least, expected)
    mean = carried["mean_bytes_per_s"] / rate
    return Finding(run, "ok", f"{verb} {mean:,.1f} bytes for each response; {takes}.", "", mean, expected)


_MISSING = (
    "The two rates are not of the same seconds, or the responses are shorter than stated. Count requests and bytes "
    "over the same seconds, and use neither rate before."
)
_MORE = (
    "Find out what else was sent: a proxy's requests leave through this interface; header and body may be sent apart "
    "(`tcp_nopush`); retransmissions (`nstat -az TcpRetransSegs`); other programs (`ss -tinp` lists their connections)."
)

_SAR = "Record `sar -n DEV 1` while the load runs."
_RATES = Need("runs", ("document_bytes", "received_bytes_per_s"), "the rate of bytes and the size of the body", _SAR)

RULE = Rule(
    "bytes-per-response",
    "Do the bytes on the link fit the responses?",
    judge_bytes,
    {
        "ok": "within 5 % of the wire model, segmentation offload included",
        "warning": "more than 5 % above it, an acknowledgement and new connections included",
        "error": "more than 5 % below the least that the responses take, or below the body",
    },
    needs=(
        THROUGHPUT,
        replace(SIZES, alternatives=(*SIZES.alternatives, _RATES)),
        Need("network", ("host",), "the bytes that the interfaces count", _SAR, alternatives=(_RATES,)),
    ),
    limits={
        "missing": Limit(0.05, "a header estimated to 5 % of the response; every sample must be below it"),
        "background": Limit(1000, "bytes/s: address resolution, a shell; they count where requests are rare"),
        "samples": Limit(3, "one second of an unsteady run is not its mean; one mean over the whole run is enough"),
        "more": Limit(
            0.05, "beside an acknowledgement of each request and new connections; every sample must be above it"
        ),
    },
    family="Physics",
)
