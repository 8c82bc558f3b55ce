"""Topologies as data: hosts with roles C (client), LB (balancer) and S (server), and the networks that connect them.

Each network is a bridge; each interface of a host is a link to a bridge.  The constructors check names and addresses,
so every `Topology` can be built.
"""

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass

from loadcurve.errors import LabError, ValueRuleError

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

    def __post_init__(self):
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

    def __post_init__(self):
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

    def __post_init__(self):
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
