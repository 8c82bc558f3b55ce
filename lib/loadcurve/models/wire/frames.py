"""From the bytes of a message to TCP segments, bytes in frames, and bytes on the medium.

    P = ceil(T / s)        T = F + H, what is handed to TCP; s = payload of a full segment (1448)
    frame  = T + 66 P      14 Ethernet + 20 IP + 20 TCP + 12 time stamps, a segment: what counters of interfaces count
    medium = frame + 24 P  8 preamble and start, 4 frame check sequence, 12 gap: what the line rate is spent on

IEEE Std 802.3, clause 3 (frame), and its interframe gap of 96 bit times; RFC 894 (IP in Ethernet frames); RFC 9293,
section 3.1 (TCP header); RFC 7323, section 3.2 and appendix A (time stamps: 10 bytes, padded to 12); RFC 6691 (the
MSS option counts no options: a sender subtracts them).  RFC 5180, appendix A.1, spends the same bytes on a frame.

Every function takes numbers or arrays that broadcast, and gives NaN where an argument is NaN.

What is assumed of a request and its response in both directions, and where it is from:

* A lone segment is acknowledged by the data that goes the other way: the response acknowledges the request, the next
  request the response.  Two segments or more are acknowledged at once, every second one (RFC 5681, section 4.2).
  With receive offload the receiver sees up to `segments_per_ack` segments as one, and acknowledges that one.
* Opening takes SYN, SYN-ACK and ACK (RFC 9293, section 3.5); closing takes FIN, ACK, FIN, ACK (section 3.6, figure
  12), two frames each way.  The last response of a connection has no request after it to acknowledge it.
* Nothing is lost or sent twice, and each message is written at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, above_0, at_least_0, at_least_1

_TCP_HEADER_BYTES = 20  # RFC 9293, section 3.1, without options
_TIMESTAMP_BYTES = 12  # RFC 7323, appendix A: two no-operations before the ten bytes
_SYN_OPTIONS_BYTES = {True: 20, False: 12}  # MSS 4, SACK permitted 2, window scale 3, time stamps 10 or none; padded
_FRAME_BYTES_MIN = 60  # IEEE 802.3: 64 with the check sequence; shorter ones are padded on the medium
_TLS_RECORD_BYTES = 2**14  # RFC 8446, section 5.1: most plain bytes of a record


@dataclass(frozen=True)
class Wire:
    """What a TCP segment costs beside its payload; the default is Ethernet, IPv4 and TCP with time stamps.

    Attributes
    ----------
    mtu_bytes : int
        Largest IP packet, 576 to 65535: 1500, or 9000 with jumbo frames.
    timestamps : bool
        Whether both sides agreed on TCP time stamps; Linux does so unless `net.ipv4.tcp_timestamps` is 0.
    ip_header_bytes : int
        20 for IPv4 without options, 40 for IPv6.
    link_header_bytes : int
        14 for Ethernet, 18 with a VLAN tag.
    medium_overhead_bytes : int
        What a frame costs beyond what interfaces count: preamble and start 8, check sequence 4, gap 12.

    Examples
    --------
    >>> ETHERNET.segment_bytes, ETHERNET.overhead_bytes, ETHERNET.medium_overhead_bytes
    (1448, 66, 24)
    """

    mtu_bytes: int = 1500
    timestamps: bool = True
    ip_header_bytes: int = 20
    link_header_bytes: int = 14
    medium_overhead_bytes: int = 24

    def __post_init__(self) -> None:
        if not 576 <= self.mtu_bytes <= 65535:
            raise ValueRuleError("mtu_bytes", "576 <= mtu_bytes <= 65535", self.mtu_bytes)
        for name in ("ip_header_bytes", "link_header_bytes", "medium_overhead_bytes"):
            at_least_0(name, getattr(self, name))

    @property
    def mss_bytes(self) -> int:
        """Maximum segment size as the SYN announces it: the MTU without the fixed headers (RFC 6691)."""
        return self.mtu_bytes - self.ip_header_bytes - _TCP_HEADER_BYTES

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment: the MSS without the options of each segment."""
        return self.mss_bytes - _TIMESTAMP_BYTES * self.timestamps

    @property
    def overhead_bytes(self) -> int:
        """Bytes of a frame that are not payload: link, IP and TCP headers.  It is also the length of a pure ACK."""
        return self.link_header_bytes + self.ip_header_bytes + _TCP_HEADER_BYTES + _TIMESTAMP_BYTES * self.timestamps

    @property
    def syn_bytes(self) -> int:
        """Length of the frame of a SYN or SYN-ACK with the options that Linux sends."""
        return self.link_header_bytes + self.ip_header_bytes + _TCP_HEADER_BYTES + _SYN_OPTIONS_BYTES[self.timestamps]

    def empty_medium_bytes(self, frame_bytes: int) -> int:
        """Bytes on the medium of a frame without payload, padded to the shortest frame of Ethernet."""
        return max(frame_bytes, _FRAME_BYTES_MIN) + self.medium_overhead_bytes


ETHERNET = Wire()
"""TCP over IPv4 over Ethernet with an MTU of 1500 bytes and TCP time stamps."""


