r"""Kneedle: the knee of a curve given by points alone, where it is farthest above its chord.

V. Satopää, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee Points in System
Behavior", ICDCS Workshops 2011, section III.
"""

import numpy as np
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError


def kneedle(x: ArrayLike, y: ArrayLike, sensitivity: float = 1.0) -> float:
    r"""Knee of an increasing curve that flattens, by the difference curve of the normalised points.

    Both axes are scaled to 0…1.  The difference :math:`d_i = \hat y_i - \hat x_i` has a local maximum at each
    candidate; one is a knee where the difference falls below

    .. math:: T = d_\max - S\,\frac{1}{n-1}\sum_i (\hat x_{i+1} - \hat x_i)

    before the next local maximum is reached.  Of several knees the one with the largest difference is returned.  The
    paper smooths the points by a spline first; here they are taken as they are, as means of repeats.

    Parameters
    ----------
    x : array_like, shape (n,)
        Load, increasing, n >= 3.
    y : array_like, shape (n,)
        What the load brings, in any unit.
    sensitivity : float
        S, >= 0: how flat the rest of the curve must be before the knee is believed.  The paper takes 1.

    Returns
    -------
    float
        One of the `x`; NaN where no candidate is a knee, as on a straight line.

    Raises
    ------
    ValueRuleError
        When `x` does not increase, the shapes differ, a value is not finite, or `sensitivity` is negative.

    Examples
    --------
    >>> x = np.linspace(0, 1, 10)
    >>> print(round(kneedle(x, -1 / (x + 0.1) + 5), 2))  # figure 2 of the paper
    0.22
    """
    at, value = np.asarray(x, float), np.asarray(y, float)
    if at.shape != value.shape or at.ndim != 1 or at.size < 3 or not np.isfinite(at + value).all():
        raise ValueRuleError("y", "as many finite numbers as x, >= 3", f"{value.shape} for {at.shape}")
    if (np.diff(at) <= 0).any():
        raise ValueRuleError("x", "increasing", at)
    if not sensitivity >= 0:
        raise ValueRuleError("sensitivity", ">= 0", sensitivity)
    if np.ptp(value) == 0:
        return np.nan
    scaled = (at - at[0]) / np.ptp(at)
    difference = (value - value.min()) / np.ptp(value) - scaled
    inner = difference[1:-1]
    # The left side may be level: of a flat top its right end counts.
    candidates = 1 + np.flatnonzero((inner >= difference[:-2]) & (inner > difference[2:]))
    ends = np.append(candidates, at.size)[1:]
    drop = sensitivity * np.diff(scaled).mean()
    knees = [
        here
        for here, end in zip(candidates, ends, strict=True)
        if difference[here] > 0 and (difference[here + 1 : end] < difference[here] - drop).any()
    ]
    return float(at[max(knees, key=lambda here: difference[here])]) if knees else np.nan
