"""Frames of a request and its response in both directions: data, acknowledgements, opening and closing.

What is assumed, and where it is from:

* A lone segment is acknowledged by the data that goes the other way: the response acknowledges the request, the next
  request the response.  Two segments or more are acknowledged at once, every second one (RFC 5681, section 4.2).
  With receive offload the receiver sees up to `segments_per_ack` segments as one, and acknowledges that one.
* Opening takes SYN, SYN-ACK and ACK (RFC 9293, section 3.5); closing takes FIN, ACK, FIN, ACK (section 3.6, figure
  12), two frames each way.  The last response of a connection has no request after it to acknowledge it.
* Nothing is lost or sent twice, and each message is written at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.frames import ETHERNET, Wire, frame_bytes, medium_bytes, segments
from loadcurve.stats.arrays import Array, above_0, at_least_1

# Segments that generic receive offload joins: 64 KiB, the largest IP packet, hold 45 of 1448 bytes.
OFFLOADED_SEGMENTS = 45
"""Segments for each acknowledgement with generic receive offload."""


def acknowledgements(segment_count: ArrayLike, segments_per_ack: int = 2) -> Array:
    """Frames that only acknowledge, for a message whose last lone segment is acknowledged by data.

    Parameters
    ----------
    segment_count : array_like
        Segments P of the message, >= 0.
    segments_per_ack : int
        Segments that one acknowledgement covers, >= 2: 2 by RFC 5681, up to `OFFLOADED_SEGMENTS` with receive offload.

    Returns
    -------
    numpy.ndarray
        floor(P / k), and one more where two or more are left.

    Raises
    ------
    ValueRuleError
        When `segments_per_ack` is below 2, or not a whole number.

    Examples
    --------
    >>> print(acknowledgements([1, 2, 3, 71]), acknowledgements([1, 2, 3, 71], segments_per_ack=45))
    [ 0.  1.  1. 35.] [0. 1. 1. 2.]
    """
    if segments_per_ack < 2 or segments_per_ack != int(segments_per_ack):
        raise ValueRuleError("segments_per_ack", "a whole number >= 2", segments_per_ack)
    number = np.asarray(segment_count, dtype=float)
    left = np.mod(number, segments_per_ack)
    return np.where(np.isnan(number), np.nan, number // segments_per_ack + (left >= 2))[()]


def summarise_exchange(
    request_payload_bytes: ArrayLike,
    response_payload_bytes: ArrayLike,
    wire: Wire = ETHERNET,
    *,
    requests_per_connection: float = np.inf,
    segments_per_ack: int = 2,
) -> pd.DataFrame:
    """Frames and bytes that one request and its response cost, by part and direction.

    Parameters
    ----------
    request_payload_bytes, response_payload_bytes : array_like
        Bytes handed to TCP, > 0, such as `message_bytes` gives.
    wire : Wire
        What a segment costs.
    requests_per_connection : float
        Requests that share a connection, >= 1: 1 without keep-alive, infinite when it is never closed.
    segments_per_ack : int
        As for `acknowledgements`.

    Returns
    -------
    pandas.DataFrame
        ``exchange request_payload_bytes response_payload_bytes part direction frames frame_bytes medium_bytes``: the
        place of the exchange in the arguments, what is counted, and the counts for one request.  ``part`` is request,
        response, acknowledgement, open or close, ``direction`` to_server or to_client.  A frame that several requests
        share counts in parts.

    Examples
    --------
    >>> once = summarise_exchange(100, 216, requests_per_connection=1)
    >>> once.groupby("direction")["frames"].sum().to_dict()
    {'to_client': 4.0, 'to_server': 6.0}
    """
    request, response = np.broadcast_arrays(
        np.atleast_1d(above_0("request_payload_bytes", request_payload_bytes)),
        np.atleast_1d(above_0("response_payload_bytes", response_payload_bytes)),
    )
    request, response = request.ravel(), response.ravel()
    share = 1 / float(at_least_1("requests_per_connection", requests_per_connection))
    out, back = (acknowledgements(segments(payload, wire), segments_per_ack) for payload in (response, request))
    # No request acknowledges what the last response of a connection leaves over: a lone last segment.
    lone = share * (np.mod(segments(response, wire), segments_per_ack) == 1)
    ack, syn = wire.overhead_bytes, wire.syn_bytes
    parts = [
        _message("request", "to_server", request, wire),
        _message("response", "to_client", response, wire),
        _empty("acknowledgement", "to_server", [(out + lone, ack)], wire),
        _empty("acknowledgement", "to_client", [(back, ack)], wire),
        _empty("open", "to_server", [(share, syn), (share, ack)], wire),
        _empty("open", "to_client", [(share, syn)], wire),
        _empty("close", "to_server", [(2 * share, ack)], wire),
        _empty("close", "to_client", [(2 * share, ack)], wire),
    ]
    # The number keeps exchanges of equal sizes apart.
    messages = {
        "exchange": np.arange(request.size),
        "request_payload_bytes": request,
        "response_payload_bytes": response,
    }
    return pd.concat([pd.DataFrame({**messages, **part}) for part in parts], ignore_index=True)


def summarise_packets(
    request_payload_bytes: ArrayLike, response_payload_bytes: ArrayLike, wire: Wire = ETHERNET
) -> pd.DataFrame:
    """Packets of one request, by what is counted: its response, both directions, both on a connection of its own.

    Arguments and errors are those of `summarise_exchange`.

    Returns
    -------
    pandas.DataFrame
        ``counted`` (response, with keep-alive, own connection), ``response_payload_bytes frames``.

    Examples
    --------
    >>> summarise_packets(100, 216)["frames"].tolist()
    [1.0, 2.0, 10.0]
    """
    kept = summarise_exchange(request_payload_bytes, response_payload_bytes, wire)
    own = summarise_exchange(request_payload_bytes, response_payload_bytes, wire, requests_per_connection=1)
    counted = {"response": kept[kept["part"] == "response"], "with keep-alive": kept, "own connection": own}
    totals = [
        rows.groupby(["exchange", "response_payload_bytes"], dropna=False, as_index=False)["frames"].sum()
        for rows in counted.values()
    ]
    return (
        pd.concat(totals, keys=counted, names=["counted"])
        .reset_index("counted")[["counted", "response_payload_bytes", "frames"]]
        .reset_index(drop=True)
    )


def summarise_proxy(client: pd.DataFrame, upstream: pd.DataFrame) -> pd.DataFrame:
    """What a proxy's one port sends and receives for a request: the client's exchange, and the one with the server.

    Parameters
    ----------
    client, upstream : pandas.DataFrame
        Both from `summarise_exchange`: to the client the proxy is the server, to the server the client.

    Returns
    -------
    pandas.DataFrame
        Both tables with ``leg`` (client or upstream) and ``port`` (sent or received), as the proxy's port sees them.
        With a port for each side, look at the legs apart.

    Examples
    --------
    >>> legs = summarise_proxy(summarise_exchange(100, 216), summarise_exchange(93, 216))
    >>> legs.groupby("port")["frame_bytes"].sum().to_dict()
    {'received': 448.0, 'sent': 441.0}
    """
    port = {"client": {"to_client": "sent", "to_server": "received"}}
    port["upstream"] = {"to_client": "received", "to_server": "sent"}
    legs = {"client": client, "upstream": upstream}
    return pd.concat(
        [table.assign(leg=leg, port=table["direction"].map(port[leg])) for leg, table in legs.items()],
        ignore_index=True,
    )


def _message(part: str, direction: str, payload: Array, wire: Wire) -> dict[str, Any]:
    sizes = {"frame_bytes": frame_bytes(payload, wire), "medium_bytes": medium_bytes(payload, wire)}
    return {"part": part, "direction": direction, "frames": segments(payload, wire), **sizes}


def _empty(part: str, direction: str, frames: Sequence[tuple[Array | float, int]], wire: Wire) -> dict[str, Any]:
    """Frames without payload, as pairs of their number and their length."""
    return {
        "part": part,
        "direction": direction,
        "frames": sum(number for number, _ in frames),
        "frame_bytes": sum(number * length for number, length in frames),
        "medium_bytes": sum(number * wire.empty_medium_bytes(length) for number, length in frames),
    }
