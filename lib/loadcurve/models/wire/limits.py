"""Requests per second that a link or a packet rate allows.

    X <= C / (8 m)        m = bytes on the medium that one direction carries for a request, C = line rate
    X <= p / (P + q)      p = packets per second of the interface, P = segments, q = other packets of the request

A link is full duplex: each direction has its own limit, and the tighter one holds.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.models.wire.frames import ETHERNET, Wire, medium_bytes, segments
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
