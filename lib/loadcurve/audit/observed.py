"""What the monitors measured while the load ran, one row for each run, beside what was requested."""

import pandas as pd

from loadcurve.audit.of_runs import key_of
from loadcurve.tables.curves import check_points


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
    return _points(runs)[["study", "run_id", "variant", "connections"]].merge(seen, on=["study", "run_id"])


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
    """Return ``study run_id port`` for each run with a URL of HTTP.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "url": ["http://198.18.0.3/", "http://[::1]:8080"]})
    >>> ports_of_urls(runs)["port"].tolist()
    ['80', '8080']
    """
    if "url" not in runs:
        return pd.DataFrame(columns=["study", "run_id", "port"])
    ports = runs["url"].astype("string").str.extract(r"^(?P<scheme>https?)://[^/]*?(?::(?P<port>\d+))?(?:/|$)")
    named = ports["port"].fillna(ports["scheme"].map({"http": "80", "https": "443"}))
    return runs[["study", "run_id"]].assign(port=named).dropna(subset="port").drop_duplicates()


def _points(runs: pd.DataFrame) -> pd.DataFrame:
    check_points(runs[runs["generator"].isin([0, pd.NA])] if "generator" in runs else runs, ["variant", "connections"])
    finished = runs[runs["status"] == "finished"].drop_duplicates(["study", "run_id"])
    return finished[["study", "run_id", "variant", "connections", "duration_s", "server_cpu", "generator_cpu"]]
