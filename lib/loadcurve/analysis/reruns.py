"""What a rerun of a published experiment shows, run by run: numbers in names of variants, sockets over time."""

import numpy as np
import pandas as pd

from loadcurve.study import BUSY_RATIO


def numbers_in(names: pd.Series, name: str) -> pd.Series:
    """Return the number that follows a word in each name of a variant, NaN where there is none.

    Examples
    --------
    >>> numbers_in(pd.Series(["delay_045ms", "children=8", "no_delay"]), "delay").tolist()
    [45.0, nan, nan]
    """
    pattern = rf"(?:^|[ ,_]){name}[=_]([0-9]+(?:\.[0-9]+)?)"
    return names.astype("str").str.extract(pattern, expand=False).astype(float)


def undisturbed(runs: pd.DataFrame, most_ratio: float = BUSY_RATIO) -> pd.DataFrame:
    """Return the runs with responses in which other processes took at most a share of the processors.

    A run in which the share, ``cpu_other_ratio``, is not known is kept; by default `most_ratio` is that of the audit.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "throughput_rps": [9.0, 8.0], "cpu_other_ratio": [0.01, 0.4]})
    >>> undisturbed(runs, 0.05)["run_id"].tolist()
    ['a']
    """
    taken = runs["cpu_other_ratio"].astype(float).fillna(0)
    return runs[runs["throughput_rps"].notna() & (taken <= most_ratio)].reset_index(drop=True)


def count_disturbed(runs: pd.DataFrame) -> dict[str, float]:
    """Return how many runs there are, in how many other processes used the processors, and the largest share of these.

    A run with several generators counts once, and one above `BUSY_RATIO` is disturbed, as for the audit.

    Examples
    --------
    >>> count_disturbed(pd.DataFrame({"run_id": ["a", "a", "b"], "cpu_other_ratio": [0.4, 0.4, 0.01]}))
    {'all_runs': 2, 'disturbed': 1, 'disturbed_ratio': 0.4}
    """
    shares = runs.groupby("run_id")["cpu_other_ratio"].max().astype(float)
    return {
        "all_runs": int(shares.size),
        "disturbed": int((shares > BUSY_RATIO).sum()),
        "disturbed_ratio": float(shares.max()),
    }


def processor_busy_ratio(cpu: pd.DataFrame, runs: pd.DataFrame, host: str, processor: str) -> pd.Series:
    """Busy share of one processor in each run, over the samples that lie entirely within the load.

    In the order of the runs; NaN where no sample lies within the load.

    Examples
    --------
    >>> cpu = pd.DataFrame({"run_id": "a", "host": "S1", "cpu": "0", "elapsed_s": [0.5, 1.5, 2.5, 3.5],
    ...                     "cpu_idle_ratio": [1.0, 0.4, 0.2, 1.0], "cpu_iowait_ratio": 0.0})
    >>> processor_busy_ratio(cpu, pd.DataFrame({"run_id": ["a"], "duration_s": [3.0]}), "S1", "0").round(2).tolist()
    [0.7]
    """
    within = _within_load(cpu[(cpu["host"] == host) & (cpu["cpu"].astype("str") == processor)], runs, from_s=1)
    idle = within["cpu_idle_ratio"].astype(float) + within["cpu_iowait_ratio"].astype(float).fillna(0)
    busy = (1 - idle).groupby(within["run_id"]).mean()
    return runs["run_id"].map(busy).astype(float)


def connections_opened_per_s(tcp: pd.DataFrame, runs: pd.DataFrame, host: str) -> pd.Series:
    """Connections that a host accepted per second in each run, over the samples that lie entirely within the load.

    The first second, in which the load opens its connections, is left out.

    Examples
    --------
    >>> tcp = pd.DataFrame({"run_id": "a", "host": "S1", "elapsed_s": [1.2, 2.2], "passive_opens_per_s": [64.0, 9.0]})
    >>> connections_opened_per_s(tcp, pd.DataFrame({"run_id": ["a"], "duration_s": [3.0]}), "S1").tolist()
    [9.0]
    """
    within = _within_load(tcp[tcp["host"] == host], runs, from_s=2)
    return runs["run_id"].map(within.groupby("run_id")["passive_opens_per_s"].mean()).astype(float)


def _within_load(samples: pd.DataFrame, runs: pd.DataFrame, from_s: float) -> pd.DataFrame:
    """Return the samples of the load from a second on; each sample covers the second before it."""
    of = samples.merge(runs[["run_id", "duration_s"]], on="run_id")
    return of[(of["elapsed_s"] >= from_s) & (of["elapsed_s"] <= of["duration_s"])]


