"""Turn a topology and its link conditions into batches for ip(8); the functions return text and run nothing.

Every host is a namespace.  All bridges are in one further namespace, the switch, so no part of a study is in the
machine's own namespace: the load cannot leave the machine, and the machine's firewall does not process it.
"""

import ipaddress
from collections.abc import Mapping

from loadcurve.errors import LabError
from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions
from loadcurve.lab.hosts.network.topology import Node, Topology

Links = Mapping[tuple[str, str], LinkConditions]

SWITCH = "net"
# A TAP device drops packets when its queue is full; this length holds a burst of all connections of a large level.
_TAP_QUEUE_PACKETS = 10_000
_LEAST_IPV6_MTU = 1280


def namespace(tag: str, host: str) -> str:
    """Return the name of a host's namespace; with `SWITCH`, the name of the bridges' namespace."""
    return f"{tag}-{host}"


def port(host: str, network: str) -> str:
    """Return the name of a link's end in the switch."""
    return f"{host}-{network}"


def resolve(topology: Topology, conditions: Mapping[str, LinkConditions]) -> dict[tuple[str, str], LinkConditions]:
    """Return the conditions of every link (host, network); links that are not named have the defaults."""
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
    """Return a batch for ip(8) that adds a namespace for each host and one for the switch."""
    names = [node.name for node in topology.nodes] + [SWITCH]
    return "".join(f"netns add {namespace(tag, name)}\n" for name in names)


def veth_lines(topology: Topology, tag: str, without: frozenset[tuple[str, str]]) -> str:
    """Return a batch for ip(8) that adds a veth pair, with each end in its namespace, for each link not in `without`.

    A delay line creates the links in `without`.
    """
    return "".join(
        f"link add name {i.name} netns {namespace(tag, node.name)} type veth "
        f"peer name {port(node.name, i.network)} netns {namespace(tag, SWITCH)}\n"
        for node in topology.nodes
        for i in node.interfaces
        if (node.name, i.network) not in without
    )


def host_lines(node: Node, links: Links, settings: HostSettings, ipv6: bool) -> str:
    """Return a batch for ``ip -n`` that sets interfaces up and adds addresses and routes.

    A congestion control other than the namespace's default is set on the routes, because the kernel only accepts
    unrestricted algorithms as the default of a namespace.
    """
    lines = ["link set dev lo up"]
    by_route = "" if settings.congestion_control == "reno" else f" congctl {settings.congestion_control}"
    for i in node.interfaces:
        lines += [f"address add {address} dev {i.name}" for address in i.addresses]
        lines += _up(i.name, links[node.name, i.network].mtu, ipv6)
        if by_route:
            address = ipaddress.ip_interface(i.addresses[0])
            route = f"route change {address.network} dev {i.name} proto kernel scope link src {address.ip}"
            lines.append(route + by_route)
    if node.gateway:
        lines.append(f"route add default via {node.gateway}{by_route}")
    return "".join(f"{line}\n" for line in lines)


def switch_lines(topology: Topology, links: Links, ipv6: bool) -> str:
    """Return a batch for ``ip -n`` that adds a bridge for each network and attaches every port to its bridge."""
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
    """Return the sysctl settings of a host as ``name=value``; the study's own settings come last.

    Responses may take another path than requests (a balancer that rewrites addresses), so reverse-path filtering is
    off; a router sends no ICMP redirects.
    """
    settled = {"net.ipv4.tcp_congestion_control": "reno"}
    for scope in ("all", "default", *(i.name for i in node.interfaces)):
        settled[f"net.ipv4.conf.{scope}.rp_filter"] = "0"
        settled[f"net.ipv4.conf.{scope}.send_redirects"] = "0"
    if node.forwards:
        settled["net.ipv4.ip_forward"] = "1"
    return tuple(f"{name}={value}" for name, value in {**settled, **settings.sysctls}.items())


def _up(device: str, mtu: int, ipv6: bool) -> list[str]:
    # Without a link-local address, no router solicitation or multicast report is counted among a study's packets.
    # A device with an MTU below the minimum of IPv6 (RFC 8200, section 5) has no IPv6 and rejects the option.
    quiet = [f"link set dev {device} addrgenmode none"] if ipv6 and mtu >= _LEAST_IPV6_MTU else []
    return [*quiet, f"link set dev {device} mtu {mtu} txqueuelen {_TAP_QUEUE_PACKETS} up"]
