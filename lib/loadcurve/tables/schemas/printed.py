"""How finely each load generator prints its numbers: no statement about a run is finer than that."""

from typing import NamedTuple

import numpy as np
import pandas as pd


class Digits(NamedTuple):
    """Last digits of a report; 0 where a number is printed finer than a clock reads."""

    time_s: float = 0.0  # Of response times in one unit, such as whole milliseconds
    # `duration_s` and `throughput_rps`: of the duration, in s, and of the throughput, in requests/s.
    duration_s: float = 0.0
    throughput_rps: float = 0.0
    has_units: bool = False  # Whether times and sizes have two decimals and the unit that fits: 1.20ms, 203.10KB


DIGITS = {
    "ab": Digits(1e-3, 1e-3, 0.01), "gatling": Digits(1e-3, 1.0, 0.1), "ghz": Digits(1e-5, 1e-4, 0.01),
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
    found = np.where([each.has_units for each in digits], _DECIMAL * own, 0.0)
    unit = np.array([each.time_s for each in digits]) if column.startswith("latency_") else np.zeros(len(runs))
    in_units = np.divide(values, unit, out=np.full(len(runs), np.nan), where=unit > 0)
    return np.where(np.abs(in_units - np.round(in_units)) < 1e-6, unit, found)


def half_digit(runs: pd.DataFrame, column: str) -> np.ndarray:
    """Return by how much a column of each row of ``runs`` may be off as it is printed, in its unit."""
    return digit_of(runs, column) / 2
