"""Recorded faults: ``data/atlas/<fault>/fault.yml`` says what was done to a run, and which rules must find it.

Beside it are the raw files as the laboratory recorded them: a `study.yml` with its run folders, each sealed by its
`run.json`, or a folder ``raw`` with files of any tools::

    title: A generator with too few descriptors
    done: wrk requested 1000 connections under `ulimit -n 256`.
    finds: [connections-opened]
    shows: {table: runs, columns: [connections, errors_connect]}

`summarise_shown` returns the numbers of a fault's figure: the load over time, the counter that gives the fault away,
and the rule's limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loadcurve import tables
from loadcurve.audit.registry import all_rules
from loadcurve.audit.run_tables import Tables
from loadcurve.errors import ValueRuleError, refuse
from loadcurve.files import paths
from loadcurve.files.document import built
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.files.yaml_document import read_yaml
from loadcurve.ingest.parsed import Parsed
from loadcurve.reading import read
from loadcurve.study.section import Section
from loadcurve.tables import axis_label, heading

FILE = "fault.yml"


@dataclass(frozen=True)
class Shows(Section):
    """The counter that gives a fault away.

    The form of its figure follows from the table: a timeline where rows have a time; a curve over connections where the
    runs have several levels, and over their order where several have one level; bars for one run; the distribution of
    single requests.
    """

    table: str
    """Name of a table."""

    columns: tuple[str, ...]
    """Columns with numbers, or quotients such as ``received_bytes / requests``; each is a line or a bar."""

    where: dict[str, Any] = field(default_factory=dict)
    """Column → the value of the rows that are shown, such as ``cpu: all``."""

    by: str = ""
    """Column of which each value is a line or a bar of its own, such as ``cpu``; empty for none."""

    label: str = ""
    """Text of the axis; by default, that of the first column."""

    limit: str = ""
    """Limit that is drawn as a line, ``RULE.LIMIT``; empty for none."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.table not in tables.SCHEMAS:
            yield ValueRuleError("table", f"one of {', '.join(tables.SCHEMAS)}", self.table)
            return
        known = list(tables.SCHEMAS[self.table].columns)
        columns = [part for column in self.columns for part in column.split(" / ")]
        for name in (*columns, *self.where, *filter(None, [self.by])):
            if name not in known:
                yield ValueRuleError("shows", f"columns of the table {self.table}", name)
        if not self.columns:
            yield ValueRuleError("columns", "one or more", "none")
        rule = self.limit.partition(".")[0]
        limits = [f"{name}.{one}" for name, of in all_rules().items() for one in of.limits]
        if self.limit and self.limit not in limits:
            near = [name for name in limits if name.startswith(f"{rule}.")]
            yield ValueRuleError("limit", f"RULE.LIMIT, such as {', '.join(near or limits[:1])}", self.limit)


