"""How busy each watched resource was in each run: the input of the bottleneck models."""

from collections.abc import Mapping

import pandas as pd

from loadcurve.audit.run_tables import key_of
from loadcurve.audit.samples import EDGE_S
from loadcurve.audit.utilisation import use_of_resources
from loadcurve.errors import LoadcurveError

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
    found = use_of_resources({**tables, "runs": runs})
    rows = found.merge(runs.assign(key=key_of(runs)), on="key", suffixes=("_watched", ""))
    return rows.drop(columns=["key", "host_watched" if "host" in runs else "host"])


def summarise_processors(cpu: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Utilisation of the processors in each run.

    Parameters
    ----------
    cpu, runs : pandas.DataFrame
        The tables of that name.

    Returns
    -------
    pandas.DataFrame
        As `summarise_usage`.

    Raises
    ------
    LoadcurveError
        When no sample lies within the load of a run; the message says why, and what to record.

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
