"""`Fit`, what every `fit_*` returns: a law's parameters with intervals, the data, and warnings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve import tables
from loadcurve.blocks import Grid, Items, to_display
from loadcurve.stats.arrays import Array, above_0
from loadcurve.stats.estimate import Estimate
from loadcurve.units import format_quantity, unit_of_column


@dataclass(frozen=True, eq=False)
class Fit:
    """A law fitted by least squares.

    Attributes
    ----------
    law : str
        Name of the law, such as ``usl``.
    parameters : dict of str to Estimate
        In the order in which the law takes them.
    covariance : numpy.ndarray, shape (p, p)
        Of the parameters in that order.  Row and column of a parameter at its bound are 0: it is held there.
    residual_sd : float
        Standard deviation of the residuals on `degrees_of_freedom`, of a point with the weight 1, in requests per
        second; NaN without any.
    r_squared : float
        Share of the variance of the throughput, each point with its weight, that the fit explains, at most 1.
    corrected_aic : float
        Corrected information criterion, to compare laws on the same points; lower is better.
    points, degrees_of_freedom : int
        Points n, and n − p, where a parameter at its bound counts too: the data had the chance to move it.
    level : float
        Confidence level of the intervals.
    warnings : tuple of str
        What weakens the fit, one sentence each.
    connections, throughput_rps : numpy.ndarray, shape (n,)
        The points the fit used, sorted by connections.
    weights : numpy.ndarray, shape (n,)
        How much each counted; their mean is 1.
    weighting : str
        ``relative`` (1 / X̂²), ``equal``, or ``given`` with the call.
    function, gradient, solve : callable
        The law ``(connections, *parameters) -> X``, shape (m,); its derivatives by the parameters, shape (m, p); and
        its least squares, as `Law` describes them.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> fit = fit_usl([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557])
    >>> print(fit.predict([3, 12]).round(2))
    [2.59 3.11]
    """

    law: str
    parameters: dict[str, Estimate]
    covariance: Array
    residual_sd: float
    r_squared: float
    corrected_aic: float
    points: int
    degrees_of_freedom: int
    level: float
    warnings: tuple[str, ...]
    connections: Array
    throughput_rps: Array
    weights: Array
    weighting: str
    function: Callable[..., Array] = field(repr=False)
    gradient: Callable[..., Array] = field(repr=False)
    solve: Callable[[Array, Array, Array], Array] = field(repr=False)

    def __str__(self) -> str:
        """Law and weights, a line for each parameter, and the warnings."""
        head = f"{self.law}, least squares with {self.weighting} weights, {self.points} points"
        own = [f"  {name} {estimate}" for name, estimate in self.parameters.items()]
        return "\n".join([head, *own, *(f"  warning: {sentence}" for sentence in self.warnings)])

    def _repr_html_(self) -> str:
        head = f"{self.law}, least squares with {self.weighting} weights, {self.points} points, R² {self.r_squared:.4f}"
        rows = [
            [name, *(format_quantity(number, unit_of_column(name)) for number in (e.value, e.lo, e.hi))]
            for name, e in self.parameters.items()
        ]
        level = f"{self.level:.0%}".replace("%", " %")
        headings = ["parameter", "value", f"{level} interval from", "to"]
        return to_display([Grid(headings, rows, head, left=1), Items("Weak points", self.warnings)])

    def values(self) -> list[float]:
        """Return the parameters' values in the law's order."""
        return [estimate.value for estimate in self.parameters.values()]

    def predict(self, connections: ArrayLike) -> Array:
        """Return the throughput [requests/s] that the fitted law gives at `connections`, > 0."""
        return self.function(above_0("connections", connections), *self.values())

    @cached_property
    def leave_one_out(self) -> Array:
        """Relative error X̂/X − 1 at each level, by the law fitted to the other levels; NaN with too few of them."""
        errors = np.full(self.points, np.nan)
        if self.points <= len(self.parameters):
            return errors
        for i in range(self.points):
            rest = np.arange(self.points) != i
            values = self.solve(self.connections[rest], self.throughput_rps[None, rest], self.weights[rest])[0]
            with np.errstate(all="ignore"):
                errors[i] = self.function(self.connections[i : i + 1], *values)[0] / self.throughput_rps[i] - 1
        return errors

    def residuals(self) -> pd.DataFrame:
        """Return what the fit leaves over, sorted by connections.

        Returns
        -------
        pandas.DataFrame
            ``connections, throughput_rps, fitted_rps``, ``residual_rps`` (throughput − fitted), ``miss_ratio``
            (fitted / throughput − 1) and ``leave_one_out`` (the same, from a fit without that level).
        """
        fitted = self.predict(self.connections)
        return pd.DataFrame(
            {
                "connections": self.connections,
                "throughput_rps": self.throughput_rps,
                "fitted_rps": fitted,
                "residual_rps": self.throughput_rps - fitted,
                "miss_ratio": fitted / self.throughput_rps - 1,
                "leave_one_out": self.leave_one_out,
            }
        )

    def quantile(self) -> float:
        """Two-sided t quantile of `level` on `degrees_of_freedom`; NaN without any."""
        return (
            float(scipy.special.stdtrit(self.degrees_of_freedom, (1 + self.level) / 2))
            if self.degrees_of_freedom
            else np.nan
        )

    def band(self, connections: ArrayLike, *, prediction: bool = False) -> pd.DataFrame:
        r"""Fitted throughput with its pointwise band.

        .. math:: \hat X \pm t_{n-p}\sqrt{g^T C g \; [+\, s^2]}

        with the law's gradient g at N, the covariance C and the residual standard deviation s (G. A. F. Seber,
        C. J. Wild, "Nonlinear Regression", 1989, chapter 5).

        Parameters
        ----------
        connections : array_like, shape (m,)
            Connections N, > 0.
        prediction : bool
            False: the band of the mean, where the law runs.  True: where one further point would fall (the term s²).
            With relative weights its scatter is in proportion to the law there; with given ones it is that of a point
            of weight 1, which counts as much as the levels do on average.

        Returns
        -------
        pandas.DataFrame
            ``connections, throughput_rps, lo, hi``, in requests per second.  The band says nothing about a law that
            does not fit.
        """
        at = np.atleast_1d(above_0("connections", connections))
        slope = self.gradient(at, *self.values())
        middle = self.predict(at)
        variance = np.einsum("ij,jk,ik->i", slope, self.covariance, slope)
        if prediction:
            fitted = self.predict(self.connections)
            one = middle**2 / np.mean(self.weights * fitted**2) if self.weighting == "relative" else 1.0
            variance = variance + self.residual_sd**2 * one  # one / weight of a point there
        half = self.quantile() * np.sqrt(variance)
        return pd.DataFrame({"connections": at, "throughput_rps": middle, "lo": middle - half, "hi": middle + half})


def summarise_fit(
    fit: Fit, *, study: str, variant: str | None = None, derived: Mapping[str, Estimate] | None = None
) -> pd.DataFrame:
    """Return a fit as rows of the table ``fits``, one for each parameter and derived quantity.

    Parameters
    ----------
    fit : Fit
        Any fit.
    study : str
        Study the data come from.
    variant : str, optional
        Variant of the system under test; missing where the study has none.
    derived : mapping of str to Estimate, optional
        Further rows, such as ``{"peak": find_peak(fit)}``.

    Returns
    -------
    pandas.DataFrame
        The table ``fits``.  ``warnings`` holds those of the fit and then those of the row's own estimate.

    Examples
    --------
    >>> from loadcurve.models.scaling import fit_usl
    >>> fit = fit_usl([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557])
    >>> summarise_fit(fit, study="synthetic")[["law", "parameter", "value"]].round(3).values.tolist()
    [['usl', 'unit_throughput_rps', 1.0], ['usl', 'contention', 0.02], ['usl', 'coherency', 0.02]]
    """
    rows = [
        {
            "study": study,
            "variant": variant,
            "law": fit.law,
            "parameter": name,
            "value": estimate.value,
            "lo": estimate.lo,
            "hi": estimate.hi,
            "level_ratio": estimate.level,
            "method": estimate.method,
            "points": fit.points,
            "r_squared": fit.r_squared,
            "warnings": "; ".join(dict.fromkeys((*fit.warnings, *estimate.warnings))),
        }
        for name, estimate in {**fit.parameters, **(derived or {})}.items()
    ]
    return tables.check("fits", pd.DataFrame(rows))
