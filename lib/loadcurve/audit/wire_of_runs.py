"""What the responses of runs take on the wire, and what the interfaces of their hosts carried."""

import numpy as np
import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of, once
from loadcurve.audit.rule import Need
from loadcurve.audit.samples import samples_within
from loadcurve.models.wire import ETHERNET, OFFLOADED_SEGMENTS

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

    Examples
    --------
    >>> row = {"study": "s", "run_id": "a", "throughput_rps": 1.0, "document_bytes": 10240.0, "header_bytes": 216.0}
    >>> summarise_wire(pd.DataFrame([row])).iloc[0, 1:].astype(int).tolist()
    [10456, 10522, 10984, 11176, 66]
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
    """Return the rows of load generators whose host was monitored; all rows of a run where that is true of none.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": "s", "run_id": "a", "host": ["C1", "C2"]})
    >>> monitored(rows, pd.DataFrame({"study": "s", "run_id": "a", "host": ["C1", "S1"]}))["host"].tolist()
    ['C1']
    """
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

    Examples
    --------
    >>> run = {"study": "s", "run_id": "a", "host": "C1", "duration_s": 10.0}
    >>> sample = {"study": "s", "run_id": "a", "host": "S1", "transmitted_bytes_per_s": 900.0}
    >>> found = summarise_traffic({"runs": pd.DataFrame([run]), "network": pd.DataFrame([sample])})
    >>> found[["host", "verb", "most_bytes_per_s"]].values.tolist()
    [['S1', 'sent', 900.0]]
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
