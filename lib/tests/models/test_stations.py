import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models.queueing import erlang_b, erlang_c, solve_mg1, solve_mm1, solve_mmm, solve_mmmk

loads = st.floats(0.01, 0.98)
servers = st.integers(1, 60)
times = st.floats(1e-4, 1e3)


@pytest.mark.parametrize(
    ("arrival", "service_rate", "number", "waiting", "latency"), [(9, 5, 2, 7.674, 1.053), (9, 5, 4, 0.105, 0.212)]
)
def test_mmm_published(arrival, service_rate, number, waiting, latency):
    # Oracles part 5: M/M/2 and M/M/4 with λ 9, μ 5.
    station = solve_mmm(arrival, 1 / service_rate, number)
    assert station.waiting == pytest.approx(waiting, abs=5e-4)
    assert station.latency_s == pytest.approx(latency, abs=5e-4)


def test_mm3_published():
    # Oracles part 5: M/M/3 with λ 2, μ 1: C .444444, R 1.444444.
    assert erlang_c(3, 2) == pytest.approx(0.444444, abs=5e-7)
    station = solve_mmm(2, 1, 3)
    assert station.delayed_ratio == pytest.approx(4 / 9)
    assert station.latency_s == pytest.approx(1.444444, abs=5e-7)


def test_mm2_5_published():
    # Oracles part 5: M/M/2/5 with λ 3, μ 2.
    station = solve_mmmk(3, 1 / 2, 2, 5)
    assert station.idle_ratio == pytest.approx(0.179334, abs=1e-6)
    assert station.lost_ratio == pytest.approx(0.085113, abs=1e-6)
    assert station.queue_length == pytest.approx(2.00595, abs=5e-6)


@given(loads, times)
def test_mm1_closed_forms(rho, service):
    station = solve_mm1(rho / service, service)
    assert station.latency_s == pytest.approx(service / (1 - rho))
    assert station.queue_length == pytest.approx(rho / (1 - rho))
    assert station.idle_ratio == pytest.approx(1 - rho)
    one = solve_mmm(rho / service, service, 1)
    assert (one.latency_s, one.idle_ratio, one.delayed_ratio) == pytest.approx(
        (station.latency_s, station.idle_ratio, station.delayed_ratio)
    )


@given(loads, times, st.floats(0, 10))
def test_mg1_waits_in_proportion_to_the_second_moment(rho, service, cv):
    # Pollaczek and Khinchine: W = λ E[S²] / (2 (1 − ρ)).
    second = service**2 * (1 + cv**2)
    assert solve_mg1(rho / service, service, cv).wait_s == pytest.approx(rho / service * second / (2 * (1 - rho)))


def test_constant_service_waits_half_as_long():
    assert solve_mg1(80, 0.01, 0).wait_s == pytest.approx(solve_mm1(80, 0.01).wait_s / 2)


@given(st.integers(1, 20), st.floats(0, 30))
def test_erlang_b_is_its_closed_form(number, load):
    weights = [load**i / math.factorial(i) for i in range(number + 1)]
    assert erlang_b(number, load) == pytest.approx(weights[-1] / sum(weights))


def test_erlang_b_of_many_servers_neither_overflows_nor_vanishes():
    # 10^4 servers at load 10^4: B ≈ sqrt(2 / (π m)) (the Poisson distribution about its mean).
    assert erlang_b(10_000, 10_000) == pytest.approx(math.sqrt(2 / (math.pi * 10_000)), rel=0.01)


@given(servers, loads)
def test_erlang_c_is_its_closed_form(number, rho):
    load = rho * number
    log = [i * math.log(load) - math.lgamma(i + 1) for i in range(number + 1)]
    tail = math.exp(log[-1]) / (1 - rho)
    idle = 1 / (sum(math.exp(value) for value in log[:-1]) + tail)
    assert erlang_c(number, load) == pytest.approx(tail * idle)
    assert solve_mmm(load, 1, number).idle_ratio == pytest.approx(idle)


@given(st.integers(1, 8), st.floats(0.01, 0.8), times)
def test_large_room_is_no_limit(number, rho, service):
    endless, roomy = solve_mmm(rho * number / service, service, number), None
    lost = []
    for capacity in (number + 2, number + 20, number + 400):
        roomy = solve_mmmk(rho * number / service, service, number, capacity)
        lost.append(roomy.lost_ratio)
    assert lost[0] > lost[1] > lost[2]
    for name in ("latency_s", "queue_length", "waiting", "idle_ratio", "delayed_ratio", "utilisation_ratio"):
        assert getattr(roomy, name) == pytest.approx(getattr(endless, name), rel=1e-6, abs=1e-12), name


@given(st.integers(1, 30), st.floats(0.01, 50))
def test_room_for_the_servers_only_is_erlang_b(number, load):
    station = solve_mmmk(load, 1, number, number)
    assert station.lost_ratio == pytest.approx(erlang_b(number, load))
    assert station.waiting == 0


@given(st.integers(1, 10), st.integers(0, 20), st.floats(0.01, 100))
def test_mmmk_serves_what_it_accepts(number, more, load):
    station = solve_mmmk(load, 1, number, number + more)
    assert station.throughput_rps == pytest.approx(load * (1 - station.lost_ratio))  # what comes in goes out
    assert station.queue_length - station.waiting == pytest.approx(number * station.utilisation_ratio)
    assert 0 <= station.utilisation_ratio <= 1 + 1e-12


def test_a_pool_beats_separate_queues():
    pool, single = solve_mmm(16, 0.1, 2), solve_mm1(8, 0.1)
    assert pool.latency_s < single.latency_s


def test_arrays_broadcast_and_missing_stays_missing():
    station = solve_mmm([1, 5, math.nan], 0.1, 2)
    assert np.isnan(station.latency_s).tolist() == [False, False, True]
    assert np.diff(station.latency_s[:2]) > 0
    assert solve_mmmk([1.0, math.nan], 0.1, 2, 4).lost_ratio.shape == (2,)
    assert solve_mm1(0, 0.1).latency_s == pytest.approx(0.1)
    assert solve_mmm(0, 0.1, 3).idle_ratio == 1


test_rules = refuses(
    (lambda: solve_mm1(100, 0.01), r"arrival_rps must be < servers / service_s = 100 \(the queue would grow"),
    (lambda: solve_mmm([1, 30], 0.1, 2), "arrival_rps must be < servers / service_s = 20 .*, got 30.0"),
    (lambda: solve_mm1(1, 0), "service_s must be > 0"),
    (lambda: solve_mg1(1, 0.1, -1), "service_cv must be >= 0"),
    (lambda: solve_mmm(1, 0.1, 1.5), "servers must be a whole number >= 1"),
    (lambda: solve_mmmk(1, 0.1, 3, 2), "capacity must be a whole number >= 3"),
    (lambda: solve_mmmk(0, 0.1, 3, 3), "arrival_rps must be > 0"),
    (lambda: erlang_b(0, 1), "servers must be a whole number >= 1"),
    (lambda: erlang_b(1, -1), "load must be >= 0"),
    (lambda: erlang_c(2, [1, 2]), "load must be < 2, the servers"),
)
