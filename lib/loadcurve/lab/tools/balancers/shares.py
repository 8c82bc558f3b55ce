"""Server that a balancer chooses by the hash of a client's address, and a seed that spreads the clients evenly.

A hash spreads many addresses evenly, but often sends the few addresses of a laboratory to one server.  So the
laboratory chooses a seed, and computes each server's share from it with the hash functions of the balancers.
"""

import zlib
from collections.abc import Callable, Mapping
from functools import cache
from ipaddress import IPv4Address

import numpy as np

ServerOf = Callable[[str, int, np.ndarray], np.ndarray]
"""Address of a client, number of servers, seeds (int64) → number of its server by each of them, from 0."""

_WORD = 0xFFFFFFFF
_INITIAL = 0xDEADBEEF  # JHASH_INITVAL
# Rotations of __jhash_mix, for each 12 bytes before the last ones, and of __jhash_final.
_MIX, _FINAL = (4, 6, 8, 16, 19, 4), (14, 11, 25, 16, 4, 14, 24)
# Enough to spread ten clients over ten servers, which one seed in 2,755 does (10^10 / 10!).
_SEEDS = 20_000


def jhash(data: bytes, seed: int | np.ndarray) -> int | np.ndarray:
    """Return the hash of 1 or more bytes as the kernel's `jhash` does (include/linux/jhash.h; B. Jenkins, lookup3.c).

    `seed` is 0 to 2^32 − 1, or an array of such numbers (int64) for the hash by each.

    Examples
    --------
    >>> hex(jhash(b"Four score and seven years ago", 0))  # of lookup3.c, driver5
    '0x17770551'
    """
    words = [(_INITIAL + len(data) + seed) & _WORD] * 3  # a, b, c
    for at in range(0, len(data), 12):
        words = [
            (word + int.from_bytes(data[at + 4 * n : at + 4 * n + 4], "little")) & _WORD for n, word in enumerate(words)
        ]
        if at + 12 < len(data):
            for turn, bits in enumerate(_MIX):
                x, y, z = turn % 3, (turn + 1) % 3, (turn - 1) % 3  # a b c, b c a, c a b
                words[x] = (words[x] - words[z] & _WORD) ^ _rotated(words[z], bits)
                words[z] = words[z] + words[y] & _WORD
    for turn, bits in enumerate(_FINAL):
        x, z = (turn - 1) % 3, (turn - 2) % 3  # c by b, a by c, b by a
        words[x] = (words[x] ^ words[z]) - _rotated(words[z], bits) & _WORD
    return words[2]


def nft_server(address: str, servers: int, seeds: np.ndarray) -> np.ndarray:
    """Server of a client by nftables' ``jhash ip saddr mod SERVERS seed SEED`` (net/netfilter/nft_hash.c)."""
    return np.asarray(jhash(IPv4Address(address).packed, seeds)) * servers >> 32  # reciprocal_scale


def nginx_server(address: str, servers: int, seeds: np.ndarray) -> np.ndarray:
    """Server of a client by nginx's ``hash`` of `nginx_key` (ngx_http_upstream_hash_module.c), all of one weight."""
    keys = (nginx_key(seed).replace("${remote_addr}", address) for seed in seeds)
    return (np.array([zlib.crc32(key.encode("ascii")) for key in keys]) >> 16 & 0x7FFF) % servers


def nginx_key(seed: int) -> str:
    """What nginx hashes: the client's address, and a seed of ours behind it."""
    return f"${{remote_addr}}-{seed}"


def seed_of_shares(clients: Mapping[str, int], servers: int, server_of: ServerOf) -> int:
    """Return the first seed by which the busiest server has the fewest connections, and the others the most alike.

    `clients` has the connections of each client by its address; `server_of` says which server the balancer gives a
    client.

    Examples
    --------
    >>> clients = {"10.99.0.2": 32, "10.99.0.3": 32}
    >>> expected_shares(clients, 2, nft_server, seed_of_shares(clients, 2, nft_server))
    (0.5, 0.5)
    """
    return _found(tuple(clients.items()), servers, server_of)


@cache
def _found(pairs: tuple[tuple[str, int], ...], servers: int, server_of: ServerOf) -> int:
    seeds = np.arange(1, _SEEDS + 1)
    loads = _loads(dict(pairs), servers, server_of, seeds)
    return int(seeds[np.lexsort(((loads**2).sum(axis=1), loads.max(axis=1)))[0]])


def expected_shares(clients: Mapping[str, int], servers: int, server_of: ServerOf, seed: int) -> tuple[float, ...]:
    """Return the part of all connections that each server gets; parameters as of `seed_of_shares`."""
    (loads,) = _loads(clients, servers, server_of, np.array([seed])).tolist()
    return tuple(load / sum(clients.values()) for load in loads)


def _loads(clients: Mapping[str, int], servers: int, server_of: ServerOf, seeds: np.ndarray) -> np.ndarray:
    """Connections of each server (column) by each seed (row)."""
    loads = np.zeros((len(seeds), servers), np.int64)
    for address, connections in clients.items():
        loads[np.arange(len(seeds)), server_of(address, servers, seeds)] += connections
    return loads


def _rotated(word: int | np.ndarray, bits: int) -> int | np.ndarray:
    return (word << bits | word >> (32 - bits)) & _WORD
