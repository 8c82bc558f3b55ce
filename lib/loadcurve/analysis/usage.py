"""How busy each watched resource was in each run: the input of the bottleneck models."""

from collections.abc import Mapping, Sequence

import pandas as pd

from loadcurve.audit import summarise_busy
from loadcurve.audit.samples import EDGE_S, samples_within
from loadcurve.errors import LoadcurveError

_USED = 0.01  # utilisation below which a device limits nothing
_USAGE = ["run_id", "resource", "servers", "utilisation_ratio"]
NO_SAMPLE = (
    "no sample of a monitor belongs to these runs: record `sar -A 1` on the server and on the generator while the load "
    "runs"
)
"""Why there is no usage if nothing watched the runs."""
TOO_SHORT = (
    f"monitors watched these runs, but no sample lies within the load, at least {EDGE_S:g} s from its ends: run each "
    "level for at least 10 s"
)
"""Why there is no usage although something watched the runs."""


def why_no_usage(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> str:
    """Return `TOO_SHORT` if a processor, disk or link was sampled in a run, else `NO_SAMPLE`.

    Examples
    --------
    >>> why_no_usage({}, pd.DataFrame({"run_id": ["a"]})) == NO_SAMPLE
    True
    """
    watched = (tables[name]["run_id"] for name in ("cpu", "disks", "network") if name in tables)
    return TOO_SHORT if any(of.isin(runs["run_id"]).any() for of in watched) else NO_SAMPLE


def summarise_usage(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> pd.DataFrame:
    """Mean utilisation of processors, disks and links in each run, as far as monitors watched them.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        Tables by name; ``cpu``, ``disks`` and ``network`` are used where they are given.
    runs : pandas.DataFrame
        Runs of one curve, with ``run_id`` and ``throughput_rps``.

    Returns
    -------
    pandas.DataFrame
        One row for each run and resource: ``run_id``, ``resource``, ``servers``, ``utilisation_ratio``, and the columns
        of the run.  A resource is ``all CPUs``, ``busiest CPU`` (one thread cannot use more), ``disk NAME`` or ``link
        NAME``, with the host before it where several hosts were watched.  A disk serves requests side by side, so it
        may not be the limit even at a utilisation of 1.

    Examples
    --------
    >>> cpu = pd.DataFrame({"run_id": "a", "cpu": ["all", "0", "1"], "cpu_idle_ratio": [0.5, 0.1, 0.9]})
    >>> runs = pd.DataFrame({"run_id": ["a"], "throughput_rps": [900.0]})
    >>> summarise_usage({"cpu": cpu}, runs)[["resource", "servers", "utilisation_ratio"]].values.tolist()
    [['all CPUs', 2, 0.5], ['busiest CPU', 1, 0.9]]
    """
    parts = [_of_processors(tables.get("cpu"), runs)]
    parts += [_of_devices(tables.get("disks"), "device", "disk", runs)]
    parts += [_of_devices(tables.get("network"), "interface", "link", runs)]
    found = pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)
    hosts = found["host"].dropna().nunique()
    if hosts > 1:
        found["resource"] = found["host"].fillna("").astype(str) + " " + found["resource"]
    return found.drop(columns="host").merge(runs, on="run_id", how="inner")


def summarise_processors(cpu: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Utilisation of the processors in each run: of server and generator where each had its own, else of the machine.

    Parameters
    ----------
    cpu, runs : pandas.DataFrame
        The tables of that name.

    Returns
    -------
    pandas.DataFrame
        As `summarise_usage`, with the resources ``server`` and ``generator`` where `summarise_busy` knows them.

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
    pinned = summarise_busy(cpu, runs).query("role != ''")
    if pinned.empty:
        found = summarise_usage({"cpu": cpu}, runs)
    else:
        named = pinned.rename(columns={"role": "resource", "busy_ratio": "utilisation_ratio"}).assign(servers=1)
        found = named[_USAGE].merge(runs, on="run_id")
    if found.empty:
        raise LoadcurveError(why_no_usage({"cpu": cpu}, runs))
    return found


def _of_processors(cpu: pd.DataFrame | None, runs: pd.DataFrame) -> pd.DataFrame:
    samples = _within(cpu, runs)
    if samples.empty:
        return _rows([])
    waits = samples["cpu_iowait_ratio"].fillna(0.0) if "cpu_iowait_ratio" in samples else 0.0
    samples = samples.assign(busy=(1 - samples["cpu_idle_ratio"] - waits).clip(0, 1), cpu=samples["cpu"].astype(str))
    means = samples.groupby(["run_id", "host", "cpu"], dropna=False, observed=True)["busy"].mean().reset_index()
    rows = []
    for (run_id, host), group in means.groupby(["run_id", "host"], dropna=False):
        each = group[group["cpu"] != "all"]["busy"].dropna()
        together = group[group["cpu"] == "all"]["busy"].dropna()
        mean = together.iloc[0] if len(together) else each.mean()
        if not pd.isna(mean):
            rows.append((run_id, host, "all CPUs", max(len(each), 1), mean))
        if len(each) > 1:
            rows.append((run_id, host, "busiest CPU", 1, each.max()))
    return _rows(rows)


def _of_devices(table: pd.DataFrame | None, name: str, kind: str, runs: pd.DataFrame) -> pd.DataFrame:
    samples = _within(table, runs)
    if samples.empty or "utilisation_ratio" not in samples or samples["utilisation_ratio"].isna().all():
        return _rows([])
    keys = ["run_id", "host", name]
    means = samples.groupby(keys, dropna=False, observed=True)["utilisation_ratio"].mean().dropna()
    used = means.groupby(["host", name], dropna=False).transform("max") > _USED
    return _rows([(run, host, f"{kind} {item}", 1, min(busy, 1.0)) for (run, host, item), busy in means[used].items()])


def _within(table: pd.DataFrame | None, runs: pd.DataFrame) -> pd.DataFrame:
    samples = samples_within(table, runs)
    return samples if "host" in samples else samples.assign(host=pd.NA)


def _rows(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["run_id", "host", "resource", "servers", "utilisation_ratio"])
