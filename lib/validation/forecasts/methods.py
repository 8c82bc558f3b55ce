"""How well laws predict loads they have not seen: fitted to the first levels of a curve, compared with the rest."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats

from loadcurve.arrays import Array, Mask
from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.least_squares import LAWS, fit_law
from loadcurve.models.scaling.model_selection import ENTRANTS, run_tournament
from loadcurve.models.scaling.outlook import Departure, Outlook, join
from loadcurve.plots.forecast import PLAIN, TOURNAMENT
from validation.forecasts.baselines import BASELINES
from validation.forecasts.cross_validation import Constants, baseline_bands, interval_score, weighted_quantile

# The levels that are seen: half of them, as a test that ended too early; but a curve needs four to show its bend.
_SEEN = 4
# Growth per doubling between the last two seen levels below which a curve is on a plateau; more than a run scatters.
_PLATEAU = 0.05


def forecast_curves(curves: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Predict the last levels of each curve from the first half, at least four, by every method.

    The methods are each law, all laws in a tournament, a plain fit with SciPy, and the forecasts of `BASELINES`.  What
    the tournament and the bands of the baselines take from published curves is chosen on those of other authors.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``curve``, ``connections`` (N, >= 1), ``throughput_rps`` (X, > 0, in any unit), at least 5 levels each, and
        ``author``, the same for all curves that may not choose constants for each other.
    level : float
        Of the prediction bands, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row for each method and predicted point: ``curve, kind`` ("plateau" or "rising", by the last two seen
        levels)``, method, connections, throughput_rps, predicted_rps, lo, hi, error_ratio`` (predicted / X − 1)``,
        inside, width`` (of the band, in units of the last seen throughput) and ``score`` (interval score of the band);
        NaN and NA where a method gives no number or no band.

    Raises
    ------
    ValueRuleError
        When a curve has fewer than 5 levels, or the level breaks its rule.
    """
    if not 0 < level < 1:
        raise ValueRuleError("level", "0 < level < 1", level)
    points, outlook = _held_back(curves)
    every = pd.concat([held.points for held in points], ignore_index=True)
    found = [
        {name: _of_law(name, *held.seen, held.beyond, level) for name in ENTRANTS}
        | {PLAIN: _plain(*held.seen, held.beyond, level)}
        | {name: _without_band(method(*held.seen, held.beyond)) for name, method in BASELINES.items()}
        for held in points
    ]
    by_method = {name: np.vstack([bands[name] for bands in found]).T for name in found[0]}
    author, last = every["author"].to_numpy(), every["last_rps"].to_numpy()
    observed, weights, plateau = _facts(every)
    for name in BASELINES:
        middle = by_method[name][1] / last
        by_method[name][::2] = last * baseline_bands(
            middle, observed, outlook.doublings, weights, plateau, author, level
        )
    by_method[TOURNAMENT] = last * Constants(outlook, observed, weights, plateau, level).predict(author)
    return pd.concat([_rows(every, name, band, level) for name, band in by_method.items()], ignore_index=True)


def choose_departure(curves: pd.DataFrame, level: float = 0.9) -> Departure:
    """Choose the constants beyond the last level on published curves; arguments as in `forecast_curves`."""
    points, outlook = _held_back(curves)
    every = pd.concat([held.points for held in points], ignore_index=True)
    return Constants(outlook, *_facts(every), level).choose(np.ones(len(every), bool))


def summarise_forecasts(forecasts: pd.DataFrame) -> pd.DataFrame:
    """Summarise forecasts: one row for each kind of curve and method, the smallest median error first.

    Parameters
    ----------
    forecasts : pandas.DataFrame
        From `forecast_curves`.

    Returns
    -------
    pandas.DataFrame
        ``kind`` ("all", "plateau", "rising"), ``method``, ``curves``, ``points``, ``median_error_ratio`` and
        ``p90_error_ratio`` of the absolute relative errors (a point without a prediction counts as an infinite one),
        ``coverage_ratio`` (share of the points with a band that lie in it), ``median_width_ratio`` (of the band, in
        units of the last seen throughput), ``interval_score`` and ``band_ratio`` (share of the points that have a
        band).  Each curve counts once, however many points of it were predicted.
    """
    rows = []
    for kind in ("all", *sorted(forecasts["kind"].unique())):
        of_kind = forecasts if kind == "all" else forecasts[forecasts["kind"] == kind]
        found = [{"kind": kind, "method": name} | _summary(group) for name, group in of_kind.groupby("method")]
        rows.append(pd.DataFrame(found).sort_values("median_error_ratio"))
    return pd.concat(rows, ignore_index=True)


