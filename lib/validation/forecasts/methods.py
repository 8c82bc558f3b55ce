"""How well laws predict loads they have not seen: fitted to the first levels of a curve, compared with the rest."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
from scipy import optimize, stats

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling.model_selection import Outlook, join, run_tournament
from loadcurve.plots.fits import PLAIN, STACK
from loadcurve.stats.arrays import Array
from validation.coverage.count import counted
from validation.forecasts.baselines import BASELINES
from validation.forecasts.cross_validation import HORIZON, Constants, baseline_bands, interval_score, weighted_quantile

SEEN = (3, 4, 5)
"""How many levels are seen, as of a test that ended too early."""
# Growth per doubling between the last two seen levels below which a curve is on a plateau; more than a run scatters.
_PLATEAU = 0.05


def forecast_curves(curves: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Predict the levels of each curve after the first three, four and five, by every method.

    The methods are the stack of forecasts, the forecasts of `BASELINES`, and a plain fit of the Universal Scalability
    Law with SciPy.  What the stack and the bands of the baselines take from published curves is chosen on those of
    other authors, with all of `SEEN` together.

    `curves` has ``curve``, ``connections`` (N, >= 1), ``throughput_rps`` (X, > 0, in any unit), at least 6 levels each,
    ``author``, the same for all curves that may not choose constants for each other, and optionally ``unseen``, whether
    a curve is predicted only and chooses nothing.  `level` is that of the prediction bands.

    The table has one row for each method and predicted point: ``curve, levels`` (seen)``, kind`` ("plateau" or
    "rising", by the last two seen levels)``, unseen, method, connections, throughput_rps, horizon, predicted_rps, lo,
    hi, error_ratio`` (predicted / X − 1)``, inside, inside_wide`` (of the band of half the error rate, the stack's
    only)``, width`` (of the band, in units of the last seen throughput) and ``score`` (interval score of the band); NaN
    and NA where a method gives no number or no band.  Its ``attrs["departure"]`` holds the constants chosen on all
    curves together: those of `loadcurve.models.scaling.DEPARTURE`.

    Raises ValueRuleError when a curve has fewer than 6 levels, or the level breaks its rule.
    """
    if not 0 < level < 1:
        raise ValueRuleError("level", "0 < level < 1", level)
    every, seen, outlook, constants = _held_back(curves, level)
    last, author, chosen = every["last_rps"].to_numpy(), every["author"].to_numpy(), ~every["unseen"].to_numpy()
    bands = constants.predict(author, chosen, [(1 - level) / 2, 0.5, (1 + level) / 2, (1 - level) / 4, (3 + level) / 4])
    wide = (bands[3] <= every["observed"]) & (every["observed"] <= bands[4])
    tables = [_rows(every, STACK, last * bands[:3], level).assign(inside_wide=wide.astype("boolean"))]
    kinds = (every["kind"] + every["levels"].astype(str)).to_numpy()
    facts = (every["observed"].to_numpy(), outlook.doublings, every["weight"].to_numpy(), kinds, author, chosen, level)
    at = [rows["connections"].to_numpy() for _, rows in every.groupby("part", sort=False)]
    for name, method in BASELINES.items():
        middle = np.concatenate([method(*known, beyond) for known, beyond in zip(seen, at, strict=True)])
        lo, hi = last * baseline_bands(middle / last, *facts)
        tables.append(_rows(every, name, np.array([lo, middle, hi]), level))
    plain = np.concatenate([_plain(*known, beyond, level) for known, beyond in zip(seen, at, strict=True)])
    tables.append(_rows(every, PLAIN, plain.T, level))
    found = pd.concat(tables, ignore_index=True)
    found.attrs["departure"] = constants.choose(chosen)
    return found


def summarise_forecasts(forecasts: pd.DataFrame) -> pd.DataFrame:
    """Summarise forecasts: one row for each number of seen levels, kind of curve and method, the smallest median first.

    The columns are ``levels``, ``kind`` ("all", "plateau", "rising"), ``method``, ``curves``, ``points``,
    ``median_error_ratio`` and ``p90_error_ratio`` of the absolute relative errors (a point without a prediction counts
    as an infinite one), ``coverage_ratio`` (share of the points with a band that lie in it), ``median_width_ratio`` (of
    the band, in units of the last seen throughput), ``interval_score`` and ``band_ratio`` (share of the points that
    have a band).  Each curve counts once, however many points of it were predicted.
    """
    rows = []
    for levels, of_levels in forecasts.groupby("levels"):
        for kind in ("all", *sorted(of_levels["kind"].unique())):
            of_kind = of_levels if kind == "all" else of_levels[of_levels["kind"] == kind]
            keys = {"levels": levels, "kind": kind}
            found = [keys | {"method": name} | _summary(group) for name, group in of_kind.groupby("method")]
            rows.append(pd.DataFrame(found).sort_values("median_error_ratio"))
    return pd.concat(rows, ignore_index=True)


