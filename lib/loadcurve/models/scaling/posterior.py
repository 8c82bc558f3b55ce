r"""Posterior of a law's parameters and the evidence for the law, by quadrature without random numbers.

The prior: each parameter lies somewhere in a wide range, in units of the data, evenly on a logarithmic scale.  The
ranges say nothing of the law; they only leave out values that these levels cannot distinguish from others, or that they
exclude.

In every law the unit throughput γ is a factor: X(N) = γ s(N).  The parameters of the shape s are the law's others, a
capacity C as the number of connections C / γ that would fill it.

The likelihood: the scatter is proportional: log X = log γ + log s(N) + noise, with a law's unit throughput γ and shape
s.  The variance of the noise is not known; with a scaled inverse chi-square for it, integrated out, the likelihood is

.. math:: L(\gamma, s) \propto \left(\nu_0 s_0^2 + \sum w_i \log^2 \frac{X_i}{\gamma s(N_i)}\right)^{-(\nu_0+n)/2}

A. Gelman et al., "Bayesian Data Analysis", 3rd edition, 2013, section 3.2.  As a function of log γ it is Student's t,
so the integral over γ is known; the shape has two parameters at most, and the midpoint rule sums over a grid of them.
The grid is drawn again, closer, around the part that carries the sum.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from loadcurve.models.scaling.law import Law
from loadcurve.stats.arrays import Array

# The unit throughput lies within a factor of two of the best efficiency seen.
_UNIT = 2.0
# A capacity lies between a little below the highest throughput, which scatters, and thirty times it.
_CAPACITY = (0.9, 30.0)
# Contention below a thousandth of 1/N, and coherency below a thousandth of 1/N², cost less than scatter at the last N.
_COST = 1e-3
# Coherency of ten over N² has its peak at a third of the last level.
_MAX_COHERENCY = 10.0
_SHARPNESS = (0.7, 20.0)

WITH_CAPACITY = ("roofline", "saturating", "finite_source")
"""Laws whose second parameter is a capacity."""


def ranges(name: str, number: Array, throughput: Array) -> tuple[Array, Array]:
    """Lower and upper ends of a law's parameters, each (p,), > 0; the unit throughput is the first."""
    last, highest = number.max(), throughput.max()
    best = (throughput / number).max()
    unit = (best / _UNIT, best * _UNIT)
    contention = (_COST / last, 1.0)
    coherency = (_COST / last**2, _MAX_COHERENCY / last**2)
    capacity = (_CAPACITY[0] * highest, _CAPACITY[1] * highest)
    by_law = {
        "linear": [unit],
        "amdahl": [unit, contention],
        "usl": [unit, contention, coherency],
        "roofline": [unit, capacity],
        "saturating": [unit, capacity, _SHARPNESS],
        "finite_source": [unit, capacity],
    }
    lower, upper = np.array(by_law[name]).T
    return lower, upper


def log_shape(law: Law, number: Array, shape: Array) -> Array:
    """Logarithm of s(N) at loads (m,) for logarithms of shape parameters (b, p − 1): (b, m)."""
    values = np.column_stack([np.ones(len(shape)), np.exp(shape)])
    if law.name == "finite_source":  # D = 1/C and Z = 1/γ − 1/C: one connection makes γ, endlessly many make C
        capacity = values[:, 1]
        values = np.column_stack([1 / capacity, np.maximum(1 - 1 / capacity, 0.0)])
    with np.errstate(all="ignore"):
        return np.log(np.broadcast_to(law.function(number, *values.T[:, :, None]), (len(shape), number.size)))


# Repeats of one level on one machine scatter by some per cent; two observations' worth of that belief.
_SCATTER, _BELIEF = 0.03, 2.0
# Points of the grids along each parameter, while the range is narrowed and at last, for shapes of one and of two.  On
# the published curves a much finer grid changes 99 % of the evidences by less than 0.01, none by more than 0.1.
_POINTS = {1: (60, 200), 2: (40, 96)}
# Each new grid covers the points of the last that are at most this much less likely than the best, in nats.
_KEPT = (30.0, 20.0, 14.0)
# Points less likely than the best by this factor have no part in predictions.
_MIN_SHARE = 1e-5


