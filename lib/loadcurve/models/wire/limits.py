"""Requests per second that a link or a packet rate allows.

    X <= C / (8 m)        m = bytes on the medium that one direction carries for a request, C = line rate
    X <= p / (P + q)      p = packets per second of the interface, P = segments, q = other packets of the request

A link is full duplex: each direction has its own limit, and the tighter one holds.

Mixes: a load of large packets fills the link, one of small packets the packet rate; real traffic has both.  A body that
makes exactly one full segment gives one full packet, a small body one small packet, and a body of both one of each:

    small : full = 1 : 0, 1 : 1 or 0 : 1

Any mix lies between two of these three, and two kinds of responses are enough.

Consistency of published rates: requests per second times the bytes that a request must take gives bytes per second.  A
report that prints both, as the largest value of each, prints two moments; and a request rate whose bytes do not fit the
line was not a sustained one.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.frames import ETHERNET, Wire, medium_bytes, segments, summarise_responses
from loadcurve.stats.arrays import Array, above_0, at_least_0


def link_limit_rps(link_bps: ArrayLike, carried_bytes: ArrayLike) -> Array:
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
) -> Array:
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

    Examples
    --------
    >>> print(packet_limit_rps(1.2e6, [1448, 1449]))
    [1200000.  600000.]
    """
    number = segments(above_0("payload_bytes", payload_bytes), wire) + at_least_0("others", others)
    return above_0("packets_pps", packets_pps) / number  # X = p / (P + q)


def link_used_ratio(link_bps: ArrayLike, throughput_rps: ArrayLike, carried_bytes: ArrayLike) -> Array:
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


def summarise_limits(
    payload_bytes: ArrayLike, links_bps: Sequence[float], packets_pps: Sequence[float] = (), wire: Wire = ETHERNET
) -> pd.DataFrame:
    """Requests per second that several links and packet rates allow for responses of several sizes.

    Parameters
    ----------
    payload_bytes : array_like
        Bytes of the responses handed to TCP, > 0.
    links_bps, packets_pps : sequence of float
        Line rates, and packets per second in the direction of the responses; > 0.
    wire : Wire
        What a segment costs.

    Returns
    -------
    pandas.DataFrame
        ``kind`` (link or packets), ``limit`` (its rate in words), ``payload_bytes throughput_rps``: a row for each
        limit and size.

    Raises
    ------
    ValueRuleError
        When an argument is not above 0.

    Examples
    --------
    >>> summarise_limits([1448, 1449], [10e9], [1.2e6]).round().values.tolist()[1:3]
    [['link', '10 Gbit/s', 1449.0, 767342.0], ['packets', '1.2 Mpps', 1448.0, 1200000.0]]
    """
    payload = np.atleast_1d(above_0("payload_bytes", payload_bytes)).ravel()
    rates = {}
    for bps in links_bps:
        name = f"{bps / 1e9:g} Gbit/s" if bps >= 1e9 else f"{bps / 1e6:g} Mbit/s"
        rates["link", name] = link_limit_rps(bps, medium_bytes(payload, wire))
    for pps in packets_pps:
        rates["packets", f"{pps / 1e6:g} Mpps"] = packet_limit_rps(pps, payload, wire)
    parts = [
        pd.DataFrame({"kind": kind, "limit": limit, "payload_bytes": payload, "throughput_rps": rate})
        for (kind, limit), rate in rates.items()
    ]
    return pd.concat(parts, ignore_index=True)


