r"""Intervals by the profile of the sum of squares: all values of a quantity at which the law still fits well enough.

A value q belongs to the interval when the least sum of squares with the quantity held at q stays within

.. math:: S(q) \le S_\text{min}\left(1 + \frac{F_{1,\,n-p}}{n-p}\right)

G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapter 5.  Unlike the t interval it need not be symmetric, it
never leaves the law's range, and it may be open: then these data do not bound the quantity.
"""

import numpy as np

from loadcurve.errors import ValueRuleError
from loadcurve.models.fit import Fit
from loadcurve.models.scaling.law import NO_SCATTER
from loadcurve.models.scaling.profile import HELD, Profile, sum_limit
from loadcurve.models.scaling.usl import usl_limit_rps, usl_peak_connections
from loadcurve.stats.estimate import Estimate

QUANTITIES = tuple(HELD)
"""What a profile can be drawn of."""


def find_profile(fit: Fit, quantity: str) -> Estimate:
    """Profile-likelihood interval of a parameter of a fitted USL, of its peak, or of its limit.

    Parameters
    ----------
    fit : Fit
        From `fit_usl`, with at least one point more than parameters.
    quantity : str
        One of `QUANTITIES`.

    Returns
    -------
    Estimate
        At the fit's level.  An end is 0 or infinite where the data do not bound the quantity on that side.

    Raises
    ------
    ValueRuleError
        When the fit is of another law, has no degree of freedom, or the quantity is not known.

    Examples
    --------
    >>> from loadcurve.models.scaling.fits import fit_usl
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> print(find_profile(fit, "peak"))
    96.52 [77.86, 156.7]
    """
    _check(fit, quantity)
    best = fit.values()
    value = {
        "peak": float(usl_peak_connections(*best[1:])), "limit_rps": float(usl_limit_rps(*best[:2])),
        **dict(zip(fit.parameters, best, strict=True)),
    }[quantity]  # fmt: skip
    limit, method = _limit(fit), f"least squares, {fit.weighting} weights, profile"
    if limit <= NO_SCATTER * (fit.throughput_rps**2 @ fit.weights) and not np.isnan(value):
        alike = (*fit.warnings, "the law goes through every point: no scatter was measured, the interval has no width")
        return Estimate(value, value, value, fit.level, method, alike)
    return Estimate(value, *_profile(fit, quantity).interval(value, limit), fit.level, method, fit.warnings)


def profile_holds(fit: Fit, quantity: str, value: float) -> bool:
    """Whether a value lies in the profile interval, told without its ends, in a tenth of the time.

    Parameters
    ----------
    fit : Fit
        As for `find_profile`.
    quantity : str
        One of `QUANTITIES`.
    value : float
        A value of the quantity, > 0 and finite.

    Returns
    -------
    bool
        Whether the law fits well enough with the quantity held at `value`.

    Raises
    ------
    ValueRuleError
        As `find_profile`, and when the value breaks its rule.

    Examples
    --------
    >>> from loadcurve.models.scaling.fits import fit_usl
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> profile_holds(fit, "peak", 78), profile_holds(fit, "peak", 77)
    (True, False)
    """
    _check(fit, quantity)
    if not 0 < value < np.inf:
        raise ValueRuleError("value", "> 0 and finite", value)
    return bool(_profile(fit, quantity)(value) <= _limit(fit))


def _check(fit: Fit, quantity: str) -> None:
    if fit.law != "usl":
        raise ValueRuleError("fit", "of the law usl", fit.law)
    if quantity not in HELD:
        raise ValueRuleError("quantity", f"one of {', '.join(QUANTITIES)}", quantity)
    if fit.degrees_of_freedom < 1:
        raise ValueRuleError("points", "> 3 (a profile needs a residual)", fit.points)


def _limit(fit: Fit) -> float:
    """Sum of squares up to which a value belongs to the interval."""
    least = float(((fit.throughput_rps - fit.predict(fit.connections)) ** 2) @ fit.weights)
    return sum_limit(least, fit.degrees_of_freedom, fit.level)


def _profile(fit: Fit, quantity: str) -> Profile:
    return Profile(quantity, fit.connections, fit.throughput_rps, fit.weights)
