"""The resources of each run and their utilisation: what the audit and the bottleneck report both look at."""

from collections.abc import Sequence

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.utilisation import busy_disks, busy_links, busy_processors

_USED = 0.01  # utilisation below which a device limits nothing


def use_of_resources(tables: Tables) -> pd.DataFrame:
    """Return the mean utilisation of each resource that was watched in each run.

    A resource is ``server CPU`` and ``generator CPU`` where each was pinned to its own, ``all CPUs``, ``busiest CPU``
    (one thread cannot use more), ``disk NAME`` or ``link NAME``, with the host before it where several hosts were
    watched.  A disk serves requests side by side, so it may not be the limit even at a utilisation of 1.

    Returns
    -------
    pandas.DataFrame
        ``key host resource servers utilisation_ratio``, one row for each run and resource.

    Examples
    --------
    >>> runs = pd.DataFrame([{"study": "s", "run_id": "a", "server_cpu": "0", "generator_cpu": "1"}])
    >>> cpu = pd.DataFrame({"study": "s", "run_id": "a", "cpu": ["0", "1"], "cpu_idle_ratio": [0.5, 0.1]})
    >>> use_of_resources({"runs": runs, "cpu": cpu})[["resource", "utilisation_ratio"]].values.tolist()
    [['server CPU', 0.5], ['generator CPU', 0.9]]
    """
    parts = [_of_processors(busy_processors(tables)), _of_devices(busy_disks(tables), "device", "disk")]
    parts += [_of_devices(busy_links(tables), "interface", "link")]
    found = pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)
    if len(set(found["host"]) - {""}) > 1:
        found["resource"] = (found["host"] + " " + found["resource"]).str.strip()
    return found


def _of_processors(busy: pd.DataFrame) -> pd.DataFrame:
    """Rows of each host: processors with a role, then all together and the busiest of the others, if there are any."""
    if busy.empty:
        return _rows([])
    rows: list[tuple[object, ...]] = []
    for (key, host), group in busy.groupby(["key", "host"]):
        cpus, others = int(group["cpus"].iloc[0]), group[(group["cpu"] != "all") & (group["role"] == "")]
        with_role = group[group["role"] != ""]
        rows += [
            (key, host, f"{role} CPU", 1, of) for role, of in zip(with_role["role"], with_role["busy"], strict=True)
        ]
        if len(with_role) and others.empty:
            continue
        rows.append((key, host, "all CPUs", cpus, group.loc[group["cpu"] == "all", "busy"].iloc[0]))
        if cpus > 1:
            rows.append((key, host, "busiest other CPU" if len(with_role) else "busiest CPU", 1, others["busy"].max()))
    return _rows(rows)


def _of_devices(busy: pd.DataFrame, name: str, kind: str) -> pd.DataFrame:
    if busy.empty:
        return _rows([])
    used = busy[busy.groupby(["host", name])["busy"].transform("max") > _USED]
    columns = (used["key"], used["host"], used[name].astype(str), used["busy"].clip(upper=1.0))
    return _rows([(key, host, f"{kind} {item}", 1, share) for key, host, item, share in zip(*columns, strict=True)])


def _rows(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["key", "host", "resource", "servers", "utilisation_ratio"])
