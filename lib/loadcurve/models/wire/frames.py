"""From the bytes of a message to TCP segments, bytes in frames, and bytes on the medium.

    P = ceil(T / s)        T = F + H, what is handed to TCP; s = payload of a full segment (1448)
    frame  = T + 66 P      14 Ethernet + 20 IP + 20 TCP + 12 time stamps, a segment: what counters of interfaces count
    medium = frame + 24 P  8 preamble and start, 4 frame check sequence, 12 gap: what the line rate is spent on

IEEE Std 802.3, clause 3 (frame), and its interframe gap of 96 bit times; RFC 894 (IP in Ethernet frames); RFC 9293,
section 3.1 (TCP header); RFC 7323, section 3.2 and appendix A (time stamps: 10 bytes, padded to 12); RFC 6691 (the
MSS option counts no options: a sender subtracts them).  RFC 5180, appendix A.1, spends the same bytes on a frame.

Every function takes numbers or arrays that broadcast, and gives NaN where an argument is NaN.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, at_least_0

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
    return frame_bytes(payload_bytes, wire) + wire.medium_overhead_bytes * segments(
        payload_bytes, wire
    )  # T + (66 + 24) P


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
