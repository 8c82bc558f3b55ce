"""The bottleneck report of a curve: how busy each resource was, as text cells, and a conclusion in a sentence."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import interval_cell, range_text, rate_cell, shown
from loadcurve.audit.run_tables import key_of
from loadcurve.audit.samples import EDGE_S
from loadcurve.audit.utilisation import use_of_resources
from loadcurve.blocks import Grid
from loadcurve.errors import LoadcurveError
from loadcurve.units import format_quantity

GENERATOR = "generator CPU"
"""Ends the name of the resource that is the processor of a load generator, as `use_of_resources` names it."""
NO_SAMPLE = (
    "no sample of a monitor belongs to these runs: record `sar -A 1` on the server and on the generator while the load "
    "runs"
)
"""Why there is no usage if nothing watched the runs."""
NOT_ATTACHED = "monitors were recorded, but no sample belongs to these runs: Not used names what to do"
"""Why there is no usage although something watched other times, or times that are not known."""
TOO_SHORT = (
    f"monitors watched these runs, but no sample lies within the load, at least {EDGE_S:g} s from its ends: run each "
    "level for at least 10 s"
)
"""Why there is no usage although something watched the runs."""


def why_no_usage(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> str:
    """Return `TOO_SHORT` if a processor, disk or link was sampled in a run, or why none was.

    Examples
    --------
    >>> why_no_usage({}, pd.DataFrame({"run_id": ["a"]})) == NO_SAMPLE
    True
    """
    watched = (tables[name]["run_id"] for name in ("cpu", "disks", "network") if name in tables)
    if any(of.isin(runs["run_id"]).any() for of in watched):
        return TOO_SHORT
    return NOT_ATTACHED if any(len(tables.get(name, ())) for name in ("cpu", "disks", "network")) else NO_SAMPLE


def summarise_usage(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> pd.DataFrame:
    """Mean utilisation of processors, disks and links in each run, as far as monitors watched them.

    Examples
    --------
    >>> cpu = pd.DataFrame({"run_id": "a", "cpu": ["all", "0", "1"], "cpu_idle_ratio": [0.5, 0.1, 0.9]})
    >>> runs = pd.DataFrame({"run_id": ["a"], "throughput_rps": [900.0]})
    >>> summarise_usage({"cpu": cpu}, runs)[["resource", "servers", "utilisation_ratio"]].values.tolist()
    [['all CPUs', 2, 0.5], ['busiest CPU', 1, 0.9]]
    """
    if not any(map(len, tables.values())):
        return pd.DataFrame()
    found = use_of_resources({**tables, "runs": runs})
    rows = found.merge(runs.assign(key=key_of(runs)), on="key", suffixes=("_watched", ""))
    return rows.drop(columns=["key", "host_watched" if "host" in runs else "host"])


def summarise_processors(cpu: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Utilisation of the processors in each run, as `summarise_usage` returns it.

    Raises LoadcurveError when no sample lies within the load of a run; the message says why, and what to record.

    Examples
    --------
    >>> cpu = pd.DataFrame({"study": "s", "run_id": "a", "cpu": ["0", "1"], "elapsed_s": 5.0,
    ...                     "cpu_idle_ratio": [0.1, 0.9], "cpu_iowait_ratio": 0.0})
    >>> run = {"study": "s", "run_id": "a", "variant": "v", "connections": 4, "status": "finished", "duration_s": 10.0}
    >>> runs = pd.DataFrame([run | {"server_cpu": None, "generator_cpu": None}])
    >>> summarise_processors(cpu, runs)[["resource", "utilisation_ratio", "servers"]].values.tolist()
    [['all CPUs', 0.5, 2], ['busiest CPU', 0.9, 1]]
    """
    found = summarise_usage({"cpu": cpu}, runs)
    if found.empty:
        raise LoadcurveError(why_no_usage({"cpu": cpu}, runs))
    return found


_HEADINGS = ["resource", "against the observed throughput", "busy", "work per request", "interval"]
_HEADINGS += ["allows [requests/s]", "interval"]


def bottleneck_grid(ranked: pd.DataFrame) -> Grid:
    """Return the resources as a table, the one that allows least first."""
    rows = [
        [
            row["resource"] if row["servers"] == 1 else f"{row['resource']} ({row['servers']:g})",
            row["meaning"],
            format_quantity(row["utilisation_ratio"], "ratio", 2),
            "" if np.isnan(row["demand_s"]) else shown(row["demand_s"], "s"),
            range_text(row["demand_lo"], row["demand_hi"], "s"),
            rate_cell(row["saturation_rps"]),
            interval_cell(row["saturation_lo"], row["saturation_hi"]),
        ]
        for row in ranked.to_dict("records")
    ]
    work = "work per request: U/X of saturated loads, else the slope below them"
    return Grid(_HEADINGS, rows, f"Bottlenecks ({work}); {plateau_text(ranked)}", left=2)


def plateau_text(ranked: pd.DataFrame) -> str:
    """Return the observed plateau in words.

    Examples
    --------
    >>> plateau_text(pd.DataFrame({"plateau_rps": [400.0], "plateau_lo": [390.0], "plateau_hi": [410.0]}))
    'the observed plateau is 400 requests/s [390 to 410 requests/s]'
    """
    value, lo, hi = ranked[["plateau_rps", "plateau_lo", "plateau_hi"]].clip(lower=0).iloc[0]
    if np.isnan(value):
        return "throughput has no plateau yet"
    return f"the observed plateau is {shown(value, 'rps')} {range_text(lo, hi, 'rps')}".strip()


def bottlenecks_caption(ranked: pd.DataFrame, of: str = "") -> str:
    """Return which resource allows least, and what the observed throughput says about it.

    `of` is `` of NAME`` of the curve, or empty.

    Examples
    --------
    >>> row = {"resource": "CPU", "saturation_rps": 404.0, "saturation_lo": 390.0, "saturation_hi": 420.0,
    ...        "meaning": "saturated", "plateau_rps": 400.0, "plateau_lo": 390.0, "plateau_hi": 410.0}
    >>> bottlenecks_caption(pd.DataFrame([row]))
    'The tightest resource is CPU, which allows 404 requests/s [390 to 420 requests/s]; the observed plateau is \
400 requests/s [390 to 410 requests/s]: saturated.'
    """
    row = ranked.iloc[0]
    if np.isnan(row["saturation_rps"]):
        return f"The tightest resource{of} is not known: {row['resource']} is {row['meaning']}."
    ends = range_text(row["saturation_lo"], row["saturation_hi"], "rps")
    allows = f"which allows {shown(row['saturation_rps'], 'rps')} {ends}".strip()
    return f"The tightest resource{of} is {row['resource']}, {allows}; {plateau_text(ranked)}: {row['meaning']}."
