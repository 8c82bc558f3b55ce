import math
from dataclasses import replace

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import utilisation_ratio
from loadcurve.models.queueing import InvariantError, check_network, solve_classes, solve_network

demands = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5)
think = st.one_of(st.just(0.0), st.floats(1e-3, 1e4))


def convolved(number, demand, think_time):
    """Throughput by Buzen's convolution in plain floats, with delay Z^n / n!."""
    g = np.array([think_time**n / math.factorial(n) for n in range(number + 1)])
    for d in demand:
        for n in range(1, number + 1):
            g[n] += d * g[n - 1]
    return g[:-1] / g[1:]


def test_jain():
    # Octave queueing: S .125 .3 .2, V 16 10 5, Z 4, N 20.
    visits = np.array([16, 10, 5])
    network = solve_network(20, np.array([0.125, 0.3, 0.2]) * visits, 4)
    assert network.residence_s[-1] / visits == pytest.approx([0.373, 4.854, 0.300], abs=5e-4)
    assert network.queue_length[-1] == pytest.approx([1.991, 16.177, 0.500], abs=5e-4)
    assert network.throughput_rps[-1] == pytest.approx(0.3332465, abs=5e-8)
    assert network.latency_s[-1] == pytest.approx(56.015632, abs=5e-7)


def test_lazowska_terminals():
    # Lazowska and others 1984, p. 117: D .605 2.1 1.35, Z 15, N 3.
    network = solve_network(3, [0.605, 2.1, 1.35], 15)
    assert network.throughput_rps[-1] == pytest.approx(0.15151649, abs=5e-9)
    assert network.latency_s[-1] == pytest.approx(4.79982478, abs=5e-9)


def test_zahorjan_two_classes():
    # S = [1/10 1/3; 2/5 1], V = [10 9; 5 4], N = [1 1].
    demand = np.array([[1 / 10, 1 / 3], [2 / 5, 1]]) * [[10, 9], [5, 4]]
    network = solve_classes([1, 1], demand)
    assert network.queue_length == pytest.approx(np.array([[4, 15], [5, 14]]) / 19)
    assert network.throughput_rps == pytest.approx([3 / 19, 2 / 19])


@given(demands, think)
def test_every_population_keeps_the_laws(demand, think_time):
    network = solve_network(50, demand, think_time)
    number = np.arange(1, 51)
    assert network.queue_length.sum(axis=1) + network.throughput_rps * think_time == pytest.approx(number)
    assert network.queue_length == pytest.approx(network.throughput_rps[:, None] * network.residence_s)
    assert network.utilisation_ratio == pytest.approx(utilisation_ratio(network.throughput_rps[:, None], demand))
    assert (network.utilisation_ratio <= 1 + 1e-12).all()
    assert (np.diff(network.throughput_rps) >= -1e-12 * network.throughput_rps[1:]).all()
    assert (np.diff(network.latency_s) >= -1e-9 * network.latency_s[1:]).all()


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=4), st.floats(0, 10))
def test_agrees_with_convolution(demand, think_time):
    assert solve_network(30, demand, think_time).throughput_rps == pytest.approx(convolved(30, demand, think_time))


@given(st.floats(1e-3, 1e3), st.integers(1, 8))
def test_balanced_network(demand, centres):
    # K equal centres without think time: X = N / (D (K + N − 1)).
    number = np.arange(1, 41)
    assert solve_network(40, [demand] * centres).throughput_rps == pytest.approx(
        number / demand / (centres + number - 1)
    )


@given(demands, st.floats(0, 100), st.floats(1e-3, 100))
def test_delay_centre_is_think_time_within_the_response(demand, think_time, delay):
    inside = solve_network(20, [*demand, delay], think_time, [*[1] * len(demand), math.inf])
    outside = solve_network(20, demand, think_time + delay)
    assert inside.throughput_rps == pytest.approx(outside.throughput_rps)
    assert inside.latency_s == pytest.approx(outside.latency_s + delay)
    assert (inside.utilisation_ratio[:, -1] == 0).all()


def test_delays_only_never_saturate():
    assert solve_network(5, [2.0, 3.0], 5, math.inf).throughput_rps == pytest.approx(np.arange(1, 6) / 10)


@given(demands, st.floats(0, 100), st.integers(1, 5), st.integers(1, 5))
def test_equal_classes_are_one_class(demand, think_time, first, second):
    one = solve_network(first + second, demand, think_time)
    two = solve_classes([first, second], [demand, demand], think_time)
    assert two.throughput_rps.sum() == pytest.approx(one.throughput_rps[-1])
    assert two.queue_length.sum(axis=0) == pytest.approx(one.queue_length[-1])
    assert two.latency_s == pytest.approx(one.latency_s[-1])


