"""A monitor took too few samples during the load, so a short saturation may not show in them.

What it means
-------------
Ten samples within the load, its first and its last second left out, are enough; in a shorter load, 70 % of those that
an interval of 1 s would give, and at least one, which a load of 2 s rarely has. A mean over 10 s shows a resource that
was saturated for one second and idle otherwise as 10 % busy, so rules about saturation can miss it.

Why it happens
--------------
sysstat samples every 10 minutes by default (`/etc/cron.d/sysstat`, `sysstat-collect.timer`), and dashboards keep one
value for 15 to 60 s.  Or the load is so short that few samples fit into it.

How to fix it
-------------
Start the monitors with the load: `sar -A 1` on each host, `ss -s` every second; in `study.yml`, `interval_s: 1`.
Measure for at least 12 s, so that ten samples of one second lie within the load.

When to ignore it
-----------------
The load is so even that means say everything, and no verdict rests on a resource being idle.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import DURATION, Finding, Limit, Rule
from loadcurve.audit.run_tables import Tables, first_rows, key_of
from loadcurve.audit.samples import EDGE_S

_MONITORED = ("cpu", "network", "tcp")
_KEPT = 0.7  # of the samples of one second: sar's interval drifts, and the clocks of load and monitor are not in step


def judge_intervals(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run with monitors: the fewest samples of one of them within the load."""
    runs = tables["runs"]
    lasts = runs.groupby(key_of(runs))["duration_s"].max().astype(float)
    counted = [_counted(tables[name], name, lasts) for name in _MONITORED if name in tables and len(tables[name])]
    counts = pd.concat(counted, ignore_index=True) if counted else pd.DataFrame(columns=["key"])
    if counts.empty:
        return
    fewest = counts.sort_values("samples", kind="stable").drop_duplicates("key").set_index("key")
    rows = dict(zip(fewest.index, fewest.itertuples(), strict=True))
    for key, run in first_rows(runs):
        if (row := rows.get(key)) is None or np.isnan(lasts[key]):
            continue
        possible = max(lasts[key] - 2 * EDGE_S, 0.0)
        least = min(limits["samples"], _KEPT * possible)
        evidence = f"{row.samples:.0f} samples of {row.name} lie within a load of {lasts[key]:.3g} s"
        evidence += f", one every {row.interval:.3g} s." if row.interval == row.interval else "."
        if row.samples and row.samples >= least:
            yield Finding(run, "ok", evidence, "", float(row.samples), least)
        else:
            advice = (
                "Sample every second (`sar -A 1`) from the start of the load to its end, and measure for 12 s or more."
            )
            yield Finding(run, "warning", evidence, advice, float(row.samples), least)


def _counted(table: pd.DataFrame, name: str, lasts: pd.Series) -> pd.DataFrame:
    """Return ``key name samples interval`` of each host of a table: samples within the load, and their distance."""
    rows = pd.DataFrame({"key": key_of(table), "host": table["host"].fillna("").astype(object)})
    rows = rows.assign(elapsed=table["elapsed_s"], ends=rows["key"].map(lasts)).dropna(subset=["elapsed", "ends"])
    rows = rows.assign(within=rows["elapsed"].where(rows["elapsed"].between(EDGE_S, rows["ends"] - EDGE_S)))
    each = rows.groupby(["key", "host"]).agg(
        samples=("within", "nunique"), all=("elapsed", "nunique"), first=("elapsed", "min"), last=("elapsed", "max")
    )
    each["interval"] = (each["last"] - each["first"]) / (each["all"] - 1).where(each["all"] > 1)
    each = each.reset_index()
    return each.assign(name=name + each["host"].map(lambda host: f" of {host}" if host else ""))


RULE = Rule(
    "coarse-monitor",
    "Did the monitors take enough samples while the load ran?",
    judge_intervals,
    {"ok": "ten samples, or 70 % of one each second of a shorter load", "warning": "fewer, or none"},
    needs=(DURATION,),
    limits={"samples": Limit(10, "of fewer samples, each is more than a tenth of the mean")},
    family="Statistics",
)
