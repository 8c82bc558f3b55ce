"""Columns of a declared table that follow from its other columns, whoever made the table."""

import numpy as np
import pandas as pd

LITTLE_RATIO = (0.9, 1.1)
"""X · R / N of a sound run.

The law is exact over a whole run.  What is left in a sound one is the start, while connections open, the requests cut
off at the end, and the printed digits: some per cent even in a run of a few seconds.  A tenth leaves room for that.
"""


def little_ratio(runs: pd.DataFrame) -> np.ndarray:
    """Return requests in flight by Little's law over the connections asked for, X · R / N, of each row of ``runs``.

    NaN where one of the three is missing, or was not measured: wrk prints a mean of 0 s when it recorded no response
    time.  Reference: J. D. C. Little, Operations Research 9(3), 1961.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [64], "throughput_rps": [20000.0], "latency_mean_s": [0.0704]})
    >>> little_ratio(runs).round(3).tolist()
    [22.0]
    """
    names = ("throughput_rps", "latency_mean_s", "connections")
    throughput, latency, connections = (runs[name].to_numpy(float, na_value=np.nan) for name in names)
    measured = (latency > 0) & (connections > 0)
    ratio = np.full(len(runs), np.nan)
    np.divide(throughput * latency, connections, out=ratio, where=measured)
    return ratio


def latency_usable(runs: pd.DataFrame) -> pd.Series:
    """Whether the response times of each row of ``runs`` can be those of its connections, by Little's law.

    More than N requests cannot be in flight, so above the upper end the mean is not what was measured (a tool that
    corrects for coordinated omission adds to it).  Below the lower end connections were idle, failed, or waited where
    the tool's clock does not run; of an open loop, whose connections may be idle, that is no fault.  Missing where it
    cannot be checked, and where the mean is itself made from N and X.
    """
    ratio, (least, most) = little_ratio(runs), LITTLE_RATIO
    idle_allowed = runs["target_rate_rps"].to_numpy(float, na_value=np.nan) > 0
    usable = pd.array((ratio <= most) & ((ratio >= least) | idle_allowed), dtype="boolean")
    usable[np.isnan(ratio) | (runs["latency_origin"] == "derived").to_numpy(bool, na_value=False)] = pd.NA
    return pd.Series(usable, runs.index)


DERIVED = {"runs": {"latency_usable": latency_usable}}
"""Table → column → the function that fills the column where a row has no value of its own."""