@dataclass(frozen=True)
class Fault(Section):
    """What was done to a run, and what the audit must find."""

    title: str
    """The fault in a few words."""

    done: str
    """What was done to the run, in one sentence."""

    finds: tuple[str, ...]
    """Rules that must report a warning or an error, the one that the fault illustrates first; none for clean runs."""

    cause: str = ""
    """Words with which the evidence or the advice of one of these rules must name the cause."""

    shows: Shows | None = None
    """The counter that gives the fault away; by default the finding alone is shown."""

    command: str = ""
    """Command that shows the counter by hand; by default, what the first rule needs."""

    run: str = ""
    """Run that is shown; by default, the first with a finding of the first rule."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name in ("title", "done"):
            if not getattr(self, name).strip():
                yield ValueRuleError(name, "a text", getattr(self, name))
        for rule in self.finds:
            if rule not in all_rules():
                yield ValueRuleError("finds", f"rules of the audit ({', '.join(all_rules())})", rule)


def atlas_folder() -> Path:
    """Return the folder of recorded faults in the checkout."""
    return paths.root() / "data" / "atlas"


def read_fault(folder: Path) -> Fault:
    """Read the `fault.yml` of a folder."""
    document = read_yaml(folder / FILE)
    fault, wrong = built(Fault, document)
    refuse(wrong, document.path)
    record_reads([document.path])
    assert isinstance(fault, Fault)  # without errors there is one
    return fault


def read_faults(folder: Path | None = None) -> dict[str, Fault]:
    """Read all faults of an atlas by name, that of their folder."""
    within = atlas_folder() if folder is None else folder
    return {one.name: read_fault(one) for one in sorted(within.glob("*")) if one.is_dir()}


def read_recorded(name: str, folder: Path | None = None) -> Parsed:
    """Read the raw files of a fault into declared tables."""
    of = (atlas_folder() if folder is None else folder) / name
    raw = of if (of / "study.yml").is_file() else of / "raw"
    parsed = read(raw)
    studies_read.discard(paths.data_name(raw))  # all faults are one set of data
    studies_read.add(paths.data_name(of.parent))
    return parsed


COLUMNS = ["panel", "axis", "x", "name", "series", "value", "limit", "clean"]
_INTERVALS = 30
"""Most intervals of a timeline of single requests."""
_CLASSES = 40
"""Classes of a distribution, of one ratio of their ends."""


def summarise_shown(shows: Shows, tables: Tables, clean: Tables | None = None) -> pd.DataFrame:
    """Return the numbers of a fault's figure, in the order in which its panels are drawn."""
    parts = [_counter(shows, tables).assign(clean=False)]
    if clean is not None and shows.table in clean:
        parts = [_counter(shows, clean).assign(clean=True), *parts]
    shown = pd.concat(parts, ignore_index=True)
    if (shown["axis"] == "time").all() and shows.table not in ("tcp", "server"):
        shown = pd.concat([*_load(tables), shown], ignore_index=True)
    return shown.reindex(columns=COLUMNS)


def _counter(shows: Shows, tables: Tables) -> pd.DataFrame:
    rows = _beside_corrected(tables) if shows.by == "corrected" else tables[shows.table]
    for name, value in shows.where.items():
        rows = rows[rows[name].astype(str) == str(value)]
    if shows.table == "requests":
        return _distribution(rows[shows.columns[0]].astype(float).dropna())
    rows = rows.dropna(subset=[shows.by]) if shows.by else rows
    axis, x = _axis(rows, shows.by)
    parts = []
    for column in shows.columns:
        by = rows[shows.by].astype(str) if shows.by else pd.Series("", index=rows.index)
        known = pd.DataFrame({"x": x, "by": by, "value": _values(rows, column)}).dropna(subset=["value"])
        names = [heading(column)] if len(shows.columns) > 1 or axis == "name" else []
        counted = bool(shows.by) and pd.api.types.is_integer_dtype(rows[shows.by])
        label = shows.by if len(shows.by) < 5 else heading(shows.by).lower() if counted else ""  # such as cpu 0
        series = [" ".join(filter(None, [*names, label if one else "", one])) for one in known["by"]]
        parts.append(known.assign(series=series))
    found = pd.concat(parts, ignore_index=True)
    if axis == "name":
        last = found.groupby("series", sort=False)["value"].max().reset_index()
        found = last.assign(name=last["series"], x=np.arange(len(last), dtype=float))
    label = shows.label or axis_label(shows.table, shows.columns[0])
    if axis == "name" and not shows.label and len(shows.columns) > 1:
        label = "Value" + axis_label(shows.table, shows.columns[0]).removeprefix(heading(shows.columns[0]))
    label = label if label.endswith("]") else f"{label} [count]"
    return found.assign(panel=label, axis=axis, limit=_limit(shows.limit))


