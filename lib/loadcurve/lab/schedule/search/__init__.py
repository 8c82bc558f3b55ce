"""Adaptive searches: compute the next trial from the observations of earlier trials.

A search is a frozen state.  `begin` creates the state from a goal, `step` adds the observation of the requested trial
and returns the next trial or the result, and `resume` replays recorded trials::

    state, nxt = begin(Capacity(lowest=1, highest=1024, final_s=6))
    while isinstance(nxt, Trial):
        state, nxt = step(state, observe(nxt))

| goal             | asks                                                 | its `Result` is |
|------------------|------------------------------------------------------|---|
| `Capacity`       | the highest load that keeps an objective             | kept load, broken load |
| `SaturatingSize` | the smallest response whose throughput fills a limit | size too small, size that fills |
| `NarrowMean`     | repeats until the mean is known well enough          | interval of the mean |

These modules start no process and read no clock or file; the caller runs the trials.
"""

from loadcurve.lab.schedule.search.bracket import Goal, Observation, Result, Search, Trial, begin, resume, step
from loadcurve.lab.schedule.search.searches import Capacity, NarrowMean, SaturatingSize

__all__ = [
    "Capacity",
    "Goal",
    "NarrowMean",
    "Observation",
    "Result",
    "SaturatingSize",
    "Search",
    "Trial",
    "begin",
    "resume",
    "step",
]
