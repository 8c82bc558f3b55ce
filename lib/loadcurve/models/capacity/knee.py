r"""The knee: the load beyond which more load brings little throughput, by four definitions, each with its own name.

| definition        | the knee is where |
|-------------------|---|
| saturation N*     | the asymptotes N / R_min and 1 / D cross (`models.find_saturation_of_runs`) |
| maximum curvature | a fitted law bends most, on axes scaled to the last level and the highest throughput |
| maximum power     | throughput over response time, X / R, is highest; in a closed loop R = N / X and it is X² / N |
| Kneedle           | the measured means are farthest above their chord |

N* is where the system reaches its limit, maximum power where waiting costs as much as it gains.  The other two depend
on the scale of the axes: they move, for example, when one more level is measured.  L. Kleinrock, "Power and
Deterministic Rules of Thumb for Probabilistic Problems in Computer Communications", ICC 1979.

A curve of any of the four shapes is turned into a rising one that flattens, by mirroring its axes:

| curve, direction   | looks like                          | mirrored |
|--------------------|-------------------------------------|---|
| concave increasing | throughput by load: rises, flattens | nothing |
| convex increasing  | response time by load: flat, rises  | both axes |
| convex decreasing  | time by threads: falls, flattens    | the values |
| concave decreasing | goodput past overload: flat, falls  | the load |

V. Satopää, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee Points in System
Behavior", ICDCS Workshops 2011, section III.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._runs import group_runs, known_runs
from loadcurve.models.demand import find_saturation_of_runs
from loadcurve.models.scaling.bootstrap import bootstrap_law, draw_runs, find_interval, level_weights
from loadcurve.models.scaling.fits import LAWS
from loadcurve.models.scaling.intervals import influence_degrees
from loadcurve.models.scaling.law import Law
from loadcurve.stats.arrays import Array, Integers
from loadcurve.stats.estimate import Estimate


@dataclass(frozen=True, eq=False)
class Runs:
    """Each run's load and throughput, its level's place, and of each level the mean and the repeats."""

    connections: Array
    throughput_rps: Array
    levels: Array
    of_level: Integers
    means: Array
    repeats: Integers
    warnings: tuple[str, ...]


def grouped_runs(connections: ArrayLike, throughput_rps: ArrayLike, least: int, name: str = "connections") -> Runs:
    """Return the runs that have both numbers; fewer than `least` levels are refused.  Errors call the load `name`."""
    number, throughput, warnings = known_runs(connections, throughput_rps, name)
    levels = group_runs(number, throughput)
    if levels.loads.size < least:
        raise ValueRuleError(f"levels of {name}", f">= {least}", levels.loads.size)
    return Runs(number, throughput, levels.loads, levels.of_run, levels.means, levels.repeats, tuple(warnings))


_MODES = ("largest", "offline", "online")


def kneedle(
    x: ArrayLike,
    y: ArrayLike,
    sensitivity: float = 1.0,
    *,
    curve: str = "concave",
    direction: str = "increasing",
    mode: str = "largest",
) -> float:
    r"""Knee of a curve, one of its points.

    Both axes are scaled to 0…1 and mirrored as described for the module.  The difference
    :math:`d_i = \hat y_i - \hat x_i` has a local maximum at each candidate; a candidate is a knee where the difference
    falls below

    .. math:: T = d_\max - S\,\frac{1}{n-1}\sum_i (\hat x_{i+1} - \hat x_i)

    before the next local maximum is reached.  The paper smooths the points by a spline first; here they are taken as
    they are, as means of repeats.

    Parameters
    ----------
    x : array_like, shape (n,)
        Load, increasing, n >= 3.
    y : array_like, shape (n,)
        What the load brings, in any unit.
    sensitivity : float
        S, >= 0: how flat the rest of the curve must be before the knee counts.  The paper takes 1.
    curve : str
        ``concave`` (it bends downwards) or ``convex``.
    direction : str
        ``increasing`` or ``decreasing``.
    mode : str
        Which knee to return where the curve has several.  ``largest``: the one farthest from the chord.  ``offline``:
        the first that is found.  ``online``: the last, which corrects the earlier ones as points arrive.  A curve whose
        load is mirrored is read from its largest load downwards.

    Returns
    -------
    float
        One of the `x`; NaN where no candidate is a knee, as on a straight line.

    Raises
    ------
    ValueRuleError
        When `x` does not increase, the shapes differ, a value is not finite, `sensitivity` is negative, or `curve`,
        `direction` or `mode` is none of its words.

    Notes
    -----
    The package kneed mirrors the values of a curve but not its load, so with uneven loads its results for convex
    increasing and concave decreasing curves belong to other points; with even loads both agree.

    Examples
    --------
    >>> x = np.linspace(0, 1, 10)
    >>> print(round(kneedle(x, -1 / (x + 0.1) + 5), 2))  # figure 2 of the paper
    0.22
    >>> kneedle(range(10), [1, 2, 3, 4, 5, 10, 15, 20, 40, 100], curve="convex")
    7.0
    """
    if mode not in _MODES:
        raise ValueRuleError("mode", f"one of {', '.join(_MODES)}", mode)
    knees, differences = _knees(x, y, sensitivity, curve, direction)
    if not knees.size:
        return np.nan
    return float(knees[{"largest": int(np.argmax(differences)), "offline": 0, "online": -1}[mode]])


def _knees(x: ArrayLike, y: ArrayLike, sensitivity: float, curve: str, direction: str) -> tuple[Array, Array]:
    at, value = np.asarray(x, float), np.asarray(y, float)
    if at.shape != value.shape or at.ndim != 1 or at.size < 3 or not np.isfinite(at + value).all():
        raise ValueRuleError("y", "as many finite numbers as x, >= 3", f"{value.shape} for {at.shape}")
    if (np.diff(at) <= 0).any():
        raise ValueRuleError("x", "increasing", at)
    if not sensitivity >= 0:
        raise ValueRuleError("sensitivity", ">= 0", sensitivity)
    if curve not in ("concave", "convex"):
        raise ValueRuleError("curve", "concave or convex", curve)
    if direction not in ("increasing", "decreasing"):
        raise ValueRuleError("direction", "increasing or decreasing", direction)
    if np.ptp(value) == 0:
        return np.empty(0), np.empty(0)
    scaled, height = (at - at[0]) / np.ptp(at), (value - value.min()) / np.ptp(value)
    if curve == "convex":
        height = 1 - height
    if (curve == "convex") == (direction == "increasing"):  # now it falls: mirror the load
        at, scaled, height = at[::-1], 1 - scaled[::-1], height[::-1]
    difference = height - scaled
    inner = difference[1:-1]
    # The left side may be level: of a flat top its right end counts.
    candidates = 1 + np.flatnonzero((inner >= difference[:-2]) & (inner > difference[2:]))
    ends = np.append(candidates, at.size)[1:]
    drop = sensitivity * np.diff(scaled).mean()
    found = [
        here
        for here, end in zip(candidates, ends, strict=True)
        if difference[here] > 0 and (difference[here + 1 : end] < difference[here] - drop).any()
    ]
    return at[found], difference[found]


# Points even in log N on which a law is searched: first between the outer levels, then around the best of them.
_COARSE, _FINE = 400, 201
# A curvature below this, on axes of 0…1, is a straight line: the curve leaves its chord by κ/8, a part in 8000.
_STRAIGHT = 1e-3


def search(law: Law, values: Array, levels: Array, score: Callable[[Array, Array, Array], Array]) -> Array:
    """Connections with the highest score of the law, for each row (b, p) of its parameters."""
    first, last = float(np.log(levels[0])), float(np.log(levels[-1]))
    parameters = values.T[:, :, None]
    logs = np.linspace(first, last, _COARSE)[None]
    highest = law.function(np.exp(logs), *parameters).max(axis=1, keepdims=True)

    def scores(grid: Array) -> Array:
        """Scores of points even in log N; the differences need one more point at either end."""
        step = grid[:, [1]] - grid[:, [0]]
        number = np.exp(np.concatenate([grid[:, [0]] - step, grid, grid[:, [-1]] + step], axis=1))
        with np.errstate(all="ignore"):
            found = score(number / levels[-1], law.function(number, *parameters) / highest, step)
        return np.nan_to_num(found, nan=-np.inf)

    step = logs[0, 1] - logs[0, 0]
    middle = logs[0, scores(logs).argmax(axis=1)]
    near = np.linspace(np.maximum(middle - step, first), np.minimum(middle + step, last), _FINE, axis=1)
    found = scores(near)
    best, rows = found.argmax(axis=1), np.arange(len(values))
    return np.where(found[rows, best] > _STRAIGHT, np.exp(near[rows, best]), np.nan)


def curvature(x: Array, y: Array, step: Array) -> Array:
    """Curvature (b, g) at the inner points of the grid (b, g + 2), from differences in log x."""
    by_log = (y[:, 2:] - y[:, :-2]) / (2 * step)
    twice_by_log = (y[:, 2:] - 2 * y[:, 1:-1] + y[:, :-2]) / step**2
    slope, bend = by_log / x[:, 1:-1], (twice_by_log - by_log) / x[:, 1:-1] ** 2
    return -bend / (1 + slope**2) ** 1.5


def power(x: Array, y: Array, step: Array) -> Array:
    """Power (b, g) at the inner points of the grid, on the same axes."""
    return y[:, 1:-1] ** 2 / x[:, 1:-1]  # X / R with R = N / X


_How = tuple[float, int, int]  # level, draws, seed
# The definitions measure different things; a factor of 2 is one step of the usual doubling of connections.
_APART = 2.0


def find_curvature_knee(
    law: Law,
    connections: ArrayLike,
    throughput_rps: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Connections at which a fitted law bends most, between the first and the last level.

    .. math:: \kappa = \frac{-y''}{(1 + y'^2)^{3/2}}, \qquad x = N / N_\text{last}, \quad y = X(N) / \max X

    Parameters
    ----------
    law : Law
        One of `LAWS`; it is fitted to the means of the levels, with the weights of `summarise_points`.
    connections, throughput_rps : array_like, shape (m,)
        Each run: its connections N, > 0, and its throughput X, > 0; the repeats of a level have the same N.
    level : float
        Confidence level, 0 < level < 1.
    draws : int
        Draws of the bootstrap over runs, >= 2.
    seed : int
        The same seed gives the same interval.

    Returns
    -------
    Estimate
        In connections.  NaN for a straight line.  A warning says so where the knee is at the first or the last level.

    Raises
    ------
    ValueRuleError
        As `bootstrap_law`.

    Examples
    --------
    >>> connections = np.repeat([1, 2, 4, 8, 16, 32], 2)
    >>> throughput = [99, 101, 200, 204, 398, 400, 801, 799, 803, 805, 798, 800]
    >>> print(find_curvature_knee(LAWS["roofline"], connections, throughput))
    8.015 [7.957, 8.047]
    """
    runs = grouped_runs(connections, throughput_rps, len(law.parameters))
    method = f"maximum curvature of {law.name}, axes scaled to the last level and the highest throughput"
    return _of_law(law, runs, curvature, method, (level, draws, seed))


