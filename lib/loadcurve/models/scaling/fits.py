"""Fits of the laws: least squares, with intervals, what the fit left over, and what weakens it."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from loadcurve.models.fit import Fit
from loadcurve.models.scaling.finite_source import FINITE_SOURCE
from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.profile import profile_end
from loadcurve.models.scaling.residuals import corrected_aic
from loadcurve.models.scaling.roofline import ROOFLINE
from loadcurve.models.scaling.saturating import SATURATING
from loadcurve.models.scaling.usl import AMDAHL, FREE_USL, LINEAR, USL
from loadcurve.models.scaling.weakness import weaknesses
from loadcurve.stats.estimate import Estimate

LAWS = {law.name: law for law in (LINEAR, AMDAHL, USL, FREE_USL, ROOFLINE, SATURATING, FINITE_SOURCE)}
"""Every law that can be fitted, by its name."""


def fit_law(
    law: Law, connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit any law of `LAWS` by weighted least squares in X; arguments and errors as for `fit_usl`.

    Returns
    -------
    Fit
        Intervals of the parameters are t intervals with n − p degrees of freedom from the Jacobian.  A parameter at its
        bound counts among the p, as the data had the chance to move it.

    Examples
    --------
    >>> fit = fit_law(LAWS["roofline"], [1, 2, 4, 8, 16], [10, 20, 40, 55, 55])
    >>> {name: round(estimate.value, 1) for name, estimate in fit.parameters.items()}
    {'unit_throughput_rps': 10.0, 'capacity_rps': 55.0}
    """
    count = len(law.parameters)
    number, throughput, weight, warnings = known_points(connections, throughput_rps, weights, count)
    values = law.solve(number, throughput[None], weight)[0]
    fitted, degrees = law.function(number, *values), number.size - count
    squares = float((throughput - fitted) ** 2 @ weight)
    residual_sd = np.sqrt(squares / degrees) if degrees else np.nan
    if degrees == 0:
        warnings.append(f"{count} points for {count} parameters: no interval")
    free = [i for i, name in enumerate(law.parameters) if values[i] != law.bounds.get(name, np.nan)]
    slope = law.gradient(number, *values)[:, free] * np.sqrt(weight)[:, None]
    covariance = np.zeros((count, count))
    covariance[np.ix_(free, free)] = residual_sd**2 * _inverse(slope)
    half = stats.t.ppf((1 + level) / 2, degrees) * np.sqrt(np.diag(covariance)) if degrees else np.full(count, np.nan)
    for i, column in zip(free, slope.T, strict=True):
        if not column.any():
            half[i] = np.nan
            warnings.append(
                f"{law.parameters[i]} has no influence at these levels: its value is where the search began"
            )

    parameters = {}
    for i, name in enumerate(law.parameters):
        ends, method = (values[i] - half[i], values[i] + half[i]), "t interval"
        if i not in free:
            ends, method = profile_end(law, i, number, throughput, weight, values, squares, level), "at its bound"
        parameters[name] = Estimate(values[i], *ends, level, f"least squares, {method}")
    mean = throughput @ weight / weight.sum()
    spread = float((throughput - mean) ** 2 @ weight)
    r_squared = 1 - squares / spread if np.ptp(throughput) else np.nan
    warnings += weaknesses(number, throughput, fitted, r_squared, parameters)
    return Fit(
        law=law.name,
        parameters=parameters,
        covariance=covariance,
        residual_sd=float(residual_sd),
        r_squared=r_squared,
        corrected_aic=corrected_aic(squares, number.size, count),
        points=number.size,
        degrees_of_freedom=degrees,
        level=level,
        warnings=tuple(warnings),
        connections=number,
        throughput_rps=throughput,
        weights=weight,
        function=law.function,
        gradient=law.gradient,
        solve=law.solve,
    )


def _inverse(slope: np.ndarray) -> np.ndarray:
    """(JᵀJ)⁻¹, with the columns of J scaled to one length: they may differ by ten orders of magnitude."""
    scale = np.linalg.norm(slope, axis=0)
    scale[scale == 0] = 1.0
    scaled = slope / scale
    return np.linalg.pinv(scaled.T @ scaled) / np.outer(scale, scale)


def fit_usl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    r"""Fit the Universal Scalability Law: γ, α and β by least squares in X, with α >= 0 and β >= 0.

    Pass one point for each level of connections: the mean over its repeats, as `summarise_points` gives it.  This
    function averages nothing.  Repeats of a level are not independent points of the curve: they share whatever makes
    the law miss at that level, so counting each of them would narrow the intervals by a misfit that repeats cannot
    average away.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, >= 1, each once, n >= 3.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.  A point without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.
    weights : array_like, shape (n,), optional
        How much each point counts, > 0: one over the variance of its mean, in any unit, as `summarise_points` gives
        it.  All the same without it.

    Returns
    -------
    Fit
        Parameters ``unit_throughput_rps`` γ, ``contention`` α, ``coherency`` β.  Intervals are symmetric t intervals
        with n − 3 degrees of freedom from the Jacobian; an end below 0 says that the data do not exclude 0.  A
        parameter at its bound is 0, with the interval from 0 to where the profiled sum of squares exceeds the F limit.

    Raises
    ------
    ValueRuleError
        When the arrays differ in length, a level comes twice, fewer than 3 points have a value, or a value breaks its
        rule.

    Notes
    -----
    .. math:: C = s^2 (J^T J)^{-1}, \qquad s^2 = \frac{\sum (X_i - \hat X_i)^2}{n - 3}

    G. A. F. Seber, C. J. Wild, "Nonlinear Regression", 1989, chapters 2 and 5.  R's ``usl`` takes a one-sided quantile
    with n − 1 degrees of freedom in `confint`; its intervals are too narrow.

    Examples
    --------
    >>> fit = fit_usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    >>> print(fit.parameters["contention"])
    0.02773 [0.002402, 0.05305]
    """
    return fit_law(USL, connections, throughput_rps, level, weights)


def fit_amdahl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit Amdahl's law, the Universal Scalability Law without coherency; arguments as for `fit_usl`."""
    return fit_law(AMDAHL, connections, throughput_rps, level, weights)


def fit_linear(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit X = γ N, the law of a system that shares nothing; arguments as for `fit_usl`."""
    return fit_law(LINEAR, connections, throughput_rps, level, weights)


def fit_free_usl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit the Universal Scalability Law with the signs of α and β free, as a super-linear start needs.

    Arguments as for `fit_usl`.  Beyond the data it may rise without end or have a pole: it describes, and predicts
    nothing.
    """
    return fit_law(FREE_USL, connections, throughput_rps, level, weights)


def fit_roofline(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit min(γ N, C); arguments as for `fit_usl`.  C is infinite where the data only rise in proportion."""
    return fit_law(ROOFLINE, connections, throughput_rps, level, weights)


def fit_saturating(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit a smooth way from the slope γ to the capacity C with a sharpness k; arguments as for `fit_usl`."""
    return fit_law(SATURATING, connections, throughput_rps, level, weights)


def fit_finite_source(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: ArrayLike | None = None
) -> Fit:
    """Fit a closed system of one queue (demand D) behind a delay Z; arguments as for `fit_usl`, N whole numbers."""
    return fit_law(FINITE_SOURCE, connections, throughput_rps, level, weights)
