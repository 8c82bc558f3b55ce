"""Compare how a balancer divided connections among its servers with the shares of its scheduler."""

import numpy as np
import pandas as pd

# Clients differ in their rate by some per cent, and so do servers that serve one client each.  Where a scheduler picks
# at random, shares have a binomial distribution: 99.7 % of them are within three standard errors.
TOLERANCE_RATIO, STANDARD_ERRORS = 0.1, 3.0


def summarise_balance(balancer: pd.DataFrame) -> pd.DataFrame:
    """Return the number and share of connections that each server got between the first and the last sample of a run.

    Parameters
    ----------
    balancer : pandas.DataFrame
        The table ``balancer`` of one run.

    Returns
    -------
    pandas.DataFrame
        A row for each server: ``server`` (its address and port, else its name), ``connections``, ``share_ratio``,
        ``expected_share_ratio``, and ``ok``: whether both shares are within a tenth of all connections, or within
        three standard errors, of each other.  No rows where no connection was counted or nothing is expected.

    Examples
    --------
    >>> rows = pd.DataFrame({"kind": "server", "server_address": ["a", "b"] * 2, "server_port": ["80"] * 4,
    ...                      "time": [0, 0, 9, 9], "connections": [0, 0, 64, 0], "expected_share_ratio": 0.5})
    >>> summarise_balance(rows)[["server", "share_ratio", "ok"]].values.tolist()
    [['a:80', 1.0, False], ['b:80', 0.0, False]]
    """
    rows = balancer[balancer["kind"].eq("server") & balancer["expected_share_ratio"].notna()]
    ends = rows["server_address"].astype("str") + ":" + rows["server_port"].astype("str")
    named = ends.where(rows["server_address"].notna(), rows.get("server", ""))
    # The counters of all services are added at each time; a time without one of them is left out, because a lower sum
    # would look like an earlier count.  The counters only grow, so a server got the largest sum minus the smallest.
    each = rows["connections"].astype(float).groupby([rows["time"], named.rename("server")], sort=False)
    counts = each.agg(lambda count: count.sum(skipna=False))
    found = counts.groupby("server", sort=False).agg(lambda count: count.max() - count.min()).reset_index()
    total = found["connections"].sum()
    if not total:
        found, total = found.iloc[:0], 1.0
    expected = found["server"].map(rows["expected_share_ratio"].groupby(named).first()).astype(float)
    share = found["connections"] / total
    allowed = np.maximum(TOLERANCE_RATIO, STANDARD_ERRORS * np.sqrt(expected * (1 - expected) / total))
    return found.assign(share_ratio=share, expected_share_ratio=expected, ok=(share - expected).abs() <= allowed)
