"""Identities between the numbers of one report: rates are totals over time, and Little's law holds.

    X = requests / duration    transfer rate = bytes / duration    N = X R (no think time)    time per request = N / X

They hold by definition, or by Little's law.  Numbers that break one are not from one run, or are mislabelled.  The time
per request is a mean that a tool computed from N and X, such as ab's; a measured mean is not N / X.
"""

import pandas as pd

from loadcurve.models.laws import little_connections


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