def message_bytes(response_bytes: ArrayLike, header_bytes: ArrayLike, tls_overhead_bytes: ArrayLike = 0) -> Array:
    """Bytes handed to TCP for one message: body, header, and what TLS adds to each of its records.

    Parameters
    ----------
    response_bytes : array_like
        Body F, >= 0.
    header_bytes : array_like
        HTTP header H with its empty line, >= 0.
    tls_overhead_bytes : array_like
        What each record of up to 16384 bytes costs, >= 0: 0 without TLS, 22 for TLS 1.3 (RFC 8446, section 5.2: header
        5, type 1, tag 16), 29 for AES-GCM in TLS 1.2 (RFC 5288, section 3: header 5, nonce 8, tag 16).

    Returns
    -------
    numpy.ndarray
        T = F + H + overhead x ceil((F + H) / 16384).  Records are taken as full; a server that cuts smaller ones
        (nginx: `ssl_buffer_size`) pays more.

    Raises
    ------
    ValueRuleError
        When an argument is negative.

    Examples
    --------
    >>> print(message_bytes([0, 100_000], 216, tls_overhead_bytes=22))
    [   238. 100370.]
    """
    plain = at_least_0("response_bytes", response_bytes) + at_least_0("header_bytes", header_bytes)
    overhead = at_least_0("tls_overhead_bytes", tls_overhead_bytes)
    return plain + overhead * np.ceil(plain / _TLS_RECORD_BYTES)


def segments(payload_bytes: ArrayLike, wire: Wire = ETHERNET) -> Array:
    """TCP segments of one message: P = ceil(T / s).

    Parameters
    ----------
    payload_bytes : array_like
        Bytes T handed to TCP, >= 0, such as `message_bytes` gives.
    wire : Wire
        What a segment costs.

    Returns
    -------
    numpy.ndarray
        The least number of segments, reached when the message is written at once.  Each is one frame on the wire,
        also where the sender's counters show fewer, larger ones (segmentation offload).

    Raises
    ------
    ValueRuleError
        When a payload is negative.

    Examples
    --------
    >>> print(segments(message_bytes([1232, 1233, 2590], 216)))  # 1232 bytes fill one segment
    [1. 2. 2.]
    """
    return np.ceil(at_least_0("payload_bytes", payload_bytes) / wire.segment_bytes)  # P = ceil(T / s)


def frame_bytes(payload_bytes: ArrayLike, wire: Wire = ETHERNET) -> Array:
    """Bytes in the frames of one message, as interfaces, sar and `ip -s link` count them: T + 66 P.

    Arguments and errors are those of `segments`.

    Examples
    --------
    >>> print(frame_bytes(message_bytes([0, 1232, 1233], 216)))
    [ 282. 1514. 1581.]
    """
    return at_least_0("payload_bytes", payload_bytes) + wire.overhead_bytes * segments(payload_bytes, wire)  # T + 66 P


def medium_bytes(payload_bytes: ArrayLike, wire: Wire = ETHERNET) -> Array:
    """Bytes that one message takes from the line rate: its frames, and 24 more for each of them.

    Arguments and errors are those of `segments`.  The padding of a last segment of five bytes or fewer without time
    stamps is left out: less than six bytes of a message.

    Examples
    --------
    >>> print(medium_bytes(1448))
    1538.0
    """
    overhead = wire.medium_overhead_bytes * segments(payload_bytes, wire)
    return frame_bytes(payload_bytes, wire) + overhead  # T + (66 + 24) P


def summarise_responses(
    response_bytes: ArrayLike, header_bytes: ArrayLike, wire: Wire = ETHERNET, tls_overhead_bytes: ArrayLike = 0
) -> pd.DataFrame:
    """Segments, bytes in frames and bytes on the medium of responses.

    Arguments and errors are those of `message_bytes` and `segments`.

    Returns
    -------
    pandas.DataFrame
        ``response_bytes header_bytes payload_bytes segments frame_bytes medium_bytes body_ratio``, a row for each
        response; ``body_ratio`` is the share of the line rate that body bytes can have.

    Examples
    --------
    >>> summarise_responses([0, 1232], 216)[["segments", "frame_bytes", "medium_bytes"]].values.tolist()
    [[1.0, 282.0, 306.0], [1.0, 1514.0, 1538.0]]
    """
    payload = message_bytes(response_bytes, header_bytes, tls_overhead_bytes)
    body, header, payload = np.broadcast_arrays(
        at_least_0("response_bytes", response_bytes), at_least_0("header_bytes", header_bytes), payload
    )
    table = pd.DataFrame(
        {"response_bytes": body.ravel(), "header_bytes": header.ravel(), "payload_bytes": payload.ravel()}
    )
    table["segments"] = segments(payload.ravel(), wire)
    table["frame_bytes"] = frame_bytes(payload.ravel(), wire)
    table["medium_bytes"] = medium_bytes(payload.ravel(), wire)
    table["body_ratio"] = table["response_bytes"] / table["medium_bytes"].where(table["medium_bytes"] > 0)
    return table


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
