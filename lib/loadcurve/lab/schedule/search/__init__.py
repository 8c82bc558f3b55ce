"""Adaptive runs: which trial comes next, from the trials made so far.

A search is a frozen state.  `begin` makes it from its goal, `step` takes the observation of the requested trial and
returns what is next, `resume` goes through recorded trials::

    state, nxt = begin(Capacity(lowest=1, highest=1024, final_s=6))
    while isinstance(nxt, Trial):
        state, nxt = step(state, observe(nxt))

| goal             | asks                                                 | its `Result` is |
|------------------|------------------------------------------------------|---|
| `Capacity`       | the highest load that keeps an objective             | kept load, broken load |
| `SaturatingSize` | the smallest response whose throughput fills a limit | size too small, size that fills |
| `NarrowMean`     | repeats until the mean is known well enough          | interval of the mean |

Nothing here starts a process, reads a clock or a file: whoever runs the trials does.
"""

from loadcurve.lab.schedule.search.capacity import Capacity
from loadcurve.lab.schedule.search.narrow_mean import NarrowMean
from loadcurve.lab.schedule.search.saturating_size import SaturatingSize
from loadcurve.lab.schedule.search.trials import Goal, Observation, Result, Search, Trial, begin, resume, step

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
