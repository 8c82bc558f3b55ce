"""Numbers of one run that must agree: with each other, with N / R, and with the bytes and packets on the wire.

    X = requests / duration    transfer rate = bytes / duration    N = X R (no think time)    time per request = N / X

They hold by definition, or by Little's law.  Numbers that break one are not from one run, or are mislabelled.  The time
per request is a mean that a tool computed from N and X, such as ab's; a measured mean is not N / X.
"""

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Need
from loadcurve.audit.run_tables import Tables, key_of, once
from loadcurve.audit.samples import samples_within
from loadcurve.models.laws import little_connections, little_throughput_rps
from loadcurve.models.wire.frames import ETHERNET, OFFLOADED_SEGMENTS
from loadcurve.tables.curves import check_points


def summarise_identities(runs: pd.DataFrame) -> pd.DataFrame:
    """Each identity for each run: the stated number, what the other numbers of the run imply, and their difference.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of the table ``runs``.

    Returns
    -------
    pandas.DataFrame
        ``run_id identity stated implied`` (in the units of their columns) and ``off_ratio``, implied / stated − 1: 0
        where both are 0, infinite where only the stated number is.  One identity after the other; rows of which a
        number is missing, or that took no time, are left out.

    Raises
    ------
    ValueRuleError
        When a rate or a response time breaks its rule.

    Examples
    --------
    >>> run = {"run_id": "a", "requests": 300, "duration_s": 10, "throughput_rps": 30, "received_bytes": 6000}
    >>> run |= {"received_bytes_per_s": 660, "connections": 4, "latency_mean_s": 0.1}
    >>> print(summarise_identities(pd.DataFrame([run]))["off_ratio"].round(3).to_list())
    [0.0, -0.091, -0.25]
    """
    duration = runs["duration_s"].where(runs["duration_s"] > 0)
    origin = runs["latency_origin"] if "latency_origin" in runs else pd.Series(pd.NA, runs.index)
    computed = origin.astype("string").str.startswith("derived").fillna(False)
    throughput = runs["throughput_rps"].where((runs["throughput_rps"] > 0) & computed)
    implied = {
        "throughput": ("throughput_rps", runs["requests"] / duration),
        "transfer rate": ("received_bytes_per_s", runs["received_bytes"] / duration),
        "connections": ("connections", little_connections(runs["throughput_rps"], runs["latency_mean_s"])),
        "time per request": ("latency_mean_s", runs["connections"] / throughput),
    }
    found = [
        pd.DataFrame({"run_id": runs["run_id"], "identity": name, "stated": runs[column], "implied": by_others})
        for name, (column, by_others) in implied.items()
    ]
    rows = pd.concat(found).dropna().astype({"stated": float, "implied": float}).reset_index(drop=True)
    return rows.assign(off_ratio=(rows["implied"] / rows["stated"] - 1).where(rows["implied"] != rows["stated"], 0.0))


def summarise_deviation(runs: pd.DataFrame, latency_min_s: float) -> pd.DataFrame:
    """Relative deviation of each run's throughput from N/R, with R as measured and with R at its least.

    With R as measured in the same run, N/R is Little's law: it holds at every load, or the measurement is not what
    its label says.  With the least R it is the light-load asymptote: it holds until requests begin to wait.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``; rows without throughput, response time (missing, or 0 where the
        tool recorded none) or connections are left out.
    latency_min_s : float
        Response time of a request that never waits, in seconds, > 0.

    Returns
    -------
    pandas.DataFrame
        ``study run_id variant connections law deviation_ratio``, two rows for each run: law ``N/R`` and ``N/R_min``.

    Raises
    ------
    ValueRuleError
        When runs of one variant and load differ in another factor (see `loadcurve.tables.curves`).

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a"], "variant": "v", "connections": [10],
    ...                      "throughput_rps": [909.0], "latency_mean_s": [0.011]})
    >>> summarise_deviation(runs, 0.010)[["law", "deviation_ratio"]].round(4).values.tolist()
    [['N/R', -0.0001], ['N/R_min', -0.091]]
    """
    known = runs.dropna(subset=["connections", "throughput_rps", "latency_mean_s"])
    known = known[known["latency_mean_s"] > 0]
    check_points(known, ["variant", "connections"])
    kept = known[["study", "run_id", "variant", "connections"]]
    number, measured = known["connections"].to_numpy(float), known["throughput_rps"].to_numpy(float)
    expected = {
        "N/R": little_throughput_rps(number, known["latency_mean_s"].to_numpy(float)),
        "N/R_min": little_throughput_rps(number, latency_min_s),
    }
    return pd.concat(
        [kept.assign(law=law, deviation_ratio=measured / by_law - 1) for law, by_law in expected.items()],
        ignore_index=True,
    )


