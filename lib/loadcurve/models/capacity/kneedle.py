r"""Kneedle: the knee of a curve given by points, where the curve is farthest from its chord.

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

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array

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
    """Knee of a curve, one of its points.

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
        As `kneedle_all`, and when `mode` is none of the three.

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


def kneedle_all(
    x: ArrayLike, y: ArrayLike, sensitivity: float = 1.0, *, curve: str = "concave", direction: str = "increasing"
) -> Array:
    r"""All knees of a curve, in the order in which they are found.

    Both axes are scaled to 0…1 and mirrored as described for the module.  The difference
    :math:`d_i = \hat y_i - \hat x_i` has a local maximum at each candidate; a candidate is a knee where the difference
    falls below

    .. math:: T = d_\max - S\,\frac{1}{n-1}\sum_i (\hat x_{i+1} - \hat x_i)

    before the next local maximum is reached.  The paper smooths the points by a spline first; here they are taken as
    they are, as means of repeats.

    Parameters
    ----------
    x, y, sensitivity, curve, direction
        As for `kneedle`.

    Returns
    -------
    numpy.ndarray
        Some of the `x`, or none.

    Raises
    ------
    ValueRuleError
        When `x` does not increase, the shapes differ, a value is not finite, `sensitivity` is negative, or `curve` or
        `direction` is none of its two words.

    Notes
    -----
    The package kneed mirrors the values of a curve but not its load, so with uneven loads its results for convex
    increasing and concave decreasing curves belong to other points; with even loads both agree.

    Examples
    --------
    >>> x = np.arange(0, 10, 0.1)
    >>> kneedle_all(x, np.sin(x)).tolist()
    [1.4000000000000001, 7.7]
    """
    return _knees(x, y, sensitivity, curve, direction)[0]


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
