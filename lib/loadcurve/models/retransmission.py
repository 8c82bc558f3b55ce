"""When Linux retransmits, and how long before it gives up, from the number of retransmissions.

Each timeout is twice as long as the one before it, up to 120 s.  Linux takes the least timeout of 200 ms as the first
one of this calculation, also where the connection's own is longer, and gives up at the first timeout after the result.

Linux, ``net/ipv4/tcp_timer.c`` (tcp_model_timeout, tcp_orphan_retries), ``net/ipv4/tcp_output.c``
(tcp_schedule_loss_probe) and ``include/net/tcp.h`` (TCP_RTO_MIN, TCP_RTO_MAX); ``Documentation/networking/
ip-sysctl.rst``, tcp_retries2 and tcp_orphan_retries.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.stats.arrays import Array, at_least_0

_RTO_MIN_S, _RTO_MAX_S = 0.2, 120.0
# From this retransmission on every timeout is the longest: ilog2(TCP_RTO_MAX / TCP_RTO_MIN).
_DOUBLED = int(np.log2(_RTO_MAX_S / _RTO_MIN_S))
# tcp_orphan_retries(): what the kernel takes for the default of 0 while the remote host still answered.
_ORPHAN_RETRIES = 8


def retransmission_limit_s(retries: ArrayLike) -> Array:
    """Return the time for which TCP retransmits before it gives up: (2^(n+1) − 1) · 200 ms, up to 9 doublings.

    Parameters
    ----------
    retries : array_like
        Retransmissions n, >= 0, such as ``net.ipv4.tcp_retries2``.

    Returns
    -------
    numpy.ndarray
        Time in s.

    Examples
    --------
    The documented 924.6 s of ``tcp_retries2 = 15``:

    >>> retransmission_limit_s([1, 2, 15]).round(1).tolist()
    [0.6, 1.4, 924.6]
    """
    number = at_least_0("retries", retries)
    doubled = np.minimum(number, _DOUBLED)
    return (2.0 ** (doubled + 1) - 1) * _RTO_MIN_S + (number - doubled) * _RTO_MAX_S


def next_retransmission_s(age_s: ArrayLike) -> Array:
    """Return when the next retransmission timeout of a lost segment expires: at 400 ms · 2^k, k = 0, 1, …

    After 200 ms the sender probes, after another 200 ms the first timeout expires, and each further one is twice as
    long.  It holds for a round-trip time far below 200 ms and one segment in flight.

    Parameters
    ----------
    age_s : array_like
        Time since the segment was sent first, in s, >= 0.

    Returns
    -------
    numpy.ndarray
        Time since the segment was sent first, in s, >= `age_s`.

    Examples
    --------
    >>> next_retransmission_s([0.1, 0.4, 1.0, 2.0]).round(1).tolist()
    [0.4, 0.4, 1.6, 3.2]
    """
    steps = np.ceil(np.log2(np.maximum(at_least_0("age_s", age_s) / (2 * _RTO_MIN_S), 1.0)))
    return 2 * _RTO_MIN_S * 2.0**steps


def orphan_lifetime_s(retries: ArrayLike) -> Array:
    """Return how long an orphan lives whose FIN is never acknowledged, by ``net.ipv4.tcp_orphan_retries``.

    Parameters
    ----------
    retries : array_like
        The setting, >= 0; 0 is the default and stands for 8 retransmissions.

    Returns
    -------
    numpy.ndarray
        Time in s.

    Examples
    --------
    >>> print(orphan_lifetime_s([0, 1, 2]).round(1))
    [102.2   0.6   1.4]
    """
    number = at_least_0("retries", retries)
    return retransmission_limit_s(np.where(number == 0, _ORPHAN_RETRIES, number))
