"""Hashes of balancers as their own code has them, and seeds by which few clients spread evenly; nothing is started."""

import pytest

from loadcurve.lab.tools.balancers.shares import expected_shares, jhash, nft_server, nginx_server, seed_of_shares


def test_the_kernels_hash():
    """Printed by driver5 of B. Jenkins' lookup3.c, whose hash of bytes the kernel's is."""
    text = b"Four score and seven years ago"
    assert (jhash(text, 0), jhash(text, 1)) == (0x17770551, 0xCD628161)


@pytest.mark.parametrize("server_of", [nft_server, nginx_server])
@pytest.mark.parametrize("block", ["10.99", "10.100", "172.16"])
@pytest.mark.parametrize("servers", [2, 3, 5])
def test_as_many_clients_as_servers_spread_evenly(server_of, block, servers):
    clients = {f"{block}.0.{n + 2}": 8 for n in range(servers)}
    seed = seed_of_shares(clients, servers, server_of)
    assert expected_shares(clients, servers, server_of, seed) == pytest.approx([1 / servers] * servers)


def test_what_cannot_be_even_is_as_even_as_it_can_be():
    """One client is all of the load; of 3, 2 and 1 connections, 3 are to go to each of two servers.

    Of ten equal clients, two of four servers get two and the others three, not one server one and the others three.
    """
    alone, three = {"10.99.0.2": 64}, {"10.99.0.2": 3, "10.99.0.3": 2, "10.99.0.4": 1}
    ten = {f"10.99.0.{n + 2}": 100 for n in range(10)}
    assert sorted(expected_shares(alone, 2, nft_server, seed_of_shares(alone, 2, nft_server))) == [0, 1]
    assert expected_shares(three, 2, nft_server, seed_of_shares(three, 2, nft_server)) == (0.5, 0.5)
    assert sorted(expected_shares(ten, 4, nft_server, seed_of_shares(ten, 4, nft_server))) == [0.2, 0.2, 0.3, 0.3]


def test_a_seed_for_all_blocks_of_addresses_gave_one_server_everything():
    assert expected_shares({"10.99.0.2": 1, "10.99.0.3": 1}, 2, nft_server, 0x10ADC0DE) == (1.0, 0.0)
