"""The two numbers that the bounds need, from throughput alone: the service demand and the least response time.

Both take means over the repeats of each level of connections.  Neither takes a response time from the generator.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 3
(utilisation law, Little's law).
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean, summarise_repeats


def find_demand(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Estimate:
    """Service demand of the busiest resource, as the plateau implies it: D = 1 / X_max.

    X_max is the mean over repeats at the level of connections whose mean throughput is the highest, and not the
    highest single run.  By the utilisation law U = X D, a resource that is always busy (U = 1) has D = 1 / X.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N of each run, > 0; the repeats of a level are rows with the same N.
    throughput_rps : array_like, shape (n,)
        Throughput X of each run, > 0; a run without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        D in seconds.  Its interval is 1 / that of X_max, a t interval over the repeats at that level alone.  The level
        was chosen because it is the highest, so X_max leans upwards, and D downwards, by about a plateau's scatter.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, hold no pair, or break their rules.

    Examples
    --------
    >>> print(find_demand([1, 1, 8, 8, 8, 32, 32, 32], [99, 101, 398, 400, 402, 389, 390, 391]))
    0.0025 [0.002469, 0.002531]
    """
    runs, warnings = _known_runs(connections, throughput_rps)
    levels = summarise_repeats(runs, by="connections", column="throughput_rps", level=level)
    best = levels["throughput_rps"].idxmax()
    if len(levels) == 1:
        warnings.append("1 level: nothing shows that throughput is at its plateau")
    elif best == len(levels) - 1:
        warnings.append(_still_rising(levels))
    x_max = find_mean(runs.loc[runs["connections"] == levels["connections"][best], "throughput_rps"], level)
    if x_max.lo <= 0:
        warnings.append("the interval of the highest throughput reaches 0: the demand has no upper end")
    return Estimate(
        1 / x_max.value,  # D = U / X at U = 1
        1 / x_max.hi,
        np.inf if x_max.lo <= 0 else 1 / x_max.lo,
        level,
        f"1 / mean throughput at N = {levels['connections'][best]:g}, t interval over its repeats",
        _once([*warnings, *x_max.warnings]),
    )


def find_latency_min(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Estimate:
    """Least response time, from throughput by Little's law: R_min = min over N of N / X, for a closed loop (Z = 0).

    N / X is the time from one request of a connection to its next.  It takes no response time from the generator, so
    neither a correction for coordinated omission nor a wait inside the generator is in the way; and because it is the
    least one, no level's mean throughput lies above the bound N / R_min.  Chosen as the least, it leans downwards by
    about its scatter.

    Parameters
    ----------
    connections, throughput_rps, level
        As for `find_demand`.

    Returns
    -------
    Estimate
        R_min in seconds, with N over the t interval of X over the repeats of its level.  A warning says so when the
        level is not the first: then a request alone is slower than one among others, as on a processor that sleeps.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, hold no pair, or break their rules.

    Examples
    --------
    >>> print(find_latency_min([1, 1, 8, 8, 8, 32, 32, 32], [99, 101, 398, 400, 402, 389, 390, 391]))
    0.01 [0.008873, 0.01146]
    """
    runs, warnings = _known_runs(connections, throughput_rps)
    levels = summarise_repeats(runs, by="connections", column="throughput_rps", level=level)
    latency = levels["connections"] / levels["throughput_rps"]  # R = N / X, Z = 0
    at = levels.loc[latency.idxmin()]
    x = find_mean(runs.loc[runs["connections"] == at["connections"], "throughput_rps"], level)
    if at["connections"] != levels["connections"].iloc[0]:
        gain = latency.iloc[0] / latency.min()
        warnings.append(
            f"the least response time is at N = {at['connections']:g}, not at N = {levels['connections'].iloc[0]:g}, "
            f"where it is {gain:.2f} times as long, as on processors that sleep while one connection leaves them idle"
        )
    if x.lo <= 0:
        warnings.append("the interval of the throughput reaches 0: the least response time has no upper end")
    return Estimate(
        at["connections"] / x.value,
        at["connections"] / x.hi,
        np.inf if x.lo <= 0 else at["connections"] / x.lo,
        level,
        f"N / mean throughput at N = {at['connections']:g}, t interval over its repeats",
        _once([*warnings, *x.warnings]),
    )


def _known_runs(connections: ArrayLike, throughput_rps: ArrayLike) -> tuple[pd.DataFrame, list[str]]:
    """Runs with both numbers, and a warning for those without."""
    number = np.atleast_1d(above_0("connections", connections))
    throughput = np.atleast_1d(above_0("throughput_rps", throughput_rps))
    if number.shape != throughput.shape or number.ndim != 1:
        raise ValueRuleError("throughput_rps", f"of the shape of connections, {number.shape}", throughput.shape)
    known = ~(np.isnan(number) | np.isnan(throughput))
    if not known.any():
        raise ValueRuleError("throughput_rps", "known for at least one run", "none")
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} runs have no value and are left out"]
    return pd.DataFrame({"connections": number[known], "throughput_rps": throughput[known]}), warnings


def _still_rising(levels: pd.DataFrame) -> str:
    before, last = levels.iloc[-2], levels.iloc[-1]
    rise = last["throughput_rps"] / before["throughput_rps"] - 1
    return (
        f"throughput still rises at the last level (N = {last['connections']:g}, {rise:+.2%} from "
        f"N = {before['connections']:g}): D is an upper bound"
    )


def _once(warnings: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))
