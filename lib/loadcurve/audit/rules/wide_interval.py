"""The repeats of a level scatter so much that a difference of 10 % to another level may be chance.

What it means
-------------
The 95 % interval of the mean throughput of a level is wider than ±10 %. A smaller difference may be chance. A
difference has an interval of its own: `loadcurve compare` prints that of two measurements.

Why it happens
--------------
The half width is $t_{n-1} s / n^{1/2}$, with $s$ the standard deviation of $n$ repeats.  Three repeats have $t$ =
4.3, so a scatter of 4 % already gives ±10 %.  On the virtual machine of the handbook, runs of a server limited by its
processor scattered by up to 20 %, those of one limited by a delay by up to 4.3 %: measure yours.

How to fix it
-------------
Repeat each level as often as the finding says.  If the scatter is from start to start, longer runs do not reduce it.
Then look for the cause: neighbours (`sar -u ALL`, column `%steal`), processors that are not
pinned (`taskset`), a clock that changes (`cpupower frequency-info`).

When to ignore it
-----------------
The claim is much larger than the interval, such as a factor of two between two systems.  The mean of a sweep without
a claim about single levels needs no narrow interval at each of them: a fitted curve uses all levels together.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked
from loadcurve.audit.rules._levels import (
    REPEATS,
    WIDTH_RATIO,
    advised_repeats,
    shown_level,
    t_quantile,
    throughput_by_level,
)
from loadcurve.audit.run_tables import Tables, all_runs


def judge_width(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about all runs together: the level with the widest interval, relative to its mean."""
    levels = throughput_by_level(tables)
    repeated = levels[levels["runs"] > 1]
    if repeated.empty:
        if len(levels) > 1:
            yield not_checked(
                all_runs(tables["runs"]), "needs two runs of a level", "Repeat each level at least three times."
            )
        return
    runs, relative = repeated["runs"].to_numpy(), (repeated["deviation"] / repeated["mean"]).to_numpy()
    half, limit = t_quantile(runs - 1.0) * relative / np.sqrt(runs), limits["ratio"]
    widest_level = repeated.iloc[[int(half.argmax())]]
    worst = widest_level.iloc[0]
    widest, wide = float(half.max()), int((half > limit).sum())
    evidence = f"The widest 95 % interval of a mean throughput is ±{widest * 100:.3g} %, at {shown_level(worst)} "
    evidence += f"({worst['runs']:.0f} runs, which scatter by {relative[half.argmax()] * 100:.3g} %)."
    if not wide:
        yield Finding(all_runs(tables["runs"]), "ok", evidence, "", widest, limit)
        return
    evidence += f" {wide} of {len(repeated)} levels have one wider than ±{limit * 100:.3g} %."
    often = advised_repeats(repeated, ratio=limit)
    if worst["runs"] >= REPEATS:  # two runs say too little of their scatter
        often = max(often, advised_repeats(widest_level, ratio=limit))
    advice = f"Measure each level at least {often} times, and claim no smaller difference until then."
    if often > _MOST:
        advice = f"Find out why runs of one level differ by so much: averaging it out takes {often} runs of each level."
    yield Finding(all_runs(tables["runs"]), "warning", evidence, advice, widest, limit)


_MOST = 30
"""Runs of a level beyond which the cause of the scatter is found sooner than it is averaged out."""

RULE = Rule(
    "wide-interval",
    "Do repeats agree closely enough for a comparison?",
    judge_width,
    {"ok": "the 95 % interval of each level's mean is within ±10 %", "warning": "that of a level is wider"},
    limits={
        "ratio": Limit(WIDTH_RATIO, "differences between servers that are worth a decision start at about a tenth")
    },
    family="Statistics",
)
