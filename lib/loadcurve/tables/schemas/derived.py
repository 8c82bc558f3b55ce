"""Columns of a declared table that are computed from its others; and how finely each load generator prints its numbers.

No statement about a run is finer than that.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from loadcurve.tables.schemas.failures import count_failures


class Digits(NamedTuple):
    """Last digits of a report; 0 where a number is printed finer than a clock reads."""

    time_s: float = 0.0  # Of response times in one unit, such as whole milliseconds
    # `duration_s` and `throughput_rps`: of the duration, in s, and of the throughput, in requests/s.
    duration_s: float = 0.0
    throughput_rps: float = 0.0
    bytes_per_s: float = 0.0  # Of `received_bytes_per_s`
    has_units: bool = False  # Whether times and sizes have two decimals and the unit that fits: 1.20ms, 203.10KB


DIGITS = {
    "ab": Digits(1e-3, 1e-3, 0.01, 10.24), "gatling": Digits(1e-3, 1.0, 0.1), "ghz": Digits(1e-5, 1e-4, 0.01),
    "h2load": Digits(0.0, 0.01, 0.01, has_units=True), "hey": Digits(1e-4, 1e-4, 1e-4),
    "httperf": Digits(2e-4, 1e-3, 0.1), "jmeter": Digits(1e-3, 1.0, 0.1), "locust": Digits(1e-3, 1.0, 0.1),
    "oha": Digits(1e-4, 1e-4, 1e-4, has_units=True), "siege": Digits(1e-2, 0.01, 0.01, has_units=True),
    "vegeta": Digits(0.0, 0.01, 0.01), "weighttp": Digits(0.0, 0.0, 2.0),
    "wrk": Digits(0.0, 0.01, 0.01, has_units=True), "wrk2": Digits(0.0, 0.01, 0.01, has_units=True),
}  # fmt: skip
"""Load generator -> its last digits (their sources are named in the modules that read their reports)."""

_DECIMAL = 0.01
_TIMES, _SIZES = (1e-6, 1e-3, 1.0, 60.0, 3600.0), tuple(1024.0**power for power in range(5))
_NEXT = 0.85  # of a unit, from which tools use it (wrk, src/units.c)


def digit_of(runs: pd.DataFrame, column: str) -> np.ndarray:
    """Return the last digit of a column of each row of ``runs``, in its unit; 0 where it is not known to be rounded.

    A time that is no multiple of the tool's unit was computed, or comes from a finer report.

    Examples
    --------
    >>> runs = pd.DataFrame({"tool": ["ab", "ab", "wrk"], "latency_mean_s": [0.0, 0.0000441, 0.0012]})
    >>> digit_of(runs, "latency_mean_s").tolist(), digit_of(runs.assign(duration_s=9.0), "duration_s").tolist()
    ([0.001, 0.0, 1e-05], [0.001, 0.001, 0.01])
    """
    values = runs[column].to_numpy(float, na_value=np.nan)
    digits = [DIGITS.get(str(tool), Digits()) for tool in runs["tool"]] if "tool" in runs else [Digits()] * len(runs)
    if column in ("duration_s", "throughput_rps"):
        return np.array([getattr(each, column) for each in digits])
    if not column.startswith(("latency_", "received_bytes")):
        return np.zeros(len(runs))
    units = _TIMES if column.startswith("latency_") else _SIZES
    own = np.array(units)[np.maximum(np.searchsorted(_NEXT * np.array(units), values, side="right") - 1, 0)]
    has_units = np.array([each.has_units for each in digits], dtype=bool)
    found = np.where(has_units & ~np.isnan(values), _DECIMAL * own, 0.0)
    name = "time_s" if column.startswith("latency_") else "bytes_per_s"
    unit = np.array([getattr(each, name) for each in digits]) * (column != "received_bytes")
    in_units = np.divide(values, unit, out=np.full(len(runs), np.nan), where=unit > 0)
    return np.where(np.abs(in_units - np.round(in_units)) < 1e-6, unit, found)


def half_digit(runs: pd.DataFrame, column: str) -> np.ndarray:
    """Return by how much a column of each row of ``runs`` may be off as it is printed, in its unit."""
    return digit_of(runs, column) / 2


LITTLE_RATIO = (0.9, 1.1)
"""Range of X · R / N for a valid run.

Little's law is exact over a whole run.  In a valid run, the start (while connections open), the requests cut off at the
end, and rounding in the output cause deviations of a few per cent, even in a run of a few seconds.  The range allows
10 %.
"""

HOLD_A_RATE = ("wrk2", "vegeta")
"""Load generators that always hold a rate, so that their connections alone are no load.

wrk2 does not print the rate (wrk2, `src/wrk.c`; vegeta, `lib/attack.go`).
"""

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
