"""The percentiles of a run are the means of those of other runs, so they are percentiles of nothing.

What it means
-------------
Such a row of averages is no run: if one of two equal runs has a 99th percentile of 10 ms and the other of 1,000 ms,
that of all responses lies between the 98th and the 99th percentile of the slower run, not at their mean of 505 ms.

Why it happens
--------------
A script or a spreadsheet averaged every column of its repeats, or dashboards averaged the percentiles of minutes and
of hosts.  No load generator whose reports loadcurve reads does that by itself.

How to fix it
-------------
Remove the row of averages.  To combine runs, add up their histograms (`summarise_histogram_quantiles`), or report the
range of their percentiles, between which the percentile of all responses lies.

When to ignore it
-----------------
The row is not used, and the runs that it averages are.  Averages of other numbers, such as throughput, are fine.

The rule asks for three percentiles or more that agree with the means within a thousandth, while the runs differ by
more than a tenth in each: if percentiles were independent, fewer than one run in 100,000 would do so by chance.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.audit.rules._levels import runs_by_level
from loadcurve.audit.run_tables import Tables, all_runs
from loadcurve.tables.schemas.derived import digit_of

_ROUNDED = 1e-3  # of a time: three printed digits
_COARSE = 1e-2  # of a time, above which its last digit is too coarse: 1, 2 and 3 ms are often so by chance
_APART = 0.1  # least range of the runs' percentiles over their mean: in a narrow range, any value is near the mean
_FEWEST = 3  # percentiles
_PLACE = ["study", "run_id", "generator"]


def judge_averages(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about all runs together: which of them have the mean percentiles of others."""
    runs = runs_by_level(tables)
    if runs.empty:
        return
    levels = runs.assign(generator=tables["runs"]["generator"])[[*_PLACE, "tool", "variant", "axis", "level"]]
    latency = tables["latency"][[*_PLACE, "quantile", "latency_s"]].dropna(subset=["quantile", "latency_s"])
    rows = latency[latency["quantile"] < 1].merge(levels.drop_duplicates(_PLACE), on=_PLACE)
    rows = rows.drop_duplicates([*_PLACE, "quantile"])
    rows = rows[digit_of(rows, "latency_s") <= _COARSE * rows["latency_s"]]
    each = rows.groupby(["variant", "axis", "level", "quantile"], dropna=False)["latency_s"]
    number, total = each.transform("size"), each.transform("sum")
    apart = (each.transform("max") - each.transform("min")) / (total / number) > _APART
    rows = rows[(number > 2) & apart]
    if rows.empty:
        return
    others = (total - rows["latency_s"]) / (number - 1)
    rows = rows.assign(mean=np.isclose(rows["latency_s"], others.reindex(rows.index), rtol=_ROUNDED, atol=0.0))
    found = rows.groupby(_PLACE, dropna=False)["mean"].agg(["all", "size"])
    known = found[found["size"] >= limits["percentiles"]]
    if known.empty:
        return
    averaged = known.index[known["all"].to_numpy(bool)]
    evidence = f"{len(averaged)} of {len(known)} runs have the mean percentiles of the other runs at their load."
    if len(averaged):
        one = rows.set_index(_PLACE).sort_index().loc[[averaged[0]]].iloc[-1]
        name = averaged[0][1] if pd.notna(averaged[0][1]) else "a report"
        evidence += f" In {name}, p{100 * one['quantile']:.6g} is {1000 * one['latency_s']:.4g} ms, the mean of theirs."
    advice = "Remove the row of averages, and report each run, or the percentiles of their added histograms."
    yield Finding(all_runs(runs), "warning" if len(averaged) else "ok", evidence, advice, float(len(averaged)), 0.0)


RULE = Rule(
    "averaged-percentiles",
    "Is each percentile that of a run, and no mean of percentiles?",
    judge_averages,
    {"ok": "no run has the mean percentiles of others", "warning": "a run does"},
    needs=(Need("latency", ("quantile", "latency_s"), "percentiles", applies=False),),
    limits={"percentiles": Limit(_FEWEST, "one is near the mean by chance in 2 of 100 runs, three in 1 of 100,000")},
    family="Statistics",
)
