import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_series import KALIBERA, KALIBERA_PILOT

from loadcurve.errors import ValueRuleError
from loadcurve.stats.mean import find_mean
from loadcurve.stats.variance import find_mean_of_levels, summarise_levels, summarise_plan


def test_the_worked_example():
    table = summarise_levels(KALIBERA)
    assert table["repetitions"].tolist() == [2, 2, 3]
    assert table["variance"].round(1).tolist() == [16.5, 2.6, 3.6]
    assert table["component"].round(1).tolist() == [16.5, -5.7, 2.3]
    assert table["verdict"].tolist() == ["scatters", "adds nothing", "scatters"]
    assert find_mean_of_levels(KALIBERA).value == 6.5


def test_the_worked_example_without_its_middle_level():
    table = summarise_levels(np.reshape(KALIBERA, (3, 4)))
    assert table["variance"].round(1).tolist() == [12.7, 3.6]
    assert table["component"].round(1).tolist() == [12.7, 0.4]


def test_the_pilot_and_its_optimal_counts():
    components = summarise_levels(KALIBERA_PILOT)["component"]
    assert components.tolist() == pytest.approx([0.7266667, 0.262777778, 0.7747], abs=1e-4)
    plan = summarise_plan(KALIBERA_PILOT, cost_s=[100, 20, 3])
    assert plan["exact"].tolist()[:2] == pytest.approx([4.2937, 1.3023], abs=1e-3)
    assert plan["repetitions"].tolist()[:2] == [5, 2]
    assert plan["repetitions"].isna().tolist() == [False, False, True]


def test_one_level_is_a_plain_mean():
    values = [9.0, 10.0, 12.0]
    found, plain = find_mean_of_levels(values), find_mean(values)
    assert (found.lo, found.value, found.hi) == pytest.approx((plain.lo, plain.value, plain.hi))


def test_a_level_that_adds_nothing_is_made_once():
    plan = summarise_plan(KALIBERA, cost_s=[100, 20, 3])
    assert plan["repetitions"].tolist()[1] == 1
    # Both upper levels are one, of 2.3 and 120 s: sqrt(120/3 · 16.5/2.270833)
    assert plan["exact"].tolist()[0] == pytest.approx(np.sqrt(40 * 16.5 / 2.2708333), rel=1e-6)


def test_a_highest_level_that_adds_nothing_is_left_to_the_next():
    # Means of the highest level are equal: what scatters lies below.
    plan = summarise_plan([[[1, 2], [5, 7]], [[5, 7], [1, 2]]], cost_s=[100, 20, 3])
    assert plan["repetitions"].isna().tolist() == [False, True, False]
    assert plan["repetitions"].iloc[2] == 1


@given(st.integers(0, 2**32 - 1), st.lists(st.floats(0.1, 100), min_size=3, max_size=3))
def test_no_other_plan_is_more_precise_in_the_same_time(seed, costs):
    values = np.random.default_rng(seed).normal(0, 1, (3, 3, 3)) + np.random.default_rng(seed).normal(0, 1, (3, 1, 1))
    components = np.maximum(summarise_levels(values)["component"].to_numpy(), 0)
    exact = summarise_plan(values, costs)["exact"].to_numpy()
    if not np.isnan(exact[2]):  # the highest level adds nothing: another design
        return
    exact = exact[:2]

    def price(lower, middle):  # variance times time, whatever the repetitions of the highest level
        counts = np.array([lower * middle, middle, 1.0])
        return (components / counts).sum() * (np.array(costs)[::-1] * counts).sum()

    assert (exact >= 1 - 1e-9).all()
    for lower, middle in itertools.product((0.8, 1.0, 1.25), repeat=2):
        assert price(*exact) <= price(max(exact[0] * lower, 1), max(exact[1] * middle, 1)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: summarise_levels([[1, 2], [3]]), "values must be numbers, as many in each group of a level"),
        (
            lambda: summarise_levels([[1], [2]]),
            r"values must be of at least 2 repetitions at each level, got 'shape \(2, 1\)'",
        ),
        (lambda: summarise_levels([1, np.nan]), "values must be complete, got nan"),
        (lambda: summarise_plan(KALIBERA, [1, 2]), "cost_s must be one for each of the 3 levels, got 2"),
        (lambda: summarise_plan(KALIBERA, [1, 2, 0]), "cost_s must be > 0, got 0"),
        (lambda: summarise_plan([[1, 1], [1, 1]], [1, 1]), "values must be of some scatter"),
    ],
)
def test_rules(call, message):
    with pytest.raises(ValueRuleError, match=message):
        call()
