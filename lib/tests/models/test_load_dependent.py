import math
from dataclasses import replace

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.models.queueing import (
    InvariantError,
    check_network,
    mva,
    solve_mmmk,
    solve_network,
)


def textbook(number, demand, servers, think_time):
    """Mean value analysis with one centre of several servers, in floats, as textbooks print it: unstable."""
    queue, share = 0.0, np.zeros(servers)
    share[0] = 1.0
    for n in range(1, number + 1):
        latency = demand / servers * (1 + queue + np.sum((servers - 1 - np.arange(servers - 1)) * share[:-1]))
        throughput = n / (think_time + latency)
        queue = throughput * latency
        share[1:] = throughput * demand / np.arange(1, servers) * share[:-1]
        share[0] = 1 - (throughput * demand + np.sum((servers - np.arange(1, servers)) * share[1:])) / servers
    return throughput, latency


def enumerated(number, demand, speedup, think_time):
    """X and Q by the sum over every state: how many think, how many are at each of two centres."""
    total, queue = np.zeros(number + 1), np.zeros((number + 1, 2))

    def factor(k, j):
        return math.prod(demand[k] / speedup[k][min(i, len(speedup[k])) - 1] for i in range(1, j + 1))

    for n in range(number + 1):
        for a in range(n + 1):
            for b in range(n - a + 1):
                weight = factor(0, a) * factor(1, b) * think_time ** (n - a - b) / math.factorial(n - a - b)
                total[n] += weight
                queue[n] += weight * np.array([a, b])
    return total[:-1] / total[1:], queue[1:] / total[1:, None]


def test_bolch_8_4():
    # Bolch and others, example 8.4: S .5 .6 .8 1, V 1 .5 .5 1, m 2 1 1 ∞, N 3.
    network = solve_network(3, np.array([0.5, 0.6, 0.8, 1]) * [1, 0.5, 0.5, 1], servers=[2, 1, 1, math.inf])
    assert network.queue_length[-1] == pytest.approx([0.624, 0.473, 0.686, 1.217], abs=5e-4)
    assert network.throughput_rps[-1] == pytest.approx(1.21746063, abs=5e-9)


def test_three_hundred_servers():
    # PDQ README: N 400, m 300, S .444: X 675.6757, R .5920.
    network = solve_network(400, [0.444], servers=300)
    assert network.throughput_rps[-1] == pytest.approx(300 / 0.444, rel=1e-9)
    assert network.throughput_rps[-1] == pytest.approx(675.6757, abs=5e-5)
    assert network.latency_s[-1] == pytest.approx(0.5920, rel=1e-6)


def test_eight_servers_with_think_time():
    # S 4, m 8, Z 10: R at N 50 60 70 80 90 is 15 20 25 30 35 within 3e-5.
    network = solve_network(90, [4], 10, servers=8)
    assert network.latency_s[[49, 59, 69, 79, 89]] == pytest.approx([15, 20, 25, 30, 35], abs=3e-5)


def test_the_textbook_recursion_is_wrong_and_ours_is_not_it():
    # Published: R 25.42 at N = 70 and −125.3 at N = 80, where 25 and 30 are right; X .1289 where 675.6757 is right.
    assert textbook(70, 4, 8, 10)[1] == pytest.approx(25.42, abs=5e-3)
    assert textbook(80, 4, 8, 10)[1] == pytest.approx(-125.3, abs=0.05)
    # With 300 servers the noise is all there is, and the order of the additions decides: .1289 is one outcome.
    assert abs(textbook(400, 0.444, 300, 0)[0] / 675.6757 - 1) > 0.5
    # While its noise is small, both agree.
    for n in (1, 5, 20, 30):
        network = solve_network(n, [4], 10, servers=8)
        assert textbook(n, 4, 8, 10) == pytest.approx((network.throughput_rps[-1], network.latency_s[-1]), rel=1e-6)


def test_the_published_wrong_value_keeps_littles_law_and_is_found_by_its_asymptote():
    # X .1289 with R = N / X: only the bound N / (N D + Z) knows that it is nonsense.
    right = solve_network(400, [0.444], servers=300)
    slower = right.throughput_rps * 0.1289 / 675.6757
    wrong = replace(
        right,
        throughput_rps=slower,
        latency_s=right.connections / slower,
        residence_s=right.queue_length / slower[:, None],
        utilisation_ratio=slower[:, None] * 0.444 / 300,
    )
    assert check_network(wrong) is wrong
    with pytest.raises(InvariantError, match="is not between its asymptotes"):
        mva._require_asymptotes(wrong, np.array([0.444]), 0.0, np.array([300.0]))


