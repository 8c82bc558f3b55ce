r"""The responses fill the link or exceed it, so the throughput is the link's limit or was not sustained.

What it means
-------------
A link of $C$ bit/s carries at most $X = C / (8 m)$ responses per second. On the medium a response of $F + H$ bytes in
$P = \lceil (F + H) / 1448 \rceil$ segments takes $m = F + H + 90\,P$ bytes: 66 of headers for each segment, and 24 of
preamble, check sequence and gap that no interface counts (IEEE 802.3, clause 3; RFC 5180, appendix A.1). A rate above
that is impossible as a sustained rate. Above 90 % the link sets the throughput, not the server.

Why it happens
--------------
Above the link: the number is a peak of an interval that is too short, the link has burst credits (a token bucket, as
cloud instances have) and the run was over before they were used up, the responses are shorter than stated, or the
unit is wrong (MB/s for MiB/s, bits for bytes). The report “Nginx 万兆网络环境测试” (test 5) prints 118,163
responses/s of 10 KB through a proxy; on 10 Gbit/s they take 103 % of the link if 10 KB are 10,000 bytes, 106 % if
they are 10,240.

At the link: its test 2 with 2590 bytes uses 99.9 %.

How to fix it
-------------
Report totals over the whole run instead of a peak, with the number of bytes received. A link with burst credits shows
its sustained rate when `sar -n DEV 1` falls to a lower level and stays there: run for many times longer. If the link
is full, use a faster link or smaller responses, or say that the result is of the link. Compare the bytes per second
with `ethtool IFACE | grep Speed`.

When to ignore it
-----------------
With jumbo frames (`ip link` prints mtu 9000), which save up to 5 % of the bytes, and when several links share the
load but one speed is stated. A full link is right if the link is what you measure.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.identities import SIZES, summarise_wire
from loadcurve.audit.rule import THROUGHPUT, Finding, Limit, Need, Rule, Severity, severity_of
from loadcurve.audit.rules._monitored import SATURATION
from loadcurve.audit.run_tables import Tables, first_rows
from loadcurve.models.wire.limits import link_used_ratio
from loadcurve.units import format_quantity


def judge_link(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: the share of the link that its responses take on the medium."""
    runs = tables["runs"]
    wire = summarise_wire(runs).to_dict("index")
    for key, run in first_rows(runs):
        rate, medium = wire[key]["throughput_rps"], wire[key]["medium_bytes"]
        used = float(link_used_ratio(run.link_bps, rate, medium))
        severity = severity_of(used, limits)
        evidence = (
            f"{rate:,.0f} requests/s × {medium:,.0f} bytes on the medium are {100 * used:.1f} % of "
            f"{format_quantity(run.link_bps, 'bps')}."
        )
        yield Finding(run, severity, evidence, _ADVICE.get(severity, ""), used, 1.0)


_ADVICE: dict[Severity, str] = {
    "error": "No link carries that for long: report the total of the whole run instead of a peak, run for much longer "
    "than a burst of the link lasts, and check sizes and units.",
    "warning": "The link limits the throughput, not the server: use a faster link or smaller responses.",
}

RULE = Rule(
    "throughput-above-link",
    "Do the responses fit the link?",
    judge_link,
    {"ok": "at most 90 % of the link", "warning": "above 90 %: the link is full", "error": "above 101 %: impossible"},
    needs=(
        THROUGHPUT,
        SIZES,
        Need(
            "runs",
            ("link_bps",),
            "the speed of the link that carries the responses",
            "Note link_bps in a factors.csv (`ethtool IFACE` prints the speed; 10 Gbit/s is 10000000000).",
        ),
    ),
    limits={
        "warning": SATURATION,
        "error": Limit(1.01, "clocks and rounded rates differ by less than one per cent"),
    },
    family="Physics",
)
