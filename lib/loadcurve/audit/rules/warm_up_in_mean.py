"""The mean contains the warm-up, so it is an average over a system that starts and one that runs.

What it means
-------------
The throughput of the first seconds differs from that of the rest, and it moves the mean of a level, of all its runs
together, by more than 5 %.  If only one of several runs begins differently, that is scatter, which `wide-interval`
judges: of a hundred steady runs, one or two seem to have a warm-up by chance.

Why it happens
--------------
Connections open, caches fill, code is compiled at run time, processors raise their clock, TCP windows grow.  Most
load generators (`wrk`, `ab`, `hey`) count from the first request on, so a warm-up of three seconds is 30 % of a run
of ten.

How to fix it
-------------
Send the same load before the measurement and discard it (`warm_up_s: 10` in `study.yml`, `h2load
--warm-up-time`, or a first `wrk -d 10s` whose output is thrown away), or measure so long that the warm-up does not
matter.  Look at the series first: `sar -n TCP 1` on the server.

When to ignore it
-----------------
The start is what you measure, such as a cold cache or the first requests after a deployment.

The cut is found by MSER (K. P. White, Simulation 69(6), 1997), and must be beyond chance in spite of autocorrelation.
The first second is never examined: a sample may cover it only partly.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Rule, Severity, not_checked
from loadcurve.audit.rules._levels import runs_by_level
from loadcurve.audit.run_tables import Tables, key_of, rows_of
from loadcurve.audit.samples import RECORD_SERIES, SERIES, Series, long_enough, throughput_series, warm_up_samples
from loadcurve.stats.arrays import Array

_FEWEST = 10  # samples: of fewer, no cut leaves a rest with a variance


def judge_warm_up(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: by how much the warm-up moves the mean throughput of its level."""
    found = long_enough(throughput_series(tables), _FEWEST)
    cuts = {key: warm_up_samples(series.rates) for key, series in found.items()}
    cuts = {key: cut if found[key].rates[cut:].any() else 0 for key, cut in cuts.items()}  # an end is no warm-up
    moved = {key: _moved(found[key].rates, found[key].rates[cut:]) for key, cut in cuts.items()}
    levels = _levels(tables, found, cuts)
    for run, key in rows_of(tables):
        if key not in found:
            yield not_checked(run, f"needs {SERIES.format(_FEWEST)}", RECORD_SERIES)
            continue
        series, cut = found[key], cuts[key]
        if not cut:
            evidence = f"{series.rates.size} intervals show no warm-up ({series.counter})."
            yield Finding(run, "ok", evidence, "", 0.0, limits["ratio"])
            continue
        until = series.elapsed_s[cut - 1]
        evidence = f"Until {until:.3g} s, {series.rates[:cut].mean():.4g} {series.counter} were counted, then "
        evidence += f"{series.rates[cut:].mean():.4g}: the mean of all {series.rates.size} intervals is off by "
        evidence += f"{moved[key] * 100:+.2g} %."
        of_level, repeats = levels.get(key, (moved[key], 1))
        if repeats > 1:
            evidence += f" That of the {repeats:.0f} runs of this level is off by {of_level * 100:+.2g} %."
        severity: Severity = "warning" if min(abs(of_level), abs(moved[key])) > limits["ratio"] else "ok"
        advice = f"Discard the first {until:.3g} s: send the load for that long before the measurement."
        yield Finding(run, severity, evidence, advice, min(abs(of_level), abs(moved[key])), limits["ratio"])


def _levels(tables: Tables, found: Mapping[str, Series], cuts: Mapping[str, int]) -> dict[str, tuple[float, int]]:
    """Return by how much the mean of each run's level is moved, and of how many runs that is the mean.

    Every run of a level is cut at the median of the cuts found: noise hides the warm-up of some, which have it too.
    """
    runs = runs_by_level(tables)
    runs = runs[~runs["unclear"]]
    levels: dict[str, tuple[float, int]] = {}
    for _, keys in key_of(runs).groupby([runs[name] for name in ("variant", "axis", "level")], dropna=False):
        own = [key for key in keys.unique() if key in found]
        if begun := [found[key].elapsed_s[cuts[key] - 1] for key in own if cuts[key]]:
            until = float(np.median(begun))
            rest = {key: found[key].rates[found[key].elapsed_s > until] for key in own}
            moved = [_moved(found[key].rates, rates) for key, rates in rest.items() if rates.size]
            levels |= dict.fromkeys(own, (float(np.mean(moved)), len(moved)))
    return levels


def _moved(rates: Array, rest: Array) -> float:
    """Return by how much the mean of all rates is off that of the rest; 0 where nothing came."""
    return float(rates.mean() / rest.mean() - 1) if rest.any() else 0.0


RULE = Rule(
    "warm-up-in-mean",
    "Is the warm-up left out of the mean?",
    judge_warm_up,
    {"ok": "it moves the mean of a level by at most 5 %", "warning": "it moves the mean by more"},
    limits={"ratio": Limit(0.05, "half of a tenth, the least difference that is usually worth a decision")},
    family="Statistics",
)
