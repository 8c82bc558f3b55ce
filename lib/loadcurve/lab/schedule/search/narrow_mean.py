"""Repeat one point until the confidence interval of its mean is narrow enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search.trials import Observation, Result, Trial, seconds_of


@dataclass(frozen=True, kw_only=True)
class NarrowMean:
    """Repeat a trial until the confidence interval of the mean is narrow enough.

    The `value` of each `Observation` is the measured quantity.  In the `Result`, ``lower`` and ``upper`` are the
    interval, and ``value`` is the mean of that quantity.

    Examples
    --------
    >>> from loadcurve.lab.schedule.search import Observation, Trial, begin, step
    >>> from loadcurve.stats import summarise_stopping
    >>> state, following = begin(NarrowMean(load=64, duration_s=6, rule=summarise_stopping))
    >>> while isinstance(following, Trial):
    ...     value = 5800 + 20 * (-1) ** len(state.observations)
    ...     state, following = step(state, Observation(64, 6, value))
    >>> following.value, following.trials, following.reached
    (5800.0, 10, True)
    """

    # `load` and `duration_s`: load and duration of every trial; the duration in s.
    load: float
    duration_s: float
    # Values so far and `half_width_ratio` → a table whose last row has `mean, lo, hi, half_width_ratio, stop`:
    # `loadcurve.stats.summarise_stopping`, with its minimum number of repeats.  The caller passes it, because the
    # laboratory must not import the statistics.
    rule: Callable[[Sequence[float], float], pd.DataFrame]
    half_width_ratio: float = 0.02  # Requested half width of the interval relative to the mean, > 0: 0.02 for ± 2 %
    most_trials: int = 50  # Largest number of trials, >= 2; the search then ends with its current interval

    def __post_init__(self):
        for name in ("load", "duration_s", "half_width_ratio"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueRuleError(name, "> 0 and finite", getattr(self, name))
        if not self.most_trials >= 2:
            raise ValueRuleError("most_trials", ">= 2", self.most_trials)

    def next(self, observations: tuple[Observation, ...]) -> Trial | Result:
        """Return the next trial, or the result if no more are needed."""
        trial = Trial(float(self.load), float(self.duration_s))
        if not observations:
            return trial
        now = self.rule([o.value for o in observations], self.half_width_ratio).iloc[-1]
        if not now["stop"] and len(observations) < self.most_trials:
            return trial
        warnings = () if now["stop"] else (
            f"wanted ± {self.half_width_ratio:.1%}, got ± {now['half_width_ratio']:.1%} after {len(observations)} "
            "trials, the most allowed",
        )  # fmt: skip
        return Result(
            float(now["lo"]), float(now["hi"]), float(now["mean"]), bool(now["stop"]), observations,
            len(observations), seconds_of(observations), warnings,
        )  # fmt: skip
