r"""The protocol of all searches, and the search for two loads between which the verdict changes: double, then bisect.

A state holds the goal and the observations of all trials, and the next step depends on nothing else.  A search can
therefore be resumed from its recorded trials.

A load is kept if fewer than half of all possible trials at it would break the objective; this is the exceed ratio that
RFC 9971 recommends.  A load is called kept after k trials that all keep the objective, or after k + 3 that keep it and
one that breaks it; broken likewise.  With two trials of each verdict, the load is called flaky, which is also a result.

If at least half of all trials would break the objective, the load is still called kept with a probability of at most

.. math:: \alpha = 2^{-k} + k\, 2^{-(k + 4)}

because the single dissenting trial must be among the first k trials: 0.041 for k = 5.  This is a sequential sign test,
after A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16, 1945.  Trials must be
independent.

Short first trials, the relative width (upper − lower) / upper, and the ends are those of M. Konstantynowicz, V. Polak,
"Multiple Loss Ratio Search", RFC 9971, 2026: the lowest broken load, and the highest kept load below it.  A kept load
above a broken one does not count, and no further load there is tried.  What differs is on the handbook's page on
capacity; a load that is neither kept nor broken is called flaky, and the search looks for the ends on both sides of it.

The duration of a trial that leaves an interval of width w = ln(upper / lower) changes in equal steps on log scales:

.. math:: T = T_0 \left(\frac{T_1}{T_0}\right)^{p}, \qquad p = \frac{\ln(\ln 2 / w)}{\ln(\ln 2 / w_1)}

with :math:`w_1` the requested width, :math:`T_0` the shortest duration and :math:`T_1` the duration of trials that
decide.

The first trials are therefore short, and a single trial moves an end.  Their errors become visible when the ends are
decided: an end that longer trials contradict moves, and the search continues from there without short trials.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

import numpy as np

from loadcurve.errors import ValueRuleError
from loadcurve.study.section import Range, Section


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

    A failed trial gives no observation: repeat it.  Raises ValueRuleError when the search is over, or the observation
    is not of the requested trial.

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
    """Return the state after recorded observations of a search for this goal, and the next trial or the result."""
    state, following = begin(goal)
    for observation in observations:
        state, following = step(state, observation)
    return state, following


def seconds_of(observations: Iterable[Observation]) -> float:
    """Return the total duration of the observed trials, in s."""
    return float(np.sum([o.duration_s for o in observations]))


# Further trials that outweigh one dissenting trial: 3 add k/16 of 2⁻ᵏ to the error probability, 2 add twice as much.
_OUTWEIGH = 3


def error_bound(trials: int) -> float:
    """Return the largest probability of a wrong decision by `trials` >= 2 that agree, or by more with one dissent.

    Examples
    --------
    >>> [round(error_bound(k), 3) for k in (3, 4, 5)]
    [0.148, 0.078, 0.041]
    """
    return 0.5**trials + trials * 0.5 ** (trials + _OUTWEIGH + 1)


def trials_to_decide(level: float) -> int:
    """Return the number of trials that must agree for a decision with confidence `level`, 0 < level < 1.

    Examples
    --------
    >>> trials_to_decide(0.95)
    5
    """
    trials = 2
    while error_bound(trials) > 1 - level:
        trials += 1
    return trials


@dataclass(frozen=True)
class Tally:
    """Number of trials of each verdict at one load."""

    load: float
    # `kept` and `broken`: number of full-length trials with each verdict; without full-length trials, the last shorter
    # trial counts.
    kept: int
    broken: int
    full: int  # Number of trials of full length
    decision: str  # `kept`, `broken`, `flaky`, or `open` if more trials are needed

    @property
    def leaning(self) -> str:
        """Verdict of most trials, ``kept`` or ``broken``; else ``tied`` or ``flaky``."""
        if self.decision == "flaky":
            return "flaky"
        return "kept" if self.kept > self.broken else "broken" if self.kept < self.broken else "tied"


def tally(load: float, verdicts: list[tuple[bool, bool]], needed: int) -> Tally:
    """Return the tally of a load from pairs (of full length, kept) in order; `needed` trials that agree decide it."""
    full = [kept for is_full, kept in verdicts if is_full]
    count = full or [verdicts[-1][1]]
    kept = sum(count)
    broken = len(count) - kept
    decision = "kept" if kept > broken else "broken"
    if not full or max(kept, broken) < needed + _OUTWEIGH * min(kept, broken):
        decision = "open"
    if full and min(kept, broken) > 1:
        decision = "flaky"
    return Tally(load, kept, broken, len(full), decision)


# Each step of the first ascent doubles the load, as the levels of a sweep usually do.
_OCTAVE = math.log(2)

# Whole seconds, because wrk accepts no fractions.
Seconds = Annotated[float, Range(ge=1, unit="s", multiple_of=1)]


@dataclass(frozen=True, kw_only=True)
class Bracket(Section):
    """Range of loads to search, and the required precision of the result."""

    lowest: Annotated[float, Range(gt=0)]
    """Lowest load that is tried."""

    highest: float
    """Highest load that is tried."""

    final_s: Seconds
    """Duration of the trials that decide; at least `initial_s`."""

    width_ratio: Annotated[float, Range(gt=0, lt=1)] = 0.05
    """Requested (upper − lower) / upper; the search always ends at neighbouring loads."""

    resolution: Annotated[float, Range(gt=0)] = 1.0
    """Smallest difference of two loads: 1 for connections."""

    initial_s: Seconds = 1.0
    """Duration of the shortest trials."""

    level: Annotated[float, Range(gt=0, lt=1)] = 0.95
    """Confidence of each end separately: a load at which at least half of all trials would have the other verdict is
    decided wrongly with a probability of at most 1 − level."""

    most_trials: Annotated[int, Range(ge=1)] = 100
    """Largest number of trials; the search then ends with its current interval."""

    budget_s: Annotated[float, Range(gt=0, unit="s")] = 300.0
    """Time of load after which no further trial begins; the search then ends with its current interval."""

    ascending: ClassVar[bool] = True  # whether low loads keep the objective; for other goals, high loads keep it
    verb: ClassVar[str] = "keep it"  # of a trial, in warnings

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not self.lowest < self.highest < math.inf:
            yield ValueRuleError("highest", f"above the lowest load, {self.lowest:g}, and finite", self.highest)
        if self.initial_s > self.final_s >= 1:
            yield ValueRuleError("initial_s", f"at most final_s = {self.final_s:g}", self.initial_s)

    def allows_more(self, observations: Sequence[Observation]) -> bool:
        """Whether neither the number of trials nor their time is used up."""
        return len(observations) < self.most_trials and seconds_of(observations) < self.budget_s

    @property
    def needed(self) -> int:
        """Number of trials that must agree to decide a load."""
        return trials_to_decide(self.level)

    @property
    def wanted(self) -> float:
        """Requested width as ln(upper / lower)."""
        return -math.log1p(-self.width_ratio)


@dataclass(frozen=True)
class Ends:
    """Current state of a search."""

    tallies: tuple[Tally, ...]  # Tallies of all loads tried, sorted from the side where the objective is kept
    # `kept` and `broken`: last kept load before the first broken load, and that broken load.
    kept: Tally | None
    broken: Tally | None
    flaky: tuple[Tally, ...]  # Loads between the two
    shortest_s: float  # Shortest duration of further trials, in s


def ends_of(goal: Bracket, verdicts: Iterable[tuple[float, float, bool]]) -> Ends:
    """Sort the tried loads from the side where the objective is kept, and find where the verdict changes.

    A verdict is load, duration in s and whether the objective was kept, in the order of the trials.
    """
    by_load: dict[float, list[tuple[bool, bool]]] = {}
    for load, duration_s, kept in verdicts:
        by_load.setdefault(load, []).append((duration_s >= goal.final_s, kept))
    loads = sorted(by_load, reverse=not goal.ascending)
    tallies = tuple(tally(load, by_load[load], goal.needed) for load in loads)
    leanings = [found.leaning for found in tallies]
    first = leanings.index("broken") if "broken" in leanings else len(tallies)
    last = max((i for i in range(first) if leanings[i] == "kept"), default=-1)
    return Ends(
        tallies,
        tallies[last] if last >= 0 else None,
        tallies[first] if first < len(tallies) else None,
        tuple(found for found in tallies[last + 1 : first] if found.leaning == "flaky"),
        # If a short trial was wrong once, only full trials follow: the objective breaks later, or short trials scatter.
        goal.final_s if any(_misled(by_load[found.load], found.leaning) for found in tallies) else goal.initial_s,
    )


def _misled(verdicts: list[tuple[bool, bool]], leaning: str) -> bool:
    """Return whether trials of full length at a load contradict a shorter trial."""
    contrary = {"kept": False, "broken": True}.get(leaning)
    return contrary is not None and (False, contrary) in verdicts


def next_trial(goal: Bracket, ends: Ends) -> Trial | None:
    """Return the next trial, or None when both ends are decided and the interval is narrow enough."""
    start, stop = (goal.lowest, goal.highest) if goal.ascending else (goal.highest, goal.lowest)
    if not ends.tallies:
        return Trial(float(start), float(ends.shortest_s))
    for found in ends.tallies:
        if found.decision == "open" and found.kept and found.broken:  # contradictory trials: decide this load first
            return Trial(found.load, float(goal.final_s))
    farthest = ends.tallies[-1].load
    if ends.broken is None and farthest != stop:
        doubled = farthest * 2 if goal.ascending else farthest / 2
        beyond = doubled >= stop if goal.ascending else doubled <= stop
        further = None if beyond else _on_grid(goal, doubled, farthest, stop)
        return Trial(float(stop) if further is None else further, float(ends.shortest_s))
    if (trial := _narrowing(goal, ends)) is not None:
        return trial
    undecided = [end for end in (ends.kept, ends.broken) if end is not None and end.decision == "open"]
    # Start with the end that has the fewest trials: if it moves, trials at the other end would have been wasted.
    return Trial(min(undecided, key=lambda end: end.full).load, float(goal.final_s)) if undecided else None


def _narrowing(goal: Bracket, ends: Ends) -> Trial | None:
    """Return a trial between the two ends, or None when they are near enough to each other or to the flaky loads."""
    if not ends.flaky:
        if ends.kept is None or ends.broken is None:
            return None
        near, far = ends.kept.load, ends.broken.load
        width = abs(math.log(far / near))
        middle = None if width <= goal.wanted else _on_grid(goal, math.sqrt(near * far), near, far)
        return None if middle is None else Trial(middle, max(_duration(goal, width / 2), float(ends.shortest_s)))
    # Try loads just outside the flaky loads on both sides; the distance doubles with each flaky load found.
    reach = goal.wanted / 2 * 2 ** (sum(found.leaning == "flaky" for found in ends.tallies) - 1)
    for end, edge in ((ends.kept, ends.flaky[0].load), (ends.broken, ends.flaky[-1].load)):
        if end is not None and abs(math.log(end.load / edge)) > reach:
            up = end.load > edge
            beside = edge * math.exp(reach if up else -reach)
            load = _on_grid(goal, beside, edge, end.load, math.floor if up else math.ceil)  # within reach of the edge
            if load is not None:
                return Trial(load, float(goal.final_s))
    return None


def _on_grid(goal: Bracket, load: float, a: float, b: float, to_whole: Callable[[float], int] = round) -> float | None:
    """Return the load of the grid nearest to `load` and strictly between `a` and `b`, or None if there is none."""
    low, high = min(a, b), max(a, b)
    # The tolerance keeps a rounding error from placing an end of the interval inside the interval.
    first = math.floor((low - goal.lowest) / goal.resolution + 1e-9) + 1
    last = math.ceil((high - goal.lowest) / goal.resolution - 1e-9) - 1
    if first > last:
        return None
    number = min(max(to_whole((load - goal.lowest) / goal.resolution), first), last)
    return float(goal.lowest + number * goal.resolution)


def _duration(goal: Bracket, width: float) -> float:
    """Return the duration of a trial that leaves an interval of this width, in whole seconds."""
    if width <= goal.wanted:
        return float(goal.final_s)
    # Neighbouring loads of the ascent are about an octave apart, so 0 < part < 1 here.
    part = math.log(_OCTAVE / width) / math.log(_OCTAVE / goal.wanted)
    return float(math.ceil(goal.initial_s * (goal.final_s / goal.initial_s) ** part - 1e-9))


# More flaky loads than this are summarised by their range.
_SHOWN = 3


def answer(
    goal: Bracket, ends: Ends, observations: Sequence[Observation], stopped: bool, warnings: list[str]
) -> Result:
    """Return the result of a search in its current state, with `warnings` before its own.

    `stopped` says whether the search used up its trials or their time.
    """
    kept = np.nan if ends.kept is None else ends.kept.load
    broken = np.nan if ends.broken is None else ends.broken.load
    lower, upper = (kept, broken) if goal.ascending else (broken, kept)
    lower, upper = 0.0 if np.isnan(lower) else lower, np.inf if np.isnan(upper) else upper
    decided = all(end is not None and end.decision != "open" for end in (ends.kept, ends.broken))
    # Loads that could still be tried between the ends: neighbouring loads leave none, and flaky loads are done.
    room = (upper - lower) / goal.resolution - 1 - len(ends.flaky)
    narrow = decided and (upper - lower <= goal.width_ratio * upper * (1 + 1e-9) or room < 0.5)
    if stopped:
        few = [f"{end.full} at {end.load:g}" for end in (ends.kept, ends.broken) if end and end.decision == "open"]
        basis = f" (trials of full length: {', '.join(few)}; {goal.needed} that agree decide)" if few else ""
        after = f"stopped after {len(observations)} trials and {seconds_of(observations):g} s"
        warnings = [*warnings, f"{after}: the ends may still move{basis}"]
    elif decided and not narrow:
        wide = (
            f"wanted a width of {goal.width_ratio:.1%}, got {(upper - lower) / upper:.1%}: the trials scatter more "
            f"than that between {lower:g} and {upper:g}; make them longer, or ask for less"
        )
        warnings = [*warnings, wide]
    full = [o for o in observations if o.duration_s >= goal.final_s]
    known = [o.value for o in full if o.load == kept and not np.isnan(o.value)]
    # The value that at least half of the trials reached (RFC 9971, Conditional Throughput, exceed ratio ½).
    value = float(np.quantile(known, 0.5, method="higher")) if known else np.nan
    decided_by = tuple(o for o in full if o.load in (lower, upper))
    return Result(
        lower,
        upper,
        value,
        narrow,
        decided_by,
        len(observations),
        seconds_of(observations),
        (*warnings, *_undecided(goal, ends)),
    )


def _undecided(goal: Bracket, ends: Ends) -> list[str]:
    flaky = sorted((t for t in ends.tallies if t.leaning == "flaky"), key=lambda t: t.load)
    if len(flaky) > _SHOWN:
        return [f"undecided at {len(flaky)} loads from {flaky[0].load:g} to {flaky[-1].load:g}"]
    return [f"{t.kept} of {t.full} trials {goal.verb} at {t.load:g}: undecided" for t in flaky]
