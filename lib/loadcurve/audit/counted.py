"""How far counters of the kernel grew during each run."""

from collections.abc import Mapping

import pandas as pd

from loadcurve.audit.of_runs import Tables, key_of

_SERIES = ["key", "host", "tool", "item", "name"]


def growth_of_counters(tables: Tables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the growth of counters from the start to the end of each run's load.

    The first value is the last sample before the load, because connections open in its first milliseconds; without one
    it is the first sample within the load.  The last value is the first sample after the load, or the last within it.

    Examples
    --------
    >>> runs = pd.DataFrame([{"study": "s", "run_id": "a", "duration_s": 10.0}])
    >>> counters = pd.DataFrame({"study": "s", "run_id": "a", "tool": "nstat", "elapsed_s": [-1.0, 5.0, 10.5, 60.0],
    ...                          "counter": "TcpExtListenDrops", "value": [7.0, 9.0, 12.0, 99.0]})
    >>> names = {"TcpExtListenDrops": "drops"}
    >>> growth_of_counters({"runs": runs, "counters": counters}, names)["drops"].tolist()
    [5.0]
    """
    counters = tables.get("counters")
    columns = ["key", "host", "item", *dict.fromkeys(names.values())]
    if counters is None or counters.empty:
        return pd.DataFrame(columns=columns)
    rows = counters[counters["counter"].isin(list(names))]
    found = rows.reindex(columns=["host", "tool", "item", "counter", "value", "elapsed_s", "time"])
    duration = tables["runs"].assign(key=key_of(tables["runs"])).drop_duplicates("key").set_index("key")["duration_s"]
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
