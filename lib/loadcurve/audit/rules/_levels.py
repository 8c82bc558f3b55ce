"""Repeated levels of the runs, for the rules about repeats."""

import numpy as np
import pandas as pd

from loadcurve.audit.run_tables import Tables, once
from loadcurve.tables import merge_generators
from loadcurve.tables.curves import name_loops

_WORDS = {"connections": "connections", "target_rate_rps": "requests/s"}
"""Column of the load -> its unit in sentences."""


@once
def runs_by_level(tables: Tables) -> pd.DataFrame:
    """Return the runs, one row each, with ``variant``, ``axis`` (column of the load) and ``level`` (its value).

    Runs that agree in these three are repeats.  Closed and open loops have no level in common, and measured rates that
    differ by less than 1 % are one level (`loadcurve.tables.curves`).  ``unclear`` is true where several rows of
    a level have one run_id and no `repeat`: they may be repeats, or generators of one run.
    """
    runs = merge_generators(tables["runs"])
    if len(runs) < 2:
        return runs.assign(axis="", level=np.nan, unclear=False).iloc[:0]
    several = runs["repeat"].isna() & runs["generator"].notna() & runs.duplicated(["study", "run_id"], keep=False)
    runs = runs.assign(generator=runs["generator"].mask(several))
    parts = [
        named.assign(axis=axis, level=named[axis].astype(float))
        for axis, named in name_loops(runs, tables.get("factors"))
        if len(named)
    ]
    levels = pd.concat(parts).dropna(subset=["level"])
    same = levels.duplicated(["study", "run_id", "variant", "axis", "level"], keep=False)
    return levels.assign(unclear=same & several.reindex(levels.index))


@once
def throughput_by_level(tables: Tables) -> pd.DataFrame:
    """Return ``variant axis level runs mean deviation log_mean log_variance`` of the throughput of each level.

    Differences of logarithms are ratios.  Levels whose reports may be generators of one run are left out.
    """
    runs = runs_by_level(tables)
    runs = runs[(runs["throughput_rps"] > 0) & ~runs["unclear"]]
    throughput = runs["throughput_rps"].astype(float)
    runs = runs.assign(throughput=throughput, log=np.log(throughput))
    levels = runs.groupby(["variant", "axis", "level"], dropna=False)
    return levels.agg(
        runs=("log", "size"), mean=("throughput", "mean"), deviation=("throughput", "std"), log_mean=("log", "mean"),
        log_variance=("log", "var"),
    ).reset_index()  # fmt: skip


REPEATS = 3
"""Fewest repeats of a level: the t quantile falls from 12.7 at two runs to 4.3 at three."""
WIDTH_RATIO = 0.1
"""Half of a 95 % interval that is narrow enough, of the mean."""
_MANY = 1000  # repeats beyond which nobody goes


def t_quantile(freedom: np.ndarray) -> np.ndarray:
    """Return the quantile of Student's t for a 95 % interval with some degrees of freedom."""
    from scipy.special import stdtrit  # here, because a single report has no repeats

    quantile: np.ndarray = stdtrit(freedom, 0.975)
    return quantile


def advised_repeats(levels: pd.DataFrame, repeats: float = REPEATS, ratio: float = WIDTH_RATIO) -> int:
    """Return how often to measure each of some levels, by the scatter of those with repeats; 1000 if more often."""
    levels = levels[levels["runs"] > 1]
    if levels.empty:
        return int(np.ceil(repeats))
    relative = levels["deviation"] / levels["mean"]
    scatter = float(np.sqrt(np.average(relative**2, weights=levels["runs"] - 1)))
    needed = np.arange(max(int(np.ceil(repeats)), 2), _MANY)
    enough = needed[t_quantile(needed - 1.0) * scatter / np.sqrt(needed) <= ratio]
    return int(enough[0]) if len(enough) else _MANY


def shown_level(row: pd.Series) -> str:
    """Return the level of a row in words, with its variant where it has a name."""
    variant = f" of {row['variant']}" if row["variant"] and row["variant"] != "all runs" else ""
    return f"{level_words(row['level'], row['axis'])}{variant}"


def level_words(level: float, axis: str) -> str:
    """Return a level with its noun: ``1 connection``, ``64 connections``, ``500 requests/s``."""
    word = _WORDS[axis]
    return f"{level:g} {word.removesuffix('s') if level == 1 and axis == 'connections' else word}"
