"""A server with a cost per request, segment and byte, and the smallest response with which it fills a link.

    X <= 1 / (r + t P + b T)     r, t, b = seconds for a request, a segment and a byte handed to TCP

The times are those by which each delays the next one, all processors together: the service-demand law, with the demand
split by what causes it.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.frames import ETHERNET, Wire, segments
from loadcurve.stats.arrays import Array, above_0, at_least_0

# A solution that misses a whole byte by this part of itself is that byte.
_ROUNDING = 1e-9


def server_limit_rps(
    request_s: ArrayLike, segment_s: ArrayLike, byte_s: ArrayLike, payload_bytes: ArrayLike, wire: Wire = ETHERNET
) -> Array:
    """Requests per second of a server that spends time on each request, segment and byte: X = 1 / (r + t P + b T).

    Parameters
    ----------
    request_s, segment_s, byte_s : array_like
        Times r, t, b >= 0 by which a request, a segment and a byte handed to TCP delay the next, all processors
        together; their sum must be above 0.
    payload_bytes : array_like
        Bytes T of the response handed to TCP, >= 0.
    wire : Wire
        What a segment costs.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Examples
    --------
    >>> print(server_limit_rps(1e-6, 0.5e-6, 0, [1448, 1449]).round())
    [666667. 500000.]
    """
    costs = [at_least_0(n, v) for n, v in (("request_s", request_s), ("segment_s", segment_s), ("byte_s", byte_s))]
    payload = at_least_0("payload_bytes", payload_bytes)
    spent = costs[0] + costs[1] * segments(payload, wire) + costs[2] * payload
    return 1 / above_0("request_s + segment_s P + byte_s T", spent)  # X = 1 / (r + t P + b T)


def server_costs_s(
    payload_bytes: ArrayLike, throughput_rps: ArrayLike, wire: Wire = ETHERNET
) -> tuple[float, float, float]:
    """Times that a server spends on a request, a segment and a byte, from its rates with three or more sizes.

    It inverts `server_limit_rps`: three rates give three times exactly, so no residual shows how precise they are.
    More rates give the times with the least squares of the relative deviations.  Take sizes of one and of two segments,
    and two sizes of the same number of segments.

    Parameters
    ----------
    payload_bytes : array_like
        Three or more sizes of response handed to TCP, > 0.
    throughput_rps : array_like
        Requests per second with each of them, > 0, with the server and not the link at its limit.
    wire : Wire
        What a segment costs.

    Returns
    -------
    tuple of float
        ``request_s, segment_s, byte_s``.  A negative one says that the rates are not those of such a server.

    Raises
    ------
    ValueRuleError
        When there are not three or more known values each, or the sizes do not distinguish the three times.

    Examples
    --------
    >>> server_costs_s([216, 1448, 1449], server_limit_rps(1e-6, 2e-7, 3e-10, [216, 1448, 1449]))[1].round(12)
    np.float64(2e-07)
    """
    payload, throughput = above_0("payload_bytes", payload_bytes), above_0("throughput_rps", throughput_rps)
    whole = payload.ndim == 1 and payload.size >= 3 and payload.shape == throughput.shape
    if not whole or np.isnan([payload, throughput]).any():
        raise ValueRuleError("payload_bytes", "three or more known sizes, each with its known rate", np.size(payload))
    causes = np.column_stack([np.ones(payload.size), segments(payload, wire), payload])  # 1/X = r + t P + b T
    if np.linalg.matrix_rank(causes) < 3:
        raise ValueRuleError("payload_bytes", "of one and of two segments, and two sizes of the same", payload)
    if payload.size == 3:
        return tuple(np.linalg.solve(causes, 1 / throughput))
    # Each equation times its rate, so that the deviations are shares of the time of a request.
    return tuple(np.linalg.lstsq(causes * throughput[:, None], np.ones(payload.size), rcond=None)[0])


def smallest_payload_bytes(
    link_bps: ArrayLike,
    request_s: ArrayLike,
    segment_s: ArrayLike = 0,
    byte_s: ArrayLike = 0,
    *,
    least_bytes: ArrayLike = 1,
    wire: Wire = ETHERNET,
) -> Array:
    """Smallest response, with its header, that lets a server fill a link: the inverse of `server_limit_rps`.

    One byte more can take one segment more, which slows the server and so empties the link again.  This is
    the first size that fills the link; a larger one may not.

    Parameters
    ----------
    link_bps : array_like
        Line rate C, > 0.
    request_s, segment_s, byte_s : array_like
        Times r, t, b of the server as for `server_limit_rps`.  A fixed request rate X is r = 1/X; a packet rate p of
        the responses is s = 1/p, and r = 1/p besides where the request counts too.
    least_bytes : array_like
        Smallest payload to consider, >= 1: the header, which no response is without.
    wire : Wire
        What a segment costs.

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
    rate = above_0("link_bps", link_bps) / 8  # C/8, bytes per second
    r, t, b = (at_least_0(n, v) for n, v in (("request_s", request_s), ("segment_s", segment_s), ("byte_s", byte_s)))
    least = np.ceil(above_0("least_bytes", least_bytes))
    if np.any(rate * b >= 1):
        raise ValueRuleError("byte_s", "< 8 / link_bps", byte_s)
    rate, r, t, b, least = np.broadcast_arrays(rate, r, t, b, least)
    # The link is full where T + o P >= (C/8)(r + t P + b T), that is where  slope T >= fixed + step P.
    slope, fixed, step = 1 - rate * b, rate * r, rate * t - (wire.overhead_bytes + wire.medium_overhead_bytes)
    full = wire.segment_bytes
    lowest = np.ceil(least / full)
    gain = slope * full - step  # what each full segment more brings nearer to the link's rate
    # The first number of segments whose longest message fills the link; r >= 0, so that without a gain none does.
    count = np.maximum(np.ceil(fixed / np.where(gain > 0, gain, np.nan) * (1 - _ROUNDING)), lowest)
    solution = np.ceil((fixed + step * count) / slope * (1 - _ROUNDING))
    found = np.maximum(np.maximum(solution, (count - 1) * full + 1), least)
    return np.where(found <= count * full, found, count * full + 1)[()]
