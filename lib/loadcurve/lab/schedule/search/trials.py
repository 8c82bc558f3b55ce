"""The one protocol of all searches: a frozen state in, the next trial or the result out.

A state holds its goal and the observations of its trials, and only they decide what comes next.  So a search is resumed
from its recorded trials alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from loadcurve.errors import ValueRuleError


@dataclass(frozen=True)
class Trial:
    """A run that a search requests.

    Attributes
    ----------
    load : float
        Load of the run: connections, an offered rate or a response size, depending on the goal.
    duration_s : float
        How long the generator runs, in whole seconds, because wrk takes no others.
    """

    load: float
    duration_s: float


@dataclass(frozen=True)
class Observation:
    """What a trial showed.

    Attributes
    ----------
    load, duration_s : float
        As requested.
    value : float
        The measured quantity that the goal names.
    kept : bool or None
        Whether the objective was kept; `Capacity` requires it, the other goals ignore it.
    """

    load: float
    duration_s: float
    value: float
    kept: bool | None = None


@dataclass(frozen=True)
class Result:
    """The answer of a search, an interval.

    Attributes
    ----------
    lower, upper : float
        Its ends; the goal defines which of them is kept.  0 and infinity where there is none.
    value : float
        The measured quantity that belongs to the answer; NaN where there is none.
    reached : bool
        Whether both ends are decided, and the interval is as narrow as requested.
    decided_by : tuple of Observation
        The trials that decide the two ends.
    trials : int
        Number of all trials.
    trial_s : float
        Sum of their durations, in s.
    warnings : tuple of str
        What weakens the answer, with its numbers.
    """

    lower: float
    upper: float
    value: float
    reached: bool
    decided_by: tuple[Observation, ...]
    trials: int
    trial_s: float
    warnings: tuple[str, ...] = ()


class Goal(Protocol):
    """What a search is for."""

    def next(self, observations: tuple[Observation, ...]) -> Trial | Result:
        """Return the next trial, or the result if no more are needed."""
        ...


@dataclass(frozen=True)
class Search:
    """A state: the goal, what was observed, and what follows from both."""

    goal: Goal
    observations: tuple[Observation, ...]
    next: Trial | Result


def begin(goal: Goal) -> tuple[Search, Trial | Result]:
    """Return the state of a search without trials, and the first trial."""
    state = Search(goal, (), goal.next(()))
    return state, state.next


def step(state: Search, observation: Observation) -> tuple[Search, Trial | Result]:
    """Return the state after one more observation, and the next trial or the result.

    Parameters
    ----------
    state : Search
        As `begin` or `step` returned it.
    observation : Observation
        Of the requested trial.  A failed trial is no observation: repeat it.

    Raises
    ------
    ValueRuleError
        When the search is over, or the observation is of another trial than the requested one.

    Examples
    --------
    >>> from loadcurve.lab.schedule.search import Capacity
    >>> state, trial = begin(Capacity(lowest=1, highest=64, final_s=6))
    >>> trial
    Trial(load=1.0, duration_s=1.0)
    >>> state, trial = step(state, Observation(1, 1, value=97.2, kept=True))
    >>> trial
    Trial(load=2.0, duration_s=1.0)
    """
    asked = state.next
    if isinstance(asked, Result):
        raise ValueRuleError("observation", f"none: the search ended after {asked.trials} trials", observation)
    if (observation.load, observation.duration_s) != (asked.load, asked.duration_s):
        raise ValueRuleError("observation", f"of the requested trial, {asked}", observation)
    seen = (*state.observations, observation)
    state = Search(state.goal, seen, state.goal.next(seen))
    return state, state.next


def resume(goal: Goal, observations: Iterable[Observation]) -> tuple[Search, Trial | Result]:
    """Return the state after recorded observations, and what is next.

    Raises
    ------
    ValueRuleError
        When they are not those of a search for this goal.
    """
    state, following = begin(goal)
    for observation in observations:
        state, following = step(state, observation)
    return state, following


def seconds_of(observations: Iterable[Observation]) -> float:
    """Return the sum of the durations."""
    return float(np.sum([o.duration_s for o in observations]))
