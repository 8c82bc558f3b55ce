"""Throughput swung with one period, so the mean depends on how many periods fit into the run.

What it means
-------------
Throughput swings by more than ±10 %. High percentiles of the response time come mostly from the slow phases.

Why it happens
--------------
A garbage collector, a timer, a log that is flushed or rotated, a quota that is filled again every 100 ms and beats
with the interval of the samples, a health check, or TCP senders that lose and recover together.

How to fix it
-------------
Compare the period with those of the system: `systemctl list-timers`, `cat /sys/fs/cgroup/cpu.max`, the collector's
log, `vm.dirty_writeback_centisecs`.  Remove the cause, or measure over many whole periods and report the swing.

When to ignore it
-----------------
The swing belongs to the system, and the run covers at least ten periods.

The test is Fisher's of the highest peak of the periodogram, freed of autocorrelation (`summarise_oscillation`; see
[Steady state](../method/steady_state.md)).  A period of less than two intervals shows up as a longer one.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked
from loadcurve.audit.run_tables import Tables, rows_of
from loadcurve.audit.samples import RECORD_SERIES, SERIES, long_enough, throughput_series, without_warm_up
from loadcurve.stats.arrays import Array

_FEWEST = 20  # samples: nine frequencies (summarise_oscillation)
_PROBABILITY = 0.001  # every run is tested
_UNEVEN = 1.5  # longest over median interval up to which samples count as equally spaced
_ALIASED = 2.5  # intervals: near two, a swing cannot be distinguished from samples that cover unequal times


def judge_oscillation(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: the amplitude and the period of the strongest swing of its throughput."""
    found = long_enough(throughput_series(tables), _FEWEST)
    for run, key in rows_of(tables):
        series = found.get(key)
        if series is None or np.diff(series.elapsed_s).max() > _UNEVEN * series.interval_s:
            yield not_checked(run, f"needs {SERIES.format(_FEWEST)}, all equally long", RECORD_SERIES)
            continue
        values = without_warm_up(series, _FEWEST).rates
        amplitude = _amplitude(values)
        evidence = f"The strongest swing has an amplitude of ±{amplitude * 100:.3g} % ({series.counter})."
        if amplitude > limits["ratio"]:
            from loadcurve.stats.oscillation import summarise_oscillation  # here: it imports scipy.signal

            test = summarise_oscillation(values, series.interval_s).iloc[0]
            if test["p_value"] < _PROBABILITY and test["value"] > _ALIASED * series.interval_s:
                evidence = f"Throughput swings by ±{amplitude * 100:.3g} % with a period of {test['value']:.3g} s "
                evidence += f"(p = {test['p_value']:.1g}; {series.counter})."
                advice = "Find what has this period, or measure over many whole periods and report the swing."
                yield Finding(run, "warning", evidence, advice, amplitude, limits["ratio"])
                continue
        yield Finding(run, "ok", evidence, "", amplitude, limits["ratio"])


def _amplitude(values: Array) -> float:
    """Return the amplitude of the strongest sine around a straight line, over the mean."""
    time = np.arange(values.size) - (values.size - 1) / 2
    flat = values - values.mean() - time * (time @ values) / (time @ time)
    return float(2 * np.abs(np.fft.rfft(flat)[1:]).max() / values.size / values.mean())


RULE = Rule(
    "oscillating-throughput",
    "Is throughput free of a swing with one period?",
    judge_oscillation,
    {"ok": "no period beyond chance, or at most ±10 %", "warning": "a period with more than ±10 %"},
    limits={"ratio": Limit(0.1, "differences between servers that are worth a decision start at about a tenth")},
    family="Statistics",
)
