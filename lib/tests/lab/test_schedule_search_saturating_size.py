import csv
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_servers import search

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search import Observation, SaturatingSize, Trial, begin, resume

GOAL = SaturatingSize(lowest=1000, highest=10_000, resolution=1000, final_s=6)


def measured(bandwidth, noise=0.0, seed=0):
    draw = np.random.default_rng(seed)
    return lambda t: Observation(t.load, t.duration_s, bandwidth(t.load) * math.exp(noise * draw.standard_normal()))


def walk_down(goal, bandwidth):
    """The document's way: by one step, to the last size that still has the bandwidth of the largest."""
    size = goal.highest
    least = (1 - goal.tolerance_ratio) * bandwidth(size)
    while size - goal.resolution >= goal.lowest and bandwidth(size - goal.resolution) >= least:
        size -= goal.resolution
    return size


def test_test_1_of_the_published_report_ends_at_its_3_kilobytes(root):
    """10K and 3K fill the 10 Gbit/s, 1K does not; then the report refines by hand between 3K and 1K."""
    with (root / "data/published/nginx_10gbe/sizes.csv").open(encoding="utf-8") as table:
        rows = sorted((float(r["response_bytes"]), float(r["bandwidth_bytes_per_s"])) for r in csv.DictReader(table))
    sizes, bandwidths = zip(*rows, strict=True)
    _, result = search(GOAL, measured(lambda size: np.interp(size, sizes, bandwidths)))
    assert (result.lower, result.upper, result.reached) == (2000, 3000, True)
    assert result.value == 1135 * 1024**2
    finer = dataclasses.replace(GOAL, resolution=1, width_ratio=0.02)
    _, result = search(finer, measured(lambda size: np.interp(size, sizes, bandwidths)))
    assert 2590 < result.upper <= 3000, "at 2,590 bytes the bandwidth is 4.6 % lower, and the processor is full"


@given(st.floats(1e6, 1e9), st.floats(1e3, 1e6), st.sampled_from([0.005, 0.02, 0.1]), st.sampled_from([250, 1000]))
def test_the_size_is_that_of_the_walk_down(limit, rate, tolerance, resolution):
    """A card of some bandwidth behind a processor of some rate: whichever is the less."""
    goal = dataclasses.replace(GOAL, tolerance_ratio=tolerance, resolution=resolution, width_ratio=0.001)

    def bandwidth(size):
        return min(limit, rate * size)

    _, result = search(goal, measured(bandwidth))
    assert result.upper == walk_down(goal, bandwidth)
    assert result.lower == (result.upper - resolution if result.upper > goal.lowest else 0)


def test_the_interval_holds_the_truth_under_noise():
    goal, draw, held, n = dataclasses.replace(GOAL, resolution=1, width_ratio=0.05), np.random.default_rng(9), 0, 100
    for seed in range(n):
        limit, rate = 125e6, draw.uniform(14_000, 120_000)
        state, result = search(goal, measured(lambda s, rate=rate: min(125e6, rate * s), 0.003, seed))
        held += result.lower <= (1 - goal.tolerance_ratio) * limit / rate <= result.upper
        assert result.reached
        assert resume(goal, state.observations)[0] == state
    assert held >= 0.95 * n


def test_a_known_limit_needs_no_trials_to_learn_it():
    goal = dataclasses.replace(GOAL, limit=125e6)
    assert begin(goal)[1] == Trial(10_000, 1)
    _, result = search(goal, measured(lambda size: min(125e6, 50_000 * size)))
    assert (result.lower, result.upper, result.warnings) == (2000, 3000, ())


def test_nothing_fills_a_limit_that_is_too_high():
    _, result = search(dataclasses.replace(GOAL, limit=1e9), measured(lambda size: min(125e6, 50_000 * size)))
    assert (result.lower, result.upper, result.reached) == (10_000, math.inf, False)
    assert result.warnings == ("nothing fills 1e+09: not even the largest size, 10000",)


def test_no_limit_in_sight_is_told():
    _, result = search(GOAL, measured(lambda size: 50_000 * size))
    assert (result.lower, result.upper) == (9000, 10_000)
    assert result.warnings[0].startswith("only the largest size, 10000, fills what it reached itself, 5e+08")


def test_every_size_fills():
    _, result = search(GOAL, measured(lambda size: 125e6))
    assert (result.lower, result.upper, result.reached) == (0, 1000, False)
    assert result.warnings == ("not reached: every size down to 1000 fills 1.25e+08",)


def test_the_most_trials_hold_while_the_limit_is_learnt():
    _, result = search(dataclasses.replace(GOAL, most_trials=3), measured(lambda size: 125e6))
    assert result.trials == 3 and not result.reached
    assert any("stopped after 3 trials" in text for text in result.warnings)


def test_a_trial_without_a_bandwidth_is_refused():
    with pytest.raises(ValueRuleError, match="value must be a number"):
        resume(GOAL, [Observation(10_000, 6, math.nan)])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"limit": 0}, "limit must be > 0 and finite, or NaN"),
        ({"tolerance_ratio": 1}, "tolerance_ratio must be 0 <"),
        ({"lowest": -1}, "lowest must be > 0"),
    ],
)
def test_goals_that_cannot_be_are_refused(change, text):
    with pytest.raises(ValueRuleError, match=text):
        dataclasses.replace(GOAL, **change)
