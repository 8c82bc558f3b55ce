"""How a balancer divided connections among its servers, compared with the shares of its scheduler."""

import numpy as np
import pandas as pd

# Clients send at rates that differ by some per cent, so servers that serve one client each do too; a scheduler that
# picks at random scatters by the binomial distribution, of which three standard errors hold 99.7 %.
TOLERANCE_RATIO, ERRORS = 0.1, 3.0


def summarise_balance(balancer: pd.DataFrame) -> pd.DataFrame:
    """Return what each server got between the first and the last sample of one run.

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
    # Of all services together at each time; what each server had last less what it had first.
    counts = rows["connections"].astype(float).groupby([rows["time"], named.rename("server")], sort=False).sum()
    found = counts.groupby("server", sort=False).agg(lambda count: count.max() - count.min()).reset_index()
    total = found["connections"].sum()
    if not total:
        found, total = found.iloc[:0], 1.0
    expected = found["server"].map(rows["expected_share_ratio"].groupby(named).first()).astype(float)
    share = found["connections"] / total
    allowed = np.maximum(TOLERANCE_RATIO, ERRORS * np.sqrt(expected * (1 - expected) / total))
    return found.assign(share_ratio=share, expected_share_ratio=expected, ok=(share - expected).abs() <= allowed)
