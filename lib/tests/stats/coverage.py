"""Simulated coverage: how often an interval holds the true value, for each method and each number of samples.

Not collected by pytest: the tests run small parts of it, and a report may run all.  Everything is seeded.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from scipy import signal

from loadcurve.stats.drift import summarise_drift
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean
from loadcurve.stats.merging import find_mean_of_series, summarise_merging
from loadcurve.stats.stopping import find_repeats, summarise_stopping
from loadcurve.stats.variance import find_mean_of_levels

TRUE_MEAN = 100.0
SCATTER = 10.0  # standard deviation of a sample, or of a repeat
LEVEL_SCATTER = (5.0, 5.0, 5.0)  # standard deviations of three levels, highest first


def ar1(samples: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """A stationary AR(1) series of mean TRUE_MEAN and standard deviation SCATTER."""
    shocks = rng.standard_normal(samples)
    shocks[0] /= np.sqrt(1 - rho**2)
    return TRUE_MEAN + SCATTER * np.sqrt(1 - rho**2) * signal.lfilter([1.0], [1.0, -rho], shocks)


def ferrari_mean(values: np.ndarray) -> Estimate:
    """Ferrari's own interval: that of the first merging with a negligible autocorrelation, and nothing added."""
    table = summarise_merging(values)
    rows = table[table["autocorrelation"] <= 0.1]
    if rows.empty:
        return Estimate(values.mean(), np.nan, np.nan, 0.95, "Ferrari")
    row = rows.iloc[0]
    return Estimate(row["mean"], row["lo"], row["hi"], 0.95, "Ferrari")


def drift_of(values: np.ndarray) -> Estimate:
    """Sen's slope of the series plus a drift of TRUE_MEAN from its first sample to its last."""
    row = summarise_drift(values + np.linspace(0, TRUE_MEAN, values.size)).iloc[0]
    return Estimate(row["value"], row["lo"], row["hi"], 0.95, "Sen")


def stopped_mean(rng: np.random.Generator, half_width_ratio: float, minimum: int) -> Estimate:
    """The interval at which the stop rule ends a row of normal repeats."""
    table = summarise_stopping(rng.normal(TRUE_MEAN, SCATTER, 500), half_width_ratio, minimum)
    row = table.iloc[int(table["stop"].argmax())]
    return Estimate(row["mean"], row["lo"], row["hi"], 0.95, "stop rule")


def planned_mean(rng: np.random.Generator, half_width_ratio: float, pilot: int) -> Estimate:
    """The wanted interval around the mean of as many normal repeats as Stein's plan asks for."""
    first = rng.normal(TRUE_MEAN, SCATTER, pilot)
    repeats = int(find_repeats(first, half_width_ratio).value)
    mean = np.append(first, rng.normal(TRUE_MEAN, SCATTER, repeats - pilot)).mean()
    half = half_width_ratio * first.mean()
    return Estimate(mean, mean - half, mean + half, 0.95, "Stein")


def nested(shape: tuple[int, int, int], rng: np.random.Generator) -> np.ndarray:
    """A nested design of three levels, highest first."""
    high, middle, low = (
        rng.normal(0, sd, size) for sd, size in zip(LEVEL_SCATTER, [shape[:1], shape[:2], shape], strict=True)
    )
    return TRUE_MEAN + high[:, None, None] + middle[:, :, None] + low


def coverage(make: Callable[[np.random.Generator], Estimate], runs: int, seed: int) -> dict[str, float]:
    """Part of intervals that hold TRUE_MEAN among those that were given, and the part refused (NaN)."""
    rng = np.random.default_rng(seed)
    estimates = [make(rng) for _ in range(runs)]
    given = [e for e in estimates if np.isfinite(e.lo) and np.isfinite(e.hi)]
    held = sum(e.lo <= TRUE_MEAN <= e.hi for e in given)
    return {"coverage": held / len(given) if given else np.nan, "refused": 1 - len(given) / runs, "runs": runs}


SERIES_METHODS = {
    "t interval, neighbours taken for repeats": find_mean,
    "subsessions, Ferrari's interval": ferrari_mean,
    "subsessions, what remains allowed for": find_mean_of_series,
    "drift, Sen's slope of merged samples": drift_of,
}


def series_coverage(
    samples: Iterable[int] = (30, 60, 120, 300, 600, 1200),
    rhos: Iterable[float] = (0.0, 0.3, 0.5, 0.7, 0.9),
    methods: Iterable[str] = tuple(SERIES_METHODS),
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals made of one AR(1) series: ``method, rho, n, coverage, refused, runs``."""
    rows = []
    for method in methods:
        for rho in rhos:
            for n in samples:
                share = coverage(lambda rng, m=method, n=n, r=rho: SERIES_METHODS[m](ar1(n, r, rng)), runs, seed + n)
                rows.append({"method": method, "rho": rho, "n": n, **share})
    return pd.DataFrame(rows)


def repeats_coverage(runs: int = 1000, seed: int = 4) -> pd.DataFrame:
    """Coverage of the 95 % intervals over repeats: ``method, n, coverage, refused, runs``."""
    makers = [
        *(
            ("t interval over repeats", n, lambda rng, n=n: find_mean(rng.normal(TRUE_MEAN, SCATTER, n)))
            for n in (3, 10)
        ),
        *((f"stop rule at ± 5 %, minimum {n}", n, lambda rng, n=n: stopped_mean(rng, 0.05, n)) for n in (3, 5, 10)),
        *((f"Stein's plan for ± 5 %, pilot {n}", n, lambda rng, n=n: planned_mean(rng, 0.05, n)) for n in (3, 5, 10)),
        *(
            (f"nested design {n} x 3 x 3", n, lambda rng, n=n: find_mean_of_levels(nested((n, 3, 3), rng)))
            for n in (3, 5, 10)
        ),
    ]
    return pd.DataFrame([{"method": name, "n": n, **coverage(make, runs, seed + n)} for name, n, make in makers])
