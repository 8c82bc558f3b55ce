r"""Inverses of the Universal Scalability Law: connections, response time and throughput from each other.

With R = N / X (a closed loop, Z = 0) the law is

.. math:: \beta R^2 X^2 + (\alpha - \beta) R X + (1 - \alpha) - \gamma R = 0

Below its peak a throughput belongs to two numbers of connections: one on the rising branch, and one on the falling.
The argument `branch` selects one of them.  Above the peak there is none, and the result is NaN.

Both inverses that usl4j ships (``LatencyAtThroughput``, ``ThroughputAtLatency``) disagree with its own forward model,
and sca_tools' X(R) breaks Little's law; the tests hold these against ours.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, above_0, at_least_0

# Units in the last place: the throughput at the peak is the result of ten operations and of differences near 0.
_ROUNDING = 256 * np.finfo(float).eps
BRANCHES = ("rising", "falling")


def usl_connections_at(
    throughput_rps: ArrayLike,
    unit_throughput_rps: ArrayLike,
    contention: ArrayLike,
    coherency: ArrayLike,
    branch: str = "rising",
) -> Array:
    """Connections at which the law gives a throughput.

    Parameters
    ----------
    throughput_rps : array_like
        X, > 0, in requests per second.
    unit_throughput_rps, contention, coherency : array_like
        γ > 0, α >= 0 and β >= 0.
    branch : str
        ``rising``: up to the peak; ``falling``: beyond it.

    Returns
    -------
    numpy.ndarray
        N, not a whole number in general; NaN where the law does not reach the throughput on this branch.

    Examples
    --------
    >>> print(usl_connections_at([1151.0353, 1900], 90, 0.03, 1e-4).round(3))
    [21. nan]
    >>> print(usl_connections_at(1800.88932806, 90, 0.03, 1e-4, branch="falling").round(3))
    119.753
    """
    if branch not in BRANCHES:
        raise ValueRuleError("branch", f"one of {', '.join(BRANCHES)}", branch)
    throughput = above_0("throughput_rps", throughput_rps)
    unit, alpha, beta = _parameters(unit_throughput_rps, contention, coherency)
    # β X N² − (γ − (α − β) X) N + (1 − α) X = 0
    square, linear, rest = beta * throughput, unit - (alpha - beta) * throughput, (1 - alpha) * throughput
    with np.errstate(all="ignore"):
        under = linear**2 - 4 * square * rest
        # At the peak it is 0, so its rounding alone may put it below: that of `linear`, a difference, and of X itself.
        rounding = _ROUNDING * (np.abs(linear) * (unit + np.abs(alpha - beta) * throughput) + 4 * square * rest)
        root = np.sqrt(np.where((under < 0) & (under >= -rounding), 0.0, under))
        # The smaller root by the quotient, where the difference of two near numbers would lose its digits.
        rising = 2 * rest / (linear + root)
        # With α > 1 throughput falls from the start: `linear` may be negative, and without β the root is rest / linear.
        falling = np.where(linear > 0, (linear + root) / (2 * square), 2 * rest / (linear - root))
    found, reached = (rising, linear > 0) if branch == "rising" else (falling, (linear > 0) & (square > 0) | (rest < 0))
    return np.where((found > 0) & np.isfinite(found) & reached, found, np.nan)


def usl_latency_at(
    throughput_rps: ArrayLike,
    unit_throughput_rps: ArrayLike,
    contention: ArrayLike,
    coherency: ArrayLike,
    branch: str = "rising",
) -> Array:
    """Mean response time at a throughput: R = N / X on the branch; arguments and NaN as for `usl_connections_at`.

    Examples
    --------
    >>> print(usl_latency_at(1151.0353, 90, 0.03, 1e-4).round(5))  # 21 / 1151.0353
    0.01824
    """
    found = usl_connections_at(throughput_rps, unit_throughput_rps, contention, coherency, branch)
    return found / np.asarray(above_0("throughput_rps", throughput_rps))


def usl_throughput_at(
    latency_s: ArrayLike, unit_throughput_rps: ArrayLike, contention: ArrayLike, coherency: ArrayLike
) -> Array:
    """Throughput at which the mean response time is R; there is at most one, because R rises with the connections.

    Parameters
    ----------
    latency_s : array_like
        R, > 0, in seconds.
    unit_throughput_rps, contention, coherency : array_like
        γ > 0, α >= 0 and β >= 0.

    Returns
    -------
    numpy.ndarray
        X.  NaN where R <= (1 − α) / γ, which no number of connections reaches, and where α = β = 0, because R is then
        1 / γ at every throughput.  With α >= 1 every R > 0 has a throughput.

    Examples
    --------
    >>> print(usl_throughput_at(10, 90, 0.03, 1e-4).round(4))  # Little's law; sca_tools says 312.413
    285.2608
    """
    latency = above_0("latency_s", latency_s)
    unit, alpha, beta = _parameters(unit_throughput_rps, contention, coherency)
    square, linear, rest = beta * latency**2, (alpha - beta) * latency, unit * latency - (1 - alpha)
    with np.errstate(all="ignore"):
        root = np.sqrt(linear**2 + 4 * square * rest)
        # Two forms of one root, each without cancellation on its side of α = β.
        found = np.where(linear > 0, 2 * rest / (linear + root), (root - linear) / (2 * square))
    return np.where((rest > 0) & np.isfinite(found), found, np.nan)


def _parameters(unit: ArrayLike, contention: ArrayLike, coherency: ArrayLike) -> tuple[Array, ...]:
    return (
        above_0("unit_throughput_rps", unit),
        at_least_0("contention", contention),
        at_least_0("coherency", coherency),
    )