@dataclass(frozen=True, eq=False)
class Posterior:
    """One law's shapes, with their probabilities.

    `shape` (b, p − 1) holds logarithms, as `log_shape` takes them, and `share` (b,) their probabilities; `log_unit` and
    `variance` are the mean of log γ and the median variance of log X about the law, given the shape; `log_evidence` is
    the logarithm of the mean likelihood under the prior, up to a constant that all laws share.
    """

    shape: Array
    share: Array
    log_unit: Array
    variance: Array
    log_evidence: float


def posterior_of(law: Law, number: Array, throughput: Array, weights: Array) -> Posterior:
    """Weigh the shapes of a law for one curve; arrays as in `Law.solve`, `throughput` (n,), mean weight 1."""
    lower, upper = np.log(ranges(law.name, number, throughput))
    unit, lo, hi = (lower[0], upper[0]), lower[1:].copy(), upper[1:].copy()
    prior = np.prod(upper - lower)
    capacity = None
    if law.name in WITH_CAPACITY:  # the range of C / γ: that of C, less that of γ
        capacity = (lo[0], hi[0])
        lo[0], hi[0] = lo[0] - unit[1], hi[0] - unit[0]
    first, last = lo.copy(), hi.copy()
    for kept in (*_KEPT, None):
        shape, cell, step = _grid(lo, hi, final=kept is None)
        likelihood, log_unit, squares = _over_unit(law, shape, number, throughput, weights, unit, capacity)
        if kept is None or not lo.size:
            break
        near = shape[likelihood > likelihood.max() - kept]
        lo, hi = np.maximum(first, near.min(axis=0) - step), np.minimum(last, near.max(axis=0) + step)
    top = likelihood.max()
    share = np.exp(likelihood - top)
    evidence = float(top + np.log(share.sum() * cell / prior))
    share = np.where(share > _MIN_SHARE, share, 0.0)
    some = share > 0
    # Median of the scaled inverse chi-square with ν₀ + n − 1 degrees of freedom, that of a chi-square being ν − 2/3.
    variance = squares / (_BELIEF + number.size - 1 - 2 / 3)
    return Posterior(shape[some], share[some] / share.sum(), log_unit[some], variance[some], evidence)


def _grid(lo: Array, hi: Array, final: bool) -> tuple[Array, float, Array]:
    """Midpoints of the cells between two corners, a cell's volume and its sides; one point if there is no parameter."""
    if not lo.size:
        return np.zeros((1, 0)), 1.0, lo
    count = _POINTS[lo.size][final]
    step = (hi - lo) / count
    axes = [a + (np.arange(count) + 0.5) * s for a, s in zip(lo, step, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, lo.size), float(np.prod(step)), step


def _over_unit(
    law: Law,
    shape: Array,
    number: Array,
    throughput: Array,
    weights: Array,
    unit: tuple[Any, Any],
    capacity: tuple[float, float] | None,
) -> tuple[Array, Array, Array]:
    """Log likelihood integrated over the range of log γ, mean of log γ, ν₀s₀² + the least squares: each (b,)."""
    left = np.log(throughput) - log_shape(law, number, shape)
    left = np.where(np.isfinite(left), left, 1e3)  # a shape without a throughput is as good as excluded
    total = weights.sum()
    middle = left @ weights / total
    squares = _BELIEF * _SCATTER**2 + (left - middle[:, None]) ** 2 @ weights
    degrees = _BELIEF + number.size - 1
    width = np.sqrt(squares / (total * degrees))
    low, high = unit
    if capacity is not None:
        low, high = np.maximum(low, capacity[0] - shape[:, 0]), np.minimum(high, capacity[1] - shape[:, 0])
    below, above = (scipy.special.stdtr(degrees, (end - middle) / width) for end in (low, high))
    inside = above - below
    with np.errstate(divide="ignore"):
        integral = np.log(np.maximum(inside, 0.0)) + np.log(width) - (degrees + 1) / 2 * np.log(squares)
    return integral + np.log(degrees) / 2 + scipy.special.betaln(0.5, degrees / 2), middle, squares
