"""A fault that is planted in a clean recorded run, and the pure functions that plant it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from loadcurve import tables
from loadcurve.audit.atlas import Fault, Shows
from loadcurve.errors import LoadcurveError

Tables = Mapping[str, pd.DataFrame]
Change = Callable[[Tables], dict[str, pd.DataFrame]]

STUDY = "connections_on_loopback"
"""Study with the clean runs: a server that waits 10 ms, far below every limit of its machine."""

RUN = "delay-c0064-r1"
"""Clean run of that study in which a fault about one run is planted: wrk with 64 connections for 6 s."""


@dataclass(frozen=True)
class Mutation:
    """A planted fault."""

    name: str  # Its own among all planted faults, in lower case with underscores
    fault: Fault  # What was planted, and what the audit must find
    change: Change  # Tables of the clean run -> tables with the fault; its argument stays as it is
    sweep: bool = False  # Whether it is planted in all runs of the waiting server together, and not in one
    # Why the laboratory cannot record such a run, in sentences; empty if a recorded fault shows the same rule.
    not_recorded: str = ""


def planted_fault(
    name: str,
    title: str,
    done: str,
    finds: tuple[str, ...],
    change: Change,
    *,
    cause: str = "",
    shows: Shows | None = None,
    sweep: bool = False,
    not_recorded: str = "",
) -> Mutation:
    """Return a mutation from its own fields and those of its fault."""
    return Mutation(name, Fault(title, done, finds, cause, shows), change, sweep, not_recorded)


def with_values(table: str, where: Mapping[str, Any] | None = None, **values: Any) -> Change:
    """Return a change of columns of a table, in the rows that have the values of `where`, or in all."""

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        frame = given[table].copy()
        rows = rows_where(frame, where or {})
        if not rows.any():
            raise LoadcurveError(f"{table} must have rows with {where}, got none")
        for name, value in values.items():
            whole = frame[name].astype(object)
            whole[rows] = value(frame.loc[rows, name]) if callable(value) else value
            frame[name] = whole
        return {**given, table: tables.check(table, frame, extra=True)}

    return change


def with_rows(table: str, *rows: Mapping[str, Any], seconds: int = 1) -> Change:
    """Return a change that adds rows to a table for each second of the load, with the run's host and time.

    A value may be a function of the second, from 0.
    """

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        run = given["runs"].iloc[0]
        known = {name: run[name] for name in ("study", "run_id", "host")} | {"source": f"planted.{table}"}
        columns = tables.SCHEMAS[table].columns
        made = []
        for second in range(seconds):
            at = {"time": run["started_at"] + pd.Timedelta(seconds=second + 1), "elapsed_s": second + 1.0}
            for row in rows:
                own = {name: value(second) if callable(value) else value for name, value in row.items()}
                made.append({name: value for name, value in (known | at).items() if name in columns} | own)
        planted = tables.check(table, pd.DataFrame(made))
        before = [given[table]] if table in given else []
        return {**given, table: tables.check(table, pd.concat([*before, planted], ignore_index=True), extra=True)}

    return change


def without_rows(table: str, where: Mapping[str, Any]) -> Change:
    """Return a change that removes the rows of a table that have the values of `where`."""
    return lambda given: {**given, table: given[table][~rows_where(given[table], where)]}


def chain(*changes: Change) -> Change:
    """Return the changes one after the other."""

    def change(given: Tables) -> dict[str, pd.DataFrame]:
        done = dict(given)
        for one in changes:
            done = one(done)
        return done

    return change


def scaled(runs: pd.DataFrame, by: pd.Series | np.ndarray) -> pd.DataFrame:
    """Return the runs with a throughput multiplied by so much in the same time; response times are then N/X."""
    names = ("requests", "throughput_rps", "goodput_rps", "received_bytes", "received_bytes_per_s")
    more = {name: runs[name].astype(float) * by for name in names}
    return runs.assign(**more | {"requests": more["requests"].round(), "latency_mean_s": runs["latency_mean_s"] / by})


def times(factor: float) -> Callable[[pd.Series], pd.Series]:
    """Return the multiplication by a factor, for `with_values`."""
    return lambda column: column.astype(float) * factor


def around(mean: float) -> Callable[[pd.Series], pd.Series]:
    """Return values that vary by up to 15 % around a mean, the same in each build, for `with_values`."""
    return lambda column: pd.Series(mean * (1 + 0.15 * np.sin(2.4 * np.arange(len(column)))), index=column.index)


def rows_where(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.Series:
    """Return which rows have these values; a number equals the text that prints it."""
    rows = pd.Series(True, index=frame.index)
    for name, value in where.items():
        rows &= frame[name].astype(str) == str(value)
    return rows
