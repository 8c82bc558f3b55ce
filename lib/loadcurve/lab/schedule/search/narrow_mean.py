"""Repeats of one point until its mean is known to ± so many per cent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search.trials import Observation, Result, Trial, seconds_of


@dataclass(frozen=True, kw_only=True)
class NarrowMean:
    """Repeat a trial until the interval of the mean is narrow.

    Each `Observation` gives the measured quantity in `value`.  In the `Result`, ``lower``, ``upper`` and ``value`` are
    the interval and the mean of that quantity.

    Attributes
    ----------
    load, duration_s : float
        Of every trial.
    rule : callable
        Values so far and `half_width_ratio` → a table whose last row has ``mean, lo, hi, half_width_ratio, stop``:
        `loadcurve.stats.summarise_stopping`, with its minimum of repeats.  It is given by the caller because the
        laboratory lies below the statistics.
    half_width_ratio : float
        Wanted half width of the interval as a part of the mean, > 0: 0.02 for ± 2 %.
    most_trials : int
        After so many the search ends with what it has, >= 2.

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

    load: float
    duration_s: float
    rule: Callable[[Sequence[float], float], pd.DataFrame]
    half_width_ratio: float = 0.02
    most_trials: int = 50

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
