"""The resources of each run and their utilisation: what the audit and the bottleneck report both look at."""

import re

import pandas as pd

from loadcurve.audit.of_runs import Tables, once
from loadcurve.audit.utilisation import busy_disks, busy_links, busy_processors

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
    # A host has as many processors as were ever seen; a recording that was cut may show fewer.
    found["servers"] = found.groupby(["host", "resource"])["servers"].transform("max")
    if len(set(found["host"]) - {""}) > 1:
        found["resource"] = (found["host"] + " " + found["resource"]).str.strip()
    return found


def in_words(resource: str) -> str:
    """Return the name of a resource as a sentence has it.

    Examples
    --------
    >>> in_words("C1 busiest other CPU")
    'the busiest CPU of C1 that neither the server nor the generator was pinned to'
    >>> in_words("S1 link eth0"), in_words("all CPUs")
    ('link eth0 of S1', 'all CPUs together')
    """
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
