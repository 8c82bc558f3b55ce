"""What is known of the hosts of a run: their settings, established connections, ports, sockets and open files."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.audit.run_tables import key_of
from loadcurve.models.wire.ports import LINUX_PORTS
from loadcurve.tables.curves import check_points

_LOOPBACK = r"^(?:https?://)?(?:127\.[0-9.]+|localhost|\[::1\])(?:[:/]|$)"


def of_generator(frame: pd.DataFrame | None, runs: pd.DataFrame, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the rows of a table that are of the host on which the load generator ran, with the column ``key``.

    The host is known if the record of the run names it, or if the URL is on the loopback interface: then generator and
    server are one host.  Rows of a file that somebody brought name no host otherwise, and are left out.
    """
    if frame is None or frame.empty:
        return pd.DataFrame(columns=[*(frame.columns if frame is not None else ()), "key"])
    keys = key_of(frame)
    known = keys.isin(key_of(runs)[on_loopback(runs)])
    if "host" in frame and "host" in runs and not known.all():
        hosts = runs[["host"]].assign(key=key_of(runs))
        places = pd.MultiIndex.from_frame(hosts[["key", "host"]].dropna().drop_duplicates())
        known |= pd.MultiIndex.from_arrays([keys, frame["host"]]).isin(places)
    own = frame if columns is None else frame[list(columns)]
    return own[known].assign(key=keys[known])


def on_loopback(runs: pd.DataFrame) -> pd.Series:
    """Whether the URL of each run is on the loopback interface, so that all its monitors saw one host."""
    if "url" not in runs:
        return pd.Series(False, runs.index)
    return runs["url"].astype("string").str.contains(_LOOPBACK, regex=True).fillna(False).astype(bool)


def setting_of(settings: pd.DataFrame, name: str, process: str | None = None) -> pd.Series:
    """Return the value of a setting for each key of `of_generator`, the last if there are several."""
    if settings.empty:
        return pd.Series(dtype=object)
    rows = settings[settings["setting"] == name]
    if process is not None:
        rows = rows[rows["process"] == process]
    return rows.dropna(subset=["value"]).drop_duplicates("key", keep="last").set_index("key")["value"]


def port_count(settings: pd.DataFrame) -> dict[str, float]:
    """Return the number of local ports by key, from net.ipv4.ip_local_port_range."""
    ranges = setting_of(settings, "net.ipv4.ip_local_port_range").astype("string").str.extract(r"^(\d+)\s+(\d+)$")
    counts: dict[str, float] = (ranges[1].astype(float) - ranges[0].astype(float) + 1).dropna().to_dict()
    return counts


