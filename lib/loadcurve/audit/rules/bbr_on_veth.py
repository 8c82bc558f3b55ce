"""The server sent with BBR over a veth link, so BBR's pacing timer can limit the throughput, not the server.

What it means
-------------
The server sends with the congestion control `bbr` over a veth pair, and a response takes more than one TCP segment.

Why it happens
--------------
BBR paces what it sends.  Without the queueing discipline `fq` every socket does that with a timer of its own (Linux
4.13, "tcp: internal implementation for pacing"), and on a veth pair, which has no speed, waiting for this timer can
take longer than all the rest.  In network namespaces on one machine, wrk with one thread and 32 connections measured
122,500 requests/s for responses of 616 bytes, which fit one segment; for 1,233 bytes 19,600 requests/s with `bbr` and
85,200 with `reno`.

How to fix it
-------------
Set `sysctl -w net.ipv4.tcp_congestion_control=reno` in the server's namespace, as the laboratory does by default, and
repeat the run.  `tc qdisc replace dev eth0 root fq` gives BBR the pacing that it expects.

When to ignore it
-----------------
Congestion control over virtual links is what you study.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.rule import Finding, Limit, Need, Rule, not_checked
from loadcurve.audit.run_tables import Tables, first_rows, key_of
from loadcurve.tables import merge_generators

_PACED = "fq"  # its name with options, such as "fq limit 10000"; fq_codel does not pace
_CONTROL = "net.ipv4.tcp_congestion_control"


def judge_links(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run whose hosts have virtual links of a known kind."""
    settings = tables["settings"].assign(key=key_of(tables["settings"]))
    settings = settings.dropna(subset=["host", "setting", "value"])
    words = settings["value"].str.split()
    veth = settings["setting"].str.startswith("link ") & (words.str[0] == "veth")
    paced = veth & words.map(lambda each: _PACED in each)
    bbr = settings[(settings["setting"] == _CONTROL) & (settings["value"] == "bbr")]
    hosts = settings[veth & ~paced].merge(bbr[["key", "host"]].drop_duplicates(), on=["key", "host"])
    found = hosts.groupby("key")["host"].agg(lambda names: ", ".join(sorted(set(names))))
    known = set(settings.loc[veth, "key"])
    runs = merge_generators(tables["runs"])
    size = (runs["received_bytes"] / runs["requests"].where(runs["requests"] > 0)).astype(float)
    sizes = dict(zip(key_of(runs), size, strict=True))
    for key, run in first_rows(runs):
        if key not in known:
            continue
        if key not in found.index:
            yield Finding(run, "ok", "No host sends with bbr over a veth link without fq.")
            continue
        hosts_of, each = found[key], sizes[key]
        if each != each:
            needs = f"{hosts_of} use bbr over veth; needs the bytes of a response"
            yield not_checked(run, needs, "Use a generator that counts bytes and responses.")
            continue
        evidence = f"{hosts_of}: bbr over a veth link without fq, with {each:.0f} bytes for each response."
        advice = "Set `sysctl -w net.ipv4.tcp_congestion_control=reno` on the server, and repeat the run."
        yield Finding(run, "warning" if each > limits["bytes"] else "ok", evidence, advice, each, limits["bytes"])


RULE = Rule(
    "bbr-on-veth",
    "Is throughput free of BBR's pacing over virtual links?",
    judge_links,
    {"ok": "no bbr over veth, or responses of one segment", "warning": "bbr over veth, larger responses"},
    needs=(Need("settings", ("setting",), "the settings of the hosts", applies=False),),
    limits={"bytes": Limit(1448, "payload of a TCP segment with timestamps at an MTU of 1500 bytes: 1500 - 20 - 32")},
    family="Statistics",
)
