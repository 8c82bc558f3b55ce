"""Measure the offset of a remote host's clocks from this machine's clocks by exchanging a few bytes.

The method is that of NTP: the offset is ½[(T2 − T1) + (T3 − T4)], with an error of at most half the round trip, and
the exchange with the shortest round trip is used (RFC 5905, sections 8 and 10).  The host reads its clocks once in each
exchange, so T2 = T3.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from loadcurve.errors import ValueRuleError


@dataclass(frozen=True)
class Exchange:
    """A request to a host and its response, with times in ns."""

    # `asked_ns` and `answered_ns`: monotonic and wall clock of this machine, before the request and after the response.
    asked_ns: tuple[int, int]
    read_ns: tuple[int, int]  # Monotonic and wall clock of the host, between the two
    answered_ns: tuple[int, int]


@dataclass(frozen=True)
class Offset:
    """Clocks of a host minus those of this machine, at the instant of the exchange."""

    # `monotonic_ns` and `wall_ns`: offset of the monotonic clock and of the wall clock.
    monotonic_ns: int
    wall_ns: int
    bound_ns: int  # Largest possible error of each offset


def offset_of(exchanges: Iterable[Exchange]) -> Offset:
    """Return the offset computed from the exchange with the shortest round trip; there must be one.

    Examples
    --------
    >>> offset_of([Exchange((0, 0), (1_000_400, 90), (1_000, 1_000)), Exchange((0, 0), (7, 7), (9_000, 9_000))])
    Offset(monotonic_ns=999900, wall_ns=-410, bound_ns=500)
    """
    found = min(exchanges, key=lambda each: each.answered_ns[0] - each.asked_ns[0], default=None)
    if found is None:
        raise ValueRuleError("exchanges", "at least one", "none")
    monotonic_ns, wall_ns = (
        read - (asked + answered) // 2
        for asked, read, answered in zip(found.asked_ns, found.read_ns, found.answered_ns, strict=True)
    )
    trips_ns = (answered - asked for asked, answered in zip(found.asked_ns, found.answered_ns, strict=True))
    return Offset(monotonic_ns, wall_ns, max((trip + 1) // 2 for trip in trips_ns))
