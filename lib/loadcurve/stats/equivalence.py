r"""Equivalence of A and B within a margin by two one-sided t tests, and the number of runs that this needs.

"No significant difference" does not show equivalence: any comparison with too few runs reports it.  All tests are on
logarithms, so that A against B and B against A get the same verdict: a margin of 2 % is the range
1/1.02 to 1.02 of the ratio.

D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the
equivalence of average bioavailability", J. Pharmacokinetics and Biopharmaceutics 15 (1987).
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats._runs import two_groups
from loadcurve.stats.arrays import Array, between_0_and_1, positive
from loadcurve.stats.ratio import find_geometric_ratio, log_difference

# No study repeats a run this often: longer or quieter runs are the remedy.
_MAX_REPEATS = 100_000


def summarise_equivalence(
    a: ArrayLike, b: ArrayLike, *, margin_ratio: float = 0.02, level: float = 0.95, power: float = 0.8
) -> pd.DataFrame:
    """Verdict on "A and B differ by no more than the margin", with its numbers.

    Parameters
    ----------
    a, b : array_like of float, shape (n_a,) and (n_b,)
        One value > 0 for each run, same unit.
    margin_ratio : float
        Largest difference that does not matter, > 0; 0.02 is 2 %.  Settle it before the runs.
    level : float
        Confidence, 0.5 < level < 1: each error, a false "equivalent" and a false "different", is at most 1 − level.
    power : float
        Required probability of the verdict "equivalent" for servers that do not differ, 0 < power < 1; only
        `repeats_needed` and its upper bound depend on it.

    Returns
    -------
    pandas.DataFrame
        One row.  ``verdict``: ``equivalent within ±2 %`` when the interval ``equivalence_lo`` to ``equivalence_hi``
        lies inside the margin, else ``different`` when the wider one, ``lo`` to ``hi``, leaves out 1, else
        ``undecided``.  ``ratio`` of geometric means; ``p_equivalence`` of the two one-sided tests; ``p_difference`` of
        Welch's test on logarithms; ``margin_ratio``; ``variation_ratio``, the pooled scatter of a run;
        ``repeats_needed`` of each server at that scatter if there is no difference; ``repeats_needed_hi``, the same at
        the upper `level` bound of the scatter (NaN beyond 100,000); ``warnings``.  With one run of either: undecided,
        all but the ratio NaN.

    Examples
    --------
    >>> one = summarise_equivalence([100.1, 99.8, 100.3, 99.9], [100.2, 100.0, 99.7, 100.1])
    >>> one.loc[0, "verdict"], int(one.loc[0, "repeats_needed"])
    ('equivalent within ±2 %', 2)
    >>> summarise_equivalence([104, 99, 108], [100, 97, 105]).loc[0, "verdict"]
    'undecided'
    """
    if not 0 < margin_ratio < np.inf:
        raise ValueRuleError("margin_ratio", "> 0 and finite", margin_ratio)
    if not 0.5 < level < 1:
        raise ValueRuleError("level", "0.5 < level < 1", level)
    first, second, _ = two_groups(a, b)
    ratio = find_geometric_ratio(a, b, level)
    inner = find_geometric_ratio(a, b, 2 * level - 1)  # both one-sided tests reject when this lies inside the margin
    p_equivalence, p_difference = _p_values(first, second, np.log1p(margin_ratio))
    verdict = "undecided"
    if p_equivalence <= 1 - level:
        verdict = f"equivalent within ±{100 * margin_ratio:g} %"
    elif p_difference <= 1 - level:
        verdict = "different"
    row = {
        "verdict": verdict,
        "ratio": ratio.value,
        "lo": ratio.lo,
        "hi": ratio.hi,
        "equivalence_lo": inner.lo,
        "equivalence_hi": inner.hi,
        "p_equivalence": p_equivalence,
        "p_difference": p_difference,
        "margin_ratio": margin_ratio,
        **_plan(first, second, margin_ratio, level, power),
        "warnings": "; ".join(ratio.warnings),
    }
    return pd.DataFrame([row])


def _p_values(first: Array, second: Array, margin: float) -> tuple[float, float]:
    difference, error, degrees = log_difference(first, second)
    if np.isnan(error):
        return np.nan, np.nan
    if error == 0:  # no scatter: what was measured is all there is
        return float(abs(difference) >= margin), float(difference == 0)
    worst = (abs(difference) - margin) / error  # the nearer margin has the larger p
    return float(scipy.special.stdtr(degrees, worst)), float(2 * scipy.special.stdtr(degrees, -abs(difference) / error))


def _plan(first: Array, second: Array, margin_ratio: float, level: float, power: float) -> dict[str, float]:
    degrees = first.size + second.size - 2
    if min(first.size, second.size) < 2:
        return {"variation_ratio": np.nan, "repeats_needed": np.nan, "repeats_needed_hi": np.nan}
    squares = sum((group.size - 1) * np.log(group).var(ddof=1) for group in (first, second))
    likely, most = np.sqrt(squares / degrees), np.sqrt(squares / scipy.special.chdtri(degrees, level))
    needed = [repeats_for_equivalence(_variation(sd), margin_ratio, level=level, power=power) for sd in (likely, most)]
    return {"variation_ratio": _variation(likely), "repeats_needed": needed[0], "repeats_needed_hi": needed[1]}


def _variation(log_sd: float) -> float:
    """Standard deviation relative to the mean of a lognormal quantity, from that of its logarithm."""
    return float(np.sqrt(np.expm1(log_sd**2)))


def repeats_for_equivalence(
    variation_ratio: float, margin_ratio: float, *, true_ratio: float = 1.0, level: float = 0.95, power: float = 0.8
) -> float:
    """Return the fewest runs of each server with which two one-sided tests reach the power asked for.

    Parameters
    ----------
    variation_ratio : float
        Scatter of a run relative to its mean, >= 0.
    margin_ratio : float
        Largest difference that does not matter, > 0.
    true_ratio : float
        Ratio that A really has to B, within the margin.
    level, power : float
        As for `summarise_equivalence`.

    Returns
    -------
    float
        Runs of each server, >= 2; NaN when more than 100,000 would be needed.

    Examples
    --------
    >>> repeats_for_equivalence(0.003, 0.02), repeats_for_equivalence(0.06, 0.02)
    (2.0, 158.0)
    """
    return _fewest(
        lambda n: equivalence_power(n, variation_ratio, margin_ratio, true_ratio=true_ratio, level=level), power
    )


def repeats_for_difference(
    variation_ratio: float, difference_ratio: float, *, level: float = 0.95, power: float = 0.8
) -> float:
    r"""Return the fewest runs of each server with which a two-sided t test finds a difference with the power asked for.

    With the scatter :math:`\sigma` of a logarithm, the power of n runs is the share of the noncentral t distribution
    with 2n − 2 degrees of freedom that lies beyond the quantiles of the level, its noncentrality being

    .. math:: \ln(1 + d)\, \sqrt{n / 2} / \sigma

    Parameters
    ----------
    variation_ratio : float
        Scatter of a run relative to its mean, > 0.
    difference_ratio : float
        Difference d to be found, of the larger mean from the smaller one, > 0; 0.05 is 5 %.
    level, power : float
        As for `summarise_equivalence`.

    Returns
    -------
    float
        Runs of each server, >= 2; NaN when more than 100,000 would be needed.

    Notes
    -----
    J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 2nd edition (1988), chapter 2.

    Examples
    --------
    >>> repeats_for_difference(0.03, 0.05), repeats_for_difference(0.05, 0.02)
    (8.0, 101.0)
    """
    sigma = np.sqrt(np.log1p(positive("variation_ratio", variation_ratio) ** 2))
    effect = np.log1p(positive("difference_ratio", difference_ratio)) / sigma
    between_0_and_1("level", level)

    def reached(n: int) -> float:
        t, noncentrality = scipy.special.stdtrit(2 * n - 2, (1 + level) / 2), effect * np.sqrt(n / 2)
        below, above = scipy.special.nctdtr(2 * n - 2, noncentrality, [-t, t])
        return float(1 - above + np.nan_to_num(below))  # SciPy gives NaN for some shares below 1e-16

    return _fewest(reached, power)


def _fewest(reached: Callable[[int], float], power: float) -> float:
    """Return the fewest runs whose power is at least the one asked for; NaN beyond the most that anybody makes."""
    if not 0 < power < 1:
        raise ValueRuleError("power", "0 < power < 1", power)
    fewer, enough = 1, 2  # one run has no scatter, so it is always too few
    while reached(enough) < power:
        if enough == _MAX_REPEATS:
            return np.nan
        fewer, enough = enough, min(2 * enough, _MAX_REPEATS)
    while enough - fewer > 1:
        middle = (fewer + enough) // 2
        fewer, enough = (fewer, middle) if reached(middle) >= power else (middle, enough)
    return float(enough)


def equivalence_power(
    repeats: int, variation_ratio: float, margin_ratio: float, *, true_ratio: float = 1.0, level: float = 0.95
) -> float:
    r"""Chance that two one-sided t tests find equivalence, for equal scatter and equal numbers of runs.

    With :math:`\sigma_d = \sigma\sqrt{2/n}` and the distance :math:`\theta_{1,2}` of the true log ratio from either
    margin, the mean over the scatter s that the runs will show, s²/σ² being χ²/ν with ν = 2n − 2:

    .. math:: E_s\left[\Phi(\theta_2/\sigma_d - t_\nu s/\sigma) - \Phi(-\theta_1/\sigma_d + t_\nu s/\sigma)\right]_+

    Parameters
    ----------
    repeats : int
        Runs n of each server, >= 2.
    variation_ratio, margin_ratio, true_ratio, level
        As for `repeats_for_equivalence`.

    Returns
    -------
    float
        Power, 0 to 1.

    Notes
    -----
    K. F. Phillips, "Power of the two one-sided tests procedure in bioequivalence", J. Pharmacokinetics and
    Biopharmaceutics 18 (1990).

    Examples
    --------
    >>> round(equivalence_power(10, 0.02, 0.02), 3)
    0.377
    """
    if repeats < 2:
        raise ValueRuleError("repeats", ">= 2", repeats)
    if not variation_ratio >= 0:
        raise ValueRuleError("variation_ratio", ">= 0", variation_ratio)
    if not 0 < margin_ratio < np.inf:
        raise ValueRuleError("margin_ratio", "> 0 and finite", margin_ratio)
    if not abs(np.log(true_ratio)) < np.log1p(margin_ratio):
        raise ValueRuleError("true_ratio", f"within a factor of {1 + margin_ratio:g}", true_ratio)
    if not 0.5 < level < 1:
        raise ValueRuleError("level", "0.5 < level < 1", level)
    if variation_ratio == 0:
        return 1.0
    degrees = 2 * repeats - 2
    error = np.sqrt(2 * np.log1p(variation_ratio**2) / repeats)  # σ² of the logarithm is ln(1 + variation²)
    below = (np.log1p(margin_ratio) + np.log(true_ratio)) / error
    above = (np.log1p(margin_ratio) - np.log(true_ratio)) / error
    t = scipy.special.stdtrit(degrees, level)

    scale = np.log(2) + degrees / 2 * np.log(degrees / 2) - scipy.special.gammaln(degrees / 2)

    def of_scatter(s: float) -> float:
        density = np.exp(scale + (degrees - 1) * np.log(s) - degrees * s * s / 2)  # of s = √(χ²/ν)
        return float((scipy.special.ndtr(above - t * s) - scipy.special.ndtr(t * s - below)) * density)

    # `most`: with more scatter the interval is wider than the margin, or such scatter practically never occurs.
    most = min((below + above) / (2 * t), np.sqrt(scipy.special.chdtri(degrees, 1e-14) / degrees))
    least = np.sqrt(2 * scipy.special.gammaincinv(degrees / 2, 1e-14) / degrees)
    return float(max(scipy.integrate.quad(of_scatter, least, most, limit=200)[0], 0.0)) if most > least else 0.0


def variation_that_hides(ratio: float, level: float = 0.95) -> float:
    r"""Return the smallest scatter at which single runs of two equal servers often differ by a given ratio.

    The difference of two logarithms scatters by :math:`\sqrt 2\,\sigma`, so that

    .. math:: \sigma = \frac{|\ln \rho|}{\sqrt 2\, z_{(1 + \text{level})/2}}

    Parameters
    ----------
    ratio : float
        Ratio of one run of A to one run of B, > 0.
    level : float
        0 < level < 1; "often" means in a share 1 − `level` of all pairs of runs.

    Returns
    -------
    float
        Scatter of a run relative to its mean.  With a larger one, the ratio says nothing about the servers.

    Notes
    -----
    A single run does not show its scatter, so the result states only how small the scatter would have to be.  Runs
    are assumed to be lognormal, as everywhere in this module.

    Examples
    --------
    >>> round(variation_that_hides(8948.49 / 9040.98), 4)
    0.0037
    """
    if not ratio > 0 or np.isinf(ratio):
        raise ValueRuleError("ratio", "> 0", ratio)
    between_0_and_1("level", level)
    return _variation(abs(np.log(ratio)) / (np.sqrt(2) * scipy.special.ndtri((1 + level) / 2)))
