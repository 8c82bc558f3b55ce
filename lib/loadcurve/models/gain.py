"""Throughput gained and response time added by each further level of connections."""

import pandas as pd

from loadcurve.models.laws import little_latency_s
from loadcurve.tables.curves import check_points

_ORDER = [
    "throughput_rps",
    "throughput_change_ratio",
    "latency_by_little_s",
    "latency_change_ratio",
    "latency_mean_s",
    "latency_p99_worst_s",
]


def summarise_gain(runs: pd.DataFrame, latency: pd.DataFrame) -> pd.DataFrame:
    """Throughput and response time of each level of connections, and their change from the level before.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``, of one variant.
    latency : pandas.DataFrame
        The table ``latency``; rows of other runs are left out.

    Returns
    -------
    pandas.DataFrame
        ``connections throughput_rps throughput_change_ratio latency_by_little_s latency_change_ratio latency_mean_s
        latency_p99_worst_s``: means over the repeats; N / X, the time from one request of a connection to its next;
        the generator's own mean; and the largest 99 % quantile of any repeat, since quantiles have no mean.  A change
        is missing at the first level, and N / X where nothing came through.

    Raises
    ------
    ValueRuleError
        When runs of one level differ in a factor (see `loadcurve.tables.curves`).

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "connections": [1, 2], "throughput_rps": [100.0, 160],
    ...                      "latency_mean_s": [0.01, 0.0125]})
    >>> latency = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "quantile": 0.99, "latency_s": [0.02, 0.03]})
    >>> summarise_gain(runs, latency)[["connections", "throughput_change_ratio", "latency_by_little_s"]]
       connections  throughput_change_ratio  latency_by_little_s
    0            1                      NaN               0.0100
    1            2                      0.6               0.0125
    """
    check_points(runs, ["connections"])
    levels = runs.groupby("connections")
    gain = pd.DataFrame({name: levels[name].mean() for name in ("throughput_rps", "latency_mean_s")}).astype(float)
    p99 = latency[latency["quantile"] == 0.99].merge(runs[["study", "run_id", "connections"]], on=["study", "run_id"])
    gain["latency_p99_worst_s"] = p99.groupby("connections")["latency_s"].max()
    gain["throughput_change_ratio"] = gain["throughput_rps"].pct_change()
    came_through = gain["throughput_rps"].where(gain["throughput_rps"] > 0)
    gain["latency_by_little_s"] = little_latency_s(gain.index.to_numpy(float), came_through)
    gain["latency_change_ratio"] = gain["latency_by_little_s"].pct_change()
    return gain[_ORDER].reset_index()