def summarise_orphans(
    sockets: pd.DataFrame, runs: pd.DataFrame, *, host: str = "S1", last_s: float = 1.0
) -> pd.DataFrame:
    """Orphans of each run at the end of its load, and the lifetime that Little's law gives them.

    What ss prints as orphaned is of the whole machine.  The sockets in use are of the namespace; those that are neither
    established nor were there before the load are its orphans.

    `last_s` is the end of the load over which the orphans are averaged; lifetime = orphans / closed_per_s.

    Examples
    --------
    >>> sockets = pd.DataFrame({"run_id": "a", "host": "S1", "elapsed_s": [-0.1, 1.0, 3.5, 3.9],
    ...                         "established": [0, 50, 50, 50], "transport_tcp": [1, 90, 351, 351]})
    >>> runs = pd.DataFrame({"run_id": ["a"], "variant": "v", "duration_s": 4.0, "throughput_rps": 500.0})
    >>> summarise_orphans(sockets, runs)[["orphans", "lifetime_s"]].values.tolist()
    [[300.0, 0.6]]
    """
    seen = count_orphans(sockets, runs, host)
    end = seen[seen["elapsed_s"].between(seen["duration_s"] - last_s, seen["duration_s"])]
    found = runs[["run_id", "variant"]].assign(closed_per_s=runs["throughput_rps"].astype(float))
    found["orphans"] = found["run_id"].map(end.groupby("run_id")["orphans"].mean()).astype(float)
    return found.assign(lifetime_s=found["orphans"] / found["closed_per_s"]).reset_index(drop=True)


def summarise_lost_clients(
    sockets: pd.DataFrame, runs: pd.DataFrame, *, lost_s: float, host: str = "S1"
) -> pd.DataFrame:
    """How long a server keeps the sockets of clients that were lost: first as connections, then as orphans.

    A change between two samples is placed in the middle between them.

    ``held_s`` is from the loss at `lost_s` to the end of the connections, ``orphan_s`` from there to the end of the
    orphans; NaN where the samples do not show an end.

    Examples
    --------
    >>> sockets = pd.DataFrame({"run_id": "a", "host": "S1", "elapsed_s": [-0.1, 0.9, 1.9, 2.1, 2.5, 2.7],
    ...                         "established": [0, 64, 64, 0, 0, 0], "transport_tcp": [1, 65, 65, 65, 65, 1]})
    >>> runs = pd.DataFrame({"run_id": ["a"], "variant": "v", "duration_s": 4.0})
    >>> summarise_lost_clients(sockets, runs, lost_s=1.0)[["held_s", "orphan_s"]].round(2).values.tolist()
    [[1.0, 0.6]]
    """
    rows = []
    seen = count_orphans(sockets, runs, host)
    for run in runs.itertuples():
        of = seen[seen["run_id"] == run.run_id]
        times, most = of["elapsed_s"].to_numpy(float), of["established"].max()
        held = _end_of(times, of["established"].to_numpy(float) > 0)
        gone = _end_of(times, of["orphans"].to_numpy(float) > most / 2)
        rows.append((run.run_id, run.variant, held - lost_s, gone - held))
    return pd.DataFrame(rows, columns=["run_id", "variant", "held_s", "orphan_s"])


def count_orphans(sockets: pd.DataFrame, runs: pd.DataFrame, host: str = "S1") -> pd.DataFrame:
    """Established connections and orphans of a host's namespace in each sample of ss.

    A run without a sample before its load is left out.

    Examples
    --------
    >>> sockets = pd.DataFrame({"run_id": "a", "host": "S1", "elapsed_s": [-0.1, 1.0], "established": [0, 50],
    ...                         "transport_tcp": [1, 90]})
    >>> runs = pd.DataFrame({"run_id": ["a"], "variant": "v", "duration_s": 4.0})
    >>> count_orphans(sockets, runs)["orphans"].tolist()
    [0.0, 39.0]
    """
    of = sockets[(sockets["host"] == host) & sockets["established"].notna()]  # rows of other monitors have none
    of = of.merge(runs[["run_id", "variant", "duration_s"]], on="run_id").sort_values(["run_id", "elapsed_s"])
    counted = of.astype({"established": float, "transport_tcp": float})
    before = counted[counted["elapsed_s"] <= 0].groupby("run_id")["transport_tcp"].last()
    counted["orphans"] = counted["transport_tcp"] - counted["established"] - counted["run_id"].map(before)
    columns = ["run_id", "variant", "duration_s", "elapsed_s", "established", "orphans"]
    return counted.loc[counted["orphans"].notna(), columns].reset_index(drop=True)


def _end_of(times: np.ndarray, holds: np.ndarray) -> float:
    """Return the time in the middle between the last sample at which something holds and the next one."""
    last = np.flatnonzero(holds)
    if not last.size or last[-1] + 1 >= times.size:
        return float("nan")
    return float(times[last[-1] : last[-1] + 2].mean())
