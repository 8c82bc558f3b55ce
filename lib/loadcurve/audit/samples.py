"""Samples of one run: what monitors and generators recorded over time, and how long it must be to count.

A sample describes the interval before its time.  `samples_within` selects those inside the load; `growth_of_counters`
subtracts counters of the kernel; `throughput_series` is the throughput of a run per interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.run_tables import Tables, key_of, once, runs_by_key
from loadcurve.stats.arrays import Array

EDGE_S = 1.0
"""Part of the load at its start and at its end that a sample may cover only partly.

sar prints the second in which it sampled, and a sample covers the second before (sysstat, sar(1)).
"""


ADVISED_S = 10.0
"""Least duration of a load that findings advise: wrk2 calibrates for 10 s, and monitors sample each second."""
_RESPONSES_EACH = 10  # of each connection: one of ten is cut off at the end


def advised_seconds(run: Any) -> float:
    """Return how long to measure a run: at least 10 s, and ten responses for each connection."""
    requests, connections, duration = (getattr(run, name) for name in ("requests", "connections", "duration_s"))
    if pd.isna(requests) or pd.isna(connections) or pd.isna(duration) or not requests:
        return ADVISED_S
    return max(ADVISED_S, float(np.ceil(_RESPONSES_EACH * duration * connections / requests)))


def samples_within(
    table: pd.DataFrame | None, runs: pd.DataFrame, columns: Sequence[str] | None = None, *, edges: bool = False
) -> pd.DataFrame:
    """Return the samples that lie wholly within their run's load, with the column ``key`` of the run."""
    if table is None or table.empty:
        return (pd.DataFrame(columns=columns) if table is None else table).assign(key=pd.Series(dtype=object))
    keys = key_of(table)
    duration = runs_by_key(runs)
    within = keys.isin(duration.index)
    if "elapsed_s" in table and "duration_s" in duration:
        lasts = keys.map(duration["duration_s"].astype(float))
        elapsed = table["elapsed_s"].astype(float)
        edge_s = -EDGE_S if edges else EDGE_S
        within &= (elapsed >= max(0.0, edge_s)) & (elapsed <= lasts - edge_s) | elapsed.isna() | lasts.isna()
    kept = table if columns is None else table[list(columns)]
    return (kept if within.all() else kept[within]).assign(key=keys[within])


_SERIES = ["key", "host", "tool", "item", "name"]


