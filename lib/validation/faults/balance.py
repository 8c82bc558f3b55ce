"""Planted faults: a balancer that does not share the load, and servers that differ."""

from collections.abc import Callable, Sequence

from loadcurve.audit.atlas import Shows
from validation.faults.mutation import Change, chain, planted_fault, with_rows

SERVERS = ("10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.14")
EVEN = (0.25, 0.25, 0.25, 0.25)


def growing(per_second: float) -> Callable[[int], int]:
    """Return a counter that grows by so many in each second."""
    return lambda second: round(per_second * second)


def dealt(*shares: float, **columns: Sequence[object]) -> Change:
    """Return a change that adds a balancer's counts: 35,200 requests in 6 s in these shares, and further columns."""
    rows: list[dict[str, object]] = [
        {
            "kind": "server", "tool": "haproxy", "protocol": "http", "service": "web", "server": f"web{number}",
            "server_address": address, "server_port": "80", "weight": 1,
            "requests": growing(5867 * share), "connections": growing(5867 * share),
        }
        for number, (address, share) in enumerate(zip(SERVERS, shares, strict=False), start=1)
    ]  # fmt: skip
    for name, values in columns.items():
        rows = [row | {name: value} for row, value in zip(rows, values, strict=True)]
    return with_rows("balancer", *rows, seconds=7)


def hashed(clients: int) -> Change:
    """Return a change that adds an IPVS service with source hashing, and connections of so many clients."""
    service = {"protocol": "TCP", "virtual_address": "10.0.0.1", "virtual_port": "80"}
    servers = [
        {
            **service, "kind": "server", "tool": "ipvsadm", "scheduler": "sh", "server_address": address,
            "server_port": "80", "weight": 1, "connections": growing(32 if place < clients else 0),
        }
        for place, address in enumerate(SERVERS)
    ]  # fmt: skip
    flows = [{**service, "state": "ESTABLISHED", "client_address": f"10.0.1.{client}"} for client in range(clients)]
    return chain(with_rows("balancer", *servers, seconds=7), with_rows("flows", *flows, seconds=2))


MUTATIONS = (
    planted_fault(
        "one_server_of_four",
        "One server takes 80 % of the load",
        "Of four servers with equal weights, one was given 80 % of the requests.",
        ("uneven-balance",),
        dealt(0.8, 0.1, 0.05, 0.05),
        cause="web1",
        shows=Shows("balancer", ("requests",), by="server"),
    ),
    planted_fault(
        "one_server_left_out",
        "A server without load",
        "Of four servers with equal weights, one was given no request.",
        ("uneven-balance",),
        dealt(0.34, 0.33, 0.33, 0.0),
        shows=Shows("balancer", ("requests",), by="server"),
    ),
    planted_fault(
        "one_server_fails",
        "One server fails",
        "Of four servers, one failed a fifth of its requests.",
        ("errors-by-server",),
        dealt(*EVEN, errors_response=(0, 0, growing(290), 0), errors_connect=(0, 0, 0, 0)),
        cause="web3",
        shows=Shows("balancer", ("errors_response",), by="server"),
    ),
    planted_fault(
        "one_server_is_slow",
        "One slow server",
        "Of four servers, one responded in 46 ms, the others in 10 to 12 ms.",
        ("slow-server",),
        dealt(*EVEN, latency_mean_s=(0.010, 0.046, 0.012, 0.011)),
        cause="web2",
        shows=Shows("balancer", ("latency_mean_s",), by="server"),
    ),
    planted_fault(
        "hash_of_two_addresses",
        "A hash of two client addresses",
        "A balancer with source hashing got connections from two addresses for four servers.",
        ("hash-with-few-sources",),
        hashed(2),
        cause="2 client addresses",
        shows=Shows("balancer", ("connections",), by="server_address"),
    ),
)
