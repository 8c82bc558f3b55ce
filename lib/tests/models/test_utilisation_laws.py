import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import (
    filled_utilisation_ratio,
    forced_flow_rps,
    saturation_connections,
    saturation_throughput_rps,
    service_demand_s,
    threads_to_fill,
    utilisation_ratio,
)

positive = st.floats(1e-6, 1e6)
ratios = st.floats(1e-6, 1)
servers = st.integers(1, 256)


def test_jain_network():
    # Octave queueing, Jain's example: S .125 .3 .2, V 16 10 5, X .3332465.  The second centre is the bottleneck.
    demand = np.array([0.125, 0.3, 0.2]) * [16, 10, 5]
    busy = utilisation_ratio(0.3332465, demand)
    assert busy == pytest.approx(forced_flow_rps(0.3332465, [16, 10, 5]) * [0.125, 0.3, 0.2])
    assert busy.max() < 1
    assert np.argmax(busy) == np.argmin(saturation_throughput_rps(demand)) == 1


def test_document_001_threads():
    # "(2 + 42) / 2 = 22": 2 ms of processor, 42 ms of waiting, one core.
    assert threads_to_fill(0.002, 0.042) == pytest.approx(22)
    assert saturation_connections(0.002, 0.044) == pytest.approx(22)
    assert threads_to_fill(2, 42, cores=4, utilisation_ratio=0.5) == pytest.approx(44)


def test_goetz_threads():
    # Goetz and others 2006, section 8.2: N = N_cpu U_cpu (1 + W/C).
    assert threads_to_fill(1, 9, cores=8, utilisation_ratio=0.75) == pytest.approx(8 * 0.75 * (1 + 9 / 1))


@given(positive, ratios, servers)
def test_utilisation_there_and_back(throughput, busy, number):
    demand = service_demand_s(throughput, busy, number)
    assert utilisation_ratio(throughput, demand, number) == pytest.approx(busy)
    assert saturation_throughput_rps(demand, number, busy) == pytest.approx(throughput)


@given(positive, positive)
def test_forced_flow_there_and_back(throughput, visits):
    assert forced_flow_rps(throughput, visits) / throughput == pytest.approx(visits)


@given(positive, st.floats(0, 1e6), servers, ratios)
def test_threads_there_and_back_below_saturation(cpu, wait, cores, busy):
    threads = threads_to_fill(cpu, wait, cores, busy)
    assert filled_utilisation_ratio(threads, cpu, wait, cores) == pytest.approx(busy)
    assert filled_utilisation_ratio(2 * threads_to_fill(cpu, wait, cores), cpu, wait, cores) == 1


def test_delay_is_never_busy():
    assert utilisation_ratio(100, 5, math.inf) == 0


def test_missing_stays_missing():
    assert np.isnan(utilisation_ratio([1, math.nan], 1)).tolist() == [False, True]
    assert np.isnan(service_demand_s(1, [math.nan, 1])).tolist() == [True, False]
    assert math.isnan(threads_to_fill(math.nan, 1))


test_rules = refuses(
    (lambda: utilisation_ratio(-1, 1), "throughput_rps must be >= 0"),
    (lambda: utilisation_ratio(1, 1, 0.5), "servers must be >= 1"),
    (lambda: service_demand_s(1, 1.2), "utilisation_ratio must be 0 <= ratio <= 1, got 1.2"),
    (lambda: service_demand_s(0, 1), "throughput_rps must be > 0"),
    (lambda: saturation_throughput_rps(0), "demand_s must be > 0"),
    (lambda: threads_to_fill(0, 1), "cpu_time_s must be > 0"),
    (lambda: threads_to_fill(1, 1, 1, 80), "utilisation_ratio must be 0 <= ratio <= 1, got 80"),
    (lambda: saturation_connections(1, 0), "latency_min_s must be > 0"),
)
