"""Facts of each host's network that affect results, for `run.json`."""

import json
from collections.abc import Mapping
from typing import Any

from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network.commands import Invocation, run_together

_SETTINGS = (
    "net.core.somaxconn",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_max",
)
# Those of ethtool(8) ``-k`` that decide how many packets a response is.
_OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
}


def network_facts(hosts: Mapping[str, Host]) -> dict[str, dict[str, Any]]:
    """Return interfaces, routes and settings of each host.

    Returns
    -------
    dict of str to dict
        By host: ``interfaces`` (name → ``kind``, ``addresses``, ``mtu``, ``qdiscs``, ``offloads``; the kind of a
        virtual device is veth, tun or bridge, otherwise empty), ``routes`` (as ip(8) writes them, with ``congctl``
        where a route has its own congestion control) and ``sysctls`` (name → value; those that the kernel hides are
        left out).
    """
    invocations = [
        Invocation(host.argv(command))
        for host in hosts.values()
        for command in (
            ("ip", "-4", "-d", "-j", "address", "show"),
            ("ip", "-4", "route", "show"),
            ("tc", "-j", "qdisc", "show"),
            ("sysctl", "-e", *_SETTINGS),
        )
    ]
    outputs = run_together(invocations)
    facts = {name: _facts_of(*outputs[4 * at : 4 * at + 4]) for at, name in enumerate(hosts)}
    cards = [(name, card) for name, of_host in facts.items() for card in of_host["interfaces"] if card != "lo"]
    invocations = [Invocation(hosts[name].argv(("ethtool", "-k", card))) for name, card in cards]
    for (name, card), output in zip(cards, run_together(invocations), strict=True):
        facts[name]["interfaces"][card]["offloads"] = _offloads(output)
    return facts


def _facts_of(addresses: str, routes: str, qdiscs: str, sysctls: str) -> dict[str, Any]:
    queues: dict[str, list[str]] = {}
    for queue in json.loads(qdiscs or "[]"):
        queues.setdefault(queue["dev"], []).append(_queue(queue))
    settings = (line.partition("=") for line in sysctls.splitlines())
    return {
        "interfaces": {
            link["ifname"]: {
                "kind": link.get("linkinfo", {}).get("info_kind", ""),
                "addresses": [f"{a['local']}/{a['prefixlen']}" for a in link["addr_info"]],
                "mtu": link["mtu"],
                "qdiscs": queues.get(link["ifname"], []),
            }
            for link in json.loads(addresses or "[]")
            if link
        },
        "routes": [" ".join(line.split()) for line in routes.splitlines()],
        "sysctls": {name.strip(): " ".join(value.split()) for name, _, value in settings},
    }


def _queue(queue: dict[str, Any]) -> str:
    options = " ".join(f"{key} {value}" for key, value in queue.get("options", {}).items() if value is not None)
    return f"{queue['kind']} {options}".strip()


def _offloads(features: str) -> dict[str, bool]:
    lines = (line.partition(":") for line in features.splitlines())
    return {_OFFLOADS[name]: value.split()[0] == "on" for name, _, value in lines if name in _OFFLOADS}
