"""Capacity under an objective: the highest load at which every run meets it, and response times beyond it.

The result is an interval of measured loads, because nothing was measured between two levels.  Each run is judged by
its own numbers: the mean of several 99th percentiles is not a percentile.  Beyond the
capacity, response times of an open loop grow with the length of the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError, check_columns
from loadcurve.stats.arrays import Array
from loadcurve.stats.estimate import Estimate
from loadcurve.tables.curves import check_points
from loadcurve.tables.schemas.derived import half_digit

_METHOD = "highest load kept by every run, lowest broken by every run; each end by a sign test over its runs"


@dataclass(frozen=True)
class Objective:
    """A promise: a column of the runs, and the highest value that it may have.

    Attributes
    ----------
    column : str
        Such as ``latency_p99_s`` or ``error_ratio``.
    maximum : float
        In the column's unit, >= 0; a run that has exactly this keeps it.

    Examples
    --------
    >>> print(Objective("latency_p99_s", 0.020))
    latency_p99_s <= 0.02
    """

    column: str
    maximum: float

    def __post_init__(self) -> None:
        if not 0 <= self.maximum < np.inf:
            raise ValueRuleError("maximum", ">= 0 and finite", self.maximum)

    def __str__(self) -> str:
        return f"{self.column} <= {self.maximum:g}"


def summarise_objectives(
    runs: pd.DataFrame, objectives: Sequence[Objective], *, load: str = "connections"
) -> pd.DataFrame:
    """What the runs of each load say about the objectives.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run, with the columns `load` and those of the objectives.
    objectives : sequence of Objective
        All of them have to be kept.
    load : str
        Column of the load, >= 0: ``connections``, or the rate that an open loop offered.

    Returns
    -------
    pandas.DataFrame
        One row for each load, ascending: `load`, ``runs``, ``kept`` and ``broken`` (how many runs; a run of which a
        value is missing or printed too coarsely, and none is known to be too much, is neither), ``coarse`` (how many
        runs are neither because of the digits that their ``tool`` prints), ``kept_ratio``, ``decision`` (``kept`` or
        ``broken`` when all runs are, else ``undecided``), ``broken_by`` (columns that broke it in any run), the worst
        value of each objective's column, named as in ``latency_p99_worst_s``, and ``throughput_rps``, the mean over the
        runs, where they have it.

    Raises
    ------
    ValueRuleError
        When there is no run or no objective, a column is missing, a load is missing or negative, or runs of one load
        differ in a factor (see `loadcurve.tables.curves`).

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 8, 16, 16, 32, 32], "latency_p99_s": [11, 12, 19, 22, 40, 41]})
    >>> runs["latency_p99_s"] /= 1000
    >>> table = summarise_objectives(runs, [Objective("latency_p99_s", 0.020)])
    >>> table[["connections", "kept_ratio", "decision", "latency_p99_worst_s"]]
       connections  kept_ratio   decision  latency_p99_worst_s
    0            8         1.0       kept                0.012
    1           16         0.5  undecided                0.022
    2           32         0.0     broken                0.041
    """
    _checked(runs, objectives, load)
    check_points(runs, [load])
    values = runs[[objective.column for objective in objectives]].astype(float)
    maxima = [objective.maximum for objective in objectives]
    printed = pd.DataFrame({column: half_digit(runs, column) for column in values}, runs.index)
    over = (values - printed).gt(maxima, axis=1)
    judged = pd.DataFrame(
        {
            load: runs[load].to_numpy(),
            "broken": over.any(axis=1).to_numpy(),
            "kept": (values + printed).le(maxima, axis=1).all(axis=1).to_numpy(),
        }
    )
    judged["coarse"] = values.notna().all(axis=1).to_numpy() & ~judged["broken"] & ~judged["kept"]
    groups = judged.groupby(load)
    counted = {name: groups[name].sum() for name in ("kept", "broken", "coarse")}
    table = pd.DataFrame({"runs": groups.size(), **counted})
    table["kept_ratio"] = table["kept"] / table["runs"]
    table["decision"] = np.select(
        [table["kept"] == table["runs"], table["broken"] == table["runs"]], ["kept", "broken"], "undecided"
    )
    which = over.groupby(runs[load]).any()
    table["broken_by"] = [", ".join(which.columns[row]) for row in which.to_numpy()]
    worst = values.groupby(runs[load]).max()
    for column in worst:
        table[_worst_name(column)] = worst[column]
    if "throughput_rps" in runs:
        table["throughput_rps"] = runs.groupby(load)["throughput_rps"].mean()
    return table.reset_index()


def find_capacity(runs: pd.DataFrame, objectives: Sequence[Objective], *, load: str = "connections") -> Estimate:
    """Capacity under objectives, as an interval between two measured loads.

    Parameters
    ----------
    runs, objectives, load
        As for `summarise_objectives`.

    Returns
    -------
    Estimate
        ``lo``, which is the value too, is the highest load that every run keeps, as every run of all lower ones does;
        ``hi`` is the lowest load that every run breaks.  A load where runs disagree lies between them.  ``lo`` is 0
        where already the first load is not kept, ``hi`` is infinite where none is broken.

        ``level`` is the confidence that at least half of all runs would keep ``lo``, or break ``hi``, each end by
        itself: 1 − 2⁻ʳ, with r the fewer runs of the two.

    Raises
    ------
    ValueRuleError
        As `summarise_objectives`.

    Notes
    -----
    The level is that of a sign test (W. J. Conover, "Practical Nonparametric Statistics", the chapter on the binomial
    distribution): if fewer than half of all runs kept the objective, r of r would with a probability below 2⁻ʳ.
    As ``lo`` is where the first failure ends an ascent, searching over many loads does not weaken it.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 8, 16, 16, 32, 32], "latency_p99_s": [11, 12, 19, 22, 40, 41]})
    >>> runs["latency_p99_s"] /= 1000
    >>> capacity = find_capacity(runs, [Objective("latency_p99_s", 0.020)])
    >>> print(capacity, capacity.level)
    8 [8, 32] 0.75
    >>> capacity.warnings
    ('1 of 2 runs keep it at connections = 16: undecided',)
    """
    table = summarise_objectives(runs, objectives, load=load)
    kept, broken = table["decision"] == "kept", table["decision"] == "broken"
    below = kept.cummin()  # kept here and at every lower load
    ends = [table[below].tail(1), table[broken].head(1)]
    lo = float(ends[0][load].iloc[0]) if len(ends[0]) else 0.0
    hi = float(ends[1][load].iloc[0]) if len(ends[1]) else np.inf
    fewest = min(int(end["runs"].iloc[0]) for end in ends if len(end)) if below.any() or broken.any() else 1
    # 1 − 2⁻ʳ is 1 in double precision from 54 runs on; no level is.
    level = min(1 - 0.5**fewest, 1 - 1e-12)
    return Estimate(lo, lo, hi, level, _METHOD, tuple(_weak(table, load, lo, hi, fewest)))


def _weak(table: pd.DataFrame, load: str, lo: float, hi: float, fewest: int) -> list[str]:
    rows = table.rename(columns={load: "load"}).itertuples()
    found = [_undecided(row, load) for row in rows if row.decision == "undecided"]
    if np.isinf(hi):
        last = table[load].iloc[-1]
        found.append(f"not reached: no load up to {load} = {last:g} is broken by every run, so there is no upper end")
    if lo == 0:
        first = table.iloc[0]
        then = "search below it" if first["broken"] else "the others cannot be judged"
        found.append(f"not even the lowest load, {load} = {first[load]:g}, is kept by every run: {then}")
    again = table.loc[(table["decision"] == "kept") & (table[load] > lo), load]
    if len(again):
        found.append(
            f"kept again at {load} = {', '.join(f'{at:g}' for at in again)}, above a load that is not kept: "
            "the result counts the lower loads only; find what disturbed those runs"
        )
    if fewest == 1:
        found.append("1 run at an end of the interval: another run may decide otherwise")
    return found


def _undecided(row: Any, load: str) -> str:
    unknown = row.runs - row.kept - row.broken
    known = f", and {unknown} cannot be judged" if unknown else ""
    known += f" ({row.coarse} of them because their digits are too coarse)" if row.coarse else ""
    return f"{row.kept} of {row.runs} runs keep it at {load} = {row.load:g}{known}: undecided"


def _worst_name(column: str) -> str:
    """``latency_p99_worst_s`` of ``latency_p99_s``; the unit stays last."""
    quantity, _, unit = column.rpartition("_")
    return f"{quantity}_worst_{unit}" if quantity else f"{column}_worst"


def _checked(runs: pd.DataFrame, objectives: Sequence[Objective], load: str) -> None:
    if not objectives:
        raise ValueRuleError("objectives", "at least one", "none")
    columns = [objective.column for objective in objectives]
    if len(set(columns)) < len(columns):
        raise ValueRuleError("objectives", "of different columns", ", ".join(columns))
    check_columns(runs, (load, *columns))
    if runs.empty or not (runs[load].astype(float) >= 0).all():
        raise ValueRuleError(load, "known and >= 0 for at least one run", runs[load].tolist())


def overload_latency_s(
    offered_rps: ArrayLike, capacity_rps: float, duration_s: float, quantile: float, unloaded_s: float
) -> Array:
    """Response times by quantile of a run at a fixed rate, counted from when each request was due.

    Parameters
    ----------
    offered_rps : array_like of float, shape (n,)
        Offered rates λ, in requests/s, > 0.
    capacity_rps : float
        Highest rate C that the server serves, in requests/s, > 0.
    duration_s : float
        Length T of the run, in s, > 0; requests without a response at its end have no response time.
    quantile : float
        q, 0 to 1.
    unloaded_s : float
        Response time R₀ without waiting, in s, >= 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        R₀ up to the capacity, R₀ + q T (1 − C/λ) above it, in s.

    Notes
    -----
    Beyond the capacity the server completes request n at n/C, which was due at n/λ.  A request that completes at t
    waited t (1 − C/λ), and completions are uniform over the run.  This is the fluid approximation of an overloaded
    queue (G. F. Newell, "Applications of Queueing Theory", 2nd edition, 1982, chapter 2): it leaves out the scatter of
    arrivals and of service, so below the capacity it has no queue.

    Examples
    --------
    >>> overload_latency_s([50, 100, 200], 100, duration_s=4, quantile=0.5, unloaded_s=0.02).tolist()
    [0.02, 0.02, 1.02]
    """
    offered = np.asarray(offered_rps, dtype=float)
    for name, value in (("offered_rps", offered), ("capacity_rps", capacity_rps), ("duration_s", duration_s)):
        if not np.all(np.asarray(value) > 0):
            raise ValueRuleError(name, "> 0", value)
    if not (0 <= quantile <= 1 and unloaded_s >= 0):
        raise ValueRuleError("quantile, unloaded_s", "0 to 1, and >= 0", (quantile, unloaded_s))
    return unloaded_s + quantile * duration_s * np.maximum(0.0, 1 - capacity_rps / offered)