@examples(40)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(sum), st.integers(0, 10_000))
def test_classes_keep_the_laws(number, seed):
    rng = np.random.default_rng(seed)
    demand, think_time = rng.uniform(0.1, 5, (3, 4)), rng.uniform(0, 20, 3)
    network = solve_classes(number, demand, think_time, [1, 1, math.inf, 1])
    assert network.queue_length.sum(axis=1) + network.throughput_rps * think_time == pytest.approx(number)
    assert (network.utilisation_ratio.sum(axis=0) <= 1).all()
    assert np.isnan(network.latency_s).tolist() == [n == 0 for n in number]


def test_a_class_without_requests_changes_nothing():
    two, one = solve_classes([3, 0], [[1, 2], [3, 4]], 1), solve_network(3, [1, 2], 1)
    assert two.throughput_rps == pytest.approx([one.throughput_rps[-1], 0])


def test_classes_agree_with_the_multinomial_convolution():
    # Product form of two classes at two centres, summed state by state (Baskett and others 1975).
    demand, number = np.array([[1.0, 3.0], [2.0, 0.5]]), (3, 2)

    def constant(n):
        total = 0.0
        for a in range(n[0] + 1):
            for b in range(n[1] + 1):
                here = math.comb(a + b, a) * demand[0, 0] ** a * demand[1, 0] ** b
                c, d = n[0] - a, n[1] - b
                total += here * math.comb(c + d, c) * demand[0, 1] ** c * demand[1, 1] ** d
        return total

    expected = [constant((2, 2)) / constant(number), constant((3, 1)) / constant(number)]
    assert solve_classes(number, demand).throughput_rps == pytest.approx(expected)


@pytest.mark.parametrize("servers", [1, 2])
def test_a_centre_that_is_skipped_is_not_there(servers):
    assert solve_network(6, [0, 2, 0, 1], 3, servers).throughput_rps == pytest.approx(
        solve_network(6, [2, 1], 3, servers).throughput_rps
    )
    # Classes that never meet are two networks, and a class without any demand only thinks.
    apart = solve_classes([4, 3, 5], [[2, 0], [0, 1], [0, 0]], [1, 1, 10], servers)
    alone = [solve_network(4, [2], 1, servers), solve_network(3, [1], 1, servers)]
    assert apart.throughput_rps == pytest.approx([*(one.throughput_rps[-1] for one in alone), 0.5])
    assert apart.queue_length[:2].diagonal() == pytest.approx([one.queue_length[-1, 0] for one in alone])


def test_table():
    table = solve_network(2, [1.0]).table()
    assert table.to_dict("list") == {"connections": [1, 2], "throughput_rps": [1.0, 1.0], "latency_s": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"throughput_rps": np.array([0.3, 0.6])}, "Q = X R at every centre is broken at connections 2"),
        ({"queue_length": np.array([[1.0], [-0.1]])}, "queue_length has values that are negative or not finite"),
        ({"throughput_rps": np.array([0.5, np.nan])}, "throughput_rps has values that are negative or not finite"),
        ({"utilisation_ratio": np.array([[0.5], [1.01]])}, "U <= 1 is broken at centre 0: 1.01 against 1"),
        ({"think_time_s": np.array([1.0, 2.0])}, r"sum of Q \+ X Z = N is broken at connections 2"),
        ({"latency_s": np.array([1.0, 3.0])}, r"X \(R \+ Z\) = N is broken at connections 2"),
    ],
)
def test_a_broken_law_is_never_returned(changed, message):
    network = solve_network(2, [1.0], 1.0)
    assert check_network(network) is network
    with pytest.raises(InvariantError, match=message):
        check_network(replace(network, **changed))


test_rules = refuses(
    (lambda: solve_network(0, [1]), "connections must be a whole number >= 1"),
    (lambda: solve_network(2, [1, -1]), "demand_s must be >= 0"),
    (lambda: solve_network(2, [0, 0], 1), "demand_s must be > 0 at one centre at least"),
    (lambda: solve_classes([1, 1], [[1, 2], [0, 0]]), "demand_s of class 1 must be > 0 at one centre, or its think"),
    (lambda: solve_network(2, []), "demand_s must be a list of at least one centre"),
    (lambda: solve_network(2, [[1, 2]]), "demand_s must be a list of at least one centre"),
    (lambda: solve_network(2, [1], math.nan), "think_time_s must be known and finite"),
    (lambda: solve_network(2, [1], 0, 0), "servers must be a whole number >= 1, or inf"),
    (lambda: solve_network(2, [1], 0, [1, 2]), "servers must be one number, or one for each of the 1 centres"),
    (lambda: solve_classes([1], [[1], [2]]), "connections must be one for each of the 2 classes"),
    (lambda: solve_classes([0, 0], [[1], [2]]), "connections must be one for each of the 2 classes, some above 0"),
    (lambda: solve_classes([1, 1], [[1], [2]], [1, 2, 3]), "think_time_s must be one number, or one for each"),
    (lambda: solve_classes([9999, 9999], [[1], [2]]), "connections must be at most 50000000 populations"),
    (lambda: solve_classes([1], [1]), "demand_s must be a row of centres for each class"),
)
