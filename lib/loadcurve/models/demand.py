"""Service demand and least response time, the two numbers that the asymptotic bounds need, from throughput alone.

Both take means over the repeats of each level of connections, and of these the largest: of X, and of X / N.  Neither
takes a response time from the generator.

The largest of several means is biased upwards.  So its lower end is that of the largest of the k means that cannot be
distinguished from it, by Šidák's level for k intervals at once.

E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik, "Quantitative System Performance", 1984, chapter 3
(utilisation law, Little's law).  Z. Šidák, "Rectangular Confidence Regions for the Means of Multivariate Normal
Distributions", JASA 62, 1967.
"""

from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.models._runs import group_runs, known_runs
from loadcurve.models.bounds import find_saturation
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean
from loadcurve.stats.ratio import find_ratio

# Of 1 − level, what goes to the lower end where the best of several means is taken: its upper end is hardly ever missed
# then, and in simulation this share gives 93 to 97 % where level is 95 % (validation.coverage.resources).
_LOWER_SHARE = 0.8


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
        D in seconds.  Its interval is 1 / that of X_max, a t interval over the repeats at that level, widened for the
        choice of the highest of several levels.  X_max itself is biased upwards, and D downwards, by about the
        scatter of a plateau.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, hold no pair, or break their rules.

    Examples
    --------
    >>> print(find_demand([1, 1, 8, 8, 8, 32, 32, 32], [99, 101, 398, 400, 402, 389, 390, 391]))
    0.0025 [0.002469, 0.002531]
    """
    number, throughput, warnings = known_runs(connections, throughput_rps)
    levels = group_runs(number, throughput)
    x_max, best, near = _highest(number, throughput, level)
    if levels.loads.size == 1:
        warnings.append("1 level: nothing shows that throughput is at its plateau")
    elif best == levels.loads[-1]:
        (before, last), rise = levels.loads[-2:], levels.means[-1] / levels.means[-2] - 1
        warnings.append(
            f"throughput still rises at the last level (N = {last:g}, {rise:+.2%} from N = {before:g}): "
            "D is an upper bound"
        )
    if x_max.lo <= 0:
        warnings.append("the interval of the highest throughput reaches 0: the demand has no upper end")
    return _reciprocal(x_max, f"1 / mean throughput at N = {best:g}, {_how(near)}", warnings)  # D = U / X at U = 1


def find_latency_min(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Estimate:
    """Least response time, from throughput by Little's law: R_min = min over N of N / X, for a closed loop (Z = 0).

    N / X is the time from one request of a connection to its next.  It takes no response time from the generator, so
    neither a correction for coordinated omission nor a wait inside the generator affects it.  Because it is the least
    one, no level's mean throughput lies above the bound N / R_min.  As the least of several, it is biased downwards
    by about its scatter.

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
    number, throughput, warnings = known_runs(connections, throughput_rps)
    # R = N / X, Z = 0: the least R is the highest X / N.
    rate, best, near = _highest(number, throughput / number, level)
    levels = group_runs(number, throughput)
    first = levels.loads[0]
    if best != first:
        gain = first / levels.means[0] * rate.value
        warnings.append(
            f"the least response time is at N = {best:g}, not at N = {first:g}, where it is {gain:.2f} times "
            "as long, as on processors that sleep while one connection leaves them idle"
        )
    if rate.lo <= 0:
        warnings.append("the interval of the throughput reaches 0: the least response time has no upper end")
    return _reciprocal(rate, f"N / mean throughput at N = {best:g}, {_how(near)}", warnings)


def find_saturation_of_runs(connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95) -> Estimate:
    """Saturation point N* = R_min / D of a closed loop, from its runs: X_max over the highest X / N, with their ratio.

    Parameters
    ----------
    connections, throughput_rps, level
        As for `find_demand`.

    Returns
    -------
    Estimate
        N* in connections, with the value and the warnings of `find_saturation` and Fieller's interval for the runs of
        the two levels.  The largest of several means are both biased upwards, so their ratio hardly is; where one is
        chosen among more means than the other, one end allows for that choice.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, hold no pair, or break their rules.

    Examples
    --------
    >>> print(find_saturation_of_runs([1, 1, 8, 8, 8, 32, 32, 32], [99, 101, 398, 400, 402, 389, 390, 391]))
    4 [3.652, 4.414]
    """
    number, throughput, _ = known_runs(connections, throughput_rps)
    demand, least = (find(connections, throughput_rps, level) for find in (find_demand, find_latency_min))
    (_, busy, high), (_, light, low) = (_highest(number, values, level) for values in (throughput, throughput / number))
    runs = throughput[number == busy], throughput[number == light] / light
    found, apart = find_ratio(*runs, level), find_saturation(demand, least)
    # Where one was chosen among more means than the other, its bias remains, to one side.
    wider = find_ratio(*runs, 2 * _below(level, abs(high - low) + 1) - 1)
    lo, hi = (wider.lo if high > low else found.lo), (wider.hi if low > high else found.hi)
    where = f"X_max / (X / N)_max, Fieller's interval over the runs at N = {busy:g} and N = {light:g}"
    if high != low:
        where += f", widened for the choice among {high} and {low} levels"
    return replace(apart, lo=min(lo, found.lo), hi=max(hi, found.hi), method=where)


def _below(level: float, near: int) -> float:
    """Level of one end for the largest of so many means (Šidák)."""
    return float((1 - _LOWER_SHARE * (1 - level)) ** (1 / near))


def _reciprocal(found: Estimate, method: str, warnings: list[str]) -> Estimate:
    """Return 1 / `found`, without an upper end where the interval of `found` reaches 0."""
    hi = np.inf if found.lo <= 0 else 1 / found.lo
    return Estimate(1 / found.value, 1 / found.hi, hi, found.level, method, (*warnings, *found.warnings))


def _how(near: int) -> str:
    return "t interval over its repeats" + f", widened for the choice among {near} levels" * (near > 1)


def _highest(connections: Array, values: Array, level: float) -> tuple[Estimate, float, int]:
    """Return the highest of the means by level, its connections, and among how many means it was chosen."""
    groups = {number: values[connections == number] for number in np.unique(connections)}
    best = max(groups, key=lambda number: groups[number].mean())
    runs = groups[best]
    found = find_mean(runs, level)
    if runs.size == 1:
        return found, best, 1
    scatter, half = runs.std(ddof=1), found.value - found.lo
    near = sum(found.value - others.mean() <= half * np.sqrt(1 + runs.size / others.size) for others in groups.values())
    if near == 1 or scatter == 0:
        return found, best, 1
    lo = found.value - scipy.special.stdtrit(runs.size - 1, _below(level, near)) * scatter / np.sqrt(runs.size)
    return replace(found, lo=min(lo, found.value)), best, int(near)
