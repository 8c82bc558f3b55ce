"""Which hosts are on which networks, the topologies that a study can name, and the conditions of each link.

Each network is a bridge; each interface of a host is a link to a bridge.  The constructors check names and addresses,
so every `Topology` can be built.

The first sentence of the docstring of each function in `TOPOLOGIES` describes it on the reference page.

Addresses depend only on the order of the hosts, so a study has the same addresses on every machine::

    10.99.0.0/16       the block; its first network is 10.99.0.0/18, its second network 10.99.64.0/18
    10.99.2.1 .2 .3    addresses of the host with number 2 in the first network

Every host is a namespace.  All bridges are in one further namespace, the switch, so no part of a study is in the
machine's own namespace: the load cannot leave the machine, and the machine's firewall does not process it.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions

ROLES = ("C", "LB", "S")
# Names become parts of the names of namespaces and links; HOST-NETWORK must fit in the 15 characters of a link's name.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,6}")


@dataclass(frozen=True)
class Interface:
    """A host's end of a link."""

    network: str  # Network that the interface is attached to
    name: str  # Name of the interface on the host: `eth0`, `eth1`
    # Addresses with the prefix length of the network; the first is the primary address of the host.
    addresses: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_names(self.network, self.name)
        if not self.addresses:
            raise ValueRuleError("addresses", "at least one", self.addresses)
        for address in self.addresses:
            _check_address(address, "an IPv4 address with the length of its prefix", ipaddress.IPv4Interface)


@dataclass(frozen=True)
class Node:
    """A host of a topology."""

    # `name` and `role`: name and role of the host, such as `S2` and `S`; the role is C, LB or S.
    name: str
    role: str
    interfaces: tuple[Interface, ...]  # Interfaces of the host; the first one is on the network of the clients
    gateway: str = ""  # Default gateway; empty for none
    forwards: bool = False  # Whether the host forwards packets that are not addressed to it, as an L4 balancer does

    def __post_init__(self) -> None:
        _check_names(self.name)
        if self.role not in ROLES:
            raise ValueRuleError("role", f"one of {' '.join(ROLES)}", self.role)
        if self.gateway:
            _check_address(self.gateway, "an IPv4 address", ipaddress.IPv4Address)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses of the first interface, without prefix length."""
        return tuple(a.partition("/")[0] for a in self.interfaces[0].addresses)


@dataclass(frozen=True)
class Topology:
    """Hosts and the networks that connect them."""

    name: str  # Name of the topology, such as `client_server`
    nodes: tuple[Node, ...] = ()  # Hosts; empty for loopback

    def __post_init__(self) -> None:
        for what, all_of_them in (
            ("names of hosts", ["net", *(node.name for node in self.nodes)]),  # `net` is the namespace of the bridges
            ("addresses", [a.partition("/")[0] for n in self.nodes for i in n.interfaces for a in i.addresses]),
        ):
            (most, times), *_ = Counter(all_of_them).most_common(1) or [("", 1)]
            if times > 1:
                raise ValueRuleError(what, "each used once", most)

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of the networks, in the order of the hosts' interfaces."""
        return tuple(dict.fromkeys(i.network for node in self.nodes for i in node.interfaces))

    def node(self, name: str) -> Node:
        """Return the host with a name; raise LabError when no host has it."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes) or "none"
        raise LabError(f"topology {self.name} has no host {name!r}; its hosts: {known}")

    def with_role(self, role: str) -> tuple[Node, ...]:
        """Return the hosts with a role."""
        return tuple(node for node in self.nodes if node.role == role)

    def links(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the links (host, network) of a host (``S1``), of a network (``back``), or one link (``LB.back``).

        Raises LabError when the name selects no link.

        Examples
        --------
        >>> near, far = Interface("front", "eth0", ("10.0.0.1/24",)), Interface("back", "eth1", ("10.0.1.1/24",))
        >>> Topology("alone", (Node("LB", "LB", (near, far)),)).links("LB")
        (('LB', 'front'), ('LB', 'back'))
        """
        if name in self.networks:
            return tuple((node.name, name) for node in self.nodes for i in node.interfaces if i.network == name)
        host, _, network = name.partition(".")
        found = tuple((host, i.network) for i in self.node(host).interfaces if network in ("", i.network))
        if not found:
            raise LabError(f"host {host} has no link to {network!r}")
        return found


def _check_names(*names: str) -> None:
    if wrong := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueRuleError("name", "a letter and up to 6 letters or digits", wrong[0])


def _check_address(address: str, rule: str, kind: type) -> None:
    try:
        kind(address)
    except ValueError:
        raise ValueRuleError("address", rule, address) from None


# Blocks that are not routed on the Internet: RFC 1918, and RFC 2544 (198.18.0.0/15, for benchmarks).  In order of
# preference; sites, clouds and containers rarely use the upper part of 10.0.0.0/8.
BLOCKS = (
    *(f"10.{n}.0.0/16" for n in (99, *range(240, 256), *range(100, 240))),
    *(f"172.{n}.0.0/16" for n in range(31, 15, -1)),
    "198.18.0.0/16",
    "198.19.0.0/16",
)
_NETWORK_BITS = 18  # four networks in a block, 64 hosts in a network, 254 addresses for each host
_MAX_HOSTS, _MAX_ADDRESSES = 63, 254


