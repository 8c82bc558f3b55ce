"""Deviation of measured throughput from N / R, by Little's law and by the least response time."""

import pandas as pd

from loadcurve.models.laws import little_throughput_rps
from loadcurve.tables.curves import check_points


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
