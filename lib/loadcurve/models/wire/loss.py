"""What lost packets leave of the rate: short exchanges that wait for a timeout, and long transfers by reno.

    R  = R0 + 2 t p / (1 - 2 p)                                    a request and a response of one segment each
    B <= s / R0 x sqrt(3 / 2) / sqrt(p)                            a long transfer that never waits for a timeout
    B  = s / (R0 sqrt(2 p / 3) + 3 t sqrt(3 p / 8) p (1 + 32 p^2))  a long transfer with timeouts

    R0 = round trip without a loss, p = share of packets lost, t = retransmission timeout, s = payload of a segment

The second is from M. Mathis, J. Semke, J. Mahdavi and T. Ott, "The macroscopic behavior of the TCP congestion avoidance
algorithm", 1997: each packet is acknowledged, which Linux equals by counting acknowledged packets.  The third is the
TCP throughput equation of RFC 5348, section 3.1, from J. Padhye and others, "Modeling TCP throughput", 1998.  It takes
most losses of a small window for timeouts; with selective acknowledgements fewer are, so a transfer lies between both.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.wire.frames import ETHERNET
from loadcurve.stats.arrays import Array, above_0, at_least_0

LINUX_TIMEOUT_S = 0.2
"""Least part of Linux's retransmission timeout beyond the round trip, in s (include/net/tcp.h: TCP_RTO_MIN)."""


def lossy_exchange_s(round_trip_s: ArrayLike, loss_ratio: ArrayLike, timeout_s: ArrayLike) -> Array:
    """Mean response time where request and response are one packet each, and a lost one is sent again after a timeout.

    Parameters
    ----------
    round_trip_s : array_like
        Response time R0 without a loss, > 0.
    loss_ratio : array_like
        Share p of packets lost in each direction, 0 <= p < 0.5; with more, the doubled timeouts have no mean.
    timeout_s : array_like
        First timeout t, > 0; each further one is twice as long.  In Linux the round trip and `LINUX_TIMEOUT_S`.

    Returns
    -------
    numpy.ndarray
        R0 + 2 t p / (1 - 2 p), in s.

    Raises
    ------
    ValueRuleError
        When an argument is out of its range.

    Examples
    --------
    One exchange in fifty waits 220 ms:

    >>> print(lossy_exchange_s(0.02, 0.01, 0.22).round(5))
    0.02449
    """
    lost = _share(loss_ratio, 0.5)
    # p t + p^2 2 t + p^3 4 t + ... for each of the two packets
    return above_0("round_trip_s", round_trip_s) + 2 * above_0("timeout_s", timeout_s) * lost / (1 - 2 * lost)


def mathis_bytes_per_s(
    round_trip_s: ArrayLike, loss_ratio: ArrayLike, segment_bytes: ArrayLike = ETHERNET.segment_bytes
) -> Array:
    """Bytes per second of a long transfer by reno without timeouts: s / R0 x sqrt(3 / 2) / sqrt(p).

    Parameters
    ----------
    round_trip_s : array_like
        Round trip R0, > 0.
    loss_ratio : array_like
        Share p of packets lost, 0 < p < 1.
    segment_bytes : array_like
        Payload s of a segment, > 0.

    Returns
    -------
    numpy.ndarray
        Payload in bytes/s; a connection has no more.

    Raises
    ------
    ValueRuleError
        When an argument is out of its range.

    Examples
    --------
    >>> print(mathis_bytes_per_s(0.02, 0.01).round())  # a window of 12.2 segments
    886715.0
    """
    window = np.sqrt(1.5 / above_0("loss_ratio", _share(loss_ratio, 1)))
    return above_0("segment_bytes", segment_bytes) / above_0("round_trip_s", round_trip_s) * window


def tfrc_bytes_per_s(
    round_trip_s: ArrayLike,
    loss_ratio: ArrayLike,
    timeout_s: ArrayLike,
    segment_bytes: ArrayLike = ETHERNET.segment_bytes,
) -> Array:
    """Bytes per second of a long transfer by reno with timeouts, by the equation of RFC 5348.

    Parameters
    ----------
    round_trip_s, loss_ratio, segment_bytes : array_like
        As for `mathis_bytes_per_s`.
    timeout_s : array_like
        Retransmission timeout t, > 0.

    Returns
    -------
    numpy.ndarray
        Payload in bytes/s.

    Raises
    ------
    ValueRuleError
        When an argument is out of its range.

    Examples
    --------
    >>> print(tfrc_bytes_per_s(0.02, 0.01, 0.22).round())
    710343.0
    """
    lost = above_0("loss_ratio", _share(loss_ratio, 1))
    waits = 3 * above_0("timeout_s", timeout_s) * np.sqrt(3 * lost / 8) * lost * (1 + 32 * lost**2)
    packet_s = above_0("round_trip_s", round_trip_s) * np.sqrt(2 * lost / 3) + waits
    return above_0("segment_bytes", segment_bytes) / packet_s


def _share(loss_ratio: ArrayLike, below: float) -> Array:
    lost = at_least_0("loss_ratio", loss_ratio)
    if np.any(lost >= below):
        raise ValueRuleError("loss_ratio", f"0 <= loss_ratio < {below:g}", loss_ratio)
    return lost