def summarise_mix(full_ratio: float, small_bytes: float, header_bytes: float, wire: Wire = ETHERNET) -> pd.DataFrame:
    """Two kinds of responses, and the share of each, for a wanted share of full packets.

    The mix has two branches.  Up to one half, small responses are mixed with responses of a full and a small segment;
    above, full responses with those.

    Parameters
    ----------
    full_ratio : float
        Wanted share of full segments among the packets of the responses, 0 to 1.
    small_bytes : float
        Payload of a small segment, `header_bytes` <= small_bytes < a full segment: what a response of one small
        segment hands to TCP.
    header_bytes : float
        HTTP header of each response, > 0.
    wire : Wire
        What a segment costs.

    Returns
    -------
    pandas.DataFrame
        ``kind responses_ratio full small`` and the columns of `summarise_responses`: of each kind its share of the
        responses, its full and small packets, and the body to serve.  Two rows, of which one may have the share 0.

    Examples
    --------
    >>> mix = summarise_mix(0.25, small_bytes=216, header_bytes=216)
    >>> mix[["kind", "responses_ratio", "response_bytes"]].round(3).values.tolist()
    [['small', 0.667, 0.0], ['full and small', 0.333, 1448.0]]
    """
    if not 0 <= full_ratio <= 1:
        raise ValueRuleError("full_ratio", "0 <= full_ratio <= 1", full_ratio)
    if not 0 < header_bytes <= small_bytes < wire.segment_bytes:
        rule = f"header_bytes <= small_bytes < {wire.segment_bytes}, header_bytes > 0"
        raise ValueRuleError("small_bytes", rule, f"{small_bytes} with header_bytes {header_bytes}")
    kinds = {"small": (0, 1), "full and small": (1, 1), "full": (1, 0)}
    if full_ratio <= 0.5:
        chosen, both = ("small", "full and small"), full_ratio / (1 - full_ratio)  # full share w / (1 + w)
        shares = (1 - both, both)
    else:
        chosen, both = ("full and small", "full"), (1 - full_ratio) / full_ratio  # full share 1 / (1 + w)
        shares = (both, 1 - both)
    table = pd.DataFrame({"kind": chosen, "responses_ratio": shares})
    table["full"], table["small"] = zip(*(kinds[kind] for kind in chosen), strict=True)
    body = table["full"] * wire.segment_bytes + table["small"] * small_bytes - header_bytes
    return table.join(summarise_responses(body, header_bytes, wire))


CONSISTENT, INCONSISTENT, ABOVE_LINE_RATE = "consistent", "inconsistent", "above line rate"


def summarise_consistency(
    throughput_rps: ArrayLike,
    sent_bytes_per_s: ArrayLike,
    frame_bytes: ArrayLike,
    medium_bytes: ArrayLike,
    link_bps: float,
    tolerance_ratio: float = 0.01,
) -> pd.DataFrame:
    """Observed bytes per request beside the wire model, the share of the link they take, and a verdict.

    Parameters
    ----------
    throughput_rps : array_like
        Requests per second, > 0.
    sent_bytes_per_s : array_like
        Bytes per second that the interface counted in the direction of the responses, > 0.
    frame_bytes, medium_bytes : array_like
        What the model says one request takes in that direction: in frames, as interfaces count, and on the medium.
    link_bps : float
        Line rate, > 0.
    tolerance_ratio : float
        Deviation that is still consistent, 0 to 1.  It has to hold what the model leaves out, such as an
        acknowledgement or a header that is a few bytes longer.

    Returns
    -------
    pandas.DataFrame
        ``observed_bytes model_bytes deviation_ratio link_used_ratio verdict``, a row for each pair:
        ``link_used_ratio`` is throughput x model on the medium; ``verdict`` is *above line rate* where that passes 1
        by more than the tolerance, else *inconsistent* where the observed bytes deviate by more than it, else
        *consistent*, and missing where a number is.

    Examples
    --------
    >>> summarise_consistency([579103, 586296], [878859780, 481751777], [1514, 898], [1538, 922], 10e9).round(3)[
    ...     ["observed_bytes", "deviation_ratio", "verdict"]].values.tolist()
    [[1517.623, 0.002, 'consistent'], [821.687, -0.085, 'inconsistent']]
    """
    if not 0 <= tolerance_ratio <= 1:
        raise ValueRuleError("tolerance_ratio", "0 <= tolerance_ratio <= 1", tolerance_ratio)
    throughput, sent, frame, medium = np.broadcast_arrays(
        np.atleast_1d(above_0("throughput_rps", throughput_rps)),
        above_0("sent_bytes_per_s", sent_bytes_per_s),
        above_0("frame_bytes", frame_bytes),
        above_0("medium_bytes", medium_bytes),
    )
    table = pd.DataFrame({"observed_bytes": sent / throughput, "model_bytes": frame})
    table["deviation_ratio"] = table["observed_bytes"] / table["model_bytes"] - 1
    table["link_used_ratio"] = link_used_ratio(link_bps, throughput, medium)
    known = table.notna().all(axis=1)
    table["verdict"] = pd.Series(CONSISTENT, index=table.index, dtype=object).where(known)
    table.loc[known & (table["deviation_ratio"].abs() > tolerance_ratio), "verdict"] = INCONSISTENT
    table.loc[known & (table["link_used_ratio"] > 1 + tolerance_ratio), "verdict"] = ABOVE_LINE_RATE
    return table
