"""Servers as pure functions, load → response time in s, and a laboratory that measures them with seeded noise."""

import math
from collections.abc import Callable

import numpy as np

from loadcurve.lab.schedule.search import Capacity, Goal, Observation, Result, Search, Trial, begin, step

Curve = Callable[[float], float]


def search(goal: Goal, observe: Callable[[Trial], Observation]) -> tuple[Search, Result]:
    """Run a search to its end."""
    state, following = begin(goal)
    while isinstance(following, Trial):
        state, following = step(state, observe(following))
    return state, following


def measure(
    curve: Curve, most_s: float, goal: Capacity, noise: float = 0.0, flaky: float = 0.0, seed: int = 0
) -> Callable[[Trial], Observation]:
    """Trials whose response time scatters by `noise` at full length, by more when shorter.

    A part `flaky` of them breaks the objective whatever the server does.
    """
    draw = np.random.default_rng(seed)

    def observe(trial: Trial) -> Observation:
        scatter = noise * math.sqrt(goal.final_s / trial.duration_s) * draw.standard_normal()
        response_s = curve(trial.load) * math.exp(scatter)
        kept = response_s <= most_s and draw.random() >= flaky
        return Observation(trial.load, trial.duration_s, trial.load / response_s, bool(kept))

    return observe


def crossing(curve: Curve, most_s: float, lowest: float, highest: float) -> float:
    """Return the load at which an increasing curve reaches `most_s`."""
    for _ in range(100):
        middle = math.sqrt(lowest * highest)
        lowest, highest = (middle, highest) if curve(middle) <= most_s else (lowest, middle)
    return lowest


def delay_bound(response_s: float, capacity_rps: float) -> Curve:
    """``throughput = min(N / R, C)``, by Little's law."""
    return lambda connections: max(response_s, connections / capacity_rps)


def erlang(service_rps: float, servers: int) -> Curve:
    """M/M/m: mean response time at an offered rate, by Erlang's C; far above any objective from saturation on."""

    def response_s(rate: float) -> float:
        offered = rate / service_rps
        if offered >= servers:
            return 1e3 * offered
        blocked = 1.0
        for m in range(1, servers + 1):
            blocked = offered * blocked / (m + offered * blocked)
        waits = blocked / (1 - offered / servers * (1 - blocked))
        return 1 / service_rps + waits / (servers * service_rps - rate)

    return response_s


def universal(unit_rps: float, contention: float, coherency: float) -> Curve:
    """Universal Scalability Law, as N / X(N)."""
    return lambda n: (1 + contention * (n - 1) + coherency * n * (n - 1)) / unit_rps


def grid_levels(goal: Capacity, lowest: float, highest: float) -> list[float]:
    """Levels of a fixed grid whose neighbours are as far apart as the goal's width allows."""
    levels = [lowest]
    while levels[-1] < highest:
        widest = math.floor(levels[-1] / (1 - goal.width_ratio) / goal.resolution) * goal.resolution
        levels.append(min(max(levels[-1] + goal.resolution, widest), highest))
    return levels
