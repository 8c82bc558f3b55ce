"""Check a fit of throughput over connections: corrected AIC, runs of its residuals' signs, and warnings."""

from collections.abc import Mapping
from math import comb

import numpy as np

from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate

# R's usl warns below 6 points too: 3 parameters leave then at most 2 degrees of freedom.
_POINTS = 6
# Below this the law leaves a twentieth of the variance unexplained; a curve that fits is above 0.99.
_R_SQUARED = 0.95
# A miss of a fifth at a measured level is more than any capacity plan has in reserve.
_RESIDUAL = 0.20
# A point with more leverage than 1 minus this fits itself and has no residual.
_SELF = 1e-3
# One fit of twenty that is right may be called patterned.
_CHANCE = 0.05
# Efficiency may exceed 1 by the scatter between runs, some per cent, before it counts as super-linear.
_EFFICIENCY = 1.05


def warnings_of_fit(
    connections: Array,
    throughput_rps: Array,
    fitted_rps: Array,
    leverage: Array,
    r_squared: float,
    parameters: Mapping[str, Estimate],
) -> list[str]:
    """Return what weakens a fit of a law, one sentence each.

    The points, (n,), are sorted by connections; `leverage` is how much of each residual the fit takes away by bending
    towards its point, 0 to 1.

    Examples
    --------
    >>> zero = Estimate(0, 0, 0.1, 0.95, "given")
    >>> number = np.arange(1.0, 8)
    >>> for sentence in warnings_of_fit(number, number, number, 0 * number, 1.0,
    ...                            {"unit_throughput_rps": zero, "contention": zero, "coherency": zero}):
    ...     print(sentence)
    coherency is at its bound 0: no finite peak is supported by these data
    contention is at its bound 0: no finite limit is supported by these data
    """
    found = []
    if connections.size < max(_POINTS, len(parameters) + 3):
        found.append(
            f"{connections.size} points: {len(parameters)} parameters need at least {max(_POINTS, len(parameters) + 3)}"
        )
    values = {name: estimate.value for name, estimate in parameters.items()}
    found += _at_bounds(parameters, float(connections[0]), float(connections[-1]))
    found += _super_linear(connections, throughput_rps, values)
    if np.isnan(r_squared):
        found.append("throughput is the same at every level: R² is not defined")
    elif r_squared < _R_SQUARED:
        found.append(f"poor fit: R² = {r_squared:.3f} is below {_R_SQUARED}")
    miss = fitted_rps / throughput_rps - 1
    worst = int(np.argmax(np.abs(miss)))
    if abs(miss[worst]) > _RESIDUAL:
        found.append(f"the law misses the throughput at N = {connections[worst]:g} by {miss[worst]:+.0%}")
    else:
        found += _left_out(connections, miss, leverage)
    runs, chance = sign_runs(throughput_rps - fitted_rps)
    if chance < _CHANCE:
        found.append(
            f"the residuals change sign {runs - 1} time{'s' * (runs != 2)} in {connections.size} levels "
            f"(by chance in {chance:.1%} of cases): the data bend otherwise than the law"
        )
    return found


def _left_out(connections: Array, miss: Array, leverage: Array) -> list[str]:
    """Misses of levels by the fit to all others: a residual over 1 − leverage (Seber, Wild 1989, section 5.7)."""
    inside = np.flatnonzero(
        (leverage < 1 - _SELF) & (np.arange(miss.size) > 0) & (np.arange(miss.size) < miss.size - 1)
    )
    if not inside.size:  # the first and the last level would be extrapolated
        return []
    alone = miss[inside] / (1 - leverage[inside])
    worst = int(np.argmax(np.abs(alone)))
    if not abs(alone[worst]) > _RESIDUAL:
        return []
    return [
        f"fitted to the other levels, the law misses the throughput at N = {connections[inside[worst]]:g} by "
        f"{alone[worst]:+.0%}"
    ]