def find_power_knee(
    law: Law,
    connections: ArrayLike,
    throughput_rps: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Connections at which a fitted law has the most power X / R = X² / N, between the first and the last level.

    Arguments, result and errors as for `find_curvature_knee`.  R = N / X holds for a closed loop without think time.
    Power weighs throughput and response time alike: half the response time is worth half the throughput.

    Examples
    --------
    >>> connections = [1, 2, 4, 8, 16, 32]
    >>> amdahl = LAWS["amdahl"]
    >>> print(find_power_knee(amdahl, connections, amdahl.function(np.array(connections), 100, 0.1)))  # (1 − α) / α
    9 [9, 9]
    """
    runs = grouped_runs(connections, throughput_rps, len(law.parameters))
    return _of_law(law, runs, power, f"maximum power X²/N of {law.name}, closed loop", (level, draws, seed))


def find_kneedle_knee(
    connections: ArrayLike, throughput_rps: ArrayLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0
) -> Estimate:
    """Knee by `kneedle` of the means of the levels: always one of the levels, on axes that are linear in N.

    Arguments as for `find_curvature_knee`.  Without a level that has repeats there is no interval.

    Examples
    --------
    >>> connections = np.repeat([1, 2, 4, 8, 16, 32], 2)
    >>> throughput = [99, 101, 200, 204, 398, 400, 801, 799, 803, 805, 798, 800]
    >>> print(find_kneedle_knee(connections, throughput))
    8 [8, 8]
    """
    return _of_levels(connections, throughput_rps, kneedle, "Kneedle on the means of the levels", (level, draws, seed))


def find_power_level(
    connections: ArrayLike, throughput_rps: ArrayLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0
) -> Estimate:
    """Level at which the measured means have the most power X² / N: no law is needed, and none can miss.

    Arguments as for `find_curvature_knee`.  Without a level that has repeats there is no interval.

    Examples
    --------
    >>> print(find_power_level([1, 2, 4, 8, 8, 16], [100, 199, 390, 640, 650, 700]).value)
    8.0
    """

    def best(levels: Array, means: Array) -> float:
        return float(levels[np.argmax(means**2 / levels)])

    return _of_levels(connections, throughput_rps, best, "maximum power X²/N of the levels", (level, draws, seed))


def summarise_knees(
    connections: ArrayLike,
    throughput_rps: ArrayLike,
    law: Law = LAWS["usl"],
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Knee by every definition, side by side.

    Parameters
    ----------
    connections, throughput_rps, law, level, draws, seed
        As for `find_curvature_knee`.

    Returns
    -------
    pandas.DataFrame
        ``definition connections lo hi method warnings``, one row for each definition.  Where the largest knee is more
        than twice the smallest, each row warns of it.

    Raises
    ------
    ValueRuleError
        As `bootstrap_law`, and with fewer than 3 levels.

    Examples
    --------
    >>> connections = np.repeat([1, 2, 4, 8, 16, 32], 2)
    >>> throughput = [99, 101, 200, 204, 398, 400, 801, 799, 803, 805, 798, 800]
    >>> summarise_knees(connections, throughput, LAWS["roofline"])[["definition", "connections"]].round(1)
              definition  connections
    0      saturation N*          8.0
    1  maximum curvature          8.0
    2      maximum power          8.0
    3    power of levels          8.0
    4            Kneedle          8.0
    """
    runs = grouped_runs(connections, throughput_rps, 3)
    pair = runs.connections, runs.throughput_rps
    found = {
        "saturation N*": find_saturation_of_runs(*pair, level),
        "maximum curvature": find_curvature_knee(law, *pair, level=level, draws=draws, seed=seed),
        "maximum power": find_power_knee(law, *pair, level=level, draws=draws, seed=seed),
        "power of levels": find_power_level(*pair, level=level, draws=draws, seed=seed),
        "Kneedle": find_kneedle_knee(*pair, level=level, draws=draws, seed=seed),
    }
    apart = _disagreement(found)
    rows = [
        {
            "definition": name, "connections": knee.value, "lo": knee.lo, "hi": knee.hi, "method": knee.method,
            "warnings": "; ".join(dict.fromkeys((*runs.warnings, *knee.warnings, *apart))),
        }
        for name, knee in found.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _of_law(law: Law, runs: Runs, score: Callable[[Array, Array, Array], Array], method: str, how: _How) -> Estimate:
    level, draws, seed = how
    drawn = bootstrap_law(law, runs.connections, runs.throughput_rps, draws=draws, seed=seed)
    values = law.solve(runs.levels, runs.means[None], level_weights(law, runs.connections, runs.throughput_rps))
    value = search(law, values, runs.levels, score)[0]
    found = search(law, drawn[list(law.parameters)].to_numpy(), runs.levels, score)
    degrees = influence_degrees(
        law,
        runs.connections,
        runs.throughput_rps,
        lambda parameters: search(law, parameters, runs.levels, score)[:, None],
    )
    return _named(find_interval(found, value, level, degrees[0]), method, runs)


def _of_levels(
    connections: ArrayLike, throughput_rps: ArrayLike, knee: Callable[[Array, Array], float], method: str, how: _How
) -> Estimate:
    level, draws, seed = how
    runs = grouped_runs(connections, throughput_rps, 3)
    value = knee(runs.levels, runs.means)
    if runs.repeats.max() == 1:
        alone = "1 repeat at every level: no interval"
        return _named(Estimate(value, np.nan, np.nan, level, "means of the levels", (alone,)), method, runs)
    random = np.random.default_rng(seed)
    drawn = draw_runs(runs.throughput_rps, runs.of_level, runs.means, runs.repeats, draws, random)
    return _named(find_interval([knee(runs.levels, means) for means in drawn], value, level), method, runs)


def _named(found: Estimate, method: str, runs: Runs) -> Estimate:
    warnings = [*runs.warnings, *found.warnings]
    first, last = runs.levels[[0, -1]]
    if np.isnan(found.value):
        warnings.append("no knee: the curve does not bend enough between the first and the last level")
    elif found.value >= last * (1 - 1e-3):
        warnings.append(f"the knee is at the last level, N = {last:g}: it may lie beyond, load further")
    elif found.value <= first * (1 + 1e-3):
        warnings.append(f"the knee is at the first level, N = {first:g}: it may lie below")
    return replace(found, method=f"{method}; {found.method}", warnings=tuple(warnings))


def _disagreement(found: dict[str, Estimate]) -> list[str]:
    known = {name: knee.value for name, knee in found.items() if np.isfinite(knee.value)}
    least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if known[most] <= _APART * known[least]:
        return []
    return [
        f"the definitions disagree by a factor of {known[most] / known[least]:.1f} ({least} N = {known[least]:.3g}, "
        f"{most} N = {known[most]:.3g}): name the definition with the number"
    ]