def summarise_established(connections: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Most connections that a snapshot saw established on the server's side, for each run.

    The server's side is identified by its listening socket: its port is the local port of a row in state LISTEN, or in
    a run whose snapshots show none, the port of the URL under load.  Where connections end at the address of the URL,
    such as a proxy's, the others are the proxy's own.  Behind a balancer that translates addresses, the servers' are
    added up.

    Parameters
    ----------
    connections, runs : pandas.DataFrame
        The tables of that name.

    Returns
    -------
    pandas.DataFrame
        ``study run_id variant connections established``, one row for each run that has a snapshot.

    Raises
    ------
    ValueRuleError
        When runs of one variant and load differ in another factor (see `loadcurve.tables.curves`).

    Examples
    --------
    >>> run = {"study": "s", "run_id": "a", "variant": "v", "connections": 4, "status": "finished", "duration_s": 10.0}
    >>> runs = pd.DataFrame([run | {"server_cpu": "0", "generator_cpu": "1"}])
    >>> sockets = pd.DataFrame({"study": "s", "run_id": "a", "time": 1, "state": ["LISTEN", "ESTAB", "ESTAB"],
    ...                         "local_port": ["80", "80", "50001"]})
    >>> summarise_established(sockets, runs)["established"].tolist()  # the client's end is not counted
    [1]
    """
    seen = most_established(connections, runs)
    check_points(runs[runs["generator"].isin([0, pd.NA])] if "generator" in runs else runs, ["variant", "connections"])
    finished = runs[runs["status"] == "finished"].drop_duplicates(["study", "run_id"])
    return finished[["study", "run_id", "variant", "connections"]].merge(seen, on=["study", "run_id"])


def most_established(
    connections: pd.DataFrame, runs: pd.DataFrame, keys_of_runs: pd.Series | None = None
) -> pd.DataFrame:
    """Return ``study run_id established`` for each run with a snapshot, as `summarise_established` counts them.

    `keys_of_runs` holds the key of each connection's run (`key_of`) where it is known already.
    """
    keys = ["study", "run_id"]
    state, key = connections["state"], key_of(connections) if keys_of_runs is None else keys_of_runs
    listening = connections.loc[state == "LISTEN", [*keys, "local_port"]].drop_duplicates()
    listening = pd.concat([listening, _ports_of_urls(key, runs, listening)], ignore_index=True)
    listening = listening.assign(key=key_of(listening))
    established = (state == "ESTAB") & connections["local_port"].isin(listening["local_port"])
    columns = ["local_port", "host", "time", "local_address"]
    at_server = connections.reindex(columns=columns)[established].assign(key=key[established])
    at_server = _at_address_of_url(at_server.merge(listening[["key", "local_port"]], on=["key", "local_port"]), runs)
    sizes = at_server.groupby(["key", "host", "time"], dropna=False, sort=False).size()
    each = sizes.groupby(["key", "host"], dropna=False).max()  # behind a balancer, each server has a part of them
    snapshots = each.groupby("key").sum()
    seen = listening[[*keys, "key"]].drop_duplicates()
    return seen[keys].assign(established=seen["key"].map(snapshots).fillna(0).astype(int)).reset_index(drop=True)


def _at_address_of_url(established: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the connections at the address of the URL, such as a proxy's; all of a run if it is translated."""
    if established.empty or "url" not in runs:
        return established
    hosts = runs["url"].astype("string").str.extract(r"^https?://\[?([0-9A-Fa-f:.]+?)\]?(?::\d+)?(?:/|$)")[0]
    own = established["key"].map(dict(zip(key_of(runs), hosts.astype(object), strict=True)))
    addresses = {text: str(text).removeprefix("::ffff:") for text in established["local_address"].unique()}
    direct = established["local_address"].map(addresses).astype(object) == own
    return established[direct | ~established["key"].isin(established.loc[direct, "key"])]


def _ports_of_urls(keys: pd.Series, runs: pd.DataFrame, listening: pd.DataFrame) -> pd.DataFrame:
    """Return the port of the URL of each run that has snapshots, but no listening socket in them."""
    seen = set(keys.unique()) - set(key_of(listening).unique())
    named = ports_of_urls(runs).rename(columns={"port": "local_port"})
    return named[key_of(named).isin(seen)]


def summarise_sockets(sockets: pd.DataFrame) -> pd.DataFrame:
    """Where the TCP sockets of a machine are, by its ``ss -s``: in this network namespace, or elsewhere.

    ss counts in two scopes.  What is established, and what is in the transport table, belongs to the network namespace
    that ss ran in; what is allocated or orphaned is counted over the whole machine.  Its ``closed`` is the difference
    of the two with time-wait, so on a machine with containers most of what it calls closed may be open in one of them.

    Parameters
    ----------
    sockets : pandas.DataFrame
        Rows of the table ``sockets`` whose tool is ss.

    Returns
    -------
    pandas.DataFrame
        A row for each, in their order: ``allocated`` (all of the machine, without time-wait), ``established`` and
        ``other_states`` (here: connecting, closing, listening), ``elsewhere`` (allocated and not here: in other
        namespaces, or without a connection), ``orphaned`` (part of all) and ``time_wait`` (beside them).

    References
    ----------
    iproute2 6.1, ``misc/ss.c``, ``print_summary``; Linux, ``net/ipv4/proc.c``, ``sockstat_seq_show``.

    Examples
    --------
    A container holds 1061 of 1101 sockets, and ss calls them closed:

    >>> of_ss = {"tcp": 1103, "established": 28, "orphaned": 0, "time_wait": 2, "transport_tcp": 40}
    >>> print(summarise_sockets(pd.DataFrame([of_ss])).iloc[0].to_list())
    [1101, 28, 12, 1061, 0, 2]
    """
    allocated = sockets["tcp"] - sockets["time_wait"]  # TCP: is alloc + tw of sockstat
    return pd.DataFrame(
        {
            "allocated": allocated,
            "established": sockets["established"],
            "other_states": sockets["transport_tcp"] - sockets["established"],
            "elsewhere": allocated - sockets["transport_tcp"],  # closed of ss, without its time-wait
            "orphaned": sockets["orphaned"],
            "time_wait": sockets["time_wait"],
        }
    )


def ports_of_urls(runs: pd.DataFrame) -> pd.DataFrame:
    """Return ``study run_id port`` for each run with a URL of HTTP."""
    if "url" not in runs:
        return pd.DataFrame(columns=["study", "run_id", "port"])
    return runs[["study", "run_id"]].assign(port=ports_in(runs["url"])).dropna(subset="port").drop_duplicates()


def ports_in(urls: pd.Series) -> pd.Series:
    """Return the port of each URL of HTTP, that of its scheme if it names none."""
    parts = urls.astype("string").str.extract(r"^(?P<scheme>https?)://[^/]*?(?::(?P<port>\d+))?(?:/|$)")
    return parts["port"].fillna(parts["scheme"].map({"http": "80", "https": "443"}))


# Standard streams, epoll and its like: a process has a few descriptors beside its connections.
OTHER_DESCRIPTORS = 32
_USUAL = tuple(2**k for k in range(8, 21))  # 1,024 by default, 65,536 or 1,048,576 where it was raised


@dataclass(frozen=True)
class ReachedLimit:
    """A limit that explains why no more connections opened."""

    words: str  # What the number of open connections is, with the limit
    advice: str  # How to raise the limit


def limit_reached(opened: int, open_files: float = np.nan, ports: float = np.nan) -> ReachedLimit | None:
    """Return the limit just above a number of open connections, or None."""
    limits = _USUAL if np.isnan(open_files) else (int(open_files),)
    for limit in limits:
        if limit - OTHER_DESCRIPTORS <= opened < limit:
            which = "a usual" if np.isnan(open_files) else "the"
            advice = "Raise the generator's limit of open files (`ulimit -n`)."
            return ReachedLimit(f"just below {limit}, {which} limit of open files", advice)
    ports = LINUX_PORTS if np.isnan(ports) else ports
    if ports - OTHER_DESCRIPTORS <= opened <= ports:
        advice = "Widen net.ipv4.ip_local_port_range on the generator's host, or use several client addresses."
        return ReachedLimit(f"just about the number of local ports, {ports:.0f}", advice)
    return None
