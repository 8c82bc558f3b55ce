import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.models.queueing import solve_classes, solve_linearizer, solve_network, solve_schweitzer

SOLVERS = [solve_schweitzer, solve_linearizer]


def random_network(seed):
    rng = np.random.default_rng(seed)
    classes, centres = rng.integers(1, 4), rng.integers(2, 5)
    return rng.integers(1, 9, classes), rng.uniform(0.1, 5, (classes, centres)), rng.uniform(0, 20, classes)


def test_lazowska_p117():
    # Lazowska and others 1984, p. 117, Schweitzer's approximation: Q .0973 .4021 .2359, X .1510, R 4.87.
    network = solve_schweitzer([3], [[0.605, 2.1, 1.35]], 15)
    assert network.queue_length[0] == pytest.approx([0.0973, 0.4021, 0.2359], abs=5.1e-5)
    assert network.throughput_rps[0] == pytest.approx(0.1510, abs=5e-5)
    assert network.latency_s[0] == pytest.approx(4.87, abs=5e-3)


def test_linearizer_is_nearer_to_lazowskas_exact_value():
    # The same network, exact: X .15151649, R 4.79982478.
    network = solve_linearizer([3], [[0.605, 2.1, 1.35]], 15)
    assert network.throughput_rps[0] == pytest.approx(0.15151649, rel=1e-4)
    assert network.latency_s[0] == pytest.approx(4.79982478, rel=1e-3)


@pytest.mark.parametrize("solve", SOLVERS)
@examples(30)
@given(seed=st.integers(0, 100_000))
def test_laws_hold(solve, seed):
    number, demand, think = random_network(seed)
    network = solve(number, demand, think)
    assert network.queue_length.sum(axis=1) + network.throughput_rps * think == pytest.approx(number)
    assert (network.utilisation_ratio.sum(axis=0) <= 1 + 1e-9).all()


@pytest.mark.parametrize("solve", SOLVERS)
def test_one_request_of_one_class_is_exact(solve):
    network = solve([1], [[1.0, 2.0]], 3)
    assert network.throughput_rps == pytest.approx([1 / 6])


@pytest.mark.parametrize("solve", SOLVERS)
def test_many_requests_meet_the_asymptote(solve):
    network = solve([5000], [[1.0, 2.0, 0.5]], 3)
    assert network.throughput_rps == pytest.approx([0.5], rel=1e-6)


@pytest.mark.parametrize("solve", SOLVERS)
def test_a_delay_centre_is_think_time_within_the_response(solve):
    inside = solve([4, 3], [[1, 2, 5], [2, 1, 5]], 1, [1, 1, math.inf])
    outside = solve([4, 3], [[1, 2], [2, 1]], 6)
    assert inside.throughput_rps == pytest.approx(outside.throughput_rps)


@pytest.mark.slow
@examples(60)
@given(seed=st.integers(0, 1_000_000))
def test_linearizer_is_within_three_per_cent_of_exact(seed):
    """Chandy and Neuse 1982 report errors of at most a few per cent; here also where classes skip centres."""
    rng = np.random.default_rng(seed)
    classes, centres = rng.integers(1, 4), rng.integers(1, 5)
    number = rng.integers(1, (200, 40, 15)[classes - 1], classes)
    demand = np.exp(rng.uniform(-3, 1, (classes, centres))) * (rng.random((classes, centres)) > 0.25)
    think = rng.uniform(0.01, 2, classes) * rng.integers(0, 2)
    demand[~demand.any(axis=1), 0] = 1.0
    network = solve_linearizer(number, demand, think)
    assert (network.utilisation_ratio.sum(axis=0) <= 1 + 1e-9).all()
    assert network.throughput_rps == pytest.approx(solve_classes(number, demand, think).throughput_rps, rel=0.03)


def test_linearizer_near_saturation_is_held_to_capacity():
    """Both networks had a centre with 1.0002 and 1.0001 seconds of work per second, and were refused."""
    for network in (([20, 30], [[0.05, 0.02], [0.01, 0.06]], 0.5), random_network(2253)):
        solved, exact = solve_linearizer(*network), solve_classes(*network)
        assert solved.utilisation_ratio.sum(axis=0).max() == pytest.approx(1, abs=1e-9)
        assert solved.method == "Linearizer, held to full utilisation"
        assert solved.throughput_rps == pytest.approx(exact.throughput_rps, rel=0.005)
        assert solved.latency_s == pytest.approx(exact.latency_s, rel=0.01)


@pytest.mark.slow
def test_linearizer_is_closer_than_schweitzer_as_a_rule():
    # Chandy and Neuse 1982: over random networks, Linearizer's errors are a small part of Schweitzer's.
    errors = []
    for seed in range(60):
        network = random_network(seed)
        exact = solve_classes(*network).throughput_rps
        errors.append([np.max(np.abs(solve(*network).throughput_rps / exact - 1)) for solve in SOLVERS])
    schweitzer, linearizer = np.array(errors).T
    assert linearizer.mean() < schweitzer.mean() / 4
    assert linearizer.max() < 0.03  # the paper's own networks: at most a few per cent
    assert np.mean(linearizer <= schweitzer + 1e-12) > 0.9


def test_schweitzer_is_near_for_one_class():
    for number in (2, 10, 40):
        exact = solve_network(number, [0.1, 0.1, 0.09, 0.08]).throughput_rps[-1]
        assert solve_schweitzer([number], [[0.1, 0.1, 0.09, 0.08]]).throughput_rps[0] == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("solve", SOLVERS)
def test_a_class_without_requests_changes_nothing(solve):
    with_empty = solve([4, 0], [[1, 2], [3, 4]], 1)
    alone = solve([4], [[1, 2]], 1)
    assert with_empty.throughput_rps == pytest.approx([alone.throughput_rps[0], 0])


@pytest.mark.parametrize("solve", SOLVERS)
def test_rules(solve):
    with pytest.raises(ValueRuleError, match="servers must be 1 or inf in an approximation"):
        solve([1, 1], [[1], [2]], 0, 2)
    with pytest.raises(ValueRuleError, match="demand_s must be a row of centres"):
        solve([1], [1])
