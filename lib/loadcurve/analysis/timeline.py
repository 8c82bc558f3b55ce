"""Everything that was watched of a run or of a study on one clock: throughput, links, processors, TCP, sockets."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.errors import NotMeasuredError, ValueRuleError

COLUMNS = ["panel", "series", "x", "value"]
_CPU = {"user": "cpu_user_ratio", "system": "cpu_system_ratio", "softirq": "cpu_softirq_ratio"}
_STATES = {"Established sockets": "established", "Sockets in TIME-WAIT": "time_wait"}
_FEW = 6
"""Samples of a run; with fewer, a line through them shows nothing, so its level is shown."""
_MOST_PROCESSORS = 4
"""Panels of processors; on a larger machine those that were busiest."""
_USED_BPS = 1e4
"""Rate below which an interface carries nothing but the monitors' own traffic."""


def summarise_timeline(tables: Mapping[str, pd.DataFrame], run: str = "") -> pd.DataFrame:
    """Return the samples of all monitors on one clock, for `loadcurve.plots.plot_timeline`.

    The tables are those of one run, or of several runs of a study: ``runs``, and as far as they were recorded
    ``requests``, ``network``, ``cpu``, ``tcp`` and ``sockets``.  ``run`` names the only run to show.

    The columns are ``panel`` (label with its unit), ``series`` (host, interface, state or mode), ``x`` in s since the
    load of the first run began, and ``value`` in SI units.  A NaN lies between two runs, so that no line joins them.
    Throughput is counted per second where each request was recorded; else it is the mean of each run.  Of several
    runs with few samples each, every series has one level in each run: its mean, or the largest number of sockets.

    Raises NotMeasuredError when no run has the time of its start.

    Examples
    --------
    >>> start = pd.Timestamp("2026-01-01", tz="UTC")
    >>> runs = pd.DataFrame({"run_id": ["a"], "started_at": [start], "duration_s": [2.0], "throughput_rps": [50.0]})
    >>> cpu = pd.DataFrame({"run_id": "a", "host": "S1", "time": [start], "cpu": ["0"], "cpu_user_ratio": [0.25]})
    >>> summarise_timeline({"runs": runs, "cpu": cpu}).values.tolist()  # doctest: +NORMALIZE_WHITESPACE
    [['Throughput [requests/s]', '', 0.0, 50.0], ['Throughput [requests/s]', '', 2.0, 50.0],
     ['CPU 0', 'user', 0.0, 0.25]]
    """
    runs = tables["runs"]
    if run and run not in set(runs["run_id"]):
        raise ValueRuleError("run", f"one of {', '.join(map(str, runs['run_id'].unique()))}", run)
    tables = {name: rows[rows["run_id"] == run] for name, rows in tables.items()} if run else tables
    runs = tables["runs"].dropna(subset=["started_at"])
    if runs.empty:
        raise NotMeasuredError("No run has the time of its start", "record it: `loadcurve launch` does")
    start = runs["started_at"].min()
    parts = [part for part in _panels(tables, runs) if len(part)]
    found = _of_short_runs(pd.concat(parts, ignore_index=True), runs)
    x = (found["time"] - start).dt.total_seconds()
    ordered = found.assign(x=x, place=found.groupby("panel", sort=False).ngroup())
    ordered = ordered.sort_values(["place", "series", "x"], kind="stable", ignore_index=True)
    return _with_gaps(ordered)[COLUMNS]


