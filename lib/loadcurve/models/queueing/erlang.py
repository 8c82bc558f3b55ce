"""Erlang B, the share of requests lost without a queue, and Erlang C, the share that waits with one."""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._network import whole
from loadcurve.stats.arrays import Array, at_least_0


def erlang_b(servers: int, load: ArrayLike) -> Array:
    """Share of requests lost at m servers without a queue: Erlang's B(m, a).

    Parameters
    ----------
    servers : int
        Servers m, >= 1.
    load : array_like
        Offered load a = λ S, >= 0; NaN passes through.

    Returns
    -------
    numpy.ndarray
        By the recursion B(i) = a B(i−1) / (i + a B(i−1)), B(0) = 1: the closed form's factorials overflow.

    References
    ----------
    A. K. Erlang 1917.  Kleinrock 1975, chapter 3 (M/M/m/m).

    Examples
    --------
    >>> print(erlang_b(2, 1.0))  # (1/2) / (1 + 1 + 1/2)
    0.2
    """
    number, offered = int(whole("servers", servers, 1)), at_least_0("load", load)
    lost = np.ones_like(offered)
    for i in range(1, number + 1):
        lost = offered * lost / (i + offered * lost)
    return lost[()]


def erlang_c(servers: int, load: ArrayLike) -> Array:
    """Share of requests that wait at m servers with an endless queue: C = B / (1 − ρ (1 − B)), ρ = a / m.

    Parameters
    ----------
    servers : int
        Servers m, >= 1.
    load : array_like
        Offered load a = λ S, 0 <= a < m; NaN passes through.

    Returns
    -------
    numpy.ndarray
        Probability of waiting.

    References
    ----------
    Kleinrock 1975, chapter 3 (M/M/m).

    Examples
    --------
    >>> print(erlang_c(3, 2.0).round(6))
    0.444444
    """
    blocked = erlang_b(servers, load)
    rho = at_least_0("load", load) / servers
    if np.any(rho >= 1):
        raise ValueRuleError("load", f"< {servers}, the servers (the queue would grow without limit)", np.nanmax(load))
    return blocked / (1 - rho * (1 - blocked))
