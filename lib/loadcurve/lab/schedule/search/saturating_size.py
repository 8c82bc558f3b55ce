"""Search for the smallest response whose throughput reaches a limit, such as the bandwidth of a network card.

Test 1 of the report "Nginx 万兆网络环境测试" goes down from 10,000 bytes in steps of 1,000 until bandwidth and
request rate are both highest.  This search finds the same size by bisection, starting at the largest size.  The limit
is the known rate of the link; where no rate is known, it is the bandwidth at the largest size.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search.answer import answer
from loadcurve.lab.schedule.search.bracket import Bracket, ends_of, next_trial
from loadcurve.lab.schedule.search.trials import Observation, Result, Trial
from loadcurve.study.section import Range


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
        if trial is not None and len(observations) < self.most_trials:
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