_RECORD = "Use a generator that counts bytes (wrk, ab), or note document_bytes and header_bytes in a factors.csv."
SIZES = Need(
    "runs",
    ("received_bytes", "requests"),
    "the bytes received and the requests, or the sizes of body and header of a response",
    _RECORD,
    alternatives=(Need("runs", ("document_bytes", "header_bytes"), "the sizes of a response", _RECORD),),
)
"""What the size of a response follows from."""
_NUMBERS = [
    "throughput_rps", "document_bytes", "header_bytes", "received_bytes", "requests", "requests_keepalive",
    "connections", "errors_connect",
]  # fmt: skip
# SYN-ACK, the acknowledgement of the client's FIN, and the server's own FIN.
_CONNECTION_BYTES = ETHERNET.syn_bytes + 2 * ETHERNET.overhead_bytes
SAMPLE = ["key", "host", "time", "elapsed_s"]
"""Columns that name one sample of a host: the sum over its interfaces is what the host carried."""


def summarise_wire(runs: pd.DataFrame) -> pd.DataFrame:
    """Return throughput and bytes on the wire of each run; all its load generators together.

    A response of T bytes, header included, makes P = ceil(T / 1448) segments and T + 66 P bytes in frames, on the
    medium T + 90 P (`loadcurve.models.wire`).  If only the mean of T is known, P is at least T / 1448 and at most one
    more.  An interface that counts what the sender hands over as one packet, up to 45 segments, counts fewer headers.
    """
    known = runs.reindex(columns=list(dict.fromkeys([*runs, *_NUMBERS, "tls", "url", "tool"])))
    numbers = known[_NUMBERS].astype(float)
    fixed = numbers["document_bytes"] + numbers["header_bytes"]
    requests = numbers["requests"].where(numbers["requests"] > 0)
    mean = numbers["received_bytes"] / requests
    # Without -k, ab prints no Keep-Alive requests and opens a connection for each.
    closed = (requests - numbers["requests_keepalive"]).fillna(requests.where(known["tool"] == "ab")).fillna(0.0)
    opened = closed + numbers["connections"].fillna(0.0) + numbers["errors_connect"].fillna(0.0)
    rows = pd.DataFrame({"key": key_of(runs), "throughput_rps": numbers["throughput_rps"], "fixed": fixed.notna()})
    rows["opened"] = (opened / requests).fillna(0.0)
    rows["bytes_per_s"] = fixed.fillna(mean) * rows["throughput_rps"]
    rows["tls"] = known["tls"].notna() | known["url"].astype("str").str.startswith("https")
    columns = ["throughput_rps", "bytes_per_s"]
    known_all = rows[columns].notna().groupby(rows["key"], sort=False).all()
    sums = rows.groupby("key", sort=False)[columns].sum().where(known_all)
    flags = rows.groupby("key", sort=False).agg(
        fixed=("fixed", "all"), tls=("tls", "any"), number=("tls", "size"), opened=("opened", "max")
    )
    payload = sums["bytes_per_s"] / sums["throughput_rps"].where(sums["throughput_rps"] > 0)
    parts = payload / ETHERNET.segment_bytes
    exact = flags["fixed"] & (flags["number"] == 1)
    least, most = parts.clip(lower=1).where(~exact, np.ceil(parts)), (np.floor(parts) + 1).where(~exact, np.ceil(parts))
    handed_over = np.ceil(least / OFFLOADED_SEGMENTS).where(exact, (least / OFFLOADED_SEGMENTS).clip(lower=1))
    header, medium = ETHERNET.overhead_bytes, ETHERNET.overhead_bytes + ETHERNET.medium_overhead_bytes
    return pd.DataFrame(
        {
            "throughput_rps": sums["throughput_rps"],
            "payload_bytes": payload,
            "least_bytes": payload + header * handed_over,
            "model_bytes": (payload + header * most).where(~flags["tls"]),
            "medium_bytes": payload + medium * least,
            "other_bytes": header + _CONNECTION_BYTES * flags["opened"],
        }
    )


