"""From a topology and its conditions to the batches that make it: pure text, nothing is run here.

Every host is a namespace.  All bridges lie in one more, the switch, so that nothing of a study is ever in the
machine's own namespace: no load can leave it, and the machine's firewall does not see it.
"""

import ipaddress
from collections.abc import Mapping

from loadcurve.errors import LabError
from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions
from loadcurve.lab.hosts.network.topology import Interface, Node, Topology

Links = Mapping[tuple[str, str], LinkConditions]

SWITCH = "net"
# A TAP device drops what its reader has not fetched; this holds a burst of all connections of a large level.
_TAP_QUEUE_PACKETS = 10_000
_LEAST_IPV6_MTU = 1280


def namespace(tag: str, host: str) -> str:
    """Name of a host's namespace, and with `SWITCH` that of the bridges."""
    return f"{tag}-{host}"


def port(host: str, network: str) -> str:
    """Name of a link's end in the switch."""
    return f"{host}-{network}"


def resolve(topology: Topology, conditions: Mapping[str, LinkConditions]) -> dict[tuple[str, str], LinkConditions]:
    """Conditions of every link, as host and network; those that are not named have the defaults.

    Raises
    ------
    LabError
        When a name is not of a link, a link is named twice, or links of a network differ in their MTU: the bridge
        between them would drop the larger packets without a word.
    """
    links: dict[tuple[str, str], LinkConditions] = {}
    for name, condition in conditions.items():
        for link in topology.links(name):
            if link in links:
                raise LabError(f"the link of {link[0]} to {link[1]} has conditions twice; name it once")
            links[link] = condition
    every = ((node.name, i.network) for node in topology.nodes for i in node.interfaces)
    links = {link: links.get(link, LinkConditions()) for link in every}
    for network in topology.networks:
        if len(mtus := {condition.mtu for (_, other), condition in links.items() if other == network}) > 1:
            raise LabError(f"links of network {network} must have one MTU, got {', '.join(map(str, sorted(mtus)))}")
    return links


def namespaces_lines(topology: Topology, tag: str) -> str:
    """Batch for ip(8): a namespace for each host, one for the switch."""
    names = [node.name for node in topology.nodes] + [SWITCH]
    return "".join(f"netns add {namespace(tag, name)}\n" for name in names)


def veth_lines(topology: Topology, tag: str, without: frozenset[tuple[str, str]]) -> str:
    """Batch for ip(8): a veth pair for each link but those that a delay line makes, both ends where they belong."""
    return "".join(
        f"link add name {i.name} netns {namespace(tag, node.name)} type veth "
        f"peer name {port(node.name, i.network)} netns {namespace(tag, SWITCH)}\n"
        for node in topology.nodes
        for i in node.interfaces
        if (node.name, i.network) not in without
    )


def host_lines(node: Node, links: Links, settings: HostSettings, ipv6: bool) -> str:
    """Batch for ``ip -n``: interfaces up, addresses, routes.

    A congestion control that is not the namespace's own comes by the routes, since the kernel lets a namespace's
    setting only be one that is free for all users.
    """
    lines = ["link set dev lo up"]
    by_route = "" if settings.congestion_control == "reno" else f" congctl {settings.congestion_control}"
    for i in node.interfaces:
        lines += [f"address add {address} dev {i.name}" for address in i.addresses]
        lines += _up(i.name, links[node.name, i.network].mtu, ipv6)
        if by_route:
            lines.append(f"route change {_subnet(i)} dev {i.name} proto kernel scope link src {_first(i)}{by_route}")
    if node.gateway:
        lines.append(f"route add default via {node.gateway}{by_route}")
    return "".join(f"{line}\n" for line in lines)


def switch_lines(topology: Topology, links: Links, ipv6: bool) -> str:
    """Batch for ``ip -n``: a bridge for each network, every port on its own."""
    lines = []
    for network in topology.networks:
        lines += [f"link add name br-{network} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"]
    for (host, network), condition in links.items():
        lines.append(f"link set dev {port(host, network)} master br-{network}")
        lines += _up(port(host, network), condition.mtu, ipv6)
    for network in topology.networks:
        lines += _up(f"br-{network}", min(c.mtu for (_, other), c in links.items() if other == network), ipv6)
    return "".join(f"{line}\n" for line in lines)


def sysctl_words(node: Node, settings: HostSettings) -> tuple[str, ...]:
    """Settings of a host as ``name=value``, the study's own last.

    Answers may come by another way than requests went (a balancer that rewrites addresses), so the check of the
    reverse path is off; a router tells nobody of a shorter way.
    """
    settled = {"net.ipv4.tcp_congestion_control": "reno"}
    for scope in ("all", "default", *(i.name for i in node.interfaces)):
        settled[f"net.ipv4.conf.{scope}.rp_filter"] = "0"
        settled[f"net.ipv4.conf.{scope}.send_redirects"] = "0"
    if node.forwards:
        settled["net.ipv4.ip_forward"] = "1"
    return tuple(f"{name}={value}" for name, value in {**settled, **settings.sysctls}.items())


def _up(device: str, mtu: int, ipv6: bool) -> list[str]:
    # No address of its own, so no router solicitation and no multicast report is counted among a study's packets.
    # A device with a smaller MTU than IPv6 needs (RFC 8200, section 5) has no IPv6, and refuses to hear of it.
    quiet = [f"link set dev {device} addrgenmode none"] if ipv6 and mtu >= _LEAST_IPV6_MTU else []
    return [*quiet, f"link set dev {device} mtu {mtu} txqueuelen {_TAP_QUEUE_PACKETS} up"]


def _subnet(interface: Interface) -> str:
    return str(ipaddress.ip_interface(interface.addresses[0]).network)


def _first(interface: Interface) -> str:
    return interface.addresses[0].partition("/")[0]
