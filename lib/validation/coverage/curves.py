"""Coverage of the intervals of the Universal Scalability Law that come from one fit: those shipped, and others."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from loadcurve.models.peak import find_limit, find_peak
from loadcurve.models.scaling.bootstrap import level_weights
from loadcurve.models.scaling.fits import fit_usl, free_inverse
from loadcurve.models.scaling.intervals import Profile, sum_limit
from loadcurve.models.scaling.usl import USL, usl, usl_limit_rps, usl_peak_connections
from loadcurve.stats.arrays import Array
from validation.coverage.count import holds, summarise_hits

Hits = Mapping[tuple[str, str], float]

LAST = 96
TRUE = (100.0, 0.03, 8e-4)
"""γ, α and β of the simulated server; it peaks at 35 of 96 connections."""
BEYOND = (100.0, 0.03, 0.97 / 150**2)
"""The same with a smaller β: it peaks at 150 connections, beyond the last level."""
WHERE = {"": TRUE, "peak beyond": BEYOND}
"""Simulated servers by what the setting says of them."""
SHIPPED = "fit_usl, find_peak, find_limit"
"""The method with the default intervals; with repeats, the weights of `summarise_points`."""
# Where the bands are asked: between two levels, near the peak.
_BETWEEN = 30.0


def truth_of(true: tuple[float, float, float]) -> dict[str, float]:
    """Return each quantity of a law with the parameters γ, α and β.

    Examples
    --------
    >>> round(truth_of(TRUE)["peak"], 1)
    34.8
    """
    parameters = dict(zip(USL.parameters, true, strict=True))
    peak, limit = usl_peak_connections(*true[1:]), usl_limit_rps(*true[:2])
    return parameters | {"peak": float(peak), "limit_rps": float(limit)}


TRUTH = truth_of(TRUE)
"""What is true of the server that peaks among its levels."""


def levels_of(n: int) -> Array:
    """Connections of n levels from 1 to `LAST`, each about the same factor above the one before.

    Examples
    --------
    >>> print(levels_of(6))
    [ 1.  2.  6. 15. 39. 96.]
    """
    return np.maximum(np.round(np.geomspace(1, LAST, n)), np.arange(1, n + 1))


def simulate_runs(
    rng: np.random.Generator, n: int, repeats: int, scatter: float, true: tuple[float, float, float] = TRUE
) -> Array:
    """Throughput of every run, shape (repeats, n); it scatters in proportion to the law's."""
    return usl(levels_of(n), *true) * (1 + scatter * rng.standard_normal((repeats, n)))


