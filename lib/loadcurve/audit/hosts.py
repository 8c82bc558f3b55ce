"""Which rows of a monitor are certainly of the load generator's host, and settings of hosts."""

from collections.abc import Sequence

import pandas as pd

from loadcurve.audit.of_runs import key_of

_LOOPBACK = r"^(?:https?://)?(?:127\.[0-9.]+|localhost|\[::1\])(?:[:/]|$)"


def of_generator(frame: pd.DataFrame | None, runs: pd.DataFrame, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the rows of a table that are of the host on which the load generator ran, with the column ``key``.

    The host is known if the record of the run names it, or if the URL is on the loopback interface: then generator and
    server are one host.  Rows of a file that somebody brought name no host otherwise, and are left out.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "host": ["C1", None],
    ...                      "url": ["http://198.18.0.3/", "http://127.0.0.1:80/"]})
    >>> sockets = pd.DataFrame({"study": "s", "run_id": ["a", "a", "b"], "host": ["C1", "S1", None], "time_wait": 1})
    >>> of_generator(sockets, runs)["key"].tolist()
    ['s/a', 's/b']
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
    """Return the value of a setting for each key of `of_generator`, the last if there are several.

    Examples
    --------
    >>> settings = pd.DataFrame({"key": ["s/a"], "setting": "net.ipv4.tcp_tw_reuse", "value": "1", "process": None})
    >>> setting_of(settings, "net.ipv4.tcp_tw_reuse").to_dict()
    {'s/a': '1'}
    """
    if settings.empty:
        return pd.Series(dtype=object)
    rows = settings[settings["setting"] == name]
    if process is not None:
        rows = rows[rows["process"] == process]
    return rows.dropna(subset=["value"]).drop_duplicates("key", keep="last").set_index("key")["value"]


def port_count(settings: pd.DataFrame) -> dict[str, float]:
    """Return the number of local ports by key, from net.ipv4.ip_local_port_range.

    Examples
    --------
    >>> name = "net.ipv4.ip_local_port_range"
    >>> port_count(pd.DataFrame({"key": ["s/a"], "setting": name, "value": "40000 40199", "process": None}))
    {'s/a': 200.0}
    """
    ranges = setting_of(settings, "net.ipv4.ip_local_port_range").astype("string").str.extract(r"^(\d+)\s+(\d+)$")
    counts: dict[str, float] = (ranges[1].astype(float) - ranges[0].astype(float) + 1).dropna().to_dict()
    return counts
