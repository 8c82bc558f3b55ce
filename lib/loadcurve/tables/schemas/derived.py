"""Compute columns of a declared table from its other columns, for tables from any source."""

import numpy as np
import pandas as pd

from loadcurve.tables.schemas.failures import count_failures
from loadcurve.tables.schemas.printed import half_digit

LITTLE_RATIO = (0.9, 1.1)
"""Range of X · R / N for a valid run.

Little's law is exact over a whole run.  In a valid run, the start (while connections open), the requests cut off at the
end, and rounding in the output cause deviations of a few per cent, even in a run of a few seconds.  The range allows
10 %.
"""

HOLD_A_RATE = ("wrk2", "vegeta")
"""Load generators that always hold a rate; wrk2 does not print it (wrk2, `src/wrk.c`; vegeta, `lib/attack.go`)."""

SCRIPTED = ("jmeter", "gatling", "k6", "locust", "siege")
"""Load generators whose users follow a script, which may wait between requests."""

STREAMS = ("h2load", "oha", "k6", "gatling")
"""Load generators that may have several requests in flight on a connection, or of a user."""


def little_ratio(runs: pd.DataFrame) -> np.ndarray:
    """Return requests in flight by Little's law over the connections requested, X · R / N, for each row of ``runs``.

    The ratio is NaN if one of the three is missing or was not measured: wrk prints a mean of 0 s when it recorded no
    response time.  Reference: J. D. C. Little, Operations Research 9(3), 1961.

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
    """Return for each row of ``runs`` whether its response times are consistent with its connections by Little's law.

    At most N requests can be in flight, so a ratio above the range means that the mean is not the measured one (a tool
    that corrects for coordinated omission increases it).  A ratio below the range means that connections were idle,
    failed, or waited while the tool did not measure; in an open loop, connections may be idle, so a low ratio is
    accepted there.  The value is missing if it cannot be checked, or if the mean was itself computed from N and X.
    """
    ratio, (least, most) = little_ratio(runs), LITTLE_RATIO
    idle_allowed = runs["target_rate_rps"].to_numpy(float, na_value=np.nan) > 0
    idle_allowed |= runs["tool"].isin([*HOLD_A_RATE, *SCRIPTED]).to_numpy(bool)
    several_allowed = runs["tool"].isin(STREAMS).to_numpy(bool)
    half = np.nan_to_num(
        ratio * half_digit(runs, "latency_mean_s") / runs["latency_mean_s"].to_numpy(float, na_value=np.nan)
    )
    usable = (ratio - half <= most) | several_allowed
    usable = pd.array(usable & ((ratio + half >= least) | idle_allowed), dtype="boolean")
    derived = runs["latency_origin"].astype("string").str.startswith("derived").to_numpy(bool, na_value=False)
    usable[np.isnan(ratio) | derived] = pd.NA
    return pd.Series(usable, runs.index)


def goodput_rps(runs: pd.DataFrame) -> pd.Series:
    """Return the part of the throughput of each row of ``runs`` that is of requests that did not fail."""
    counts = count_failures(runs)
    responses = runs["requests"].astype(float)
    share = ((counts["sent"] - counts["failed"]) / responses.where(responses > 0)).fillna(0.0 * counts["sent"])
    return runs["throughput_rps"].astype(float) * share


DERIVED = {"runs": {"latency_usable": latency_usable, "goodput_rps": goodput_rps}}
"""Table → column → function that computes the column in rows without a value."""