@examples(40)
@given(
    st.lists(st.floats(0.1, 5), min_size=2, max_size=2),
    st.lists(st.integers(1, 4), min_size=2, max_size=2),
    st.sampled_from([0.0, 0.5, 7.0]),
)
def test_agrees_with_the_sum_over_states(demand, servers, think_time):
    network = solve_network(6, demand, think_time, servers)
    throughput, queue = enumerated(6, demand, [range(1, m + 1) for m in servers], think_time)
    assert network.throughput_rps == pytest.approx(throughput)
    assert network.queue_length == pytest.approx(queue)


@pytest.mark.slow
@examples(40)
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=4), st.one_of(st.just(0.0), st.floats(1e-3, 1e3)))
def test_speed_one_is_mean_value_analysis(demand, think_time):
    one = np.ones(len(demand))
    convolved = mva.solve_centres(200, np.array(demand), think_time, [one[:1]] * one.size, one)
    exact = solve_network(200, demand, think_time)
    assert convolved.throughput_rps == pytest.approx(exact.throughput_rps, rel=1e-10)
    assert convolved.queue_length == pytest.approx(exact.queue_length, rel=1e-9)
    assert convolved.utilisation_ratio == pytest.approx(exact.utilisation_ratio)


@examples(40)
@given(
    st.lists(st.tuples(st.floats(1e-2, 1e2), st.sampled_from([1, 2, 7, 60, math.inf])), min_size=1, max_size=4),
    st.floats(0, 100),
)
def test_several_servers_keep_the_laws(centres, think_time):
    demand, servers = (np.array(column) for column in zip(*centres, strict=True))
    network = solve_network(150, demand, think_time, servers)
    everyone = network.queue_length.sum(axis=1) + network.throughput_rps * think_time
    assert everyone == pytest.approx(network.connections, rel=1e-9)
    assert (network.utilisation_ratio <= 1 + 1e-9).all()
    assert (np.diff(network.throughput_rps) >= -1e-9 * network.throughput_rps[1:]).all()
    more = solve_network(150, demand, think_time, np.minimum(servers * 2, math.inf))
    assert (more.throughput_rps >= network.throughput_rps * (1 - 1e-9)).all()


@examples(30)
@given(st.floats(0.1, 20), st.floats(0.1, 50), st.integers(1, 6), st.integers(1, 20))
def test_one_centre_with_think_time_is_the_repairman(demand, think_time, servers, number):
    # Machine repairman: p(n) ∝ N!/(N−n)! (S/Z)^n / (n! until m, then m! m^(n−m)); Kleinrock 1975, chapter 3.
    weights = [1.0]
    for n in range(1, number + 1):
        weights.append(weights[-1] * (number - n + 1) * demand / think_time / min(n, servers))
    share = np.array(weights) / sum(weights)
    network = solve_network(number, [demand], think_time, servers)
    assert network.queue_length[-1, 0] == pytest.approx(share @ np.arange(number + 1))
    assert network.utilisation_ratio[-1, 0] == pytest.approx(
        share @ np.minimum(np.arange(number + 1), servers) / servers
    )


def test_as_many_servers_as_connections_are_a_delay():
    pool = solve_network(30, [2.0, 1.0], 5, [30, 1])
    delay = solve_network(30, [2.0, 1.0], 5, [math.inf, 1])
    assert pool.throughput_rps == pytest.approx(delay.throughput_rps)


def test_a_slow_source_sees_the_open_station():
    # Many sources that think long arrive like a Poisson stream; the room of M/M/2/K is then never full.
    network = solve_network(4000, [1.0], 4000 / 1.2, 2)
    station = solve_mmmk(float(network.throughput_rps[-1]), 1.0, 2, 400)
    assert network.latency_s[-1] == pytest.approx(station.latency_s, rel=5e-3)


@pytest.mark.slow
def test_many_servers_stay_stable():
    # Far past saturation X = m / S, R = N S / m − Z, whatever the recursion went through on the way.
    network = solve_network(10_000, [0.5], 2, servers=1000)
    assert network.throughput_rps[-1] == pytest.approx(1000 / 0.5, rel=1e-9)
    assert network.latency_s[-1] == pytest.approx(10_000 * 0.5 / 1000 - 2, rel=1e-8)