def _panels(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> Iterator[pd.DataFrame]:
    yield _throughput(tables.get("requests", pd.DataFrame()), runs)
    yield from _links(tables.get("network", pd.DataFrame()))
    yield from _processors(tables.get("cpu", pd.DataFrame()))
    if len(tcp := tables.get("tcp", pd.DataFrame())) and tcp["retransmits_pps"].fillna(0).any():
        yield _long(tcp, "Retransmitted [segments/s]", tcp["host"], tcp["retransmits_pps"])
    if len(sockets := tables.get("sockets", pd.DataFrame())):
        listed = sockets[sockets["tool"] == "ss"]
        for name, column in _STATES.items():
            if listed[column].fillna(0).any():
                yield _long(listed, name, listed["host"], listed[column].astype(float))


def _of_short_runs(found: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the samples, or one level of each series in each run where several runs have few samples."""
    series = found.groupby(["panel", "series", "run_id"], sort=False)["value"]
    if found["run_id"].nunique() < 2 or series.size().median() >= _FEW:
        return found
    largest = series.max().where(series.size().index.get_level_values("panel").isin(_STATES), series.mean())
    levels = largest.reset_index()
    starts, ends = _spans(runs)
    return pd.concat([levels.assign(time=levels["run_id"].map(at)) for at in (starts, ends)], ignore_index=True)


def _spans(runs: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return when the load of each run began and ended."""
    of_run = runs.groupby("run_id", sort=False)
    starts, seconds = of_run["started_at"].min(), of_run["duration_s"].max().astype(float)
    return starts, starts + pd.to_timedelta(seconds, unit="s")


def _throughput(requests: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Requests that ended in each second, or the mean of each run from its start to its end."""
    label = "Throughput [requests/s]"
    if len(requests) and requests["time"].notna().any():
        ended = requests["time"] + pd.to_timedelta(requests["latency_s"].astype(float).fillna(0.0), unit="s")
        counts = ended.dt.floor("1s").to_frame("time").assign(run_id=requests["run_id"])
        per_second = counts.groupby(["run_id", "time"]).size().reset_index(name="value")
        middle = per_second["time"] + pd.Timedelta(seconds=0.5)
        return per_second.assign(panel=label, series="", time=middle)
    total = runs.groupby("run_id", sort=False)["throughput_rps"].sum().rename("value").reset_index()
    both = [total.assign(time=total["run_id"].map(at)) for at in _spans(runs)]
    return pd.concat(both).assign(panel=label, series="")


def _links(network: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if network.empty:
        return
    carried = network[network["interface"] != "lo"]
    sent = carried["transmitted_bytes_per_s"].astype(float) * 8
    several = carried.groupby("host")["interface"].transform("nunique") > 1
    name = carried["host"].where(~several, carried["host"] + " " + carried["interface"])
    used = sent.groupby(name).transform("max") >= _USED_BPS
    yield _long(carried[used], "Sent [bit/s]", name[used], sent[used])


def _processors(cpu: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield a panel for each processor; hosts of one machine sample the same processors, so one of them is taken."""
    if cpu.empty:
        return
    own = cpu[(cpu["cpu"] != "all") & (cpu["host"] == cpu["host"].iloc[0])]
    modes = [column for column in _CPU.values() if column in own]
    busy = own[modes].sum(axis=1).groupby(own["cpu"]).mean()
    shown = sorted(busy.nlargest(_MOST_PROCESSORS).index, key=lambda number: (len(number), number))
    for number in shown:
        rows = own[own["cpu"] == number]
        for name, column in _CPU.items():
            if column in rows and rows[column].notna().any():
                yield _long(rows, f"CPU {number}", pd.Series(name, rows.index), rows[column])


def _long(rows: pd.DataFrame, panel: str, series: pd.Series, values: pd.Series) -> pd.DataFrame:
    found = rows[["run_id", "time"]].assign(panel=panel, series=series.astype(str), value=values.astype(float))
    return found.dropna(subset=["time", "value"])


def _with_gaps(ordered: pd.DataFrame) -> pd.DataFrame:
    """Insert a row without a value wherever a series goes on in another run."""
    before = ordered.shift()
    continues = (ordered["panel"] == before["panel"]) & (ordered["series"] == before["series"])
    breaks = ordered[continues & (ordered["run_id"] != before["run_id"])].assign(value=np.nan)
    breaks.index = breaks.index - 0.5
    return pd.concat([ordered, breaks]).sort_index().reset_index(drop=True)
