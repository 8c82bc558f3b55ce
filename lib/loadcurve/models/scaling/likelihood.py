r"""Intervals by the profile of the sum of squares: all values of a quantity at which the law still fits well enough.

A value q belongs to the interval when the least sum of squares with the quantity held at q stays within

.. math:: S(q) \le S_\text{min}\left(1 + \frac{F_{1,\,n-p}}{n-p}\right)

G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapter 5.  Unlike the t interval it need not be symmetric, it
never leaves the law's range, and it may be open: then these data do not bound the quantity.
"""

from collections.abc import Callable

import numpy as np
from scipy import optimize, stats

from loadcurve.errors import ValueRuleError
from loadcurve.models.fit import Fit
from loadcurve.models.scaling.usl import usl_limit_rps, usl_peak_connections
from loadcurve.stats.estimate import Estimate

# Quantity → the law's parameters from it and the two that stay free, and those two from the parameters.
_HELD: dict[str, tuple[Callable, Callable]] = {
    "unit_throughput_rps": (lambda q, a, b: (q, a, b), lambda unit, alpha, beta: (alpha, beta)),
    "contention": (lambda q, unit, b: (unit, q, b), lambda unit, alpha, beta: (unit, beta)),
    "coherency": (lambda q, unit, a: (unit, a, q), lambda unit, alpha, beta: (unit, alpha)),
    "peak": (lambda q, unit, a: (unit, a, max(1 - a, 0.0) / q**2), lambda unit, alpha, beta: (unit, alpha)),
    "limit_rps": (lambda q, unit, b: (unit, unit / q, b), lambda unit, alpha, beta: (unit, beta)),
}
QUANTITIES = tuple(_HELD)
"""What a profile can be drawn of."""

# A quantity a million times its fitted value is one that the data do not bound.
_FAR = 1e6
_DIGITS = 1e-6
# Part of the sum of squares of the throughput that rounding alone leaves.
_NO_SCATTER = 1e-20
# Evaluations after which a search that still runs is one along a bound; others need about thirty.
_EVALUATIONS = 100


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
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> print(find_profile(fit, "peak"))
    96.52 [77.86, 156.7]
    """
    _check(fit, quantity)
    best = fit.values()
    value = {
        "peak": float(usl_peak_connections(*best[1:])), "limit_rps": float(usl_limit_rps(*best[:2])),
        **dict(zip(fit.parameters, best, strict=True)),
    }[quantity]  # fmt: skip
    limit, profile = _limit(fit), _Profile(fit, quantity, best)
    if limit <= _NO_SCATTER * (fit.throughput_rps**2 @ fit.weights):
        alike = (*fit.warnings, "the law goes through every point: no scatter was measured, the interval has no width")
        return Estimate(value, value, value, fit.level, "least squares, profile", alike)
    if not np.isfinite(value):
        lo, hi = (
            profile.end(profile.begin, limit, -1) if profile(profile.begin) <= limit else profile.rise(limit),
            np.inf,
        )
    elif value > 0:
        lo, hi = (profile.end(value, limit, side) for side in (-1, +1))
    else:
        lo, hi = 0.0, profile.end(profile.fall(limit), limit, +1)
    return Estimate(value, min(lo, value), max(hi, value), fit.level, "least squares, profile", fit.warnings)


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
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> profile_holds(fit, "peak", 78), profile_holds(fit, "peak", 77)
    (True, False)
    """
    _check(fit, quantity)
    if not 0 < value < np.inf:
        raise ValueRuleError("value", "> 0 and finite", value)
    return bool(_Profile(fit, quantity, fit.values())(value) <= _limit(fit))


def _check(fit: Fit, quantity: str) -> None:
    if fit.law != "usl":
        raise ValueRuleError("fit", "of the law usl", fit.law)
    if quantity not in _HELD:
        raise ValueRuleError("quantity", f"one of {', '.join(QUANTITIES)}", quantity)
    if fit.degrees_of_freedom < 1:
        raise ValueRuleError("points", "> 3 (a profile needs a residual)", fit.points)


def _limit(fit: Fit) -> float:
    """Sum of squares up to which a value belongs to the interval."""
    least = float(((fit.throughput_rps - fit.predict(fit.connections)) ** 2) @ fit.weights)
    return least * (1 + stats.f.ppf(fit.level, 1, fit.degrees_of_freedom) / fit.degrees_of_freedom)


class _Profile:
    """Least sum of squares with one quantity held, as a function of it."""

    def __init__(self, fit: Fit, quantity: str, best: list[float]) -> None:
        self._fit = fit
        self._whole, part = _HELD[quantity]
        start = np.array(part(*best), float)
        # One that stands at 0 begins where it hardly counts: from 0 itself no step of a square root leads away.
        self._scale = np.where(start > 0, start, 1e-3 / fit.connections[-1] ** 2)
        self.begin = {"peak": 4 * fit.connections[-1], "limit_rps": 4 * fit.throughput_rps.max()}.get(
            quantity, 1e-3 / fit.connections[-1]
        )

    def __call__(self, value: float) -> float:
        fit, root = self._fit, np.sqrt(self._fit.weights)

        def residuals(free: np.ndarray) -> np.ndarray:
            return (fit.function(fit.connections, *self._whole(value, *free)) - fit.throughput_rps) * root

        # MINPACK, with squares that keep the free parameters >= 0: six times as fast as a search with bounds, which
        # takes over where it ends at a bound and so does not end.
        found = optimize.leastsq(
            lambda u: residuals(u**2 * self._scale), np.ones(self._scale.size),
            ftol=1e-12, xtol=1e-10, maxfev=_EVALUATIONS, full_output=True,
        )  # fmt: skip
        if found[-1] in (1, 2, 3, 4):
            return float(np.sum(found[2]["fvec"] ** 2))
        start = self._scale * found[0] ** 2
        return 2 * float(
            optimize.least_squares(
                residuals, start, bounds=(0, np.inf), x_scale=self._scale, xtol=1e-12, ftol=1e-12
            ).cost
        )

    def end(self, middle: float, limit: float, side: int) -> float:
        """Where the profile crosses the limit on one side of a value inside; 0 or infinite where it never does."""
        inside, step = middle, 1.25
        while True:
            outside = inside * step**side
            if not middle / _FAR < outside < middle * _FAR:
                return 0.0 if side < 0 else np.inf
            if self(outside) > limit:
                break
            inside, step = outside, min(step**1.5, 10.0)
        log = optimize.brentq(lambda z: self(np.exp(z)) - limit, *sorted(np.log([inside, outside])), xtol=_DIGITS)
        return float(np.exp(log))

    def fall(self, limit: float) -> float:
        """A value within the limit, on the way down to a best one of 0."""
        inside = self.begin
        while self(inside) > limit and inside > self.begin / _FAR:
            inside /= 4
        return inside

    def rise(self, limit: float) -> float:
        """The least value within the limit, from one that lies below it."""
        outside = self.begin
        while (inside := outside * 2) < self.begin * _FAR:
            if self(inside) <= limit:
                return float(
                    np.exp(optimize.brentq(lambda z: self(np.exp(z)) - limit, *np.log([outside, inside]), xtol=_DIGITS))
                )
            outside = inside
        return np.inf
