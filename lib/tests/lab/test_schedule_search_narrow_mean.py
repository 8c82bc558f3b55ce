import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_servers import search

from loadcurve.errors import ValueRuleError
from loadcurve.lab.schedule.search import NarrowMean, Observation, Trial, begin, resume
from loadcurve.stats import summarise_stopping
from loadcurve.stats.mean import find_mean
from loadcurve.stats.stopping import MINIMUM

GOAL = NarrowMean(load=64, duration_s=6, rule=summarise_stopping)


def given_values(values):
    left = iter(values)
    return lambda trial: Observation(trial.load, trial.duration_s, next(left))


@given(st.integers(0, 2**32), st.floats(0.001, 0.2), st.integers(2, 40))
def test_it_stops_where_the_rule_of_the_statistics_stops(seed, scatter, most):
    values = 5800 * (1 + scatter * np.random.default_rng(seed).standard_normal(most))
    goal = dataclasses.replace(GOAL, most_trials=most)
    state, result = search(goal, given_values(values))
    table = summarise_stopping(values, 0.02)
    stops = table.index[table["stop"]]
    row = table.loc[stops[0]] if len(stops) else table.iloc[-1]
    assert result.trials == row["repeats"] <= most
    assert (result.value, result.lower, result.upper) == pytest.approx((row["mean"], row["lo"], row["hi"]))
    assert result.reached == bool(row["stop"]) == (not result.warnings)
    mean = find_mean(values[: result.trials])
    assert (result.value, result.lower) == pytest.approx((mean.value, mean.lo))
    assert "lognormal" in mean.method or result.upper == pytest.approx(mean.hi)
    assert resume(goal, state.observations) == (state, result)


def test_never_fewer_than_the_minimum():
    _, result = search(GOAL, given_values([100.0] * MINIMUM))
    assert (result.trials, result.trial_s, result.lower, result.upper) == (MINIMUM, 6 * MINIMUM, 100, 100)
    assert MINIMUM == 10


@pytest.mark.slow
def test_the_interval_covers_the_mean():
    """From 10 repeats on the rule loses less than 3 points of its 95 % (notebook 48)."""
    draw = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        _, result = search(GOAL, lambda t: Observation(t.load, t.duration_s, draw.normal(100, 4)))
        held += result.lower <= 100 <= result.upper
    assert held >= 0.9 * 300


def test_a_mean_that_does_not_narrow_is_told():
    _, result = search(dataclasses.replace(GOAL, most_trials=12), given_values([50.0, 150] * 6))
    assert (result.trials, result.reached) == (12, False)
    assert result.warnings[0].startswith("wanted ± 2.0%, got ± 33.")


def test_the_trial_is_always_the_same_point():
    assert begin(GOAL)[1] == Trial(64, 6)
    state, _ = search(GOAL, given_values([1.0] * 10))
    assert {(o.load, o.duration_s) for o in state.observations} == {(64, 6)}


def test_a_missing_value_is_refused():
    with pytest.raises(ValueRuleError, match="without gaps"):
        search(GOAL, given_values([1.0, math.nan]))


@pytest.mark.parametrize("change", [{"load": 0}, {"duration_s": -1}, {"half_width_ratio": 0}, {"most_trials": 1}])
def test_goals_that_cannot_be_are_refused(change):
    with pytest.raises(ValueRuleError, match=next(iter(change))):
        dataclasses.replace(GOAL, **change)