def _summary(group: pd.DataFrame) -> dict[str, float]:
    weight = 1 / group.groupby("curve")["method"].transform("size").to_numpy()
    errors = group["error_ratio"].abs().fillna(np.inf).to_numpy()
    banded = group["inside"].notna().to_numpy()
    own, rows = weight[banded], group[banded]
    known = banded.any()
    return {
        "curves": group["curve"].nunique(), "points": len(group),
        "median_error_ratio": weighted_quantile(errors, weight, 0.5),
        "p90_error_ratio": weighted_quantile(errors, weight, 0.9),
        "coverage_ratio": np.average(rows["inside"].astype(float), weights=own) if known else np.nan,
        "median_width_ratio": weighted_quantile(rows["width"].to_numpy(), own, 0.5),
        "interval_score": np.average(rows["score"], weights=own) if known else np.nan,
        "band_ratio": own.sum() / weight.sum(),
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Held:
    """A curve whose last levels are held back: those seen (n,), (n,), the loads beyond (m,), and the points there."""

    seen: tuple[Array, Array]
    beyond: Array
    points: pd.DataFrame


def _held_back(curves: pd.DataFrame) -> tuple[list[_Held], Outlook]:
    """Split each curve, and let all laws predict what is held back, in units of the last seen throughput."""
    found, outlooks = [], []
    for curve, rows in curves.groupby("curve", sort=False):
        rows = rows.sort_values("connections")
        number, throughput = (rows[name].to_numpy(float) for name in ("connections", "throughput_rps"))
        if number.size <= _SEEN:
            raise ValueRuleError("levels", f">= {_SEEN + 1} in curve {curve}", number.size)
        seen = max(_SEEN, (number.size + 1) // 2)
        n, x, beyond = number[:seen], throughput[:seen], number[seen:]
        growth = (x[-1] / x[-2]) ** (1 / np.log2(n[-1] / n[-2])) - 1
        points = pd.DataFrame(
            {
                "curve": curve, "kind": "rising" if growth > _PLATEAU else "plateau", "author": rows["author"].iloc[0],
                "connections": beyond, "throughput_rps": throughput[seen:], "last_rps": x[-1],
                "weight": 1 / beyond.size,
            }
        )  # fmt: skip
        found.append(_Held((n, x), beyond, points))
        outlooks.append(run_tournament(n, x / x[-1]).outlook(beyond))
    return found, join(outlooks)


def _facts(every: pd.DataFrame) -> tuple[Array, Array, Mask]:
    """What was observed, in units of the last seen throughput; weights; and which points are of plateaus."""
    observed = every["throughput_rps"] / every["last_rps"]
    return observed.to_numpy(), every["weight"].to_numpy(), (every["kind"] == "plateau").to_numpy()


def _rows(every: pd.DataFrame, method: str, band: Array, level: float) -> pd.DataFrame:
    lo, middle, hi = band
    observed, last = every["throughput_rps"].to_numpy(), every["last_rps"].to_numpy()
    known = np.isfinite(hi - lo)
    inside = pd.array((lo <= observed) & (observed <= hi), "boolean")
    inside[~known] = pd.NA
    score = np.where(known, interval_score(lo / last, hi / last, observed / last, level), np.nan)
    return every[["curve", "kind", "connections", "throughput_rps"]].assign(
        method=method, predicted_rps=middle, lo=lo, hi=hi, error_ratio=middle / observed - 1, inside=inside,
        width=np.where(known, (hi - lo) / last, np.nan), score=score,
    )  # fmt: skip


def _without_band(middle: Array) -> Array:
    return np.column_stack([np.full(middle.size, np.nan), middle, np.full(middle.size, np.nan)])


def _of_law(name: str, number: Array, throughput: Array, beyond: Array, level: float) -> Array:
    if number.size < len(LAWS[name].parameters):
        return np.full((beyond.size, 3), np.nan)
    fit = fit_law(LAWS[name], number, throughput, level=level)
    with np.errstate(all="ignore"):
        result: Array = fit.band(beyond, prediction=True)[["lo", "throughput_rps", "hi"]].to_numpy()
        return result


def _plain(number: Array, throughput: Array, beyond: Array, level: float) -> Array:
    """Fit with SciPy as many notebooks do: first guesses by hand, no bounds, the covariance as it is."""

    def usl(n: Array, unit: float, contention: float, coherency: float) -> Array:
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
            return _without_band(middle)
        squares = np.sum((usl(number, *best) - throughput) ** 2) / degrees
        spread = np.sqrt(np.einsum("ij,jk,ik->i", slope, covariance, slope) + squares)
    half = stats.t.ppf((1 + level) / 2, degrees) * spread
    return np.column_stack([middle - half, middle, middle + half])
