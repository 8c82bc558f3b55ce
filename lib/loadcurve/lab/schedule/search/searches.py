"""The three searches: a capacity, a mean with a narrow interval, and a size from which on the wire is saturated.

Test 1 of the report "Nginx 万兆网络环境测试" goes down from 10,000 bytes in steps of 1,000 until bandwidth and
request rate are both highest.  `SaturatingSize` finds the same size by bisection, from the largest size on.  The limit
is the known rate of the link; where no rate is known, it is the bandwidth at the largest size.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search.bracket import (
    Bracket,
    Observation,
    Result,
    Trial,
    answer,
    ends_of,
    next_trial,
    seconds_of,
)
from loadcurve.study.section import Range


@dataclass(frozen=True, kw_only=True)
class Capacity(Bracket):
    """Search for the highest load that keeps an objective.

    In each `Observation`, `kept` is whether the trial kept the objective, and `value` its throughput, NaN if unknown.

    In the `Result`, ``lower`` is the highest load that keeps the objective, ``upper`` the lowest load that breaks it,
    and ``value`` the throughput that at least half of the trials at ``lower`` reached (Conditional Throughput of RFC
    9971).  ``lower`` is 0 if even the lowest load breaks the objective, ``upper`` infinite if no load breaks it.

    The attributes are those of `Bracket`.

    Examples
    --------
    >>> from loadcurve.lab.schedule.search import Observation, Trial, begin, step
    >>> state, following = begin(Capacity(lowest=1, highest=512, final_s=6))
    >>> while isinstance(following, Trial):
    ...     latency_s = max(0.010, following.load / 20000)
    ...     seen = Observation(following.load, following.duration_s, following.load / latency_s, latency_s <= 0.0125)
    ...     state, following = step(state, seen)
    >>> following.lower, following.upper, following.value, following.trials
    (245.0, 256.0, 20000.0, 22)
    """

    def next(self, observations: tuple[Observation, ...]) -> Trial | Result:
        """Return the next trial, or the result if no more are needed."""
        verdicts = [(o.load, o.duration_s, o.kept) for o in observations if o.kept is not None]
        if len(verdicts) < len(observations):
            raise ValueRuleError("kept", "True or False: repeat a trial that cannot be judged", None)
        ends = ends_of(self, verdicts)
        trial = next_trial(self, ends)
        if trial is not None and self.allows_more(observations):
            return trial
        warnings = []
        if ends.broken is None:
            warnings.append(f"not reached: no load up to {ends.tallies[-1].load:g} breaks the objective")
        if ends.kept is None:
            warnings.append(f"nothing kept: not even the lowest load, {self.lowest:g}, keeps the objective")
        return answer(self, ends, observations, trial is not None, warnings)


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

    def __post_init__(self) -> None:
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


@dataclass(frozen=True, kw_only=True)
class SaturatingSize(Bracket):
    """Search for the smallest response that fills a limit; it is also the size with the highest request rate.

    The loads are sizes of the response in bytes.  The `value` of each `Observation` is the bandwidth of its trial, in
    bytes/s or any other unit; `kept` is ignored.

    In the `Result`, ``upper`` is the smallest size that fills the limit, ``lower`` the largest that does not, and
    ``value`` the bandwidth that at least half of the trials at ``upper`` reached.  ``lower`` is 0 if every size fills
    the limit, ``upper`` infinite if none does.

    The other attributes are those of `Bracket`.

    Examples
    --------
    >>> from loadcurve.lab.schedule.search import Observation, Trial, begin, step
    >>> goal = SaturatingSize(lowest=1000, highest=10000, resolution=1000, final_s=6)
    >>> state, following = begin(goal)
    >>> while isinstance(following, Trial):
    ...     bandwidth = min(125e6, 50000 * following.load)  # 1 Gbit/s, 50,000 requests/s
    ...     state, following = step(state, Observation(following.load, following.duration_s, bandwidth))
    >>> following.lower, following.upper
    (2000.0, 3000.0)
    """

    limit: Annotated[float, Field(json_schema_extra={"exclusiveMinimum": 0})] = math.nan
    """Limit in the unit of the observations (bytes/s of responses in a study). If it is left out, a study compares the
    bytes of frames with the `rate_bps` of the server's link. Without such a rate, the limit is the mean of the first
    trials at the largest size, as many as are needed to decide a load."""

    tolerance_ratio: Annotated[float, Range(gt=0, lt=1)] = 0.02
    """A trial fills the limit if its value is at least (1 − tolerance) × limit; choose a tolerance larger than the
    scatter of trials."""

    ascending: ClassVar[bool] = False
    verb: ClassVar[str] = "fill it"

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        yield from super()._broken_rules()
        if not (math.isnan(self.limit) or 0 < self.limit < math.inf):
            yield ValueRuleError("limit", "> 0 and finite, or NaN", self.limit)

    def next(self, observations: tuple[Observation, ...]) -> Trial | Result:
        """Return the next trial, or the result if no more are needed."""
        if any(np.isnan(o.value) for o in observations):
            raise ValueRuleError("value", "a number: repeat a trial without one", np.nan)
        limit = self.limit
        if np.isnan(limit):
            if len(observations) < min(self.needed, self.most_trials):
                return Trial(float(self.highest), float(self.final_s))
            limit = float(np.mean([o.value for o in observations[: self.needed]]))
        least = (1 - self.tolerance_ratio) * limit
        ends = ends_of(self, ((o.load, o.duration_s, o.value >= least) for o in observations))
        trial = next_trial(self, ends)
        if trial is not None and self.allows_more(observations):
            return trial
        warnings = []
        if ends.kept is None:
            warnings.append(f"nothing fills {limit:g}: not even the largest size, {self.highest:g}")
        elif np.isnan(self.limit) and ends.kept.load == self.highest:
            warnings.append(
                f"only the largest size, {self.highest:g}, fills what it reached itself, {limit:g}: perhaps there is "
                "no limit yet; begin with a larger one"
            )
        if ends.broken is None:
            warnings.append(f"not reached: every size down to {ends.tallies[-1].load:g} fills {limit:g}")
        return answer(self, ends, observations, trial is not None, warnings)