def growth_of_counters(tables: Tables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the growth of counters from the start to the end of each run's load.

    The first value is the last sample before the load, because connections open in its first milliseconds; without one
    it is the first sample within the load.  The last value is the first sample after the load, or the last within it.
    """
    counters = tables.get("counters")
    columns = ["key", "host", "item", *dict.fromkeys(names.values())]
    if counters is None or counters.empty:
        return pd.DataFrame(columns=columns)
    rows = counters[counters["counter"].isin(list(names))]
    found = rows.reindex(columns=["host", "tool", "item", "counter", "value", "elapsed_s", "time"])
    duration = runs_by_key(tables["runs"])["duration_s"]
    found = found.assign(key=key_of(rows), name=found["counter"].astype(object).map(dict(names)))
    found = found[found["key"].isin(duration.index)]
    if found.empty:
        return pd.DataFrame(columns=columns)
    found[["host", "tool", "item"]] = found[["host", "tool", "item"]].astype(object).fillna("")
    elapsed = found["elapsed_s"].astype(float)
    over = elapsed - found["key"].map(duration).astype(float)
    found = found.assign(before=elapsed.where(elapsed <= 0), after=over.where(over >= 0))
    series = [found[name] for name in _SERIES]
    first = found["before"].groupby(series).transform("max")
    last = found["after"].groupby(series).transform("min")
    found = found[~((found["before"] < first) | (found["after"] > last))].sort_values(["elapsed_s", "time"])
    groups = found.groupby(_SERIES)["value"]
    growth = (groups.last() - groups.first()).where((groups.size() > 1) & (groups.last() >= groups.first()))
    wide = growth.reset_index().pivot_table("value", ["key", "host", "item"], "name", "max", dropna=False)
    return wide.dropna(how="all").reset_index().reindex(columns=columns)


SERIES = "the throughput of at least {} intervals, by `sar -n DEV,TCP 1` or a line for each request"
"""What a rule about a series needs, with the number of samples."""
RECORD_SERIES = (
    "Measure for at least 22 s, and record `sar -n DEV,TCP 1` on the server from the start of the load on, or a line "
    "for each request (`hey -o csv`, `ab -g`)."
)
_ACCESS_LOGS = ("nginx", "apache")
_LEAST = 2  # samples of a warm-up: one alone is a spike
_PART = 3  # of the samples, up to which a change at the beginning is a warm-up
_SPARSEST_S = 10.0  # on average between two responses; more are too few for a rate, or times of several clocks
_CERTAIN = 5.0  # standard errors; the cut was chosen among many


@dataclass(frozen=True)
class Series:
    """Samples of one run, in order of time, without the first and the last second of the load."""

    elapsed_s: Array  # End of each interval since the start of the load, shape (n,)
    rates: Array  # The rate in each interval, shape (n,)
    counter: str  # What was counted, in words

    @property
    def interval_s(self) -> float:
        """Median time between samples."""
        return float(np.median(np.diff(self.elapsed_s)))


@once
def throughput_series(tables: Tables) -> dict[str, Series]:
    """Return the series of each run that has one, by its key (`loadcurve.audit.run_tables.key_of`).

    A run has at most one series, of the first of these that recorded it: responses of the generator (``requests``),
    the server's own count (``server``), TCP segments received on the host that received most, packets of the interface
    that carried most.  Segments and packets follow the requests, except where their sizes change.
    """
    found: dict[str, Series] = {}
    for rows, counter in _sources(tables):
        rows = rows[~rows["key"].isin(found.keys())].dropna(subset=["elapsed_s", "value"])
        if rows.empty:
            continue
        rows = rows.sort_values(["key", "elapsed_s"], kind="stable")
        keys = rows["key"].to_numpy()
        times, values = rows["elapsed_s"].to_numpy(float), rows["value"].to_numpy(float)
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
            found[str(keys[start])] = Series(times[start:end], values[start:end], counter)
    return found


def long_enough(series: Mapping[str, Series], least: int) -> dict[str, Series]:
    """Return the series with at least so many samples and a mean above 0."""
    return {key: one for key, one in series.items() if one.rates.size >= least and one.rates.mean() > 0}


def _sources(tables: Tables) -> Iterator[tuple[pd.DataFrame, str]]:
    """Yield rows ``key elapsed_s value`` within the load, and what they count, the best source first."""
    runs = tables["runs"]
    if "requests" in tables and len(tables["requests"]):
        yield _responses(tables["requests"]), "responses/s"
    if "server" in tables and tables["server"]["requests"].notna().any():
        yield _of_server(samples_within(tables["server"], runs)), "requests/s of the server"
    for table, columns, item, counter in (
        ("tcp", ["segments_received_pps"], "host", "TCP segments/s received"),
        ("network", ["received_pps", "transmitted_pps"], "interface", "packets/s"),
    ):
        samples = samples_within(tables.get(table), runs)
        if len(samples):
            place = samples["host"].fillna("").astype(object) + ":" + samples[item].fillna("").astype(object)
            rows = samples.assign(value=samples[columns].sum(axis=1, min_count=1), place=place)
            yield _busiest(rows), counter


def _busiest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the place that counted most in each run."""
    totals = rows.groupby(["key", "place"])["value"].mean().reset_index().sort_values("value", kind="stable")
    most = totals.drop_duplicates("key", keep="last").set_index("key")["place"]
    return rows[rows["place"] == rows["key"].map(most)]


def _of_server(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the rate between two samples of each server's count of requests, of the server that counted most."""
    rows = samples.dropna(subset=["requests", "elapsed_s"])
    rows = rows.assign(place=rows["host"].fillna("")).sort_values(["key", "place", "elapsed_s"], kind="stable")
    steps = rows.groupby(["key", "place"])[["requests", "elapsed_s"]].diff().astype(float)
    return _busiest(rows.assign(value=(steps["requests"] / steps["elapsed_s"]).where(steps["elapsed_s"] > 0)))


def _responses(requests: pd.DataFrame) -> pd.DataFrame:
    """Return the responses of a load generator in each whole second, the first and the last one left out.

    A run whose responses are too sparse has no series: one time of another clock would make it years long.
    """
    rows = requests[~requests["tool"].isin(_ACCESS_LOGS)]
    begun = (rows["time"] - pd.Timestamp(0, tz="UTC")).dt.total_seconds().fillna(rows["offset_s"]).astype(float)
    ended = begun + rows["latency_s"].fillna(0.0)
    keys = key_of(rows)
    first = begun.groupby(keys).transform("min")
    second = pd.DataFrame({"key": keys, "at": np.floor(ended - first)}).dropna()
    counts = second.groupby(["key", "at"]).size()
    last = second.groupby("key")["at"].agg(["max", "size"])
    last = last.loc[last["max"] <= _SPARSEST_S * last["size"], "max"]
    every = [(key, at) for key, most in last.items() for at in range(int(EDGE_S), int(most))]
    index = pd.MultiIndex.from_tuples(every, names=["key", "at"]) if every else counts.index[:0]
    found = counts.reindex(index, fill_value=0).rename("value").reset_index()
    return found.assign(elapsed_s=found["at"] + 1.0)


def warm_up_samples(values: Array) -> int:
    r"""Return how many samples at the beginning belong to a warm-up that is beyond chance; 0 for none.

    The cut is that of MSER (K. P. White, Simulation 69(6), 1997), in the first third and at least two samples long: a
    later one is a change of level.  It counts only if the samples before and after it differ by more than `_CERTAIN`
    standard errors, widened by $\sqrt{(1+r)/(1-r)}$ for the autocorrelation r of the rest.  Of stationary series of
    10 to 120 samples with r = 0.5, it cuts less than 2 %.

    Examples
    --------
    >>> rest = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0, 99.0, 100.0]
    >>> warm_up_samples(np.array([10.0, 40.0, 70.0, *rest])), warm_up_samples(np.array(rest))
    (3, 0)
    """
    left = np.arange(values.size, 0, -1)
    centred = values - values[values.size // 2 :].mean()
    total, squares = np.cumsum(centred[::-1])[::-1], np.cumsum(centred[::-1] ** 2)[::-1]
    errors = np.maximum(squares - total**2 / left, 0.0) / left**2  # Σ(x − x̄)² / (n − d)²
    cut = int(np.argmin(errors[: values.size // 2 + 1]))
    if cut < _LEAST or cut > values.size / _PART:
        return 0
    rest = values[cut:] - values[cut:].mean()
    number, power = rest.size, float((rest**2).sum())
    lag = float((rest[1:] * rest[:-1]).sum()) / power if power > 0 else 0.0
    # The estimate is biased by -(1 + 4r)/n (Marriott and Pope, Biometrika 41, 1954), and uncertain by 1/sqrt(n).
    lag = float(np.clip(lag + (1 + 4 * max(lag, 0.0)) / number + number**-0.5, 0.0, 0.95))
    error = np.sqrt(power / (number - 1) * (1 / cut + 1 / number) * (1 + lag) / (1 - lag))
    return cut if abs(values[:cut].mean() - values[cut:].mean()) > _CERTAIN * error else 0


def without_warm_up(series: Series, least: int) -> Series:
    """Return the series after its warm-up, if at least so many samples are left."""
    cut = warm_up_samples(series.rates)
    if series.rates.size - cut < least:
        return series
    return Series(series.elapsed_s[cut:], series.rates[cut:], series.counter)