def _at_bounds(parameters: Mapping[str, Estimate], first: float, last: float) -> list[str]:
    found = []
    values = {name: estimate.value for name, estimate in parameters.items()}
    alpha, beta = values.get("contention", np.nan), values.get("coherency", np.nan)
    fewer = f": measure fewer connections than N = {first:g}" if first > 1 else ""
    if alpha == 1 and not beta > 0:
        found.append(f"contention is at its bound 1: throughput does not rise with the connections{fewer}")
    elif beta == 0:
        found.append("coherency is at its bound 0: no finite peak is supported by these data")
    elif alpha <= 1 and beta > 0 and (peak := np.sqrt((1 - alpha) / beta)) > last:
        found.append(f"no level past the peak: the peak at N = {peak:.4g} is extrapolated beyond N = {last:g}")
    elif alpha <= 1 and beta > 0 and peak < first:
        found.append(f"every level lies past the peak: throughput falls from the first level on{fewer}")
    if alpha == 0:
        found.append("contention is at its bound 0: no finite limit is supported by these data")
    if alpha < 0 or beta < 0:
        found.append("a cost is below 0: the law describes these data and says nothing beyond them")
    if alpha >= 0 and np.isinf(parameters["unit_throughput_rps"].hi):
        found.append("unit_throughput_rps is at its ceiling: these data do not bound the throughput of one connection")
    if "contention" in values and last <= 1:
        found.append("every load is at most 1: contention and coherency count from 1, so give the loads in whole units")
    if np.isinf(values.get("capacity_rps", 0.0)):
        found.append("the capacity is at its bound: these data show no plateau")
    return found


def _super_linear(connections: Array, throughput_rps: Array, values: Mapping[str, float]) -> list[str]:
    each = throughput_rps / connections
    best = int(np.argmax(each))
    efficiency = each[best] / each[0]
    if not efficiency > _EFFICIENCY or min(values.values()) < 0:
        return []
    cannot = "USL with non-negative parameters" if "coherency" in values else "a law that begins in proportion"
    return [
        f"throughput rises faster than connections from N={connections[0]:g} to N={connections[best]:g} "
        f"(efficiency {efficiency:.2f}): {cannot} cannot follow"
    ]


def corrected_aic(squares: float, points: int, count: int, weights: Array | None = None) -> float:
    r"""Akaike's information criterion for least squares, corrected for few points; lower is better.

    .. math:: n \ln(S/n) - \sum \ln w_i + 2K + \frac{2K(K+1)}{n-K-1},\qquad K = p + 1

    K. P. Burnham, D. R. Anderson, "Model Selection and Multimodel Inference", 2nd edition, 2002, section 2.4; the
    variance of the residuals is a parameter too.  The weights (mean 1; all 1 without them) are part of the likelihood,
    so fits with different weights can be compared.  Infinite where n <= K + 1: then no criterion distinguishes laws.

    Examples
    --------
    >>> round(corrected_aic(27453.72, 7, 3), 2), corrected_aic(1.0, 5, 3)
    (85.92, inf)
    """
    k = count + 1
    if points <= k + 1:
        return np.inf
    if squares == 0:
        return -np.inf
    of_weights = 0.0 if weights is None else float(np.log(weights).sum())
    return float(points * np.log(squares / points) - of_weights + 2 * k + 2 * k * (k + 1) / (points - k - 1))


def sign_runs(residuals: Array) -> tuple[int, float]:
    r"""Count runs of residuals of one sign, in the order of the levels, and the probability of no more by chance.

    .. math:: P(2k) = \frac{2\binom{a-1}{k-1}\binom{b-1}{k-1}}{\binom{a+b}{a}}, \qquad
       P(2k+1) = \frac{\binom{a-1}{k}\binom{b-1}{k-1} + \binom{a-1}{k-1}\binom{b-1}{k}}{\binom{a+b}{a}}

    with a of them above 0 and b below (A. Wald, J. Wolfowitz, "On a Test Whether Two Samples are from the Same
    Population", Annals of Mathematical Statistics 11(2), 1940).  A fitted law bends towards its points, so its
    residuals change sign more often than free ones: the probability is too high rather than too low.

    Residuals that are 0 are left out; where all have one sign or none is left, the probability is 1.
    """
    signs = np.sign(residuals[residuals != 0])
    above, below = int((signs > 0).sum()), int((signs < 0).sum())
    runs = int((np.diff(signs) != 0).sum()) + (signs.size > 0)
    if not above or not below:
        return runs, 1.0
    ways = sum(_ways(count, above, below) for count in range(2, runs + 1))
    return runs, ways / comb(above + below, above)


def _ways(runs: int, above: int, below: int) -> int:
    k, remainder = divmod(runs, 2)
    if not remainder:
        return 2 * comb(above - 1, k - 1) * comb(below - 1, k - 1)
    return comb(above - 1, k) * comb(below - 1, k - 1) + comb(above - 1, k - 1) * comb(below - 1, k)
