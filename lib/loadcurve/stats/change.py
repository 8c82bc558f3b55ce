"""Where the level of a series jumps: segments of constant mean.

The series is first freed of its autocorrelation, because neighbours that resemble each other look like levels.  Then
the segmentation with the least penalised sum of squares is found exactly, in time n².

Decorrelation: S. Chakar, E. Lebarbier, C. Lévy-Leduc, S. Robin, "A robust approach for estimating change-points in
the mean of an AR(1) process", Bernoulli 23(2), 2017, pp. 1408–1447.  Search (optimal partitioning): B. Jackson et al.,
"An Algorithm for Optimal Partitioning of Data on an Interval", IEEE Signal Processing Letters 12(2), 2005.  Penalty:
Y.-C. Yao, "Estimating the number of change-points via Schwarz' criterion", Statistics & Probability Letters 6, 1988.
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.stats.arrays import Array, Mask, series

MIN_SEGMENT = 5  # samples: a shorter excursion is a spike, not a level
# Two parameters for each change, its place and its mean, each worth log n (Yao 1988); a third log n pays for the
# variance and rho being estimated.  With it AR(1) noise up to rho = 0.5 shows a change in 5 % of series at most.
PENALTY_TERMS = 3
SPIKE = 7.0  # standard deviations around the local median; autocorrelated noise strays from that farther than by JUMP
JUMP = 4.0  # standard deviations from which on a difference is no noise: 1 in 16000 of a normal distribution
ROUNDING = 1e-12  # of the greatest value, squared: the sums of squares round there, and lower steps are no levels
RARE = 0.1  # part of differences other than 0 up to which, in rounded values, each one is a jump


def summarise_segments(values: ArrayLike) -> pd.DataFrame:
    """Segments of constant level of a series.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Samples of one run in time order, any unit, n >= 10.

    Returns
    -------
    pandas.DataFrame
        One row for each segment: ``first`` (index of its first sample, from 0), ``samples``, ``mean`` and ``step``
        (mean minus the mean before it; NaN in the first row), in the unit of `values`.  One row: no change was found.

    Raises
    ------
    ValueRuleError
        When `values` has gaps or is too short.

    Notes
    -----
    It assumes an AR(1) noise of one variance and levels of at least 5 samples.  A slow drift comes out as a
    staircase: see `summarise_drift` first.  The places are the most likely ones, without an interval.  It rather
    misses a jump than invents one: in strongly autocorrelated noise it takes a jump of several standard deviations.
    Spikes of up to 4 samples are no levels (F. R. Hampel, JASA 69, 1974); the means contain them.

    Examples
    --------
    >>> summarise_segments([5, 6, 5, 4, 5, 6, 4, 5, 15, 16, 14, 15, 16, 15, 14, 15])
       first  samples  mean  step
    0      0        8   5.0   NaN
    1      8        8  15.0  10.0
    """
    known = series("values", values, 2 * MIN_SEGMENT)
    starts = [0, *_changes(known)]
    groups = np.split(known, starts[1:])
    means = np.array([group.mean() for group in groups])
    return pd.DataFrame(
        {
            "first": starts,
            "samples": [group.size for group in groups],
            "mean": means,
            "step": np.diff(means, prepend=np.nan),
        }
    )


def _changes(values: Array) -> list[int]:
    """Return the index of the first sample of each level but the first."""
    # Hampel's filter: a spike too short for a level becomes the median around it, or five samples would be its level.
    local = scipy.ndimage.median_filter(values, 2 * MIN_SEGMENT - 1, mode="nearest")
    values = np.where(_ordinary(values - local, SPIKE), values, local)
    rho = _autoregression(values)
    free = values[1:] - rho * values[:-1]  # w_t = x_t − ρ x_{t−1}: its mean jumps where that of x does
    differences = np.diff(free)
    variance = np.mean(differences[_ordinary(differences)] ** 2) / 2  # von Neumann's: levels cancel
    variance = max(variance, ROUNDING * np.max(np.abs(values)) ** 2)
    return [start + 1 for start in _segment(free - free.mean(), PENALTY_TERMS * variance * np.log(values.size))]


def _autoregression(values: Array) -> float:
    """Return rho of an AR(1) noise around levels, plus its standard error: E(x_{t+2}−x_t)² / E(x_{t+1}−x_t)² = 1 + ρ.

    Chakar et al. (2017) take medians, which scatter more; here mean squares leave the jumps out.  The standard error,
    sqrt((1 − ρ²)/n), is for safety: with too small a rho, noise looks like levels.
    """
    near = np.diff(values)
    ordinary = _ordinary(near)
    both = ordinary[1:] & ordinary[:-1]
    square = np.mean(near[ordinary] ** 2)
    if square == 0 or not both.any():
        return 0.0
    rho = np.clip(np.mean((values[2:] - values[:-2])[both] ** 2) / square - 1, 0.0, 0.95)
    return float(min(rho + np.sqrt((1 - rho**2) / values.size), 0.97))  # at 1 no level would be left to see


def _ordinary(differences: Array, limit: float = JUMP) -> Mask:
    """Return which differences are noise: within `limit` robust standard deviations of 0."""
    spread = 1.4826 * float(np.median(np.abs(differences)))  # the constant makes it sigma for a normal distribution
    if spread > 0:
        return np.abs(differences) <= limit * spread
    # Rounded values, where most neighbours are equal: all is noise, unless a difference is a rare thing.
    result: Mask = (differences == 0) | (np.mean(differences != 0) > RARE)
    return result


def _segment(values: Array, penalty: float) -> list[int]:
    """Starts of all segments but the first that minimise Σ(x − segment mean)² + penalty · changes."""
    total, squares = (np.concatenate([[0.0], np.cumsum(part)]) for part in (values, values**2))
    index = np.arange(values.size + 1)
    best, before = np.full(index.size, np.inf), np.zeros(index.size, dtype=int)
    best[0] = -penalty
    for end in range(MIN_SEGMENT, index.size):
        starts = slice(0, end - MIN_SEGMENT + 1)
        sums = total[end] - total[starts]
        costs = best[starts] + squares[end] - squares[starts] - sums**2 / (end - index[starts])
        before[end] = np.argmin(costs)
        best[end] = costs[before[end]] + penalty
    found, end = [], before[-1]
    while end > 0:
        found.append(int(end))
        end = before[end]
    return found[::-1]