def _values(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the values of a column, or the quotient of two, such as ``received_bytes / requests``."""
    over, _, under = column.partition(" / ")
    return rows[over].astype(float) / (rows[under].astype(float) if under else 1.0)


def _beside_corrected(tables: Tables) -> pd.DataFrame:
    """Return the printed quantiles of a run, and those that count what each stall left out (wrk, ``stats_correct``).

    A connection sends every E = N T / n on average.  While it waits L > 2 E, requests are due after E, 2 E, ...: they
    would have taken L - E, L - 2 E, ....
    """
    latency, run = tables["latency"], tables["runs"].iloc[0]
    took = tables["requests"]["latency_s"].astype(float).dropna().to_numpy()
    every = float(run["connections"] * run["duration_s"] / run["requests"])
    due = [np.arange(one - every, every, -every) for one in took[took > 2 * every]]
    quantiles = np.quantile(np.concatenate([took, *due]), latency["quantile"].astype(float))
    parts = latency.assign(corrected="reported"), latency.assign(corrected="corrected", latency_s=quantiles)
    return pd.concat(parts, ignore_index=True)


def _axis(rows: pd.DataFrame, by: str) -> tuple[str, pd.Series]:
    for axis, column in (("time", "elapsed_s"), ("quantile", "quantile")):
        if column in rows and rows[column].notna().any():
            return axis, rows[column].astype(float)
    if "throughput_rps" in rows and len(rows["connections"].dropna().unique()) > 1:
        return "connections", rows["connections"].astype(float)
    if "throughput_rps" in rows and not by and len(rows) > 1:
        order = rows.sort_values([name for name in ("started_at", "run_id") if name in rows], kind="stable").index
        return "run", pd.Series(np.arange(1.0, len(rows) + 1), index=order).reindex(rows.index)
    return "name", pd.Series(0.0, index=rows.index)


def _distribution(values: pd.Series) -> pd.DataFrame:
    """Return the share of the values in each class; the classes are equally wide on a logarithmic axis."""
    edges = np.geomspace(values[values > 0].min(), values.max(), _CLASSES + 1)
    shares = np.histogram(values, edges)[0] / len(values)
    middles = np.sqrt(edges[:-1] * edges[1:])
    found = pd.DataFrame({"x": middles, "value": shares})
    return found.assign(panel="Share of the responses [ratio]", axis="class", series="", limit=np.nan)


def _load(tables: Tables) -> Iterator[pd.DataFrame]:
    """Yield what is known of the load over time: throughput and percentiles of each interval, or segments sent."""
    if len(requests := tables.get("requests", pd.DataFrame())):
        yield _requests(requests)
    elif "tcp" in tables and tables["tcp"]["segments_sent_pps"].notna().any():
        sent = tables["tcp"].groupby("elapsed_s")["segments_sent_pps"].max().reset_index()
        label = {"panel": "Segments sent [1/s]", "axis": "time", "series": "", "clean": False}
        yield sent.set_axis(["x", "value"], axis=1).assign(**label)


def _requests(requests: pd.DataFrame) -> pd.DataFrame:
    """Return throughput and response-time percentiles of each interval of a stream of requests."""
    at = requests["offset_s"].astype(float)
    at = at.fillna((requests["time"] - requests["time"].min()).dt.total_seconds()) if "time" in requests else at
    ends = at + requests["latency_s"].astype(float).fillna(0.0)
    width = max(1.0, float(np.ceil(ends.max() / _INTERVALS)))
    interval = (ends // width) * width + width / 2
    groups = requests["latency_s"].astype(float).groupby(interval)
    every = np.arange(width / 2, interval.max() + width / 2, width)  # also those without a response
    rate = (groups.size().reindex(every, fill_value=0) / width).rename("value").rename_axis("x").reset_index()
    parts = [rate.assign(panel="Throughput [requests/s]", series="")]
    for quantile in (0.5, 0.99):
        times = groups.quantile(quantile).reindex(every).rename("value").rename_axis("x").reset_index()
        parts.append(times.assign(panel="Response time [s]", series=f"p{quantile:.0%}".rstrip("%")))
    return pd.concat(parts, ignore_index=True).assign(axis="time", clean=False)


def _limit(name: str) -> float:
    rule, _, limit = name.partition(".")
    return all_rules()[rule].limits[limit].value if name else np.nan
