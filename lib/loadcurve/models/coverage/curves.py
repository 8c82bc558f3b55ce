"""Coverage of the intervals of the Universal Scalability Law that come from one fit: t, delta method, band, profile."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from loadcurve.models.coverage.count import holds, summarise_hits
from loadcurve.models.fit import Fit
from loadcurve.models.peak import find_limit, find_peak
from loadcurve.models.scaling.fits import fit_usl
from loadcurve.models.scaling.likelihood import QUANTITIES, profile_holds
from loadcurve.models.scaling.repeats import summarise_points
from loadcurve.models.scaling.usl import usl, usl_limit_rps, usl_peak_connections
from loadcurve.stats.estimate import Estimate

TRUE = (100.0, 0.03, 8e-4)
"""γ, α and β of the simulated server; it peaks at 35 of 96 connections."""
LAST = 96
TRUTH = {
    **dict(zip(("unit_throughput_rps", "contention", "coherency"), TRUE, strict=True)),
    "peak": float(usl_peak_connections(*TRUE[1:])),
    "limit_rps": float(usl_limit_rps(*TRUE[:2])),
}
"""What is true of that server."""
WEIGHTED = "t interval, shared weights"
"""The method with the weights of `summarise_points`, from the scatter that all levels share."""
# Where the bands are asked: between two levels, near the peak.
_BETWEEN = 30.0


def levels_of(n: int) -> np.ndarray:
    """Connections of n levels from 1 to `LAST`, each about the same factor above the one before.

    Examples
    --------
    >>> print(levels_of(6))
    [ 1.  2.  6. 15. 39. 96.]
    """
    return np.maximum(np.round(np.geomspace(1, LAST, n)), np.arange(1, n + 1))


def simulate_runs(rng: np.random.Generator, n: int, repeats: int, scatter: float) -> np.ndarray:
    """Throughput of every run, shape (repeats, n); it scatters in proportion to the law's."""
    return usl(levels_of(n), *TRUE) * (1 + scatter * rng.standard_normal((repeats, n)))


def summarise_usl_coverage(
    levels: Sequence[int] = (6, 8, 10, 15),
    repeats: Sequence[int] = (3, 5, 10),
    scatters: Sequence[float] = (0.01, 0.05),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `fit_usl`, `find_peak`, `find_limit` and `Fit.band`.

    Parameters
    ----------
    levels : sequence of int
        Levels of connections of a study, >= 5.
    repeats : sequence of int
        Runs of each level, >= 2; the fit gets the means and weights of `summarise_points`.
    scatters : sequence of float
        Standard deviation of a run, as a part of its throughput.
    runs, seed
        As for `summarise_mean_coverage`.

    Returns
    -------
    pandas.DataFrame
        As `summarise_hits`; the band is that of the mean at 30 connections, which is no level.

    Examples
    --------
    >>> summarise_usl_coverage([6], [3], [0.01], runs=2)["quantity"].unique().tolist()
    ['unit_throughput_rps', 'contention', 'coherency', 'peak', 'limit_rps', 'X(30)']
    """

    def simulate(rng: np.random.Generator, n: int, count: int, scatter: float) -> dict[tuple[str, str], float]:
        drawn = simulate_runs(rng, n, count, scatter)
        fit = fit_usl(levels_of(n), drawn.mean(axis=0), weights=_weights(drawn))
        row = fit.band(_BETWEEN).iloc[0]
        band = Estimate(row["throughput_rps"], row["lo"], row["hi"], 0.95, "band")
        hits = {**_hits(fit), f"X({_BETWEEN:g})": holds(band, float(usl(_BETWEEN, *TRUE)))}
        return {(WEIGHTED, quantity): hit for quantity, hit in hits.items()}

    return over_studies(levels, repeats, scatters, simulate, runs, seed)


def summarise_weight_coverage(
    levels: Sequence[int] = (6, 8, 10, 15),
    repeats: Sequence[int] = (3, 5, 10),
    scatters: Sequence[float] = (0.01, 0.05),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """The same with other weights: every point alike, and one over the variance of each level's own repeats.

    Arguments and result as for `summarise_usl_coverage`.

    Examples
    --------
    >>> summarise_weight_coverage([6], [3], [0.01], runs=2)["method"].unique().tolist()
    ['t interval, equal weights', 't interval, own weights']
    """

    def simulate(rng: np.random.Generator, n: int, count: int, scatter: float) -> dict[tuple[str, str], float]:
        drawn = simulate_runs(rng, n, count, scatter)
        weights = {
            "t interval, equal weights": None,
            "t interval, own weights": 1 / drawn.var(axis=0, ddof=1),
        }
        fits = {method: fit_usl(levels_of(n), drawn.mean(axis=0), weights=weight) for method, weight in weights.items()}
        return {(method, q): hit for method, fit in fits.items() for q, hit in _hits(fit).items()}

    return over_studies(levels, repeats, scatters, simulate, runs, seed)


def summarise_profile_coverage(
    levels: Sequence[int] = (6, 8, 10, 15),
    repeats: Sequence[int] = (3, 5, 10),
    scatters: Sequence[float] = (0.01, 0.05),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % profile intervals of `find_profile`, with the weights of `summarise_points`.

    Whether an interval holds the truth is asked of `profile_holds`, which needs no ends.  Arguments and result as for
    `summarise_usl_coverage`.

    Examples
    --------
    >>> len(summarise_profile_coverage([6], [3], [0.01], runs=2))
    5
    """

    def simulate(rng: np.random.Generator, n: int, count: int, scatter: float) -> dict[tuple[str, str], float]:
        drawn = simulate_runs(rng, n, count, scatter)
        fit = fit_usl(levels_of(n), drawn.mean(axis=0), weights=_weights(drawn))
        return {("profile, shared weights", q): float(profile_holds(fit, q, TRUTH[q])) for q in QUANTITIES}

    return over_studies(levels, repeats, scatters, simulate, runs, seed)


def over_studies(
    levels: Sequence[int],
    repeats: Sequence[int],
    scatters: Sequence[float],
    simulate: Callable[[np.random.Generator, int, int, float], Mapping[tuple[str, str], float]],
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """The hits of ``simulate(generator, levels, repeats, scatter)`` for each size and scatter of a study."""
    tables = [
        summarise_hits(
            lambda rng, n=n, r=count, s=scatter: simulate(rng, n, r, s),
            runs=runs,
            seed=seed,
            n=n,
            repeats=count,
            setting=f"{100 * scatter:g} % of X",
        )
        for scatter in scatters
        for n in levels
        for count in repeats
    ]
    return pd.concat(tables, ignore_index=True)


def _weights(drawn: np.ndarray) -> np.ndarray:
    count, n = drawn.shape
    return summarise_points(np.tile(levels_of(n), count), drawn.ravel())["weight"].to_numpy()


def _hits(fit: Fit) -> dict[str, float]:
    found = {**fit.parameters, "peak": find_peak(fit), "limit_rps": find_limit(fit)}
    return {quantity: holds(estimate, TRUTH[quantity]) for quantity, estimate in found.items()}
