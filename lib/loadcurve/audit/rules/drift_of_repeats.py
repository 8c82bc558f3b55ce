"""Throughput at equal load drifted from repeat to repeat, so part of a difference between levels is due to time.

What it means
-------------
Throughput at equal load rose or fell from the first run of the sweep to the last by more than 5 %.  A part of the
difference between two levels is then the difference between two times of the day.  The rule divides each throughput
by the mean of its level, takes Kendall's rank correlation with the order of the runs (M. G. Kendall, Biometrika 30,
1938), and reports the size as Sen's slope (P. K. Sen, JASA 63, 1968).

Why it happens
--------------
A processor that warms up lowers its clock, a log or a table grows, a neighbour on the same machine starts to work. If
the levels were measured in order, this change looks like an effect of the load.

How to fix it
-------------
Plot throughput over the mean of its level against `started_at`, and find what changed at that time: `sar -u ALL`
(steal), `turbostat` (clock), `df` (logs).  Remove the cause, shuffle the order of the runs, and repeat the sweep.

When to ignore it
-----------------
The order was random and the difference of interest is several times the drift: randomised repeats absorb it.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import scipy

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked
from loadcurve.audit.rules._levels import runs_by_level
from loadcurve.audit.run_tables import Tables, all_runs

_FEWEST = 8  # runs: with fewer, no order of ranks has a two-sided p below 0.001


def judge_drift(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about all runs together: the change of throughput from the first run to the last."""
    runs = runs_by_level(tables).dropna(subset=["throughput_rps", "started_at"])
    runs = runs[(runs["throughput_rps"] > 0) & ~runs["unclear"]].sort_values("started_at")
    if runs.empty:
        return
    levels = runs.groupby(["variant", "axis", "level"], dropna=False)["throughput_rps"]
    ratio = (runs["throughput_rps"] / levels.transform("mean"))[levels.transform("size") > 1].astype(float)
    if len(ratio) < _FEWEST:
        needs = f"needs {_FEWEST} runs of repeated levels with a time"
        yield not_checked(all_runs(runs), needs, "Repeat each level at least three times.")
        return
    order = np.arange(len(ratio))
    chance = float(scipy.stats.kendalltau(order, ratio).pvalue)
    slope = float(scipy.stats.theilslopes(np.log(ratio), order).slope)
    change = float(np.expm1(slope * (len(ratio) - 1)))
    drifts = chance < limits["probability"] and abs(change) > limits["ratio"]
    evidence = f"From the first run to the last, throughput at equal load changed by {change:+.1%} (p = {chance:.2g})."
    advice = "Find what changed (temperature, logs, neighbours), randomise the order of runs, and repeat the sweep."
    yield Finding(all_runs(runs), "warning" if drifts else "ok", evidence.replace("%", " %"), advice, change, 0.0)


RULE = Rule(
    "drift-of-repeats",
    "Did the machine stay the same during the sweep?",
    judge_drift,
    {"ok": "no trend beyond chance, or below 5 %", "warning": "a trend beyond chance of more than 5 %"},
    limits={
        "probability": Limit(0.001, "one false alarm in a thousand sweeps, because every sweep is tested"),
        "ratio": Limit(0.05, "half of a tenth, the least difference that is usually worth a decision"),
    },
    family="Statistics",
)
