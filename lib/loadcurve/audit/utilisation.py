"""How busy each processor, disk and link was in each run, for the rules about saturation and the bottleneck report.

Busy is all that is not idle: 1 − idle − waiting for disks.  Every number is the mean over the samples that lie wholly
within the run's load (`samples_within`).
"""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from loadcurve.audit.run_tables import Tables, key_of, once, runs_by_key
from loadcurve.audit.samples import samples_within
from loadcurve.study import BUSY_RATIO
from loadcurve.units import format_quantity

# A link carries, beyond what interfaces count, 4 bytes of checksum, 8 of preamble and a gap of 12 for each frame (IEEE
# 802.3, clauses 3 and 4).
_FRAME_OVERHEAD_BYTES = 24.0


@once
def busy_processors(tables: Tables) -> pd.DataFrame:
    """Return the busy share of each processor in each run.

    Returns
    -------
    pandas.DataFrame
        ``key host cpu busy cpus role``: `host` is empty if it is not known; `cpu` is ``all`` for the mean over all
        processors of the host, which is computed where the tool did not print it; `cpus` counts them; `role` is
        ``generator`` or ``server`` for a processor that was theirs alone, else empty.  Hosts may be namespaces of one
        machine, whose monitors see the same processors; then one with a role is only listed for the host of its role.
    """
    samples = samples_within(tables.get("cpu"), tables["runs"])
    columns = ["key", "host", "cpu", "busy", "cpus", "role"]
    if samples.empty:
        return pd.DataFrame(columns=columns)
    waits = samples["cpu_iowait_ratio"].fillna(0.0) if "cpu_iowait_ratio" in samples else 0.0
    samples = samples.assign(
        busy=(1 - samples["cpu_idle_ratio"] - waits).clip(0, 1), host=host_of(samples), cpu=samples["cpu"].astype(str)
    )
    means = samples.groupby(["key", "host", "cpu"], observed=True)["busy"].mean().dropna().reset_index()
    alone = means["cpu"] != "all"
    hosts = means[alone].groupby(["key", "host"])["busy"].agg(busy="mean", cpus="size").reset_index()
    printed = pd.MultiIndex.from_frame(means.loc[~alone, ["key", "host"]])
    lacking = hosts[~pd.MultiIndex.from_frame(hosts[["key", "host"]]).isin(printed)]
    means = pd.concat([means, lacking.drop(columns="cpus").assign(cpu="all")], ignore_index=True)
    means = means.merge(hosts[["key", "host", "cpus"]], how="left").fillna({"cpus": 1}).astype({"cpus": int})
    found = means.assign(role=_roles(means, tables["runs"]))[columns]
    return found[~_has_role_elsewhere(found, _machines(samples, tables.get("hosts")))].reset_index(drop=True)


def _machines(samples: pd.DataFrame, hosts: pd.DataFrame | None) -> pd.DataFrame:
    """Return ``key host machine`` of hosts whose monitor printed the name of its machine."""
    if hosts is None or hosts.empty or "source" not in samples:
        return pd.DataFrame(columns=["key", "host", "machine"], dtype=object)
    printed = pd.DataFrame({"key": key_of(hosts), "source": hosts["source"], "machine": hosts["host"]})
    sampled = samples[["key", "host", "source"]].drop_duplicates()
    return sampled.merge(printed.dropna(), on=["key", "source"]).drop_duplicates(["key", "host"]).drop(columns="source")


def _has_role_elsewhere(means: pd.DataFrame, machines: pd.DataFrame) -> np.ndarray:
    """Return whether a processor without a role has one on another host of the same machine."""
    named = means.merge(machines, how="left", on=["key", "host"])
    places = pd.MultiIndex.from_frame(named[["key", "machine", "cpu"]])
    has_role = (named["role"] != "").to_numpy()
    return np.asarray(~has_role & named["machine"].notna().to_numpy() & places.isin(places[has_role]))


