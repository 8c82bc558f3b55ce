import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.errors import ValueRuleError
from loadcurve.models import asymptotic_bounds, balanced_job_bounds, geometric_bounds, proportional_bounds
from loadcurve.models.queueing import solve_network

BOUNDS = [asymptotic_bounds, balanced_job_bounds, proportional_bounds, geometric_bounds]
# Casale, Muntz & Serazzi 2008 (GNU Octave's tests call it table IV): D .1 .1 .09 .08, Z 0.
DEMAND, NUMBER = [0.1, 0.1, 0.09, 0.08], [2, 5, 10, 20, 80]
EXACT = [4.3174, 6.7148, 8.2062, 9.1682, 9.8530]

demands = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5)
think = st.one_of(st.just(0.0), st.floats(1e-3, 1e4))


def test_asymptotic_by_bolch():
    # Octave queueing: D 9.2 8, Z 120, N 20: X at most .109, R at least 64.
    bounds = asymptotic_bounds(20, [9.2, 8], 120).iloc[0]
    assert bounds["throughput_hi_rps"] == pytest.approx(0.109, abs=5e-4)
    assert bounds["latency_lo_s"] == pytest.approx(64)


@pytest.mark.parametrize(
    ("function", "lo", "hi"),
    [
        (proportional_bounds, [4.3174, 6.6600, 8.0219, 8.8672, 9.6736], [4.3174, 6.7297, 8.2700, 9.3387, 10]),
        (geometric_bounds, [4.3040, 6.6859, 8.1521, 9.0947, 9.8233], [4.3174, 6.7524, 8.2690, 9.2431, 9.8765]),
    ],
)
def test_published_table(function, lo, hi):
    bounds = function(NUMBER, DEMAND)
    assert bounds["throughput_lo_rps"].to_numpy() == pytest.approx(lo, abs=5.1e-5)
    assert bounds["throughput_hi_rps"].to_numpy() == pytest.approx(hi, abs=5.1e-5)


def test_published_exact_values_lie_within_all_bounds():
    assert solve_network(80, DEMAND).throughput_rps[np.array(NUMBER) - 1] == pytest.approx(EXACT, abs=5.1e-5)
    for function in BOUNDS:
        bounds = function(NUMBER, DEMAND)
        assert (bounds["throughput_lo_rps"] <= np.array(EXACT) + 5e-5).all()
        assert (bounds["throughput_hi_rps"] >= np.array(EXACT) - 5e-5).all()


@pytest.mark.slow
@pytest.mark.parametrize("function", BOUNDS)
@examples(60)
@given(demands, think)
def test_exact_lies_between(function, demand, think_time):
    exact, bounds = solve_network(60, demand, think_time), function(np.arange(1, 61), demand, think_time)
    throughput = exact.throughput_rps
    assert (bounds["throughput_lo_rps"] <= throughput * (1 + 1e-9)).all()
    assert (bounds["throughput_hi_rps"] >= throughput * (1 - 1e-9)).all()
    slack = 1e-9 * (exact.latency_s + think_time)
    assert (bounds["latency_lo_s"] <= exact.latency_s + slack).all()
    assert (bounds["latency_hi_s"] >= exact.latency_s - slack).all()


@pytest.mark.parametrize("function", BOUNDS)
@given(demands, think)
def test_one_connection_meets_nobody(function, demand, think_time):
    bounds = function(1, demand, think_time).iloc[0]
    assert bounds["latency_lo_s"] == pytest.approx(sum(demand), abs=1e-9 * think_time)
    assert bounds["latency_hi_s"] == pytest.approx(sum(demand), abs=1e-9 * think_time)


@given(st.floats(1e-3, 1e3), st.integers(1, 6))
def test_balanced_network_without_think_time_is_exact(demand, centres):
    # All demands equal: both ends of all but the asymptotic bounds are N / (D (1 + (N − 1)/K)) (Zahorjan 1982).
    number = np.arange(1, 50)
    exact = number / (demand * (centres + number - 1))
    for function in BOUNDS[1:]:
        bounds = function(number, [demand] * centres)
        assert bounds["throughput_lo_rps"].to_numpy() == pytest.approx(exact)
        assert bounds["throughput_hi_rps"].to_numpy() == pytest.approx(exact)


@given(demands, think, st.lists(st.sampled_from([1, 2, 3, 8, math.inf]), min_size=5, max_size=5))
def test_asymptotes_hold_with_several_servers_and_delays(demand, think_time, servers):
    many = servers[: len(demand)]
    exact = solve_network(40, demand, think_time, many).throughput_rps
    bounds = asymptotic_bounds(np.arange(1, 41), demand, think_time, many)
    assert (bounds["throughput_lo_rps"] <= exact * (1 + 1e-9)).all()
    assert (bounds["throughput_hi_rps"] >= exact * (1 - 1e-9)).all()


@in_one_test("function", BOUNDS)
@in_one_test(
    ("arguments", "message"),
    [
        ((0, [1]), "connections must be a whole number >= 1, got 0.0"),
        ((1.5, [1]), "connections must be a whole number >= 1"),
        ((1, [1, -1]), "demand_s must be >= 0"),
        ((1, [0, 0]), "demand_s must be > 0 at one centre at least"),
        ((1, [1, math.nan]), "demand_s must be known and finite"),
        ((1, 1.0), "demand_s must be a list of at least one centre"),
        ((1, [1], -1), "think_time_s must be >= 0"),
        ((1, [1], [1, 2]), "think_time_s must be one number"),
    ],
)
def test_rules(function, arguments, message):
    with pytest.raises(ValueRuleError, match=message):
        function(*arguments)
