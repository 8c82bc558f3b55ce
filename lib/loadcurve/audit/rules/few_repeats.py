"""A level has fewer than three runs, so nobody knows how much its throughput varies.

What it means
-------------
With one run there is no interval at all, and a difference between two levels may be the difference between two moments.

Why it happens
--------------
A sweep of many levels takes long, so each level is measured once.  The 95 % interval of a mean is $t_{n-1} s /
n^{1/2}$ on each side, with $t$ = 12.7 for two runs, 4.3 for three and 2.8 for five (Student, "The Probable Error of a
Mean", Biometrika 6, 1908).

How to fix it
-------------
Set `repeats: 3` or more in `study.yml`, or run the whole sweep again in another order.  A new order keeps a drift of
the machine from looking like the effect of a level.  To compare single levels, fewer levels with more repeats are worth
more than many single runs; a fitted curve also needs at least six levels.  If two runs have all numbers in common to
the last digit, one file is a copy of the other: leave it out.

When to ignore it
-----------------
The sweep only looks for the range of loads that deserves a measurement, and no number of it is published.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.rule import Finding, Limit, Rule, Severity, not_checked
from loadcurve.audit.rules._levels import REPEATS, advised_repeats, runs_by_level, throughput_by_level
from loadcurve.audit.run_tables import Tables, all_runs

# Counts and means of a steady server repeat as they are rounded; its longest response and its scatter hardly do.
_NUMBERS = ("requests", "duration_s", "throughput_rps", "latency_mean_s", "latency_stdev_s", "latency_max_s")


def judge_repeats(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding about all runs together: the least number of repeats of a level."""
    runs = runs_by_level(tables)
    if runs.empty:
        return
    if runs["unclear"].any():
        needs = "needs to know whether rows with one run_id are repeats or generators of one run"
        record = "Give each repeat a run_id of its own, or number the repeats in the column repeat."
        yield not_checked(all_runs(runs), needs, record)
        return
    copied = runs.duplicated(["variant", "axis", "level", *_NUMBERS]) & runs[list(_NUMBERS)].notna().all(axis=1)
    copies = int(copied.sum())
    repeats = runs[~copied].groupby(["variant", "axis", "level"], dropna=False).size()
    few, least = int((repeats < limits["repeats"]).sum()), int(repeats.min())
    evidence = f"{few} of {len(repeats)} levels have fewer than {limits['repeats']:g} runs, "
    evidence += f"the least {least} {'run' if least == 1 else 'runs'}."
    if copies:
        evidence += (
            f" {copies} {'runs have' if copies > 1 else 'run has'} the numbers of another run of the level "
            "to the last digit: a copy is no repeat."
        )
    advice = (
        f"Measure each level at least {advised_repeats(throughput_by_level(tables), limits['repeats'])} times, the "
        "whole sweep in another order each time, so that a drift of the machine does not look like a level's effect."
    )
    severity: Severity = "warning" if few or copies else "ok"
    yield Finding(all_runs(runs), severity, evidence, advice, float(least), limits["repeats"])


RULE = Rule(
    "few-repeats",
    "Was each level repeated?",
    judge_repeats,
    {"ok": "every level has at least three runs", "warning": "a level has fewer, or a run is a copy of another"},
    limits={"repeats": Limit(REPEATS, "the t quantile falls from 12.7 at two runs to 4.3 at three")},
    family="Statistics",
)
