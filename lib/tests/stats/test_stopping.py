import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.stats.mean import find_mean
from loadcurve.stats.stopping import find_repeats, summarise_stopping


@given(st.lists(st.floats(1, 1e4), min_size=2, max_size=30))
def test_each_row_is_the_interval_of_the_repeats_so_far(values):
    table = summarise_stopping(values, 0.05, minimum=2)
    for row in table.iloc[1:].itertuples():
        mean = find_mean(values[: row.repeats])
        ends = mean.lo, 2 * mean.value - mean.lo  # the rule's own interval allows for no skew
        assert (row.mean, row.lo, row.hi) == pytest.approx((mean.value, *ends), rel=1e-6, abs=1e-2)


def test_it_stops_at_the_first_narrow_interval_and_not_before_the_minimum():
    values = [100, 100, 100, 100, 200, 100, 100]
    assert summarise_stopping(values, 0.05, minimum=3)["stop"].tolist() == [False, False, True, True, True, True, True]
    assert not summarise_stopping(values, 0.05, minimum=5)["stop"].any()


def test_one_repeat_has_no_width():
    row = summarise_stopping([5.0], 0.1).iloc[0]
    assert math.isnan(row["half_width_ratio"]) and not row["stop"]


def test_steins_formula():
    # t(4) at 97.5 % is 2.776445 (any t table); s² = 5.3, mean 100.4: (2.776445² · 5.3)/(2.008²) = 10.13
    assert find_repeats([100, 104, 98, 101, 99], 0.02).value == 11


def test_the_plan_knows_how_little_a_pilot_knows():
    # Chi-square(4) at 2.5 and 97.5 % is .484419 and 11.143287 (any table): 10.13 · 4/.484419 = 83.7, · 4/11.14 = 3.6
    plan = find_repeats([100, 104, 98, 101, 99], 0.02)
    assert (plan.lo, plan.hi) == (5, 84)
    assert plan.warnings == ("5 pilot repeats, fewer than 10: the plan is coarse",)


@given(st.lists(st.floats(1, 100), min_size=2, max_size=20), st.floats(0.01, 0.5))
def test_a_plan_includes_its_pilot_and_asks_more_for_less_width(pilot, ratio):
    plan = find_repeats(pilot, ratio)
    assert len(pilot) <= plan.lo <= plan.value <= plan.hi
    assert find_repeats(pilot, ratio / 2).value >= plan.value


def test_equal_repeats_need_no_more():
    assert find_repeats(np.full(12, 7.0), 0.01).value == 12


test_rules = refuses(
    (lambda: summarise_stopping([1, 2], 0), "half_width_ratio must be > 0, got 0"),
    (lambda: summarise_stopping([1, 2], 0.1, minimum=1), "minimum must be >= 2, got 1"),
    (lambda: summarise_stopping([1, 2], 0.1, level=95), "level must be 0 < level < 1"),
    (lambda: find_repeats([1], 0.1), "pilot must be at least 2 samples"),
    (lambda: find_repeats([1, -1], 0.1), "pilot must be of a mean other than 0"),
)
