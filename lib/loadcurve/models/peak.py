r"""What a fitted scalability law promises: its peak, the throughput there, and the limit of contention.

Intervals by the delta method: for a quantity q of the parameters, :math:`q \pm t_{n-p}\sqrt{g^T C g}` with its gradient
g and the covariance C (G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapter 5).  It is linear: where an
interval is as wide as its value, take its ends as an order of magnitude.
"""

import numpy as np

from loadcurve.errors import ValueRuleError
from loadcurve.models.fit import Fit
from loadcurve.models.scaling import usl_limit_rps, usl_peak_connections
from loadcurve.stats.estimate import Estimate

_DELTA = "least squares, delta method"


def find_peak(fit: Fit) -> Estimate:
    """Connections at which a fitted USL is highest: N = sqrt((1 − α) / β), Gunther 2007, eq. (4.33).

    Parameters
    ----------
    fit : Fit
        From `fit_usl`.

    Returns
    -------
    Estimate
        In connections.  Where coherency is at its bound 0 there is no finite peak: the value is infinite, with a
        warning, and the lower end is the earliest peak that the intervals of α and β allow.  NaN where α > 1.

    Raises
    ------
    ValueRuleError
        When the fit is of another law.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> print(find_peak(fit))
    96.52 [71.57, 121.5]
    """
    alpha, beta = _usl_parameters(fit)[1:]
    warnings = list(fit.warnings)
    if beta.value == 0:
        with np.errstate(divide="ignore"):
            earliest = np.sqrt(np.divide(max(1 - alpha.hi, 0.0), beta.hi))
        warnings.append("no finite peak: the fitted throughput never falls")
        return Estimate(np.inf, earliest, np.inf, fit.level, "corner of the intervals of α and β", _once(warnings))
    if alpha.value > 1:
        warnings.append(f"contention {alpha.value:.3g} is above 1: throughput falls from the first connection on")
        return Estimate(np.nan, np.nan, np.nan, fit.level, _DELTA, _once(warnings))
    if beta.lo <= 0:
        warnings.append(
            f"the interval of coherency reaches down to {beta.lo:.2g}: these data do not exclude an endless rise"
        )
    peak = float(usl_peak_connections(alpha.value, beta.value))  # eq. (4.33)
    return _delta(fit, peak, [0.0, -1 / (2 * beta.value * peak), -peak / (2 * beta.value)], warnings)


def find_peak_throughput(fit: Fit) -> Estimate:
    """Highest throughput of a fitted USL: X at the peak.

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
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> round(find_peak_throughput(fit).value)
    1884
    """
    peak = find_peak(fit)
    if np.isinf(peak.value):
        return find_limit(fit)
    if np.isnan(peak.value):
        return Estimate(np.nan, np.nan, np.nan, fit.level, _DELTA, peak.warnings)
    # dX/dN = 0 at the peak, so its own shift with the parameters adds nothing to the gradient.
    slope = fit.gradient(np.array([peak.value]), *fit.values())[0]
    return _delta(fit, float(fit.predict(peak.value)), slope, peak.warnings)


def find_limit(fit: Fit) -> Estimate:
    """Throughput γ / α that contention alone would allow with endless connections.

    Parameters
    ----------
    fit : Fit
        From `fit_usl`.

    Returns
    -------
    Estimate
        In requests per second.  Where contention is at its bound 0 it is infinite, with a warning, and the lower end is
        the least limit that the intervals of γ and α allow.

    Raises
    ------
    ValueRuleError
        When the fit is of another law.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> round(find_limit(fit).value)
    3246
    """
    unit, alpha, _ = _usl_parameters(fit)
    if alpha.value == 0:
        with np.errstate(divide="ignore"):
            least = np.divide(unit.lo, alpha.hi)
        warnings = (*fit.warnings, "no finite limit: nothing in the fit is serial")
        return Estimate(np.inf, least, np.inf, fit.level, "corner of the intervals of γ and α", _once(warnings))
    warnings = list(fit.warnings)
    if alpha.lo <= 0:
        warnings.append(
            f"the interval of contention reaches down to {alpha.lo:.2g}: these data do not exclude a limit without end"
        )
    limit = float(usl_limit_rps(unit.value, alpha.value))
    return _delta(fit, limit, [1 / alpha.value, -limit / alpha.value, 0.0], warnings)


def _usl_parameters(fit):
    if fit.law != "usl":
        raise ValueRuleError("fit", "of the law usl", fit.law)
    return list(fit.parameters.values())


def _delta(fit, value, slope, warnings):
    half = fit.quantile() * np.sqrt(np.asarray(slope) @ fit.covariance @ np.asarray(slope))
    return Estimate(value, value - half, value + half, fit.level, _DELTA, _once(warnings))


def _once(warnings):
    return tuple(dict.fromkeys(warnings))