def summarise_bands(forecasts: pd.DataFrame) -> pd.DataFrame:
    """Coverage of the stack's bands by seen levels, kind of curve and horizon; each curve counts once.

    The columns are ``levels, kind, horizon, curves, coverage_ratio, lo, hi, wide_ratio``: the share of points in the
    band with its 95 % interval, as of so many independent curves, and the share in the band of half the error rate.
    """
    rows = []
    stack = forecasts[forecasts["method"] == STACK]
    for key, group in stack.groupby(["levels", "kind", "horizon"]):
        weight = 1 / group.groupby("curve")["method"].transform("size")
        share, wide = (np.average(group[name].astype(float), weights=weight) for name in ("inside", "inside_wide"))
        count = group["curve"].nunique()
        rows.append((*key, count, share, *counted(round(share * count), count, count)[1:3], wide))
    names = ["levels", "kind", "horizon", "curves", "coverage_ratio", "lo", "hi", "wide_ratio"]
    return pd.DataFrame(rows, columns=names)


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


def _held_back(
    curves: pd.DataFrame, level: float
) -> tuple[pd.DataFrame, list[tuple[Array, Array]], Outlook, Constants]:
    """Split each curve, and let all laws predict what is held back, in units of the last seen throughput."""
    tables: list[pd.DataFrame] = []
    seen, outlooks = [], []
    for levels, (curve, rows) in product(SEEN, curves.groupby("curve", sort=False)):
        rows = rows.sort_values("connections")
        number, throughput = (rows[name].to_numpy(float) for name in ("connections", "throughput_rps"))
        if number.size <= max(SEEN):
            raise ValueRuleError("levels", f">= {max(SEEN) + 1} in curve {curve}", number.size)
        n, x, beyond = number[:levels], throughput[:levels], number[levels:]
        growth = (x[-1] / x[-2]) ** (1 / np.log2(n[-1] / n[-2])) - 1
        far = np.log2(beyond / n[-1]) > HORIZON
        # A curve counts once, and of it the near and the far points alike.
        weight = 1 / np.where(far, far.sum(), (~far).sum()) / np.unique(far).size
        points = {
            "part": len(tables), "curve": curve, "levels": levels, "kind": "rising" if growth > _PLATEAU else "plateau",
            "author": rows["author"].iloc[0], "unseen": "unseen" in rows and bool(rows["unseen"].iloc[0]),
            "connections": beyond, "throughput_rps": throughput[levels:], "last_rps": x[-1],
            "observed": throughput[levels:] / x[-1], "horizon": np.where(far, "beyond", "to one doubling"),
            "weight": weight,
        }  # fmt: skip
        seen.append((n, x))
        tables.append(pd.DataFrame(points))
        outlooks.append(run_tournament(n, x / x[-1]).outlook(beyond))
    every, outlook = pd.concat(tables, ignore_index=True), join(outlooks)
    facts = (every["observed"].to_numpy(), every["weight"].to_numpy(), (every["kind"] == "plateau").to_numpy())
    return every, seen, outlook, Constants(outlook, *facts, every["author"].to_numpy(), level)


def _rows(every: pd.DataFrame, method: str, band: Array, level: float) -> pd.DataFrame:
    lo, middle, hi = band
    observed, last = every["throughput_rps"].to_numpy(), every["last_rps"].to_numpy()
    known = np.isfinite(hi - lo)
    inside = pd.array((lo <= observed) & (observed <= hi), "boolean")
    inside[~known] = pd.NA
    score = np.where(known, interval_score(lo / last, hi / last, observed / last, level), np.nan)
    names = ["curve", "levels", "kind", "unseen", "connections", "throughput_rps", "horizon"]
    return every[names].assign(
        method=method, predicted_rps=middle, lo=lo, hi=hi, error_ratio=middle / observed - 1, inside=inside,
        inside_wide=pd.array([pd.NA] * len(every), "boolean"), width=np.where(known, (hi - lo) / last, np.nan),
        score=score,
    )  # fmt: skip


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
            return np.column_stack([np.full(middle.size, np.nan), middle, np.full(middle.size, np.nan)])
        squares = np.sum((usl(number, *best) - throughput) ** 2) / degrees
        spread = np.sqrt(np.einsum("ij,jk,ik->i", slope, covariance, slope) + squares)
    half = stats.t.ppf((1 + level) / 2, degrees) * spread
    return np.column_stack([middle - half, middle, middle + half])