def _roles(means: pd.DataFrame, runs: pd.DataFrame) -> np.ndarray:
    """Return the role of each processor.

    The generator's processor is on the generator's host.  The server's is on the only other host that was sampled, or
    on the same host if there is no other.
    """
    if not {"server_cpu", "generator_cpu"} <= set(runs):
        return np.full(len(means), "", dtype=object)
    pins = runs_by_key(runs)
    pins = pins[pins["server_cpu"].notna() | pins["generator_cpu"].notna()].reindex(means["key"])
    cpu = means["cpu"].to_numpy()
    hosts = means.groupby("key")["host"].transform("nunique").to_numpy()
    on_generator = means["host"].to_numpy() == (pins["host"].fillna("").to_numpy() if "host" in pins else "")
    server, generator = (
        pins[name].astype("string").fillna("").to_numpy(object) for name in ("server_cpu", "generator_cpu")
    )
    of_generator = (cpu == generator) & ((hosts == 1) | on_generator)
    of_server = (cpu == server) & ((hosts == 1) | ((hosts == 2) & ~on_generator))
    shared = of_server & of_generator  # a processor of both is of neither
    roles: np.ndarray = np.where(shared, "", np.where(of_generator, "generator", np.where(of_server, "server", "")))
    return roles


@once
def busy_disks(tables: Tables) -> pd.DataFrame:
    """Return the utilisation of each disk in each run: ``key host device busy``."""
    return _busy_devices(tables, "disks", "device")


@once
def busy_links(tables: Tables) -> pd.DataFrame:
    """Return the utilisation of each link in each run: ``key host interface busy``.

    sar divides the bytes that the interface counts by its speed.  Each frame occupies the link for 24 bytes more, which
    is 2 % of a full frame but 29 % of the shortest.  They are added where the packets are known.
    """
    return _busy_devices(tables, "network", "interface", _with_overhead)


def _with_overhead(samples: pd.DataFrame) -> pd.Series:
    """Utilisation with the bytes of each frame that interfaces do not count; as printed where packets are unknown."""
    printed = samples["utilisation_ratio"]
    sizes, rates = ([f"{way}_{unit}" for way in ("received", "transmitted")] for unit in ("bytes_per_s", "pps"))
    if not set(sizes + rates) <= set(samples):
        return printed
    moved = samples[sizes].max(axis=1)
    whole = (samples[sizes].to_numpy(float) + _FRAME_OVERHEAD_BYTES * samples[rates].to_numpy(float)).max(axis=1)
    return (printed * (whole / moved.where(moved > 0))).fillna(printed)


def _busy_devices(
    tables: Tables, table: str, name: str, measure: Callable[[pd.DataFrame], pd.Series] | None = None
) -> pd.DataFrame:
    samples = samples_within(tables.get(table), tables["runs"])
    if samples.empty or "utilisation_ratio" not in samples:
        return pd.DataFrame(columns=["key", "host", name, "busy"])
    busy = samples["utilisation_ratio"] if measure is None else measure(samples)
    samples = samples.assign(busy=busy, host=host_of(samples))
    return samples.groupby(["key", "host", name], observed=True)["busy"].mean().dropna().reset_index()


def worst(found: pd.DataFrame, column: str = "observed") -> pd.DataFrame:
    """Return the row of each run with the highest value of a column, by the key of the run, as `observed`."""
    rows = found.dropna(subset=column).sort_values(column, kind="stable").drop_duplicates("key", keep="last")
    return rows.assign(observed=rows[column]).set_index("key")


