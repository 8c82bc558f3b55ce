"""The far end of the interval of a parameter that the data push against its bound."""

import numpy as np
from scipy import optimize, stats

from loadcurve.models.scaling import rational
from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.usl import columns


def profile_end(
    law: Law,
    index: int,
    number: np.ndarray,
    throughput: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    squares: float,
    level: float,
) -> tuple[float, float]:
    """Interval of a parameter at its bound.

    For contention and coherency: from 0 to the largest value whose sum of squares, minimised over the others, stays
    within the F limit (G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapter 5).  For any other: not known.
    """
    if law.parameters[index] not in ("contention", "coherency"):
        return (np.nan, np.nan)
    degrees = number.size - len(law.parameters)
    if degrees == 0 or squares <= 0:
        return (0.0, np.nan)
    limit = squares * (1 + stats.f.ppf(level, 1, degrees) / degrees)
    every = columns(number)[:, : len(law.parameters)]

    def excess(value: float) -> float:
        # With α or β held, N/X is linear in 1/γ and the other one, still.
        kept = np.delete(every, index, axis=1)
        kept[:, 0] += value * every[:, index]
        theta = rational.solve(number, throughput[None], weights, kept, bounded=True)
        return float((number / (kept @ theta[0]) - throughput) ** 2 @ weights) - limit

    step = 1e-3 / number.max() ** index  # α costs by N, β by N²: a first step of a thousandth at the last level
    while excess(step) < 0:
        step *= 2
        if step > 1:  # the law has no meaning beyond 1
            return (0.0, np.nan)
    return (0.0, optimize.brentq(excess, 0.0, step, rtol=1e-8))
