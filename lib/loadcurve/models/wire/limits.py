"""Requests per second that a link or a packet rate allows, and the smallest response that fills a link.

    X <= C / (8 m(T))      m = bytes on the medium of what one direction carries for a request, C = line rate
    X <= p / (P + q)       p = packets per second of the interface, q = other packets of the request
    X <= 1 / (r + s P + b T)   a server that spends r on a request, s on a segment and b on a byte

A link is full duplex: each direction has its own limit, and the tighter one holds.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0, at_least_0
from loadcurve.models.wire.frames import ETHERNET, Wire, segments

# A solution that misses a whole byte by this part of itself is that byte.
_ROUNDING = 1e-9
_BRANCHES = ("first", "lasting")


def link_limit_rps(link_bps: ArrayLike, carried_bytes: ArrayLike) -> np.ndarray:
    """Requests per second that a line rate allows: X = C / (8 m).

    Parameters
    ----------
    link_bps : array_like
        Line rate C, > 0: 10e9 for 10 Gigabit Ethernet.
    carried_bytes : array_like
        Bytes on the medium that one direction carries for a request, > 0, such as `medium_bytes` gives.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Raises
    ------
    ValueRuleError
        When an argument is not above 0.

    Examples
    --------
    >>> print(link_limit_rps(10e9, 1538).round())  # one full segment each
    812744.0
    """
    return above_0("link_bps", link_bps) / (8 * above_0("carried_bytes", carried_bytes))  # X = C / (8 m)


def packet_limit_rps(
    packets_pps: ArrayLike, payload_bytes: ArrayLike, wire: Wire = ETHERNET, others: ArrayLike = 0
) -> np.ndarray:
    """Requests per second that a packet rate allows: X = p / (P + q).

    Parameters
    ----------
    packets_pps : array_like
        Packets per second p that the interface or the host can handle, > 0.
    payload_bytes : array_like
        Bytes of the response handed to TCP, > 0.
    wire : Wire
        What a segment costs.
    others : array_like
        Other packets q of the same request that count against the rate, >= 0: 1 for the request, where the rate is of
        both directions.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(packet_limit_rps(1.2e6, [1448, 1449]))
    [1200000.  600000.]
    """
    number = segments(above_0("payload_bytes", payload_bytes), wire) + at_least_0("others", others)
    return above_0("packets_pps", packets_pps) / number  # X = p / (P + q)


def server_limit_rps(
    request_s: ArrayLike,
    segment_s: ArrayLike,
    byte_s: ArrayLike,
    payload_bytes: ArrayLike,
    wire: Wire = ETHERNET,
) -> np.ndarray:
    """Requests per second of a server that spends time on each request, segment and byte: X = 1 / (r + s P + b T).

    Parameters
    ----------
    request_s, segment_s, byte_s : array_like
        Times r, s, b >= 0 by which a request, a segment and a byte handed to TCP delay the next, all processors
        together; their sum must be above 0.
    payload_bytes : array_like
        Bytes T of the response handed to TCP, >= 0.
    wire : Wire
        What a segment costs.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule.

    Examples
    --------
    >>> print(server_limit_rps(1e-6, 0.5e-6, 0, [1448, 1449]).round())
    [666667. 500000.]
    """
    costs = [at_least_0(n, v) for n, v in (("request_s", request_s), ("segment_s", segment_s), ("byte_s", byte_s))]
    payload = at_least_0("payload_bytes", payload_bytes)
    spent = costs[0] + costs[1] * segments(payload, wire) + costs[2] * payload
    return 1 / above_0("request_s + segment_s P + byte_s T", spent)  # X = 1 / (r + s P + b T)


def link_used_ratio(link_bps: ArrayLike, throughput_rps: ArrayLike, carried_bytes: ArrayLike) -> np.ndarray:
    """Share of the line rate that a throughput takes; above 1 it cannot have been a sustained rate.

    Parameters
    ----------
    link_bps, carried_bytes : array_like
        As for `link_limit_rps`.
    throughput_rps : array_like
        Requests per second, >= 0.

    Examples
    --------
    >>> print(link_used_ratio(10e9, 418226, 2986).round(3))  # two segments, 2806 bytes handed to TCP
    0.999
    """
    return at_least_0("throughput_rps", throughput_rps) / link_limit_rps(link_bps, carried_bytes)


def smallest_payload_bytes(
    link_bps: ArrayLike,
    request_s: ArrayLike,
    segment_s: ArrayLike = 0,
    byte_s: ArrayLike = 0,
    *,
    least_bytes: ArrayLike = 1,
    wire: Wire = ETHERNET,
    branch: str = "first",
) -> np.ndarray:
    """Smallest response, with its header, that lets a server fill a link: the inverse of `server_limit_rps`.

    One byte more can take one segment more, which slows the server and so empties the link again.  Therefore the
    inverse has two branches: the first size that fills the link, and the size from which on every larger one does.

    Parameters
    ----------
    link_bps : array_like
        Line rate C, > 0.
    request_s, segment_s, byte_s : array_like
        Times r, s, b of the server as for `server_limit_rps`.  A fixed request rate X is r = 1/X; a packet rate p of
        the responses is s = 1/p, and r = 1/p besides where the request counts too.
    least_bytes : array_like
        Smallest payload to consider, >= 1: the header, which no response is without.
    wire : Wire
        What a segment costs.
    branch : str
        ``first`` or ``lasting``.

    Returns
    -------
    numpy.ndarray
        Whole bytes T handed to TCP; less the header they are the body.  NaN where no size fills the link.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule; also when a byte takes the server at least as long as the link, because the
        link then empties as responses grow.

    Examples
    --------
    >>> print(smallest_payload_bytes(10e9, request_s=1 / 418226, least_bytes=216) - 216)
    2593.0
    """
    if branch not in _BRANCHES:
        raise ValueRuleError("branch", " or ".join(_BRANCHES), branch)
    rate = above_0("link_bps", link_bps) / 8  # C/8, bytes per second
    r, s, b = (at_least_0(n, v) for n, v in (("request_s", request_s), ("segment_s", segment_s), ("byte_s", byte_s)))
    least = np.ceil(above_0("least_bytes", least_bytes))
    if np.any(rate * b >= 1):
        raise ValueRuleError("byte_s", "< 8 / link_bps", byte_s)
    rate, r, s, b, least = np.broadcast_arrays(rate, r, s, b, least)
    # The link is full where T + o P >= (C/8)(r + s P + b T), that is where  slope T >= fixed + step P.
    slope, fixed, step = 1 - rate * b, rate * r, rate * s - (wire.overhead_bytes + wire.medium_overhead_bytes)
    full = wire.segment_bytes
    lowest = np.ceil(least / full)
    gain = slope * full - step  # what each full segment more brings nearer to the link's rate
    # The first number of segments whose longest message, or whose shortest one, fills the link; r >= 0, so that
    # without a gain none does.
    short_of = fixed if branch == "first" else fixed + slope * (full - 1)
    count = np.ceil(short_of / np.where(gain > 0, gain, np.nan) * (1 - _ROUNDING))
    if branch == "lasting":  # shorter ones with a segment less may fill it without a gap
        count = count - 1
    count = np.maximum(count, lowest)
    solution = np.ceil((fixed + step * count) / slope * (1 - _ROUNDING))
    found = np.maximum(np.maximum(solution, (count - 1) * full + 1), least)
    return np.where(found <= count * full, found, count * full + 1)[()]