def by_others(found: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Add the columns ``others`` and ``first``: sentences about other processes, empty if they used little."""
    runs = tables["runs"]
    if "cpu_other_ratio" not in runs:
        return found.assign(others="", first="")
    shares = runs["cpu_other_ratio"].astype(float).groupby(key_of(runs)).max().reindex(found.index)
    words = [format_quantity(share, "ratio") if share > BUSY_RATIO else "" for share in shares]
    others = [
        f", other processes included, which used {used} of the run's processors" if used else "" for used in words
    ]
    return found.assign(others=others, first=["Stop the other processes first. " if used else "" for used in words])


def worst_host(samples: pd.DataFrame, column: str, *parts: str) -> pd.DataFrame:
    """Return the mean of a column over each run's samples, of the host (and parts of it) with the highest mean."""
    places = samples.assign(host=host_of(samples)).groupby(["key", "host", *parts], observed=True)
    return worst(places[column].mean().reset_index(), column)


def host_of(samples: pd.DataFrame) -> pd.Series:
    """Return the host of each sample, empty where none is named."""
    return samples["host"].fillna("").astype(str) if "host" in samples else pd.Series("", samples.index)


_USED = 0.01  # utilisation below which a device limits nothing
_WORDS = {
    "server CPU": "the server's CPU{of}",
    "generator CPU": "the generator's CPU{of}",
    "all CPUs": "all CPUs{of} together",
    "busiest CPU": "the busiest CPU{of}",
    "busiest other CPU": "the busiest CPU{of} that neither the server nor the generator was pinned to",
}
_LABEL = re.compile(rf"(?:(?P<host>.+?) )?(?P<name>{'|'.join(_WORDS)}|(?:disk|link) .+)")


@once
def use_of_resources(tables: Tables) -> pd.DataFrame:
    """Return the mean utilisation of each resource that was watched in each run.

    A resource is ``server CPU`` and ``generator CPU`` where each was pinned to its own, ``all CPUs``, ``busiest CPU``
    (one thread cannot use more), ``disk NAME`` or ``link NAME``, with the host before it where several hosts were
    watched.  A disk serves requests side by side, so it may not be the limit even at a utilisation of 1.
    """
    parts = [_of_processors(busy_processors(tables)), _of_devices(busy_disks(tables), "device", "disk")]
    parts += [_of_devices(busy_links(tables), "interface", "link")]
    found = pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)
    # A host has as many processors as were ever seen; a recording that was cut may show fewer.
    found["servers"] = found.groupby(["host", "resource"])["servers"].transform("max")
    if len(set(found["host"]) - {""}) > 1:
        found["resource"] = (found["host"] + " " + found["resource"]).str.strip()
    return found


def in_words(resource: str) -> str:
    """Return the name of a resource as a sentence has it."""
    found = _LABEL.fullmatch(resource)
    if not found:
        return resource
    of = f" of {found['host']}" if found["host"] else ""
    known = _WORDS.get(found["name"])
    return known.format(of=of) if known else f"{found['name']}{of}"  # a name of a device may hold braces


def _of_processors(busy: pd.DataFrame) -> pd.DataFrame:
    """Rows of each host: processors with a role, then all together and the busiest of the others, if there are any."""
    if busy.empty:
        return _rows(busy, "")
    place = ["key", "host"]
    named = (busy["role"] != "").to_numpy()
    others = busy[(busy["cpu"] != "all") & ~named]
    alone = busy["cpus"] == 1
    with_role = pd.MultiIndex.from_frame(busy.loc[named, place])
    has_role = pd.Series(pd.MultiIndex.from_frame(busy[place]).isin(with_role), busy.index)
    has_others = pd.MultiIndex.from_frame(busy[place]).isin(pd.MultiIndex.from_frame(others[place]))
    whole = busy[(busy["cpu"] == "all") & (has_others | ~has_role)]
    busiest = others[~alone.reindex(others.index)].sort_values("busy").drop_duplicates(place, keep="last")
    name = has_role.reindex(busiest.index).map({True: "busiest other CPU", False: "busiest CPU"})
    parts = [
        _rows(busy[named], busy.loc[named, "role"] + " CPU"),
        _rows(whole, "all CPUs", whole["cpus"]),
        _rows(busiest, name),
    ]
    order = pd.concat(parts, ignore_index=True)
    return order.sort_values(place, kind="stable", ignore_index=True)


def _of_devices(busy: pd.DataFrame, name: str, kind: str) -> pd.DataFrame:
    if busy.empty:
        return _rows(busy, "")
    used = busy[busy.groupby(["host", name])["busy"].transform("max") > _USED]
    return _rows(used.assign(busy=used["busy"].clip(upper=1.0)), f"{kind} " + used[name].astype(str))


def _rows(busy: pd.DataFrame, resource: str | pd.Series, servers: int | pd.Series = 1) -> pd.DataFrame:
    named = busy.assign(resource=resource, servers=servers).rename(columns={"busy": "utilisation_ratio"})
    return named[["key", "host", "resource", "servers", "utilisation_ratio"]]
