"""Topologies are data: what can be said of them without making one."""

import ipaddress
import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.network import TOPOLOGIES, Topology
from loadcurve.lab.hosts.network.topology import (
    BLOCKS,
    Interface,
    Node,
    client_l4_servers,
    client_proxy_servers,
    client_server,
    free_block,
    several_clients,
)
from loadcurve.lab.hosts.tools import which

counts, blocks = st.integers(1, 30), st.sampled_from(BLOCKS)
topologies = st.one_of(
    st.builds(client_server, addresses=st.integers(1, 254), block=blocks),
    st.builds(client_proxy_servers, servers=counts, addresses=st.integers(1, 40), block=blocks),
    st.builds(client_l4_servers, servers=counts, clients=counts, addresses=st.integers(1, 40), block=blocks),
    st.builds(several_clients, clients=counts, servers=counts, addresses=st.integers(1, 40), block=blocks),
)


def interfaces_of(topology: Topology):
    return [
        (node, i, [ipaddress.ip_interface(a) for a in i.addresses]) for node in topology.nodes for i in node.interfaces
    ]


@given(topologies)
def test_every_address_is_private_and_used_once(topology):
    found = [a.ip for _, _, addresses in interfaces_of(topology) for a in addresses]
    assert len(set(found)) == len(found)
    assert all(a.is_private and not a.is_loopback and not a.is_link_local for a in found)


@pytest.mark.slow
@given(topologies)
def test_every_address_is_one_of_its_network_that_a_host_may_have(topology):
    prefixes = {}
    for _, interface, addresses in interfaces_of(topology):
        for address in addresses:
            assert address.network == prefixes.setdefault(interface.network, address.network)
            assert address.ip not in (address.network.network_address, address.network.broadcast_address)
    nets = list(prefixes.values())
    assert not any(a.overlaps(b) for k, a in enumerate(nets) for b in nets[:k])


@given(topologies)
def test_every_gateway_is_the_balancer_on_the_same_network(topology):
    for node in topology.nodes:
        if node.gateway:
            (own,) = [i.network for i in node.interfaces]
            at = [i for i in topology.node("LB").interfaces if i.network == own]
            assert node.gateway == at[0].addresses[0].partition("/")[0]
            assert topology.node("LB").forwards


@given(topologies)
def test_names_of_links_fit_the_kernel(topology):
    # IFNAMSIZ, linux/if.h: 16 characters with the closing zero.
    assert all(len(f"{node.name}-{i.network}") < 16 for node, i, _ in interfaces_of(topology))
    assert all(len(f"br-{network}") < 16 for network in topology.networks)


networks = st.builds(
    lambda address, prefix: str(ipaddress.ip_network((address, prefix), strict=False)),
    st.sampled_from([int(ipaddress.ip_network(b).network_address) + k for b in BLOCKS[:60] for k in (0, 300, 65535)]),
    st.integers(9, 32),
)


@given(st.lists(networks, max_size=20))
def test_a_free_block_overlaps_no_route(routes):
    block = ipaddress.ip_network(free_block(routes))
    assert not any(block.overlaps(ipaddress.ip_network(route)) for route in routes)


def test_no_free_block_is_an_error():
    with pytest.raises(LabError, match="every block"):
        free_block(["0.0.0.0/1", "128.0.0.0/1"])
    assert free_block(["fd00::/8"]) == BLOCKS[0], "routes of IPv6 take nothing"


@pytest.mark.skipif(which("ip") is None, reason="ip (iproute2) is not installed")
def test_the_block_found_is_outside_this_machines_own_routes():
    from loadcurve.lab.hosts.network import unused_block

    said = subprocess.run([which("ip"), "-4", "-j", "address"], capture_output=True, text=True, check=True).stdout
    own = [
        ipaddress.ip_network(f"{a['local']}/{a['prefixlen']}", strict=False)
        for i in json.loads(said)
        for a in i.get("addr_info", [])
    ]
    block = ipaddress.ip_network(unused_block())
    assert not any(block.overlaps(network) for network in own)


def test_recipes_have_the_hosts_of_their_names():
    names = {name: [node.name for node in recipe().nodes] for name, recipe in TOPOLOGIES.items()}
    assert names == {
        "loopback": [],
        "client_server": ["C1", "S1"],
        "client_proxy_servers": ["LB", "C1", "S1", "S2"],
        "client_l4_servers": ["LB", "C1", "S1", "S2"],
        "several_clients": ["C1", "C2", "S1"],
    }
    assert all(recipe().name == name for name, recipe in TOPOLOGIES.items())


def test_behind_a_balancer_of_packets_servers_and_clients_are_apart():
    topology = client_l4_servers(servers=2)
    assert topology.node("C1").addresses == ("10.99.1.1",)
    assert topology.node("S2").addresses == ("10.99.66.1",)
    assert [i.addresses for i in topology.node("LB").interfaces] == [("10.99.0.1/18",), ("10.99.64.1/18",)]
    assert topology.node("S1").gateway == "10.99.64.1"


def test_a_server_has_as_many_addresses_as_asked():
    assert client_server(addresses=3).node("S1").addresses == ("10.99.2.1", "10.99.2.2", "10.99.2.3")
    assert client_server(addresses=3).node("C1").addresses == ("10.99.1.1",)


@pytest.mark.parametrize(
    "build",
    [
        lambda: several_clients(clients=0),
        lambda: several_clients(clients=40, servers=40),
        lambda: client_server(addresses=0),
        lambda: client_server(addresses=255),
        lambda: client_server(block="10.99.0.0/24"),
        lambda: client_server(block="fd00::/16"),
        lambda: Interface("lan", "eth0; reboot", ("10.99.0.1/18",)),
        lambda: Interface("-lan", "eth0", ("10.99.0.1/18",)),
        lambda: Interface("lan", "eth0", ("10.99.0.1/18 dev lo",)),
        lambda: Interface("lan", "eth0", ()),
        lambda: Node("../S1", "S", ()),
        lambda: Node("S1", "T", ()),
        lambda: Node("S1", "S", (), gateway="10.99.0.1\nlink del lo"),
        lambda: Topology("twice", (Node("S1", "S", ()), Node("S1", "S", ()))),
        lambda: Topology("taken", (Node("net", "S", ()),)),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(build):
    with pytest.raises(ValueRuleError):
        build()


def test_a_host_or_link_that_is_not_there_is_named():
    with pytest.raises(LabError, match="has no host 'S9'; its hosts: C1, S1"):
        client_server().node("S9")
    with pytest.raises(LabError, match="host S1 has no link to 'back'"):
        client_server().links("S1.back")
