"""Weighted least squares of any law, with intervals, diagnostics and warnings."""

from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.fit import Fit
from loadcurve.models.scaling.diagnostics import corrected_aic, warnings_of_fit
from loadcurve.models.scaling.finite_source import FINITE_SOURCE
from loadcurve.models.scaling.intervals import PROFILED, Profile, sum_limit
from loadcurve.models.scaling.law import NO_SCATTER, Law
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.saturating import ROOFLINE, SATURATING
from loadcurve.models.scaling.usl import AMDAHL, FREE_USL, LINEAR, USL
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate

LAWS = {law.name: law for law in (LINEAR, AMDAHL, USL, FREE_USL, ROOFLINE, SATURATING, FINITE_SOURCE)}
"""Every law that can be fitted, by its name."""

WEIGHTS = ("relative", "equal")
"""Weights that a fit makes by itself: one over the square of the fitted throughput, and all alike."""

# Burnham, Anderson 2002, section 2.6: a model whose criterion is higher by more than 10 has essentially no support;
# of two with as many parameters that is n ln(S/S').  min(γN, C) has no more of them than the laws it is compared with.
_NO_SUPPORT = 10.0
# The weight of a point has no unit of its own: only ratios of weights matter.
Weights = ArrayLike | Literal["relative", "equal"]


