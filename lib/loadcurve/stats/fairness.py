"""Test whether a balancer shares fairly: counts per server, their expectation, and the size of the effect.

A chi-square test compares with servers drawn at random (multinomial counts).  Round robin is not random: it deals
in turn, so its counts differ from their shares by less than one.  Therefore a chi-square near 0 is expected, a count
that is off by more than one already indicates something else (several workers or schedulers with a turn of their own,
retries, connections that end early), and a chi-square that is large even for random counts is the finding.
"""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.stats.arrays import Array, between_0_and_1

# Below, the χ² distribution is no good approximation: W. G. Cochran, "Some methods for strengthening the common χ²
# tests", Biometrics 10 (1954).
_MIN_EXPECTED = 5


def summarise_fairness(counts: ArrayLike, weights: ArrayLike | None = None, *, level: float = 0.95) -> pd.DataFrame:
    r"""Chi-square test of the counts against their shares, the size of the effect, and what it means for round robin.

    .. math:: \chi^2 = \sum_i \frac{(o_i - e_i)^2}{e_i}, \qquad w = \sqrt{\chi^2/\textstyle\sum_i o_i}

    Parameters
    ----------
    counts : array_like of int, shape (servers,)
        Connections or requests that each server was given, >= 0, two servers or more.
    weights : array_like of float, shape (servers,), optional
        Weights > 0 of the balancer; equal ones without it.
    level : float
        1 − the p value below which chance is no explanation, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``total``, ``servers``, ``chi_square``, ``degrees_of_freedom``, ``p_value`` (of counts as uneven as
        these, or more, if servers were drawn at random), ``effect`` (Cohen's w: 0.1 small, 0.3 medium, 0.5 large),
        ``largest_deviation_ratio``, ``verdict`` and ``warnings``.  Verdicts: ``as even as round robin``, ``no more
        uneven than chance, but not round robin alone``, ``uneven beyond chance``.

    Notes
    -----
    With many requests every small unevenness is "significant": judge the effect, not p.
    K. Pearson, Philosophical Magazine 50 (1900); J. Cohen, "Statistical Power Analysis for the Behavioral Sciences"
    (2nd edition, 1988), chapter 7.

    Examples
    --------
    >>> summarise_fairness([3332, 3198]).loc[0, ["chi_square", "p_value", "effect"]].astype(float).round(4).tolist()
    [2.7498, 0.0973, 0.0205]
    >>> summarise_fairness([18129, 18129]).loc[0, "verdict"]
    'as even as round robin'
    """
    between_0_and_1("level", level)
    observed, expected = _checked(counts, weights)
    chi_square = float(np.sum((observed - expected) ** 2 / expected))
    p_value = float(scipy.special.chdtrc(observed.size - 1, chi_square))
    # A turn that is not finished: by one request with equal weights, by the largest weight otherwise.
    unfinished = expected.max() / expected.min()
    if np.abs(observed - expected).max() <= unfinished:
        verdict = "as even as round robin"
    elif p_value > 1 - level:
        verdict = "no more uneven than chance, but not round robin alone"
    else:
        verdict = "uneven beyond chance"
    small = expected.min()
    row = {
        "total": int(observed.sum()),
        "servers": observed.size,
        "chi_square": chi_square,
        "degrees_of_freedom": observed.size - 1,
        "p_value": p_value,
        "effect": np.sqrt(chi_square / observed.sum()),
        "largest_deviation_ratio": float(np.abs(observed / expected - 1).max()),
        "verdict": verdict,
        "warnings": "" if small >= _MIN_EXPECTED else f"an expected count is {small:.3g}: p is rough",
    }
    return pd.DataFrame([row])


def _checked(counts: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    observed = np.asarray(counts, dtype=float)
    if observed.ndim != 1 or observed.size < 2:
        raise ValueRuleError("counts", "one-dimensional, of two servers or more", f"shape {observed.shape}")
    wrong = observed[~((observed >= 0) & (observed == np.floor(observed)))]  # NaN is wrong too
    if wrong.size:
        raise ValueRuleError("counts", "whole numbers >= 0", wrong[0])
    if not observed.sum():
        raise ValueRuleError("counts", "more than 0 in all", 0)
    share = np.ones(observed.size) if weights is None else np.asarray(weights, dtype=float)
    if share.shape != observed.shape or not (share > 0).all() or np.isinf(share).any():
        raise ValueRuleError("weights", f"{observed.size} numbers > 0", weights)
    return observed, observed.sum() * share / share.sum()
