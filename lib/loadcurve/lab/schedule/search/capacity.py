"""Search for the highest load that keeps an objective."""

from dataclasses import dataclass

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search.answer import answer
from loadcurve.lab.schedule.search.bracket import Bracket, ends_of, next_trial
from loadcurve.lab.schedule.search.trials import Observation, Result, Trial


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
        if trial is not None and len(observations) < self.most_trials:
            return trial
        warnings = []
        if ends.broken is None:
            warnings.append(f"not reached: no load up to {ends.tallies[-1].load:g} breaks the objective")
        if ends.kept is None:
            warnings.append(f"nothing kept: not even the lowest load, {self.lowest:g}, keeps the objective")
        return answer(self, ends, observations, trial is not None, warnings)
