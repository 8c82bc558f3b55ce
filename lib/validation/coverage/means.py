"""Coverage of the intervals of one mean or quantile: over repeats and their levels, after a stop rule or a plan."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import ndtri

from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.harmonic import find_harmonic_mean
from loadcurve.stats.mean import find_mean
from loadcurve.stats.quantile import find_quantile
from loadcurve.stats.stopping import find_repeats, summarise_stopping
from loadcurve.stats.variance import find_mean_of_levels
from validation.coverage.count import holds, summarise_hits

TRUE_MEAN = 100.0
SCATTER = 10.0
"""Standard deviation of a sample, or of a repeat."""
LEVEL_SCATTER = (5.0, 5.0, 5.0)
"""Standard deviations of the three levels of a nested design, highest first."""
# Scatter of the logarithm of a skewed quantity: its largest of ten values is five times its smallest.
_SKEW = 0.5
# Of a quantity whose standard deviation is its mean.
_WIDE = np.log(2.0) ** 0.5


def summarise_mean_coverage(
    repeats: Sequence[int] = (3, 5, 10, 30), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of one mean, for each method and number of repeats.

    `repeats` are the minimum of the stop rule, the pilot of the plan, and those of the highest level of the nested
    design. Each row has `runs` simulated studies.  The table is that of `summarise_hits`.  Repeats scatter normally by
    10 % of the mean, except where ``setting`` says otherwise.

    Examples
    --------
    >>> table = summarise_mean_coverage([3], runs=4)
    >>> table["method"].unique().tolist()  # doctest: +NORMALIZE_WHITESPACE
    ['t interval over repeats', 'harmonic mean, reciprocal t interval', 'stop rule at ± 5 %', "Stein's plan for ± 5 %",
     'nested design, highest level', 'nested design, all values as repeats']
    """
    tables = [
        summarise_hits(partial(simulate, n=n), runs=runs, seed=seed, n=n, setting=setting)
        for setting, simulate in _SETTINGS.items()
        for n in repeats
    ]
    return pd.concat(tables, ignore_index=True)


def summarise_quantile_coverage(
    values: Sequence[int] = (10, 30, 100, 1000),
    quantiles: Sequence[float] = (0.5, 0.9),
    *,
    runs: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % interval of `find_quantile` for lognormal values, as `summarise_hits`.

    An interval with an open end holds the truth as any other does.

    Examples
    --------
    >>> summarise_quantile_coverage([10], [0.5], runs=3)[["quantity", "n", "runs"]].values.tolist()
    [['0.5 quantile', 10, 3]]
    """

    def simulate(rng: np.random.Generator, n: int, quantile: float) -> dict[tuple[str, str], float]:
        found = find_quantile(rng.lognormal(0.0, _SKEW, n), quantile)
        return {("order statistics", f"{quantile:g} quantile"): holds(found, np.exp(_SKEW * ndtri(quantile)))}

    tables = [
        summarise_hits(partial(simulate, n=n, quantile=quantile), runs=runs, seed=seed, n=n, setting="lognormal, σ 0.5")
        for quantile in quantiles
        for n in values
    ]
    return pd.concat(tables, ignore_index=True)


def stopped_mean(rng: np.random.Generator, half_width_ratio: float, minimum: int) -> Estimate:
    """The interval at which the stop rule ends a row of normal repeats."""
    table = summarise_stopping(rng.normal(TRUE_MEAN, SCATTER, 200), half_width_ratio, minimum)
    row = table.iloc[int(table["stop"].argmax())]
    return Estimate(row["mean"], row["lo"], row["hi"], 0.95, "stop rule")


def planned_mean(rng: np.random.Generator, half_width_ratio: float, pilot: int) -> Estimate:
    """The wanted interval around the mean of as many normal repeats as Stein's plan asks for."""
    first = rng.normal(TRUE_MEAN, SCATTER, pilot)
    repeats = int(find_repeats(first, half_width_ratio).value)
    mean = np.append(first, rng.normal(TRUE_MEAN, SCATTER, repeats - pilot)).mean()
    half = half_width_ratio * first.mean()
    return Estimate(mean, mean - half, mean + half, 0.95, "Stein")


def nested(shape: tuple[int, int, int], rng: np.random.Generator) -> Array:
    """A nested design of three levels, highest first."""
    high, middle, low = (
        rng.normal(0, sd, size) for sd, size in zip(LEVEL_SCATTER, [shape[:1], shape[:2], shape], strict=True)
    )
    return TRUE_MEAN + high[:, None, None] + middle[:, :, None] + low


def _normal(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
    found = find_mean(rng.normal(TRUE_MEAN, SCATTER, n))
    return {("t interval over repeats", "mean"): holds(found, TRUE_MEAN)}


def _skewed(rng: np.random.Generator, n: int, skew: float = _SKEW) -> dict[tuple[str, str], float]:
    found = find_mean(rng.lognormal(0.0, skew, n))
    return {("t interval over repeats", "mean"): holds(found, np.exp(skew**2 / 2))}


def _equal_work(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
    found = find_harmonic_mean(1 / rng.normal(1.0, SCATTER / TRUE_MEAN, n))  # the mean time is 1
    return {("harmonic mean, reciprocal t interval", "harmonic mean"): holds(found, 1.0)}


def _nested(rng: np.random.Generator, n: int) -> dict[tuple[str, str], float]:
    values = nested((n, 3, 3), rng)
    return {
        ("nested design, highest level", "mean"): holds(find_mean_of_levels(values), TRUE_MEAN),
        ("nested design, all values as repeats", "mean"): holds(find_mean(values.ravel()), TRUE_MEAN),
    }


_SETTINGS: dict[str, Callable[..., dict[tuple[str, str], float]]] = {
    "normal": _normal,
    "lognormal, σ 0.5": _skewed,
    "lognormal, scatter 100 %": partial(_skewed, skew=_WIDE),
    "normal times of equal work": _equal_work,
    "n is the minimum": lambda rng, n: {("stop rule at ± 5 %", "mean"): holds(stopped_mean(rng, 0.05, n), TRUE_MEAN)},
    "n is the pilot": lambda rng, n: {("Stein's plan for ± 5 %", "mean"): holds(planned_mean(rng, 0.05, n), TRUE_MEAN)},
    "n × 3 × 3": _nested,
}