def summarise_usl_coverage(
    levels: Sequence[int] = (5, 8, 12, 20),
    repeats: Sequence[int] = (1, 3),
    scatters: Sequence[float] = (0.02, 0.05),
    where: Sequence[str] = tuple(WHERE),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `fit_usl`, `find_peak` and `find_limit`, and of `Fit.band`.

    `levels` are the levels of connections of a study, at least 4, and `repeats` the runs of each level; the fit gets
    the means, and with repeats the weights of `summarise_points`.  `scatters` are standard deviations of a run as a
    part of its throughput, and `where` has keys of `WHERE`: where the peak lies.

    The table is that of `summarise_hits`; the band is that of the mean at 30 connections, which is no level.

    Examples
    --------
    >>> summarise_usl_coverage([6], [3], [0.01], [""], runs=2)["quantity"].unique().tolist()
    ['unit_throughput_rps', 'contention', 'coherency', 'peak', 'limit_rps', 'X(30)']
    """

    def hits(number: Array, drawn: Array, true: tuple[float, float, float]) -> Hits:
        weights = level_weights(USL, np.tile(number, len(drawn)), drawn.ravel())
        found = hits_of_fit(number, drawn.mean(axis=0), weights, true)
        return {(SHIPPED, quantity): hit for quantity, hit in found.items()}

    return over_studies(levels, repeats, scatters, where, hits, runs, seed)


def summarise_weight_coverage(
    levels: Sequence[int] = (5, 8, 12, 20),
    repeats: Sequence[int] = (1, 3),
    scatters: Sequence[float] = (0.02, 0.05),
    where: Sequence[str] = tuple(WHERE),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """The same with what is not the default: equal weights, each level's own variance, and the delta method.

    Arguments and result as for `summarise_usl_coverage`; own variances need repeats.

    Examples
    --------
    >>> summarise_weight_coverage([6], [3], [0.01], [""], runs=2)["method"].unique().tolist()
    ['equal weights', 'own weights', 'delta method']
    """

    def hits(number: Array, drawn: Array, true: tuple[float, float, float]) -> Hits:
        means = drawn.mean(axis=0)
        weights = {"equal weights": np.ones_like(means)}
        if len(drawn) > 1:
            weights["own weights"] = 1 / drawn.var(axis=0, ddof=1)
        found = {
            (method, quantity): hit
            for method, weight in weights.items()
            for quantity, hit in hits_of_fit(number, means, weight, true).items()
        }
        shared = level_weights(USL, np.tile(number, len(drawn)), drawn.ravel())
        values = USL.solve(number, means[None], shared)[0]
        if len(USL.free(number, means, values)) == len(values):  # at a bound it is the profile's
            fit, truth = fit_usl(number, means, weights=shared), truth_of(true)
            found["delta method", "peak"] = holds(find_peak(fit, "delta"), truth["peak"])
            found["delta method", "limit_rps"] = holds(find_limit(fit, "delta"), truth["limit_rps"])
        return found

    return over_studies(levels, repeats, scatters, where, hits, runs, seed)


def hits_of_fit(number: Array, means: Array, weights: Array, true: tuple[float, float, float]) -> dict[str, float]:
    """Whether each default interval of a fit holds the truth; of profile intervals it is asked without their ends.

    1 or 0 for the parameters, the peak, the limit, and the band at 30 connections; `true` are γ, α and β.
    """
    values, truth = USL.solve(number, means[None], weights)[0], truth_of(true)
    squares = USL.squares(number, means[None], weights, values[None])[0]
    limit = sum_limit(squares, number.size - len(values), 0.95)
    at_bound = len(USL.free(number, means, values)) < len(values)
    by_t = {} if at_bound else fit_usl(number, means, weights=weights).parameters
    found = {
        name: holds(by_t[name], value) if name in by_t else float(Profile(name, number, means, weights)(value) <= limit)
        for name, value in truth.items()
    }
    covariance = squares / (number.size - len(values)) * free_inverse(USL, number, means, weights, values)
    slope = USL.gradient(np.array([_BETWEEN]), *values)[0]
    quantile = stats.t.ppf(0.975, number.size - len(values))
    miss = abs(USL.function(_BETWEEN, *values) - usl(_BETWEEN, *true))
    return found | {f"X({_BETWEEN:g})": float(miss <= quantile * np.sqrt(slope @ covariance @ slope))}


def over_studies(
    levels: Sequence[int],
    repeats: Sequence[int],
    scatters: Sequence[float],
    where: Sequence[str],
    hits: Callable[[Array, Array, tuple[float, float, float]], Hits],
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """The hits of ``hits(levels (n,), runs (repeats, n), parameters)`` for each size, scatter and place of the peak."""

    def simulate(
        rng: np.random.Generator, n: int, count: int, scatter: float, true: tuple[float, float, float]
    ) -> Hits:
        return hits(levels_of(n), simulate_runs(rng, n, count, scatter, true), true)

    tables = [
        summarise_hits(
            partial(simulate, n=n, count=count, scatter=scatter, true=WHERE[place]),
            runs=runs,
            seed=seed,
            n=n,
            repeats=count,
            setting=", ".join(filter(None, [f"{100 * scatter:g} % of X", place])),
        )
        for place in where
        for scatter in scatters
        for n in levels
        for count in repeats
    ]
    return pd.concat(tables, ignore_index=True)
