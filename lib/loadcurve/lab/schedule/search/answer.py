"""Build the result of a search between two loads: its ends, the trials that decided them, and warnings."""

from collections.abc import Sequence

import numpy as np

from loadcurve.lab.schedule.search.bracket import Bracket, Ends
from loadcurve.lab.schedule.search.trials import Observation, Result, seconds_of

# More flaky loads than this are summarised by their range.
_SHOWN = 3


def answer(
    goal: Bracket, ends: Ends, observations: Sequence[Observation], stopped: bool, warnings: list[str]
) -> Result:
    """Return the result of a search in its current state, with `warnings` before its own.

    `stopped` says whether the search reached its largest number of trials.
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
        warnings = [
            *warnings,
            f"stopped after {len(observations)} trials, the most allowed: the ends may still move",
        ]
    elif decided and not narrow:
        warnings = [*warnings, _too_wide(goal, lower, upper)]
    full = [o for o in observations if o.duration_s >= goal.final_s]
    value = _conditional([o.value for o in full if o.load == kept])
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


def _conditional(values: list[float]) -> float:
    """Return the value that at least half of the trials reached (RFC 9971, Conditional Throughput, exceed ratio ½)."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.quantile(known, 0.5, method="higher")) if known else np.nan


def _too_wide(goal: Bracket, lower: float, upper: float) -> str:
    return (
        f"wanted a width of {goal.width_ratio:.1%}, got {(upper - lower) / upper:.1%}: the trials scatter more than "
        f"that between {lower:g} and {upper:g}; make them longer, or ask for less"
    )


def _undecided(goal: Bracket, ends: Ends) -> list[str]:
    flaky = sorted((t for t in ends.tallies if t.leaning == "flaky"), key=lambda t: t.load)
    if len(flaky) > _SHOWN:
        return [f"undecided at {len(flaky)} loads from {flaky[0].load:g} to {flaky[-1].load:g}"]
    return [f"{t.kept} of {t.full} trials {goal.verb} at {t.load:g}: undecided" for t in flaky]