def fit_law(
    law: Law, connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    """Fit any law of `LAWS` by weighted least squares in X; arguments and errors as for `fit_usl`.

    Returns
    -------
    Fit
        Intervals of the parameters are t intervals with n − p degrees of freedom from the Jacobian; of the Universal
        Scalability Law and Amdahl's with a parameter at its bound they are profile intervals.  A parameter at its bound
        is counted in p, because the fit could have moved it.

    Examples
    --------
    >>> fit = fit_law(LAWS["roofline"], [1, 2, 4, 8, 16], [10, 20, 40, 55, 55])
    >>> {name: round(estimate.value, 1) for name, estimate in fit.parameters.items()}
    {'unit_throughput_rps': 10.0, 'capacity_rps': 55.0}
    """
    count = len(law.parameters)
    weighting, given = _weights(weights)
    number, throughput, weight, warnings = known_points(connections, throughput_rps, given, count)
    if weighting == "relative":
        weight = law.relative_weights(number, throughput)
    values = law.solve(number, throughput[None], weight)[0]
    fitted, slopes = law.function(number, *values), law.gradient(number, *values)
    squares, degrees = float((throughput - fitted) ** 2 @ weight), number.size - count
    residual_sd = np.sqrt(squares / degrees) if degrees else np.nan
    if degrees == 0:
        warnings.append(f"{count} points for {count} parameters: no interval")
    inverse = free_inverse(law, number, throughput, weight, values)
    covariance = residual_sd**2 * inverse
    free = law.free(number, throughput, values)
    half = _half_widths(covariance, degrees, level)
    idle = [i for i in free if not slopes[:, i].any()]
    half[idle] = np.nan
    warnings += [
        f"{law.parameters[i]} does not affect the fit at these levels; its value is the start of the search"
        for i in idle
    ]
    has_scatter = squares > NO_SCATTER * (throughput**2 @ weight)
    limit = sum_limit(squares, degrees, level) if degrees and has_scatter else None
    method = f"least squares, {weighting} weights"
    parameters = _estimates(law, (number, throughput, weight), values, half, free, limit, level, method)
    leverage = weight * np.einsum("ij,jk,ik->i", slopes, inverse, slopes)
    r_squared = _r_squared(throughput, weight, squares)
    warnings += warnings_of_fit(number, throughput, fitted, leverage, r_squared, parameters)
    if law in (AMDAHL, USL) and has_scatter:
        warnings += _sharp_plateau(number, throughput, weight, squares)
    return Fit(
        law=law.name,
        parameters=parameters,
        covariance=covariance,
        residual_sd=float(residual_sd),
        r_squared=r_squared,
        corrected_aic=corrected_aic(squares, number.size, count, weight),
        points=number.size,
        degrees_of_freedom=degrees,
        level=level,
        warnings=tuple(warnings),
        connections=number,
        throughput_rps=throughput,
        weights=weight,
        weighting=weighting,
        function=law.function,
        gradient=law.gradient,
        solve=law.solve,
    )


def _half_widths(covariance: Array, degrees: int, level: float) -> Array:
    """Half of the t interval of each parameter; NaN without a degree of freedom."""
    quantile = scipy.special.stdtrit(degrees, (1 + level) / 2) if degrees else np.nan
    widths: Array = quantile * np.sqrt(np.diag(covariance))
    return widths


def _r_squared(throughput: Array, weight: Array, squares: float) -> float:
    """Share of the weighted variation that the fit explains; NaN if all values are equal."""
    mean = throughput @ weight / weight.sum()
    spread = float((throughput - mean) ** 2 @ weight)
    return 1 - squares / spread if np.ptp(throughput) else np.nan


def _estimates(
    law: Law,
    points: tuple[Array, Array, Array],
    values: Array,
    half: Array,
    free: list[int],
    limit: float | None,
    level: float,
    method: str,
) -> dict[str, Estimate]:
    """Parameters with t intervals of half the width `half`; profiles up to a sum of squares replace them at a bound."""
    estimates = {}
    for i, name in enumerate(law.parameters):
        ends, how = (values[i] - half[i], values[i] + half[i]), "t interval"
        if name not in PROFILED:  # a capacity, a time or a sharpness: clip to its valid range
            ends = np.clip(ends, 0.0, law.upper_bound(name))
        if len(free) < len(values) and name in PROFILED and name in law.bounds and limit is not None:
            # A t interval would take the bound for known.
            ends, how = Profile(name, *points, len(values)).interval(values[i], limit), "profile"
        elif i not in free:
            ends = (0.0, np.nan) if values[i] == 0 else (np.nan, law.upper_bound(name))
        how += ", at its bound" * (i not in free)
        estimates[name] = Estimate(values[i], *ends, level, f"{method}, {how}")
    return estimates


def _sharp_plateau(number: Array, throughput: Array, weight: Array, squares: float) -> list[str]:
    """Warn where min(γN, C) fits far better than a law with this sum of squares."""
    sharp = ROOFLINE.squares(number, throughput[None], weight, ROOFLINE.solve(number, throughput[None], weight))[0]
    if sharp < squares * np.exp(-_NO_SUPPORT / number.size):
        return [
            f"min(γN, C) leaves {sharp / squares:.0%} of this law's sum of squares: the plateau begins sharply, so "
            "compare the laws with run_tournament"
        ]
    return []


def _weights(weights: Weights) -> tuple[str, ArrayLike | None]:
    """What the weights are called, and the array that was given."""
    if not isinstance(weights, str):
        return "given", weights
    if weights not in WEIGHTS:
        raise ValueRuleError("weights", f"one of {', '.join(WEIGHTS)}, or an array", weights)
    return weights, None


def free_inverse(law: Law, number: Array, throughput: Array, weight: Array, values: Array) -> Array:
    """(JᵀJ)⁻¹ of the weighted Jacobian (p, p); rows and columns of parameters at a bound are 0."""
    free = law.free(number, throughput, values)
    slope = law.gradient(number, *values)[:, free] * np.sqrt(weight)[:, None]
    # Columns scaled to one length: they may differ by ten orders of magnitude.
    scale = np.linalg.norm(slope, axis=0)
    scale[scale == 0] = 1.0
    scaled = slope / scale
    inverse = np.zeros((len(values), len(values)))
    inverse[np.ix_(free, free)] = np.linalg.pinv(scaled.T @ scaled) / np.outer(scale, scale)
    return inverse


def fit_usl(
    connections: ArrayLike, throughput_rps: ArrayLike, level: float = 0.95, weights: Weights = "relative"
) -> Fit:
    r"""Fit the Universal Scalability Law by weighted least squares in X, with γ > 0, 0 <= α <= 1 and β >= 0.

    Pass one point for each level of connections: the mean over its repeats, as `summarise_points` gives it.  This
    function averages nothing.  Repeats of a level are not independent points of the curve: they share what makes the
    law miss at that level, so counting each of them would narrow the intervals by a misfit that repeats cannot
    average away.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, > 0, each once, n >= 3.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.  A point without a value (NaN) is left out, with a warning.
    level : float
        Confidence level, 0 < level < 1.
    weights : {"relative", "equal"} or array_like, shape (n,)
        How much each point counts.  ``relative``: 1 / X̂², one over the square of the
        fitted throughput, as throughput mostly scatters in proportion.  ``equal``:
        all alike, as most published fits were made; where throughput scatters in proportion, their intervals hold the
        true value too rarely.  An array, > 0: one over the variance of each mean, in any unit, as `summarise_points`
        gives it from repeats.

    Returns
    -------
    Fit
        Parameters ``unit_throughput_rps`` γ, ``contention`` α, ``coherency`` β.  Intervals are symmetric t intervals
        with n − 3 degrees of freedom from the Jacobian; an end below 0 says that the data do not exclude 0.  A
        parameter that the data push against its bound takes that value exactly, with the interval from there to where
        the profiled sum of squares exceeds the F limit.  Where the data do not bound γ (every level far past the
        peak), it is set to a ceiling, a thousand times the highest throughput, and its interval has no upper end.

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
    >>> users, jobs_per_hour = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    >>> fit = fit_usl(users, jobs_per_hour, weights="equal")  # SPEC SDM91, as R's usl fits it
    >>> print(fit.parameters["contention"])
    0.02773 [0.002402, 0.05305]
    """
    return fit_law(USL, connections, throughput_rps, level, weights)
