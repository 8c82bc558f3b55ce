import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import (
    asymptotic_throughput_rps,
    find_demand,
    find_latency_min,
    find_saturation,
    find_saturation_of_runs,
)
from loadcurve.stats import Estimate

positive = st.floats(1e-4, 1e4)


def known(value):
    return Estimate(value, value, value, 0.95, "given")


def test_bolch_asymptotes():
    # Octave queueing, ABA: D 9.2 and 8, Z 120, N 20: X at most .109.
    assert asymptotic_throughput_rps(20, 9.2, 9.2 + 8, 120) == pytest.approx(0.109, abs=5e-4)


def test_exact_values_lie_within_the_asymptotes():
    # D .1 .1 .09 .08, Z 0: exact mean value analysis.
    number = np.array([2, 5, 10, 20, 80])
    exact = np.array([4.3174, 6.7148, 8.2062, 9.1682, 9.8530])
    assert (exact <= asymptotic_throughput_rps(number, 0.1, 0.37)).all()


def test_jain_network_lies_within_the_asymptotes():
    # S .125 .3 .2, V 16 10 5, Z 4, N 20: X .3332465, R 56.015632.
    demands = np.array([0.125, 0.3, 0.2]) * [16, 10, 5]
    assert asymptotic_throughput_rps(20, demands.max(), demands.sum(), 4) >= 0.3332465


@given(positive, positive, positive, st.floats(0, 1e4))
def test_throughput_keeps_under_both_lines(number, demand, latency, think):
    bound = asymptotic_throughput_rps(number, demand, latency, think)
    assert bound <= 1 / demand
    assert bound <= number / (latency + think)


@given(positive, positive, st.floats(0, 1e4))
def test_the_lines_cross_at_saturation(demand, latency, think):
    saturation = find_saturation(known(demand), known(latency), think).value
    assert saturation / (latency + think) == pytest.approx(1 / demand)


def test_relative_errors_of_saturation_add_up_by_their_squares():
    """Worst corners, 2/4 and 8/1, would be missed in 1 % of studies at level 95 %."""
    saturation = find_saturation(Estimate(2, 1, 4, 0.9, "given"), Estimate(7, 3, 15, 0.95, "given"), 1)
    factor = 2 ** math.sqrt(2)
    assert (saturation.lo, saturation.value, saturation.hi) == pytest.approx((4 / factor, 4, 4 * factor))
    assert saturation.level == 0.9


def test_saturation_of_runs_is_that_of_its_estimates_with_a_narrower_interval():
    number, rng = np.repeat([1.0, 4, 16, 32], 5), np.random.default_rng(2)
    throughput = np.minimum(number / 10, 1) * (1 + 0.05 * rng.standard_normal(20))
    apart = find_saturation(find_demand(number, throughput), find_latency_min(number, throughput))
    found = find_saturation_of_runs(number, throughput)
    assert found.value == pytest.approx(apart.value)
    assert set(apart.warnings) <= set(found.warnings)
    assert apart.lo <= found.lo < found.value < found.hi <= apart.hi
    assert found.hi - found.lo < 0.9 * (apart.hi - apart.lo)


def test_saturation_without_an_interval_says_so():
    unsure = Estimate(2, math.nan, math.nan, 0.95, "given", ("1 repeat: no interval",))
    saturation = find_saturation(unsure, known(8))
    assert saturation.value == 4
    assert math.isnan(saturation.lo) and math.isnan(saturation.hi)
    assert saturation.warnings[0] == "1 repeat: no interval"
    assert len(saturation.warnings) == 2


def test_saturation_of_a_demand_without_an_upper_end():
    assert find_saturation(Estimate(2, 1, math.inf, 0.95, "given"), known(8)).lo == 0


def test_demand_is_one_over_the_mean_of_the_best_level():
    demand = find_demand([1, 1, 4, 4, 8, 8], [10, 10, 41, 39, 37, 39])
    assert demand.value == pytest.approx(1 / 40)
    assert "N = 4" in demand.method
    assert demand.warnings == ()


def test_demand_ignores_the_best_single_run():
    # 45 is the best run, but its level's mean is 35.
    assert find_demand([4, 4, 8, 8, 16], [45, 25, 38, 40, 30]).value == pytest.approx(1 / 39)


def test_demand_interval_is_the_reciprocal_of_a_t_interval():
    # t(2) at 97.5 % is 4.302653 (any t table); s = 1, n = 3.
    demand = find_demand([1, 8, 8, 8, 16], [10, 99, 100, 101, 90])
    half = 4.302653 / math.sqrt(3)
    assert (1 / demand.hi, 1 / demand.lo) == pytest.approx((100 - half, 100 + half), rel=1e-6)


def test_demand_where_throughput_still_rises():
    demand = find_demand([1, 2, 4], [100, 200, 300])
    assert demand.warnings[0] == (
        "throughput still rises at the last level (N = 4, +50.00% from N = 2): D is an upper bound"
    )
    assert "1 repeat: no interval" in demand.warnings


def test_demand_of_one_level_and_of_wild_repeats():
    demand = find_demand([8, 8], [1, 100])
    assert demand.hi == math.inf
    assert demand.warnings[0].startswith("1 level:")
    assert any("no upper end" in warning for warning in demand.warnings)


def test_demand_leaves_missing_runs_out():
    assert find_demand([1, 8, 8, 16], [5, 10, math.nan, 9]).warnings[0] == "1 of 4 runs have no value and are left out"


test_rules = refuses(
    (lambda: asymptotic_throughput_rps(-1, 1, 1), "connections must be >= 0"),
    (lambda: asymptotic_throughput_rps(1, 1, 0), "latency_min_s must be > 0"),
    (lambda: asymptotic_throughput_rps(1, 0, 1), "demand_s must be > 0"),
    (lambda: find_saturation(known(0), known(1)), "demand must be > 0"),
    (lambda: find_demand([1, 2], [1]), "throughput_rps must be of the shape of connections"),
    (lambda: find_demand([1], [math.nan]), "throughput_rps must be known for at least one run"),
)


def test_least_response_time_is_that_of_one_connection_where_nobody_waits():
    # N / X: 1/100, 8/400, 32/390
    assert find_latency_min([1, 1, 8, 8, 32], [99, 101, 398, 402, 390]).value == pytest.approx(0.01)


def test_least_response_time_at_a_later_level_is_said():
    # 1/30000 = 33.3 us alone, 2/75000 = 26.7 us in company: 1.25 times
    found = find_latency_min([1, 1, 2, 2, 4], [29000, 31000, 74000, 76000, 90000])
    assert found.value == pytest.approx(2 / 75000)
    assert "at N = 2, not at N = 1, where it is 1.25 times as long" in found.warnings[0]


@given(st.lists(st.tuples(st.integers(1, 512), st.floats(1, 1e6)), min_size=1, max_size=12, unique_by=lambda p: p[0]))
def test_no_mean_lies_above_the_bounds_made_from_it(points):
    number, throughput = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    demand, least = find_demand(number, throughput).value, find_latency_min(number, throughput).value
    assert (throughput <= asymptotic_throughput_rps(number, demand, least) * (1 + 1e-9)).all()
