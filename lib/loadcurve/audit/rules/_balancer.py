"""What each server behind a balancer got during a run, for the rules about balance."""

import pandas as pd

from loadcurve.audit.rule import Need
from loadcurve.audit.run_tables import Tables, key_of, once

COUNTS = (
    "connections", "requests", "errors_connect", "errors_response", "responses_2xx", "responses_3xx", "responses_4xx",
    "responses_5xx",
)  # fmt: skip
"""Counters of the table ``balancer`` that grow from the start of the balancer."""

COUNTED = Need("balancer", ("kind",), "the counts of a balancer's servers", applies=False)
_SERVICE = ("host", "virtual_address", "virtual_port", "service")
_SERVER = ("server", "server_address", "server_port")


def service_of(balancer: pd.DataFrame) -> pd.Series:
    """Return the name of the service of each row, with the host that balances."""
    return _joined(balancer, _SERVICE)


@once
def of_servers(tables: Tables) -> pd.DataFrame:
    """Return a row for each run, service and server: ``key of name``, what the run added to `COUNTS`, and shares.

    Counters go on from before the load.  What the samples of a run differ by is the run's; a single sample is taken as
    it is.  ``decisions`` counts what the balancer assigned: requests where it balances requests (haproxy in mode http),
    else connections.  ``share`` is the expected share of a server among those of its service, from the share that the
    laboratory computed, or from the weights; 0 for a server without weight.
    """
    rows = tables["balancer"]
    rows = rows[rows["kind"].eq("server").fillna(False)]
    rows = rows.assign(key=key_of(rows), of=service_of(rows), name=_joined(rows, _SERVER))
    each = rows.groupby(["key", "of", "name"], sort=False)
    counts = rows[list(COUNTS)].astype(float).groupby([rows["key"], rows["of"], rows["name"]], sort=False)
    alone = each.size().eq(1)
    added = counts.max() - counts.min().mask(alone, 0.0)
    last = each[["protocol", "expected_share_ratio", "weight", "latency_mean_s"]].last()
    servers = added.join(last).reset_index()
    of_requests = servers["protocol"].eq("http").fillna(False) & servers["requests"].notna()
    servers["decisions"] = servers["requests"].where(of_requests, servers["connections"].fillna(servers["requests"]))
    weight = servers["expected_share_ratio"].astype(float).fillna(servers["weight"].astype(float)).fillna(1.0)
    total = weight.groupby([servers["key"], servers["of"]]).transform("sum")
    return servers.assign(share=(weight / total.where(total > 0)).fillna(0.0))


def _joined(rows: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series:
    """Return the known parts of a name, joined by colons."""
    names = pd.Series("", rows.index, dtype=object)
    for column in columns:
        part = rows[column].fillna("").astype(object)
        names += (":" + part).where(part != "", "")
    return names.str.removeprefix(":")
