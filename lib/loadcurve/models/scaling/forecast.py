"""How well laws foretell loads that they have not seen: fitted to the lower half of a curve, held against the rest."""

import warnings

import numpy as np
import pandas as pd
from scipy import optimize, stats

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.fits import LAWS, fit_law
from loadcurve.models.scaling.tournament import run_tournament

_LAWS = ("linear", "amdahl", "usl", "roofline", "saturating", "finite_source")
PLAIN = "usl as people write it"
TOURNAMENT = "tournament"


def forecast_curves(curves: pd.DataFrame, level: float = 0.9, seed: int = 0) -> pd.DataFrame:
    """Forecast the upper half of each curve's loads from the lower, by every law, the tournament and a plain fit.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``curve``, ``connections`` (N, >= 1) and ``throughput_rps`` (X, > 0, in any unit); at least 5 levels each.
    level : float
        Of the prediction bands, 0 < level < 1.
    seed : int
        Of the tournaments.

    Returns
    -------
    pandas.DataFrame
        One row for each method and point of an upper half: ``curve, method, connections, throughput_rps,
        predicted_rps, lo, hi, error_ratio`` (predicted / X − 1) and ``inside``; NaN and NA where a method gives no
        number or no band.

    Raises
    ------
    ValueRuleError
        When a curve has fewer than 5 levels.
    """
    rows = []
    for curve, points in curves.groupby("curve", sort=False):
        points = points.sort_values("connections")
        number, throughput = (points[name].to_numpy(float) for name in ("connections", "throughput_rps"))
        seen = (number.size + 1) // 2
        if number.size < 5:
            raise ValueRuleError("levels", f">= 5 in curve {curve}", number.size)
        beyond = number[seen:]
        bands = {name: _of_law(name, number[:seen], throughput[:seen], beyond, level) for name in _LAWS}
        bands[PLAIN] = _plain(number[:seen], throughput[:seen], beyond, level)
        found = run_tournament(number[:seen], throughput[:seen], seed=seed).predict(beyond, level)
        bands[TOURNAMENT] = found[["throughput_rps", "prediction_lo", "prediction_hi"]].to_numpy()
        for method, band in bands.items():
            rows += [
                {"curve": curve, "method": method, "connections": n, "throughput_rps": x, "predicted_rps": middle,
                 "lo": lo, "hi": hi, "error_ratio": middle / x - 1,
                 "inside": pd.NA if np.isnan(lo + hi) else bool(lo <= x <= hi)}
                for n, x, (middle, lo, hi) in zip(beyond, throughput[seen:], band, strict=True)
            ]  # fmt: skip
    return pd.DataFrame(rows).astype({"inside": "boolean"})


def summarise_forecasts(forecasts: pd.DataFrame) -> pd.DataFrame:
    """One row for each method, the smallest median error first.

    Parameters
    ----------
    forecasts : pandas.DataFrame
        From `forecast_curves`.

    Returns
    -------
    pandas.DataFrame
        ``method``, ``curves``, ``points``, ``median_error_ratio`` and ``p90_error_ratio`` of the absolute relative
        errors (a point without a prediction counts as an infinite one), ``coverage_ratio`` (share of the points with a
        band that lie in it) and ``band_ratio`` (share of the points that have a band).
    """
    rows = []
    for method, group in forecasts.groupby("method", sort=False):
        errors = group["error_ratio"].abs().fillna(np.inf)
        rows.append(
            {
                "method": method, "curves": group["curve"].nunique(), "points": len(group),
                "median_error_ratio": errors.median(),
                "p90_error_ratio": float(np.quantile(errors, 0.9, method="higher")),
                "coverage_ratio": group["inside"].mean(), "band_ratio": group["inside"].notna().mean(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows).sort_values("median_error_ratio", ignore_index=True)


def _of_law(name: str, number: np.ndarray, throughput: np.ndarray, beyond: np.ndarray, level: float) -> np.ndarray:
    if number.size < len(LAWS[name].parameters):
        return np.full((beyond.size, 3), np.nan)
    fit = fit_law(LAWS[name], number, throughput, level=level)
    with np.errstate(all="ignore"):
        return fit.band(beyond, prediction=True)[["throughput_rps", "lo", "hi"]].to_numpy()


def _plain(number: np.ndarray, throughput: np.ndarray, beyond: np.ndarray, level: float) -> np.ndarray:
    """A fit with SciPy as it stands in many notebooks: first guesses by hand, no bounds, the covariance as it is."""

    def usl(n, unit, contention, coherency):
        return unit * n / (1 + contention * (n - 1) + coherency * n * (n - 1))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            best, covariance = optimize.curve_fit(usl, number, throughput, p0=[throughput[0] / number[0], 0.01, 1e-4])
        except (RuntimeError, TypeError):  # no convergence; fewer points than parameters
            return np.full((beyond.size, 3), np.nan)
        middle = usl(beyond, *best)
        step = 1e-6 * np.maximum(np.abs(best), 1e-9)
        slope = np.column_stack(
            [(usl(beyond, *(best + d)) - usl(beyond, *(best - d))) / (2 * d.max()) for d in np.diag(step)]
        )
        degrees = number.size - 3
        if degrees <= 0 or not np.isfinite(covariance).all():
            return np.column_stack([middle, np.full((beyond.size, 2), np.nan)])
        squares = np.sum((usl(number, *best) - throughput) ** 2) / degrees
        spread = np.sqrt(np.einsum("ij,jk,ik->i", slope, covariance, slope) + squares)
    half = stats.t.ppf((1 + level) / 2, degrees) * spread
    return np.column_stack([middle, middle - half, middle + half])