def loopback() -> Topology:
    """No hosts: every process runs on this machine and uses its loopback address."""
    return Topology("loopback")


def client_server(addresses: int = 1, block: str = BLOCKS[0]) -> Topology:
    """A client and a server in one network."""
    return replace(several_clients(1, 1, addresses, block), name="client_server")


def several_clients(clients: int = 2, servers: int = 1, addresses: int = 1, block: str = BLOCKS[0]) -> Topology:
    """Clients and servers in one network; parameters as in `client_server`."""
    return Topology("several_clients", _in_one_network(_names("C", clients) + _names("S", servers), addresses, block))


def client_proxy_servers(servers: int = 2, addresses: int = 1, block: str = BLOCKS[0]) -> Topology:
    """A client, a reverse proxy and servers in one network.

    The client reaches the servers directly as well, so that the cost of the proxy can be measured.
    """
    nodes = _in_one_network([("LB", "LB"), *_names("C", 1), *_names("S", servers)], addresses, block)
    return Topology("client_proxy_servers", nodes)


def client_l4_servers(servers: int = 2, clients: int = 1, addresses: int = 1, block: str = BLOCKS[0]) -> Topology:
    """Clients and servers in two networks, connected by a balancer that forwards packets.

    Clients send requests to the balancer's address.  The balancer rewrites only the destination address (DNAT, IPVS
    NAT), so the servers see the clients' addresses; their default route sends the responses through the balancer.
    """
    front, back = _addresses(block, 0), _addresses(block, 1)
    balancer = Node(
        "LB", "LB", (Interface("front", "eth0", front(0, 1)), Interface("back", "eth1", back(0, 1))), forwards=True
    )
    outer = [
        Node(name, role, (Interface("front", "eth0", front(number, 1)),), gateway=_bare(front(0, 1)))
        for number, (name, role) in enumerate(_names("C", clients), 1)
    ]
    inner = [
        Node(name, role, (Interface("back", "eth0", back(number, addresses)),), gateway=_bare(back(0, 1)))
        for number, (name, role) in enumerate(_names("S", servers), 1)
    ]
    return Topology("client_l4_servers", (balancer, *outer, *inner))


TOPOLOGIES = {
    recipe.__name__: recipe
    for recipe in (loopback, client_server, client_proxy_servers, client_l4_servers, several_clients)
}
"""Functions above by the name of the topology in a study."""


def free_block(routes: Iterable[str]) -> str:
    """Return the first block that overlaps no route of the machine; raise LabError when every block overlaps one.

    IPv6 destinations are ignored.

    Examples
    --------
    >>> free_block(["10.96.0.0/12", "192.168.0.0/24"])
    '10.240.0.0/16'
    """
    taken = [ipaddress.ip_network(route, strict=False) for route in routes]
    for block in BLOCKS:
        if not any(ipaddress.ip_network(block).overlaps(route) for route in taken if route.version == 4):
            return block
    raise LabError("every block of private addresses overlaps a route of this machine")


def _names(role: str, count: int) -> list[tuple[str, str]]:
    if not 1 <= count <= _MAX_HOSTS - 1:
        raise ValueRuleError(f"number of hosts with role {role}", f"1 to {_MAX_HOSTS - 1}", count)
    return [(f"{role}{number}", role) for number in range(1, count + 1)]


def _in_one_network(hosts: list[tuple[str, str]], addresses: int, block: str) -> tuple[Node, ...]:
    # The balancer, if any, has number 0; clients and servers count from 1.
    first, at = 0 if hosts[0][0] == "LB" else 1, _addresses(block, 0)
    return tuple(
        Node(name, role, (Interface("lan", "eth0", at(number, addresses if role == "S" else 1)),))
        for number, (name, role) in enumerate(hosts, first)
    )


def _addresses(block: str, network: int) -> Callable[[int, int], tuple[str, ...]]:
    """Return a function that maps a host's number and a count to that many addresses in a network of the block."""
    parsed = ipaddress.ip_network(block)
    if parsed.version != 4 or parsed.prefixlen != 16:
        raise ValueRuleError("block", "an IPv4 network with a prefix of 16", block)
    base = parsed.network_address + network * 2 ** (32 - _NETWORK_BITS)

    def of_host(number: int, count: int) -> tuple[str, ...]:
        if not 1 <= count <= _MAX_ADDRESSES:
            raise ValueRuleError("addresses", f"1 to {_MAX_ADDRESSES}", count)
        if number > _MAX_HOSTS:
            raise ValueRuleError("number of hosts in a network", f"at most {_MAX_HOSTS}", number)
        return tuple(f"{base + 256 * number + last}/{_NETWORK_BITS}" for last in range(1, count + 1))

    return of_host


def _bare(addresses: tuple[str, ...]) -> str:
    return addresses[0].partition("/")[0]


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
