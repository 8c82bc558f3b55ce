"""What a fit leaves over: its corrected information criterion, and whether its residuals keep a pattern."""

from math import comb

import numpy as np


def corrected_aic(squares: float, points: int, count: int, weights: np.ndarray | None = None) -> float:
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


def sign_runs(residuals: np.ndarray) -> tuple[int, float]:
    r"""Count runs of residuals of one sign, in the order of the levels, and the probability of no more by chance.

    .. math:: P(2k) = \frac{2\binom{a-1}{k-1}\binom{b-1}{k-1}}{\binom{a+b}{a}}, \qquad
       P(2k+1) = \frac{\binom{a-1}{k}\binom{b-1}{k-1} + \binom{a-1}{k-1}\binom{b-1}{k}}{\binom{a+b}{a}}

    with a of them above 0 and b below (A. Wald, J. Wolfowitz, "On a Test Whether Two Samples are from the Same
    Population", Annals of Mathematical Statistics 11(2), 1940).  A fitted law bends towards its points, so its
    residuals change sign more often than free ones: the probability is too high rather than too low.

    Parameters
    ----------
    residuals : numpy.ndarray, shape (n,)
        What the fit leaves over.  Those that are 0 are left out.

    Returns
    -------
    int, float
        Runs, and the probability, 0 to 1; 1 where all have one sign or none is left.

    Examples
    --------
    >>> runs, probability = sign_runs(np.array([-1, -1, -1, -1, 1, 1, 1, 1]))
    >>> runs, round(probability, 4)  # 2 of the 70 orders of four and four
    (2, 0.0286)
    """
    signs = np.sign(residuals[residuals != 0])
    above, below = int((signs > 0).sum()), int((signs < 0).sum())
    runs = int((np.diff(signs) != 0).sum()) + (signs.size > 0)
    if not above or not below:
        return runs, 1.0
    ways = sum(_ways(count, above, below) for count in range(2, runs + 1))
    return runs, ways / comb(above + below, above)


def _ways(runs: int, above: int, below: int) -> int:
    k, odd = divmod(runs, 2)
    if not odd:
        return 2 * comb(above - 1, k - 1) * comb(below - 1, k - 1)
    return comb(above - 1, k) * comb(below - 1, k - 1) + comb(above - 1, k - 1) * comb(below - 1, k)
