"""Planted faults: a balancer that does not share the load."""

from collections.abc import Callable

from loadcurve.audit.atlas import Fault, Shows
from validation.faults.mutation import Change, Mutation, with_rows

SERVERS = ("10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.14")


def dealt(*shares: float, **others: Callable[[int], float]) -> Change:
    """Return a change that adds a balancer's counts: 35,200 requests in 6 s, in these shares."""

    def counted(share: float) -> Callable[[int], int]:
        return lambda second: round(5867 * share * second)

    rows = [
        {
            "kind": "server",
            "tool": "haproxy",
            "service": "web",
            "server": f"web{number}",
            "server_address": address,
            "server_port": "80",
            "weight": 1,
            "requests": counted(share),
        }
        for number, (address, share) in enumerate(zip(SERVERS, shares, strict=False), start=1)
    ]
    return with_rows("balancer", *rows, seconds=7)


MUTATIONS = (
    Mutation(
        "one_server_of_four",
        Fault(
            "One server takes 80 % of the load",
            "Of four servers with equal weights, one was given 80 % of the requests.",
            ("uneven-balance",),
            cause="web1",
            shows=Shows("balancer", ("requests",), by="server"),
        ),
        dealt(0.8, 0.1, 0.05, 0.05),
    ),
    Mutation(
        "one_server_left_out",
        Fault(
            "A server without load",
            "Of four servers with equal weights, one was given no request.",
            ("uneven-balance",),
            shows=Shows("balancer", ("requests",), by="server"),
        ),
        dealt(0.34, 0.33, 0.33, 0.0),
    ),
)
