"""Named topologies: functions that return a `Topology` for given numbers of clients and servers.

The first sentence of each docstring describes the topology on the laboratory's reference page.

Addresses depend only on the order of the hosts, so a study has the same addresses on every machine::

    10.99.0.0/16       the block; its first network is 10.99.0.0/18, its second network 10.99.64.0/18
    10.99.2.1 .2 .3    addresses of the host with number 2 in the first network
"""

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import replace

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.network.topology import Interface, Node, Topology

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
