"""Several classes at centres with several servers: against the chain of states itself, and one class."""

import itertools
import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.models.queueing import solve_classes, solve_network


def balanced(number, demand, think, servers):
    """Throughput and queues of each class by the balance equations of the Markov chain, without product form.

    Each class goes from its think time through the centres in order, and skips those where its demand is 0.  A centre
    shares the speed of its servers evenly among the requests that are there.
    """
    demand, centres = np.asarray(demand, float), len(servers)
    stops = [[*np.flatnonzero(demand[c]), *([centres] if think[c] else [])] for c in range(len(number))]

    def places(c):
        for chosen in itertools.combinations_with_replacement(stops[c], number[c]):
            yield tuple(chosen.count(k) for k in range(centres + 1))

    states = list(itertools.product(*(places(c) for c in range(len(number)))))
    index = {state: i for i, state in enumerate(states)}
    rates, left = np.zeros((len(states), len(states))), np.zeros((len(states), len(number)))
    for i, state in enumerate(states):
        for c, route in enumerate(stops):
            for stop, k in enumerate(route):
                if not state[c][k]:
                    continue
                here = sum(of[k] for of in state)
                speed = 1 / think[c] if k == centres else min(here, servers[k]) / here / demand[c, k]
                moved = list(state[c])
                moved[k] -= 1
                moved[route[(stop + 1) % len(route)]] += 1
                rates[i, index[*state[:c], tuple(moved), *state[c + 1 :]]] += speed * state[c][k]
                left[i, c] += speed * state[c][k] * (stop == 0)
    generator = rates - np.diag(rates.sum(axis=1))
    share = np.linalg.lstsq(np.vstack([generator.T, np.ones(len(states))]), np.eye(len(states) + 1)[-1], rcond=None)[0]
    return share @ left, np.einsum("s,sck->ck", share, np.array(states))[:, :centres]


@pytest.mark.parametrize(
    ("number", "demand", "think", "servers"),
    [
        ([2, 2], [[1.0, 3.0], [2.0, 0.5]], [0, 0], [2, 1]),
        ([3, 2], [[1.0, 0.4, 2.0], [0.3, 2.5, 1.0]], [1.5, 0], [2, 3, 1]),
        ([2, 3], [[1.0, 0.0, 2.0], [0.3, 2.5, 0.0]], [0, 4.0], [2, 2, math.inf]),
        ([1, 2, 2], [[1.0, 2.0], [0.0, 3.0], [5.0, 0.1]], [1.0, 0, 2.0], [2, 2]),
        ([3, 3], [[1.0, 3.0], [2.0, 0.5]], [0, 2.0], [1, 1]),  # by mean value analysis
    ],
)
def test_agrees_with_the_balance_equations(number, demand, think, servers):
    throughput, queue = balanced(number, demand, think, servers)
    network = solve_classes(number, demand, think, servers)
    assert network.throughput_rps == pytest.approx(throughput, rel=1e-8)
    assert network.queue_length == pytest.approx(queue, rel=1e-8, abs=1e-12)


def test_bolch_8_4_in_two_classes():
    # Bolch and others, example 8.4: S .5 .6 .8 1, V 1 .5 .5 1, m 2 1 1 ∞, N 3, here two and one of the same kind.
    network = solve_classes([2, 1], [[0.5, 0.3, 0.4, 1]] * 2, 0, [2, 1, 1, math.inf])
    assert network.throughput_rps.sum() == pytest.approx(1.21746063, abs=5e-9)
    assert network.queue_length.sum(axis=0) == pytest.approx([0.624, 0.473, 0.686, 1.217], abs=5e-4)


@examples(25)
@given(
    st.lists(st.tuples(st.floats(0.01, 50), st.sampled_from([1, 2, 5, math.inf])), min_size=1, max_size=3),
    st.floats(0, 50),
    st.integers(0, 9),
    st.integers(1, 9),
)
def test_equal_classes_are_one_class(centres, think, first, second):
    demand, servers = zip(*centres, strict=True)
    one = solve_network(first + second, demand, think, servers)
    two = solve_classes([first, second], [demand, demand], think, servers)
    assert two.throughput_rps.sum() == pytest.approx(one.throughput_rps[-1], rel=1e-9)
    assert two.queue_length.sum(axis=0) == pytest.approx(one.queue_length[-1], rel=1e-9, abs=1e-12)


def test_enough_servers_are_a_delay():
    demand, think = [[2.0, 1.0], [0.5, 3.0]], [1.0, 0.0]
    pool, delay = (solve_classes([5, 4], demand, think, [m, 2]) for m in (9, math.inf))
    assert pool.throughput_rps == pytest.approx(delay.throughput_rps)


def test_many_servers_near_saturation_keep_their_digits():
    """One class through the textbook recursion gives a response time of -125 s here; 30 s is right (see test_mva)."""
    network = solve_classes([50, 30], [[4.0], [4.0]], 10, 8)
    assert network.latency_s == pytest.approx([30, 30], abs=3e-5)
    # Units: microseconds and hours give the same network.
    for scale in (1e-6, 3600):
        scaled = solve_classes([9, 8], np.array([[4.0, 1], [1, 9]]) * scale, 10 * scale, [8, 2])
        assert scaled.throughput_rps * scale == pytest.approx(
            solve_classes([9, 8], [[4.0, 1], [1, 9]], 10, [8, 2]).throughput_rps
        )
