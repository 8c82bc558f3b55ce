r"""Peak of a fitted scalability law, the throughput there, and the limit of contention.

Peak and limit are quotients of uncertain numbers, so their intervals reach further up than down, and without end where
the data do not exclude one.  The default is therefore the profile interval (`find_profile`).  The delta method is
linear, :math:`q \pm t_{n-p}\sqrt{g^T C g}` with the gradient g of the quantity and the covariance C (G. A. F. Seber,
C. J. Wild, "Nonlinear Regression", 1989, chapter 5): its interval of a peak beyond the levels holds the true value too
rarely.
"""

import numpy as np

from loadcurve.errors import ValueRuleError
from loadcurve.models.fit import Fit
from loadcurve.models.scaling.intervals import find_profile
from loadcurve.models.scaling.usl import usl_limit_rps, usl_peak_connections
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate

INTERVALS = ("profile", "delta")


def find_peak(fit: Fit, interval: str = "profile") -> Estimate:
    """Connections at which a fitted USL is highest: N = sqrt((1 − α) / β), Gunther 2007, eq. (4.33).

    Parameters
    ----------
    fit : Fit
        From `fit_usl`.
    interval : str
        ``profile`` or ``delta``, as this module describes them.

    Returns
    -------
    Estimate
        In connections, at least the first level: a law that is highest below it gives the first level, with a warning.
        Infinite with a warning where the law never falls.  Beyond the last level it is extrapolated, with a warning.
        An end is NaN where the fit has no degree of freedom.

    Raises
    ------
    ValueRuleError
        When the fit is of another law, or `interval` is not known.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> print(find_peak(fit))
    96.52 [77.86, 156.7]
    """
    _, alpha, beta = _usl_values(fit)
    peak = float(usl_peak_connections(alpha, beta))  # eq. (4.33)
    slope = [0.0, -1 / (2 * beta * peak), -peak / (2 * beta)] if 0 < peak < np.inf else None
    found = _with_interval(fit, "peak", peak, slope, interval)
    first, warnings = float(fit.connections[0]), list(found.warnings)
    if np.isnan(peak):
        warnings.append(f"the fitted throughput is the same at every load: the first level, N = {first:g}, is as good")
    elif np.isinf(peak):
        warnings.append("no finite peak: the fitted throughput never falls")
    elif peak < first:
        warnings.append(
            f"the law is highest at N = {peak:.3g}, below every level: the peak is given as the first level, "
            f"N = {first:g}"
        )
    if interval == "delta" and fit.connections[-1] < peak < np.inf:
        warnings.append("by the delta method, the interval of a peak beyond the levels is too narrow: use the profile")
    if np.isinf(found.hi) and not np.isinf(peak):
        warnings.append("the interval of the peak has no upper end: these data do not exclude an endless rise")
    value, lo, hi = np.fmax(peak, first), np.maximum(found.lo, first), np.maximum(found.hi, first)
    return Estimate(value, lo, hi, fit.level, found.method, tuple(warnings))


def find_peak_throughput(fit: Fit) -> Estimate:
    """Highest throughput of a fitted USL: X at the peak, with its interval by the delta method.

    Parameters
    ----------
    fit : Fit
        From `fit_usl`.

    Returns
    -------
    Estimate
        In requests per second.  Without a finite peak it is the limit γ / α, which is only approached.

    Raises
    ------
    ValueRuleError
        When the fit is of another law.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> round(find_peak_throughput(fit).value)
    1884
    """
    peak = find_peak(fit)
    if np.isinf(peak.value):
        return find_limit(fit)
    # dX/dN = 0 at the peak, so its own shift with the parameters adds nothing to the gradient; at the first level the
    # peak does not shift.
    slope = fit.gradient(np.array([peak.value]), *fit.values())[0]
    value = float(fit.predict(peak.value))
    if not value > 0:
        no = "the law has no throughput at its peak below one connection: give the loads in whole units"
        return Estimate(
            np.nan, np.nan, np.nan, fit.level, f"least squares, {fit.weighting} weights", (*peak.warnings, no)
        )
    return _delta(fit, value, slope, peak.warnings)


def find_limit(fit: Fit, interval: str = "profile") -> Estimate:
    """Throughput γ / α that contention alone would allow with endless connections.

    Parameters
    ----------
    fit : Fit
        From `fit_usl`.
    interval : str
        ``profile`` or ``delta``, as this module describes them.

    Returns
    -------
    Estimate
        In requests per second; infinite with a warning where contention is at its bound 0.  An end is NaN where the fit
        has no degree of freedom.

    Raises
    ------
    ValueRuleError
        When the fit is of another law, or `interval` is not known.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> round(find_limit(fit).value)
    3246
    """
    unit, alpha, _ = _usl_values(fit)
    limit = float(usl_limit_rps(unit, alpha))
    slope = [1 / alpha, -limit / alpha, 0.0] if alpha else None
    found = _with_interval(fit, "limit_rps", limit, slope, interval)
    warnings = list(found.warnings)
    if np.isinf(limit):
        warnings.append("no finite limit: nothing in the fit is serial")
    elif np.isinf(found.hi):
        warnings.append("the interval of the limit has no upper end: these data do not exclude a limit without end")
    return Estimate(limit, found.lo, found.hi, fit.level, found.method, tuple(warnings))


def _usl_values(fit: Fit) -> list[float]:
    if fit.law != "usl":
        raise ValueRuleError("fit", "of the law usl", fit.law)
    return fit.values()


def _with_interval(fit: Fit, quantity: str, value: float, slope: list[float] | None, interval: str) -> Estimate:
    """The quantity by profile; or by the delta method, where it has a slope in the parameters."""
    if interval not in INTERVALS:
        raise ValueRuleError("interval", f"one of {', '.join(INTERVALS)}", interval)
    if not fit.degrees_of_freedom:
        return Estimate(value, np.nan, np.nan, fit.level, f"least squares, {fit.weighting} weights", fit.warnings)
    if interval == "delta" and slope is not None:
        return _delta(fit, value, slope, fit.warnings)
    return find_profile(fit, quantity)


def _delta(fit: Fit, value: float, slope: list[float] | Array, warnings: tuple[str, ...]) -> Estimate:
    half = fit.quantile() * np.sqrt(np.asarray(slope) @ fit.covariance @ np.asarray(slope))
    method = f"least squares, {fit.weighting} weights, delta method"
    return Estimate(value, value - half, value + half, fit.level, method, tuple(warnings))
