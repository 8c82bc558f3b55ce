"""Connections per second that local ports allow, and how to raise that limit.

A connection is named by both addresses and both ports.  To one server address and port, a client address has as many
connections at a time as it has ephemeral ports; and the side that closes first keeps the name in TIME_WAIT for a while
(RFC 9293, section 3.6).  Little's law, with ports in place of customers, gives the rate:

    C <= A E / (n R + W)     connections per second      A = pairs of addresses and server ports
    X <= n C                 requests per second         E = ephemeral ports, n = requests per connection
                                                         R = time a connection is open for a request, W = TIME_WAIT

Linux: E = 28232 (`net.ipv4.ip_local_port_range` 32768 to 60999), W = 60 s (TCP_TIMEWAIT_LEN in include/net/tcp.h, not
a setting).  With `net.ipv4.tcp_tw_reuse` = 1 and time stamps on both sides, a port in TIME_WAIT serves a new outgoing
connection after 1 s (V. Bernat, "Coping with the TCP TIME-WAIT state on busy Linux servers", 2014).  The client is
taken to close first, which is the worst case: where the server does, TIME_WAIT is the server's and takes no port.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.stats.arrays import Array, above_0, at_least_0, at_least_1

LINUX_PORTS = 60999 - 32768 + 1
"""Ephemeral ports of Linux by default."""
LINUX_TIME_WAIT_S = 60.0
"""Seconds for which Linux keeps a closed connection in TIME_WAIT."""
REUSE_TIME_WAIT_S = 1.0
"""Seconds after which Linux reuses a port in TIME_WAIT for an outgoing connection, with tcp_tw_reuse."""
# A ratio that passes a whole number by this part of itself is that number.
_ROUNDING = 1e-9


def port_limit_rps(
    requests_per_connection: ArrayLike,
    latency_s: ArrayLike = 0,
    destinations: ArrayLike = 1,
    ports: ArrayLike = LINUX_PORTS,
    time_wait_s: ArrayLike = LINUX_TIME_WAIT_S,
) -> Array:
    """Requests per second that the ports of a client allow: X = n A E / (n R + W).

    Parameters
    ----------
    requests_per_connection : array_like
        Requests n after which a connection is closed, >= 1: 1 without keep-alive.  For n = 1 the result is the rate of
        connections too.
    latency_s : array_like
        Time R that a connection is open for each of its requests, >= 0; with R = 0 only TIME_WAIT counts.
    destinations : array_like
        Different pairs A of client address and server address and port, >= 1.
    ports : array_like
        Ephemeral ports E of a client address, >= 1.
    time_wait_s : array_like
        Time W in which a port cannot be used again, > 0.

    Returns
    -------
    numpy.ndarray
        Requests per second.

    Examples
    --------
    >>> print(port_limit_rps(1).round(), port_limit_rps(1, destinations=10).round(), port_limit_rps(100).round())
    471.0 4705.0 47053.0
    """
    number = at_least_1("requests_per_connection", requests_per_connection)
    names = at_least_1("destinations", destinations) * at_least_1("ports", ports)
    held = number * at_least_0("latency_s", latency_s) + above_0("time_wait_s", time_wait_s)
    return number * names / held  # X = n A E / (n R + W)


def destinations_needed(
    throughput_rps: ArrayLike,
    requests_per_connection: ArrayLike = 1,
    latency_s: ArrayLike = 0,
    ports: ArrayLike = LINUX_PORTS,
    time_wait_s: ArrayLike = LINUX_TIME_WAIT_S,
) -> Array:
    """Least pairs of client address and server address and port for a throughput: A = ceil(X (n R + W) / (n E)).

    Parameters
    ----------
    throughput_rps : array_like
        Wanted requests per second X, > 0.
    requests_per_connection, latency_s, ports, time_wait_s : array_like
        As for `port_limit_rps`.

    Returns
    -------
    numpy.ndarray
        Whole number, >= 1: server addresses, or server ports, or client addresses, or products of them.

    Examples
    --------
    >>> print(destinations_needed(10_000), destinations_needed(10_000, time_wait_s=1))
    22.0 1.0
    """
    one = port_limit_rps(requests_per_connection, latency_s, 1, ports, time_wait_s)
    return np.maximum(np.ceil(above_0("throughput_rps", throughput_rps) / one * (1 - _ROUNDING)), 1)


def requests_per_connection_needed(
    throughput_rps: ArrayLike,
    latency_s: ArrayLike = 0,
    destinations: ArrayLike = 1,
    ports: ArrayLike = LINUX_PORTS,
    time_wait_s: ArrayLike = LINUX_TIME_WAIT_S,
) -> Array:
    """Least requests that share a connection for a throughput: n = ceil(X W / (A E − X R)).

    Parameters
    ----------
    throughput_rps : array_like
        Wanted requests per second X, > 0.
    latency_s, destinations, ports, time_wait_s : array_like
        As for `port_limit_rps`.

    Returns
    -------
    numpy.ndarray
        Whole number, >= 1.  Infinite where X R >= A E: the requests in flight alone need more ports than there are,
        and no keep-alive lifts that.

    Examples
    --------
    >>> print(requests_per_connection_needed(10_000), requests_per_connection_needed(10_000, latency_s=3))
    22.0 inf
    """
    wanted = above_0("throughput_rps", throughput_rps)
    names = at_least_1("destinations", destinations) * at_least_1("ports", ports)
    free = names - wanted * at_least_0("latency_s", latency_s)  # A E − X R: ports left for TIME_WAIT
    waiting = wanted * above_0("time_wait_s", time_wait_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.maximum(np.ceil(waiting / free * (1 - _ROUNDING)), 1)
    return np.where(free <= 0, np.inf, needed)[()]


def summarise_port_limits(
    destinations: ArrayLike, time_waits_s: Sequence[float], ports: float = LINUX_PORTS
) -> pd.DataFrame:
    """Connections per second without keep-alive, for several numbers of destinations and times of TIME_WAIT.

    Arguments and errors are those of `port_limit_rps`, with connections so short that only TIME_WAIT counts.

    Returns
    -------
    pandas.DataFrame
        ``limit`` (TIME_WAIT in words), ``destinations connections_per_s``.

    Examples
    --------
    >>> summarise_port_limits([1, 2], [60])["connections_per_s"].round().tolist()
    [471.0, 941.0]
    """
    number = np.atleast_1d(at_least_1("destinations", destinations)).ravel()
    parts = [
        pd.DataFrame({
            "limit": f"TIME_WAIT {wait:g} s",
            "destinations": number,
            "connections_per_s": port_limit_rps(1, 0, number, ports, wait),
        })
        for wait in time_waits_s
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)
