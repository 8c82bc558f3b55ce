"""What an adaptive search saves against a fixed grid of the same interval width, in seconds of load.

Nothing is loaded here: a trial is a pure function with seeded noise, and its duration is counted.  The server is the
delay-bound one of the study connections_on_loopback, 10.2 ms and then a ceiling, with the scatter of such servers
(0.3 % between runs); its ceiling is drawn anew for each search, so that the answer lies anywhere on the axis.
"""

import math
from pathlib import Path

import numpy as np
from report import say

_RESPONSE_S, _LEVELS, _SECONDS, _REPEATS = 0.0102, (1, 512), 6, 3  # of that study
_SEARCHES, _NOISE = 400, 0.003


def search(_: Path) -> None:
    """Seconds of load of `Capacity`, and of the study's way: every level, three times, six seconds."""
    from loadcurve.lab.schedule.search import Capacity

    goal = Capacity(lowest=_LEVELS[0], highest=_LEVELS[1], final_s=_SECONDS, width_ratio=0.05)
    draw = np.random.default_rng(20261121)
    answers = [_capacity(goal, math.exp(draw.uniform(math.log(2e3), math.log(3e4))), draw) for _ in range(_SEARCHES)]
    taken = np.array([result.trial_s for _, result in answers])
    held = np.mean([result.lower <= truth < result.upper for truth, result in answers])
    narrow = np.mean([result.reached for _, result in answers])
    say("search: interval holds the truth, is narrow", f"{held:.1%}, {narrow:.1%} of {_SEARCHES} searches", "≥ 95 %",
        held >= 0.95 and narrow >= 0.95)  # fmt: skip
    whole = _grid_s(goal, *_LEVELS)
    _share(f"whole axis, {whole / _SECONDS / _REPEATS:.0f} levels", taken, np.full(_SEARCHES, whole))
    octaves = [2.0 ** math.floor(math.log2(truth)) for truth, _ in answers]
    _share("only its octave, known before", taken, np.array([_grid_s(goal, low, 2 * low) for low in octaves]))


def _share(what: str, taken: np.ndarray, grid: np.ndarray) -> None:
    share = taken / grid
    figure = f"{taken.mean():.0f} s / {grid.mean():.0f} s = {taken.mean() / grid.mean():.0%}, at most {share.max():.0%}"
    say(f"search / grid, {what}", figure, "≤ 50 % in the mean", taken.mean() <= 0.5 * grid.mean())


def _grid_s(goal, low: float, high: float) -> float:
    """Seconds of a grid whose neighbours are as far apart as the wanted width allows, from `low` to `high`."""
    levels, at = 1, low
    while at < high:
        at = max(at + 1, math.floor(at / (1 - goal.width_ratio)))
        levels += 1
    return levels * _REPEATS * _SECONDS


def _capacity(goal, ceiling_rps: float, draw: np.random.Generator):
    """The true capacity, and a search for it: the highest load with at most a quarter more than the bare delay."""
    from loadcurve.lab.schedule.search import Observation, Trial, begin, step

    most_s = 1.25 * _RESPONSE_S
    state, following = begin(goal)
    while isinstance(following, Trial):
        scatter = _NOISE * math.sqrt(goal.final_s / following.duration_s)  # a shorter trial scatters more
        response_s = max(_RESPONSE_S, following.load / ceiling_rps) * math.exp(scatter * draw.standard_normal())
        seen = Observation(
            following.load, following.duration_s, following.load / response_s, bool(response_s <= most_s)
        )
        state, following = step(state, seen)
    return most_s * ceiling_rps, following


CASES = {"search": search}
