r"""Bounds on a closed network of queues, from its service demands alone: from the cheapest to the tightest.

One class, centres with one server each that do not change their speed, D_k seconds of work a request at centre k:

    D = ΣD_k      D_max = max D_k      σ = ΣD_k² / D      Z think time      N connections

| bounds       | use                                                         | needs |
|--------------|-------------------------------------------------------------|---|
| asymptotic   | any distribution (also several servers and delays)          | D, D_max |
| balanced job | between two balanced networks                               | D, D_max, mean demand |
| proportional | queues between proportional to demand and to demand^(N−1)   | power sums of all demands |
| geometric    | queues of the centres below D_max bounded by geometric sums | all demands |

All but the asymptotic ones hold for product-form networks, those that mean value analysis solves.  Each function
returns the table ``connections, throughput_lo_rps, throughput_hi_rps, latency_lo_s, latency_hi_s``; the ends of the
response time are those of the throughput through Little's law, R = N / X − Z.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 5.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.models._network import demands, server_numbers, think_time, whole
from loadcurve.stats.arrays import Array


def asymptotic_bounds(
    connections: ArrayLike, demand_s: ArrayLike, think_time_s: float = 0, servers: ArrayLike = 1
) -> pd.DataFrame:
    """Asymptotic bounds: N / (N D + Z) <= X <= min(1 / D_max, N / (D + Z)).

    Below: every request waits for all the others at every centre.  Above: no request waits, or the bottleneck is always
    busy.  With m servers at a centre its limit is m / D_k; a delay centre has no limit and no queue.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, whole numbers >= 1.
    demand_s : array_like, shape (K,)
        Service demand of each centre, >= 0, one of them above 0.
    think_time_s : float
        Think time Z, >= 0.
    servers : array_like, shape (K,)
        Servers of each centre, or one number for all: 1, more, or ``inf`` for a delay centre.

    Returns
    -------
    pandas.DataFrame
        One row for each N, as described for the module.

    References
    ----------
    Lazowska and others 1984, section 5.2.  P. J. Denning, J. P. Buzen 1978.

    Examples
    --------
    >>> asymptotic_bounds(20, [9.2, 8], think_time_s=120).round(4).values.tolist()
    [[20.0, 0.0431, 0.1087, 64.0, 344.0]]
    """
    number = np.atleast_1d(whole("connections", connections, 1)).astype(float)
    demand, think = demands(demand_s), think_time(think_time_s)
    many = server_numbers(servers, demand.size)
    queued = demand[np.isfinite(many)].sum()
    lo = demand.sum() + (number - 1) * queued  # no request waits at a delay centre
    return _table(number, np.maximum(demand.sum(), number * np.max(demand / many) - think), lo, think)


def balanced_job_bounds(connections: ArrayLike, demand_s: ArrayLike, think_time_s: float = 0) -> pd.DataFrame:
    r"""Balanced job bounds, between two networks whose centres all have the same demand.

    .. math:: \max\left(N D_\max - Z,\; D + \frac{(N-1)\,D/K}{1 + Z/D}\right) \le R
              \le D + \frac{(N-1)\,D_\max}{1 + Z/(N D)}

    Parameters
    ----------
    connections, demand_s, think_time_s
        As for `asymptotic_bounds`.

    Returns
    -------
    pandas.DataFrame
        One row for each N, as described for the module.

    References
    ----------
    J. Zahorjan, K. C. Sevcik, D. L. Eager, B. Galler, "Balanced Job Bound Analysis of Queueing Networks",
    Communications of the ACM 25(2), 1982.  With think time: Lazowska and others 1984, section 5.4.

    Examples
    --------
    >>> balanced_job_bounds(5, [0.1, 0.1, 0.09, 0.08]).round(3).values.tolist()
    [[5.0, 6.494, 6.757, 0.74, 0.77]]
    """
    number, demand, think = _arguments(connections, demand_s, think_time_s)
    total, largest = demand.sum(), demand.max()
    lo = total + (number - 1) * demand.mean() / (1 + think / total)
    hi = total + (number - 1) * largest / (1 + think / (number * total))
    return _table(number, np.maximum(number * largest - think, lo), hi, think)


def proportional_bounds(connections: ArrayLike, demand_s: ArrayLike, think_time_s: float = 0) -> pd.DataFrame:
    r"""Proportional bounds: the N − 1 others queue at least in proportion to D_k, at most to D_k^(N−1).

    .. math:: D + \frac{\sum D_k^2}{\sum D_k}\,(N - 1 - Z X^+) \le R
              \le D + \frac{\sum D_k^N}{\sum D_k^{N-1}}\,(N - 1 - Z X^-)

    and R >= N D_max − Z, where X⁺ and X⁻ are the asymptotic bounds of the throughput with N − 1.

    Parameters
    ----------
    connections, demand_s, think_time_s
        As for `asymptotic_bounds`.

    Returns
    -------
    pandas.DataFrame
        One row for each N, as described for the module.

    Notes
    -----
    The published bounds are those with Z = 0.  With think time the same two proportions hold, because Q_k / D_k does
    not fall with D_k and Q_k / D_k^(N−1) does not rise with it (Chebyshev's sum inequality does the rest); the number
    that queues, N − 1 − Z X(N − 1), is then bounded by the asymptotes.

    References
    ----------
    C. T. Hsieh, S. S. Lam, "Two Classes of Performance Bounds for Closed Queueing Networks", Performance Evaluation
    7(1), 1987.

    Examples
    --------
    >>> proportional_bounds(5, [0.1, 0.1, 0.09, 0.08]).iloc[0, 1:3].round(4).tolist()
    [6.66, 6.7297]
    """
    number, demand, think = _arguments(connections, demand_s, think_time_s)
    total, largest = demand.sum(), demand.max()
    before = number - 1
    x_lo, x_hi = before / (before * total + think + (before == 0)), np.minimum(1 / largest, before / (total + think))
    share = demand / largest  # its powers stay within 0 and 1
    powers = share[None, :] ** before[:, None]
    steep = largest * (powers * share).sum(axis=1) / powers.sum(axis=1)  # ΣD_k^N / ΣD_k^(N−1)
    flat = (demand**2).sum() / total
    lo = total + flat * np.maximum(before - think * x_hi, 0)
    return _table(number, np.maximum(number * largest - think, lo), total + steep * (before - think * x_lo), think)


def geometric_bounds(connections: ArrayLike, demand_s: ArrayLike, think_time_s: float = 0) -> pd.DataFrame:
    r"""Geometric bounds: the queue of a centre below D_max lies between two geometric sums.

    With n = N − 1 others and :math:`g(y) = y + y^2 + \dots + y^n`, a centre with D_k < D_max holds at least g(y_k) and
    at most g(Y_k) of them,

    .. math:: y_k = \frac{n D_k}{Z + D + n D_\max}, \qquad
              Y_k = D_k \min\left(\frac{1}{D_\max}, \frac{n}{Z + D + \sigma (n - 1 - Z X^+(n-1))}\right)

    and with :math:`T = Z + D + n D_\max - \sum_k (D_\max - D_k)\,Q_k` the throughput follows from
    X = N / (T − Z D_max X(n)), where X(n) lies between X n / N and X:

    .. math:: X = \frac{2N}{T + \sqrt{T^2 - 4 Z D_\max c}}, \qquad c = n \text{ below}, \; c = N \text{ above.}

    Parameters
    ----------
    connections, demand_s, think_time_s
        As for `asymptotic_bounds`.

    Returns
    -------
    pandas.DataFrame
        One row for each N, as described for the module.

    Notes
    -----
    Mean value analysis gives T exactly when the Q_k are exact; the bounds put bounds in their place.  GNU Octave's
    ``qncsgb`` does not reproduce the table of the paper; this function does.

    References
    ----------
    G. Casale, R. R. Muntz, G. Serazzi, "Geometric Bounds: A Noniterative Analysis Technique for Closed Queueing
    Networks", IEEE Transactions on Computers 57(6), 2008, pp. 780–794.

    Examples
    --------
    >>> geometric_bounds(5, [0.1, 0.1, 0.09, 0.08]).iloc[0, 1:3].round(4).tolist()
    [6.6859, 6.7524]
    """
    number, demand, think = _arguments(connections, demand_s, think_time_s)
    total, largest = demand.sum(), demand.max()
    others = number - 1
    below = demand[demand < largest]
    fewer = np.maximum(others - 1, 0)
    x_hi = np.minimum(1 / largest, fewer / (think + total))
    flat = (demand**2).sum() / total
    rate = np.minimum(1 / largest, others / (think + total + flat * np.maximum(fewer - think * x_hi, 0)))
    least = _geometric(np.outer(others / (think + total + others * largest), below), others)
    greatest = _geometric(np.outer(rate, below), others)
    full = think + total + largest * others
    cycle_hi = _cycle(full - least @ (largest - below), think * largest * others)
    cycle_lo = np.maximum(number * largest, _cycle(full - greatest @ (largest - below), think * largest * number))
    return _table(number, np.maximum(cycle_lo - think, total), cycle_hi - think, think)


def _arguments(connections: ArrayLike, demand_s: ArrayLike, think_time_s: float) -> tuple[Array, Array, float]:
    number, demand = np.atleast_1d(whole("connections", connections, 1)).astype(float), demands(demand_s)
    return number, demand[demand > 0], think_time(think_time_s)  # a centre that requests skip is not in the network


def _table(number: Array, latency_lo: Array, latency_hi: Array, think: float) -> pd.DataFrame:
    # X = N / (R + Z) has no cancellation, R = N / X − Z has.
    return pd.DataFrame(
        {
            "connections": number.astype(int),
            "throughput_lo_rps": number / (latency_hi + think),
            "throughput_hi_rps": number / (latency_lo + think),
            "latency_lo_s": latency_lo,
            "latency_hi_s": latency_hi,
        }
    )


def _geometric(ratio: Array, terms: Array) -> Array:
    # y + … + y^n for 0 <= y < 1, with log1p and expm1: 1 − y^n loses its digits where y is near 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = -np.expm1(terms[:, None] * np.log(ratio))
    return np.where(ratio > 0, ratio * tail / (1 - ratio), 0.0)


def _cycle(full: Array, product: Array) -> Array:
    # N / X: the larger root of c² − T c + Z D_max · count = 0.  At saturation rounding can take the root below 0.
    return (full + np.sqrt(np.maximum(full**2 - 4 * product, 0))) / 2
