"""Throughput jumped or drifted within the run, so its mean describes no part of the run.

What it means
-------------
The jump or the drift is more than 10 %. The percentiles of the run mix the response times of different levels.

Why it happens
--------------
A jump: another process started, a server process died or was added, a processor was throttled, a table or a queue
filled up.  A drift: memory or a log grows, a cache warms slowly, a machine heats up, ports wait in TIME_WAIT in ever
greater numbers.

How to fix it
-------------
Find what happened at the time that the finding names: `sar -A 1` on both hosts, `dmesg -T`, the server's error log.
Remove the cause and repeat the run.  If the change belongs to the system, report both levels and when they changed.

When to ignore it
-----------------
The change is a fault that the run injects, or the load itself changed at that time.

Jumps are segments of constant mean with Schwarz's penalty (`summarise_segments`), drifts a Mann–Kendall test
(`summarise_drift`); both allow for autocorrelation, see [Steady state](../method/steady_state.md).
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked
from loadcurve.audit.run_tables import Tables, rows_of
from loadcurve.audit.samples import RECORD_SERIES, SERIES, Series, long_enough, throughput_series, without_warm_up
from loadcurve.stats.arrays import Array

_FEWEST = 20  # samples: with fewer, no trend can be distinguished from autocorrelation (summarise_drift)
_SEGMENT = 5  # samples: a shorter excursion is a spike, not a level (summarise_segments)
_PROBABILITY = 0.001  # every run is tested


def judge_level(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: the largest jump of its throughput, else its drift."""
    found = long_enough(throughput_series(tables), _FEWEST)
    for run, key in rows_of(tables):
        if key not in found:
            yield not_checked(run, f"needs {SERIES.format(_FEWEST)}", RECORD_SERIES)
            continue
        series = without_warm_up(found[key], _FEWEST)
        change, words = _change(series, limits["ratio"])
        if words:
            advice = "Find what happened then (`sar -A 1`, the server's log), remove it, and repeat the run."
            yield Finding(run, "warning", words, advice, abs(change), limits["ratio"])
        else:
            evidence = f"{series.rates.size} intervals show no jump or drift of more than {limits['ratio'] * 100:g} %."
            yield Finding(run, "ok", evidence, "", abs(change), limits["ratio"])


def _change(series: Series, limit: float) -> tuple[float, str]:
    """Return the relative change, and the sentence about it; the sentence is empty where chance explains it."""
    values = series.rates
    # A drift by d from end to end has halves that differ by d / 2; most runs differ by less, and are not tested.
    if _largest_step(values) < limit / 2:
        return 0.0, ""
    from loadcurve.stats.change import summarise_segments  # here: their tests import scipy.stats
    from loadcurve.stats.drift import summarise_drift

    trend = summarise_drift(values).iloc[0]
    drift = float(trend["value"]) / float(np.median(values))
    if trend["p_value"] < _PROBABILITY and abs(drift) > limit and _is_straight(values):
        words = f"From {series.elapsed_s[0]:.3g} s to {series.elapsed_s[-1]:.3g} s, throughput drifted by "
        return drift, f"{words}{drift * 100:+.3g} % (p = {trend['p_value']:.1g}; {series.counter})."
    segments = summarise_segments(values)
    steps = segments["step"].abs().fillna(0.0).to_numpy() / values.mean()
    at = int(steps.argmax())
    if steps[at] <= limit:
        return float(steps[at]), ""
    before, after = segments["mean"].iloc[at - 1], segments["mean"].iloc[at]
    words = f"At {series.elapsed_s[int(segments['first'].iloc[at])]:.3g} s, throughput went from {before:.4g} to "
    return float(steps[at]), f"{words}{after:.4g} {series.counter}, {len(segments) - 1} changes in all."


def _is_straight(values: Array) -> bool:
    """Return whether a straight line explains more of the series than one jump does."""
    time = np.arange(values.size)
    line = values - np.polynomial.Polynomial.fit(time, values, 1)(time)
    return float((line**2).sum()) < float(_squares_around_jump(values).min())


def _squares_around_jump(values: Array) -> Array:
    """Return the sum of squares around two means, for each place of a jump that leaves both long enough."""
    at = np.arange(_SEGMENT, values.size - _SEGMENT + 1)
    total = np.cumsum(values)
    before, after = total[at - 1] / at, (total[-1] - total[at - 1]) / (values.size - at)
    explained: Array = at * before**2 + (values.size - at) * after**2
    return float((values**2).sum()) - explained


def _largest_step(values: Array) -> float:
    """Return the difference of the means before and after the jump that explains most, over the mean."""
    at = int(np.argmin(_squares_around_jump(values))) + _SEGMENT
    return abs(float(values[at:].mean() - values[:at].mean())) / float(values.mean())


RULE = Rule(
    "change-of-level",
    "Did throughput keep one level during the run?",
    judge_level,
    {"ok": "no jump or drift beyond chance, or at most 10 %", "warning": "a jump or drift of more than 10 %"},
    limits={"ratio": Limit(0.1, "differences between servers that are worth a decision start at about a tenth")},
    family="Statistics",
)