def monitored(runs: pd.DataFrame, network: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of load generators whose host was monitored; all rows of a run where that is true of none."""
    if network is None or network.empty:
        return runs
    keys = key_of(runs)
    seen = pd.MultiIndex.from_arrays([key_of(network), network["host"]]).unique()
    own = pd.MultiIndex.from_arrays([keys, runs["host"]]).isin(seen) & runs["host"].notna()
    return runs[own | ~keys.isin(keys[own])]


@once
def summarise_traffic(tables: Tables) -> pd.DataFrame:
    """Return what the interfaces of hosts of each run carried in the direction of the responses.

    The hosts are those of the generators, which receive the responses.  If none of them was monitored and one other
    host was, that host sent them.  Which of several others did is not known, so these runs have no row.
    """
    runs = tables["runs"]
    hosts = pd.DataFrame({"key": key_of(runs), "host": runs["host"]}).dropna().drop_duplicates()
    carried, with_edges = (
        _carried(samples_within(tables.get("network"), runs, edges=edges), hosts) for edges in (False, True)
    )
    total, all_of_them = (
        part.groupby([*SAMPLE, "verb"], dropna=False)["rate"].sum().groupby(["key", "host", "verb"])
        for part in (carried, with_edges)
    )
    each = carried[~carried["interface"].isin(["lo"])].groupby(["key", "host", "interface"], dropna=False)["rate"].min()
    of_host = pd.DataFrame({"most_bytes_per_s": all_of_them.max(), "mean_bytes_per_s": total.mean()}).reset_index()
    busiest = each.groupby(["key", "host"]).max().rename("least_bytes_per_s")
    of_host = of_host.merge(busiest.reset_index(), on=["key", "host"], how="left")
    rates = of_host.groupby("key")[["most_bytes_per_s", "mean_bytes_per_s", "least_bytes_per_s"]].sum()
    whole, dated = (part.groupby(["key", "host"])["elapsed_s"].nunique() for part in (carried, with_edges))
    samples = whole.reindex(dated.index, fill_value=0).where(dated > 0)
    rates = rates.assign(samples=samples.groupby("key").min())
    names = of_host.groupby("key").agg(host=("host", ", ".join), verb=("verb", "first"))
    return names.join(rates)


def _carried(samples: pd.DataFrame, hosts: pd.DataFrame) -> pd.DataFrame:
    """Return samples of the interfaces that carry responses: of the generators' hosts, else of the only other one."""
    samples = samples.reindex(columns=[*SAMPLE, "interface", "received_bytes_per_s", "transmitted_bytes_per_s"])
    samples = samples[samples["host"].notna() & samples["key"].isin(hosts["key"])]
    own = pd.MultiIndex.from_frame(samples[["key", "host"]]).isin(pd.MultiIndex.from_frame(hosts))
    others = samples[~own & ~samples["key"].isin(samples.loc[own, "key"])]
    alone = others.groupby("key")["host"].transform("nunique") == 1
    received = samples[own].assign(verb="received", rate=samples["received_bytes_per_s"])
    sent = others[alone].assign(verb="sent", rate=others["transmitted_bytes_per_s"])
    return pd.concat([received, sent]).dropna(subset=["rate"])
