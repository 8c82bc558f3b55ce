"""Coverage of the intervals that capacity rests on: demands, where a resource saturates, scale-out, knees."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from loadcurve.models.capacity.bottleneck import summarise_demands
from loadcurve.models.capacity.knee import find_curvature_knee, find_power_knee
from loadcurve.models.capacity.scale_out import summarise_scale_out
from loadcurve.models.demand import find_demand, find_saturation_of_runs
from loadcurve.models.scaling.usl import USL, usl
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate
from validation.coverage.count import holds, summarise_all_hits, summarise_hits
from validation.coverage.curves import TRUE, Hits, levels_of, over_studies

_DEMAND_S = 4e-4
_OFF = 0.01  # of utilisation: how far a run lies off its line
_BACKGROUNDS = {f"background of {100 * ratio:g} %": ratio for ratio in (0.01, 0.15)}
_SCATTER, _PLATEAU_SCATTER = 0.03, 0.05
_UNITS, _EFFICIENCY = (1.0, 2.0), 0.9


def summarise_demand_coverage(
    points: Sequence[int] = (4, 6, 10, 20), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `summarise_demands`: service demand, and throughput at saturation.

    `points` are the runs of a study, at least 3, at throughputs that are evenly spaced up to 1600 requests per second.
    The table is that of `summarise_hits`; utilisation lies a standard deviation of 1 % off its line, without a
    background load and with one of 1 % or 15 %.

    Examples
    --------
    >>> summarise_demand_coverage([6], runs=2)["setting"].unique().tolist()
    ['no background', 'background of 1 %', 'background of 15 %']
    """

    def simulate(rng: np.random.Generator, n: int, background: float) -> pd.DataFrame:
        throughput = np.tile(np.linspace(1600 / n, 1600, n), runs)
        busy = np.clip(background + throughput * _DEMAND_S + _OFF * rng.standard_normal(n * runs), 0, 1)
        # Each study is one resource of one table.
        usage = pd.DataFrame({"resource": np.repeat(np.arange(runs), n), "servers": 1, "throughput_rps": throughput})
        table = summarise_demands(usage.assign(utilisation_ratio=busy)).set_index("resource").sort_index()
        return pd.DataFrame(
            {
                ("regression of utilisation", "demand_s"): _hits(table, "demand", _DEMAND_S),
                ("regression of utilisation", "saturation_rps"): _hits(
                    table, "saturation", (1 - background) / _DEMAND_S
                ),
            }
        )

    tables = [
        summarise_all_hits(partial(simulate, n=n, background=background), runs=runs, seed=seed, n=n, setting=setting)
        for setting, background in {"no background": 0.0, **_BACKGROUNDS}.items()
        for n in points
    ]
    return pd.concat(tables, ignore_index=True)


def summarise_plateau_coverage(
    levels: Sequence[int] = (1, 3, 8), repeats: Sequence[int] = (3, 5, 10), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `find_demand` and `find_saturation_of_runs` where levels lie on one plateau.

    `levels` on the plateau are alike; another one lies at half of it.  The `repeats` of each level scatter by 5 %.  The
    table is that of `summarise_hits`; ``n`` counts the levels of the plateau.

    Examples
    --------
    >>> summarise_plateau_coverage([3], [5], runs=2)["quantity"].tolist()
    ['demand of the plateau', 'saturation N*']
    """

    def simulate(rng: np.random.Generator, n: int, count: int) -> dict[tuple[str, str], float]:
        number = np.repeat([1.0, *np.arange(4.0, n + 4)], count)
        true = np.where(number == 1, 0.5, 1.0) / _DEMAND_S
        throughput = true * (1 + _PLATEAU_SCATTER * rng.standard_normal(number.size))
        return {
            ("1 / highest mean", "demand of the plateau"): holds(find_demand(number, throughput), _DEMAND_S),
            ("Fieller's interval", "saturation N*"): holds(find_saturation_of_runs(number, throughput), 2.0),
        }

    tables = [
        summarise_hits(
            partial(simulate, n=n, count=count), runs=runs, seed=seed, n=n, repeats=count, setting="5 % of X"
        )
        for n in levels
        for count in repeats
    ]
    return pd.concat(tables, ignore_index=True)


def summarise_scale_out_coverage(
    repeats: Sequence[int] = (3, 5, 10), *, runs: int = 1000, seed: int = 4
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `summarise_scale_out` for two units that scatter by 3 %, as `summarise_hits`.

    Examples
    --------
    >>> summarise_scale_out_coverage([5], runs=2)["quantity"].tolist()
    ['efficiency', 'throughput of a further unit']
    """

    def simulate(rng: np.random.Generator, count: int) -> dict[tuple[str, str], float]:
        units = np.repeat(_UNITS, count)
        one = 100.0
        true = np.where(units == 1, one, 2 * _EFFICIENCY * one)
        row = summarise_scale_out(units, true * (1 + _SCATTER * rng.standard_normal(units.size))).iloc[1]
        return {
            ("Fieller's interval", "efficiency"): _of_row(row, "efficiency_ratio", "efficiency", _EFFICIENCY),
            ("Welch's interval", "throughput of a further unit"): _of_row(
                row, "marginal_rps", "marginal", (2 * _EFFICIENCY - 1) * one
            ),
        }

    tables = [
        summarise_hits(partial(simulate, count=count), runs=runs, seed=seed, n=2, repeats=count, setting="3 % of X")
        for count in repeats
    ]
    return pd.concat(tables, ignore_index=True)


def summarise_knee_coverage(
    levels: Sequence[int] = (8,),
    repeats: Sequence[int] = (3, 5, 10),
    scatters: Sequence[float] = (0.01,),
    *,
    runs: int = 1000,
    draws: int = 1000,
    seed: int = 4,
) -> pd.DataFrame:
    """Coverage of the 95 % intervals of `find_power_knee` and `find_curvature_knee` of the Universal Scalability Law.

    Arguments and result as for `summarise_bootstrap_coverage`.

    Examples
    --------
    >>> len(summarise_knee_coverage([6], [3], runs=1, draws=50))
    2
    """
    knees = {"maximum power": find_power_knee, "maximum curvature": find_curvature_knee}
    true = {
        (name, n): find(USL, levels_of(n), usl(levels_of(n), *TRUE), draws=2).value
        for name, find in knees.items()
        for n in levels
    }

    def hits(number: Array, drawn: Array, _: tuple[float, float, float]) -> Hits:
        study = np.tile(number, len(drawn)), drawn.ravel()
        return {
            ("bootstrap over runs", f"knee, {name}"): holds(
                find(USL, *study, draws=draws, seed=seed), true[name, number.size]
            )
            for name, find in knees.items()
        }

    return over_studies(levels, repeats, scatters, [""], hits, runs, seed)


def _hits(table: pd.DataFrame, name: str, truth: float) -> Array:
    """For each row 1 where the interval holds the truth, 0 where it does not, NaN where an end is not known."""
    lo, hi = (table[f"{name}_{end}"].to_numpy(float) for end in ("lo", "hi"))
    return np.where(np.isnan(lo + hi), np.nan, (lo <= truth) & (truth <= hi))


def _of_row(row: pd.Series, value: str, name: str, truth: float) -> float:
    return holds(Estimate(row[value], row[f"{name}_lo"], row[f"{name}_hi"], 0.95, "row"), truth)
