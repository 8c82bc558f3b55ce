"""Variance by level of repetition (builds, server starts, runs), and how many repeats of each level to plan.

Level 1 is the lowest (measurements of one start), level n the highest.  The values form a nested, balanced design.

T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013 (the estimators S² and T², the optimal
repetition counts and the worked example of the tests).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, between_0_and_1, positive
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean


def summarise_levels(values: ArrayLike) -> pd.DataFrame:
    r"""Variance that each level of repetition brings.

    .. math:: T_1^2 = S_1^2, \qquad T_i^2 = S_i^2 - S_{i-1}^2 / r_{i-1}

    S_i² is the mean variance of the level's means within the level above; r_i the repetitions.

    Parameters
    ----------
    values : array_like of float, shape (r_n, ..., r_1)
        Highest level first, at least 2 repetitions at each level, any unit, no NaN.

    Returns
    -------
    pandas.DataFrame
        One row for each level, the lowest first: ``level, repetitions, variance`` (S², biased: the lower levels are in
        it), ``component`` (T², unbiased) and ``verdict``.  A component may come out negative: then the level adds
        nothing that can be distinguished from the scatter below it.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Examples
    --------
    >>> table = summarise_levels([[[9, 5], [8, 3]], [[10, 6], [7, 11]], [[1, 12], [2, 4]]])
    >>> table[["level", "repetitions", "variance", "component"]].round(1).values.tolist()
    [[1.0, 2.0, 16.5, 16.5], [2.0, 2.0, 2.6, -5.7], [3.0, 3.0, 3.6, 2.3]]
    """
    means = _design(values)
    rows, below = [], 0.0
    for level in range(1, means.ndim + 1):
        repetitions = means.shape[-1]
        variance = means.var(axis=-1, ddof=1).mean()
        component = variance - below  # T_i² = S_i² − S_{i−1}² / r_{i−1}
        verdict = "adds nothing" if component <= 0 else "scatters"
        rows.append((level, repetitions, variance, component, verdict))
        below, means = variance / repetitions, means.mean(axis=-1)
    return pd.DataFrame(rows, columns=["level", "repetitions", "variance", "component", "verdict"])


def find_mean_of_levels(values: ArrayLike, level: float = 0.95) -> Estimate:
    r"""Mean of a nested design, with the interval that the highest level gives.

    .. math:: \bar y \pm t_{r_n-1,\,(1+\text{level})/2} \sqrt{S_n^2 / r_n}

    Parameters
    ----------
    values : array_like of float, shape (r_n, ..., r_1)
        Highest level first, at least 2 repetitions at each level, any unit, no NaN.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    Estimate
        In the unit of `values`.  Only repetitions of the highest level are independent; more of the lower ones cannot
        replace them.

    Raises
    ------
    ValueRuleError
        When a rule is broken.

    Examples
    --------
    >>> print(find_mean_of_levels([[[9, 5], [8, 3]], [[10, 6], [7, 11]], [[1, 12], [2, 4]]]))
    6.5 [1.811, 13.9]
    """
    known, level = _design(values), between_0_and_1("level", level)
    highest = known.reshape(known.shape[0], -1).mean(axis=1)
    method = f"mean, t interval over the {highest.size} repetitions of the highest of {known.ndim} levels"
    return replace(find_mean(highest, level), method=method)


def summarise_plan(values: ArrayLike, cost_s: Sequence[float]) -> pd.DataFrame:
    r"""Repetitions of each level that make the mean most precise in a given time.

    .. math:: r_i = \sqrt{\frac{c_{i+1}}{c_i}\,\frac{T_i^2}{T_{i+1}^2}}

    Parameters
    ----------
    values : array_like of float, shape (r_n, ..., r_1)
        A pilot of the design, highest level first.
    cost_s : sequence of float, shape (n,)
        Time that one repetition of each level costs in itself, without those of the levels below, highest level
        first, > 0: for starts and runs, the time to start and warm up, and then the time of one run.

    Returns
    -------
    pandas.DataFrame
        One row for each level, the lowest first: ``level, component, cost_s, exact, repetitions`` (`exact` rounded
        up).  Both are missing for the highest level that scatters: repeat that until the interval is narrow enough,
        see `find_repeats` on its means.  A level above it, which adds nothing, is made once.

    Raises
    ------
    ValueRuleError
        When a rule is broken, or no level scatters.

    Notes
    -----
    A level that adds nothing, or so little that the formula gives less than one repetition, is repeated once in each
    of the level above: both are then one level, with the sum of their components (a negative one counts as 0) and of
    their costs.  This is the least of ΣT_i²/n_i with Σ c_i n_i given and no n_i below that of the level above, n_i
    the repetitions of level i in the whole experiment.  A pilot with few repetitions of a level knows its component
    badly: "adds nothing" may be chance.

    Examples
    --------
    >>> pilot = [[[3, 4, 3], [1.2, 3.1, 3]], [[0.2, 1, 1.5], [1, 2, 3]]]
    >>> plan = summarise_plan(pilot, cost_s=[100, 20, 3])
    >>> plan[["level", "exact", "repetitions"]].round(4).values.tolist()
    [[1, 4.2937, 5], [2, 1.3023, 2], [3, nan, <NA>]]
    """
    levels = summarise_levels(values)
    costs = np.array([positive("cost_s", cost) for cost in cost_s])[::-1]
    if costs.size != len(levels):
        raise ValueRuleError("cost_s", f"one for each of the {len(levels)} levels", costs.size)
    components = np.maximum(levels["component"].to_numpy(), 0.0)
    if not components.any():
        raise ValueRuleError("values", "of some scatter", "none at any level")
    totals = _totals(components, costs)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = totals[:-1] / totals[1:]
    highest = int(np.flatnonzero(totals)[-1])
    exact = np.append(exact, np.nan)
    exact[highest], exact[highest + 1 :] = np.nan, 1.0
    return pd.DataFrame(
        {
            "level": levels["level"],
            "component": levels["component"],
            "cost_s": costs,
            "exact": exact,
            "repetitions": pd.array(np.ceil(exact - 1e-9), dtype="Int64"),
        }
    )


def _totals(components: Array, costs: Array) -> Array:
    """Return n_i but for a common factor: sqrt(T²/c), pooled with the level above where it would be the smaller."""
    blocks: list[tuple[float, float, int]] = []
    for component, cost in zip(components[::-1], costs[::-1], strict=True):  # from the highest level down
        blocks.append((component, cost, 1))
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] <= blocks[-2][0] * blocks[-1][1]:
            lower, upper = blocks.pop(), blocks.pop()
            blocks.append((lower[0] + upper[0], lower[1] + upper[1], lower[2] + upper[2]))
    return np.concatenate([np.full(count, np.sqrt(t / c)) for t, c, count in blocks])[::-1]


def _design(values: ArrayLike) -> Array:
    try:
        array = np.asarray(values, dtype=float)
    except ValueError as error:
        raise ValueRuleError("values", "numbers, as many in each group of a level", "others") from error
    if array.ndim == 0 or min(array.shape) < 2:
        raise ValueRuleError("values", "of at least 2 repetitions at each level", f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueRuleError("values", "complete", array[~np.isfinite(array)][0])
    return array
