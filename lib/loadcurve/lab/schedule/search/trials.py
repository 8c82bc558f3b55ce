"""The protocol of all searches: given a frozen state, return the next trial or the result.

A state holds the goal and the observations of all trials, and the next step depends on nothing else.  A search can
therefore be resumed from its recorded trials.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from loadcurve.errors import ValueRuleError


@dataclass(frozen=True)
class Trial:
    """A run that a search requests."""

    load: float  # Load of the run: connections, an offered rate or a response size, depending on the goal
    duration_s: float  # Duration of the generator's load, in whole s, because wrk accepts no fractions


@dataclass(frozen=True)
class Observation:
    """Measured outcome of a trial."""

    # `load` and `duration_s`: as in the requested `Trial`.
    load: float
    duration_s: float
    value: float  # Measured quantity that the goal defines
    kept: bool | None = None  # Whether the objective was kept; `Capacity` requires it, the other goals ignore it


@dataclass(frozen=True)
class Result:
    """Result of a search, an interval."""

    # `lower` and `upper`: ends of the interval; the goal defines which end is kept.  0 or infinity if there is no such
    # end.
    lower: float
    upper: float
    value: float  # Measured quantity at the result; NaN if there is none
    reached: bool  # Whether both ends are decided, and the interval is as narrow as requested
    decided_by: tuple[Observation, ...]  # Trials that decide the two ends
    trials: int  # Number of all trials
    trial_s: float  # Total duration of all trials, in s
    warnings: tuple[str, ...] = ()  # Reasons to trust the result less, with numbers


class Goal(Protocol):
    """Goal of a search: decides the next trial from the observations."""

    def next(self, observations: tuple[Observation, ...]) -> Trial | Result:
        """Return the next trial, or the result if no more are needed."""
        ...


@dataclass(frozen=True)
class Search:
    """State of a search: its goal, its observations, and the next trial or the result."""

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
        State returned by `begin` or `step`.
    observation : Observation
        Observation of the requested trial.  A failed trial gives no observation: repeat it.

    Raises
    ------
    ValueRuleError
        When the search is over, or the observation is not of the requested trial.

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
    """Return the state after recorded observations, and the next trial or the result.

    Raises
    ------
    ValueRuleError
        When the observations are not those of a search for this goal.
    """
    state, following = begin(goal)
    for observation in observations:
        state, following = step(state, observation)
    return state, following


def seconds_of(observations: Iterable[Observation]) -> float:
    """Return the total duration of the observed trials, in s."""
    return float(np.sum([o.duration_s for o in observations]))
