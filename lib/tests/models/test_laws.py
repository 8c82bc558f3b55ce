import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import little_connections, little_latency_s, little_throughput_rps, single_thread_throughput_rps

positive = st.floats(1e-6, 1e6)
think = st.floats(0, 1e3)


@given(positive, positive, think)
def test_little_there_and_back(throughput, latency, think_time):
    number = little_connections(throughput, latency, think_time)
    assert little_throughput_rps(number, latency, think_time) == pytest.approx(throughput, rel=1e-9)
    back = little_latency_s(number, throughput, think_time)
    assert back == pytest.approx(latency, rel=1e-6, abs=1e-12 * (1 + think_time))
    assert back >= 0


# Document 001: 22.23 requests/s were measured at 45.00 ms; 8000 and 30000 connections were asked for.
@pytest.mark.parametrize(
    ("throughput", "latency", "number"), [(20260.6, 0.04994, 1011.8), (1288.65, 0.51529, 664), (22.23, 0.045, 1)]
)
def test_document_001(throughput, latency, number):
    assert little_connections(throughput, latency) == pytest.approx(number, rel=1e-3)


def test_document_001_one_connection():
    assert single_thread_throughput_rps(0.045) == pytest.approx(22.23, rel=1e-3)


def test_document_004():
    # 10000 connections at 9040.98/s: ab prints 1106.074 ms.
    assert little_latency_s(10000, 9040.98) == pytest.approx(1.106074, rel=1e-5)


def test_jain_network_with_think_time():
    # Octave queueing: Z 4, N 20, X .3332465, system response time 56.015632.
    assert little_latency_s(20, 0.3332465, 4) == pytest.approx(56.015632, rel=1e-6)


def test_lazowska_terminals():
    # Lazowska p. 117, exact: N 3, Z 15, X .15151649, R 4.79982478.
    assert little_throughput_rps(3, 4.79982478, 15) == pytest.approx(0.15151649, rel=1e-7)


def test_sca_tools_wrong_inverse_is_not_ours():
    # sca_tools asserts X(R = 10) = 312.413 for λ 90, σ .03, κ 1e-4; Little's law gives 285.2608.
    connections = little_connections(285.2608, 10)
    law = 90 * connections / (1 + 0.03 * (connections - 1) + 1e-4 * connections * (connections - 1))
    assert law == pytest.approx(285.2608, rel=1e-5)
    assert little_connections(312.413, 10) != pytest.approx(connections, rel=0.01)


def test_missing_stays_missing():
    assert np.isnan(little_connections([1, math.nan], 1)).tolist() == [False, True]
    assert np.isnan(little_latency_s(math.nan, 1, 1))
    column = pd.Series([4, None], dtype="Int64")
    assert np.isnan(little_throughput_rps(column, 2)).tolist() == [False, True]


test_rules = refuses(
    (lambda: little_connections(-1, 1), "throughput_rps must be >= 0, got -1.0"),
    (lambda: little_connections(1, 1, -1), "think_time_s must be >= 0"),
    (lambda: little_throughput_rps(1, 0), "latency_s must be > 0, got 0.0"),
    (lambda: little_latency_s(1, 0), "throughput_rps must be > 0"),
    (lambda: little_latency_s(10, 100, 0.2), "think_time_s must be <= connections / throughput_rps"),
    (lambda: single_thread_throughput_rps([1, 0]), "latency_s must be > 0"),
)
