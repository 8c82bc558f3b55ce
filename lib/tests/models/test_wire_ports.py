import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import little_connections, wire

throughputs, latencies = st.floats(1, 1e7), st.floats(0, 10)
numbers, holds = st.integers(1, 10_000), st.floats(0.01, 240)


def test_linux_defaults():
    # Kernel documentation, ip-sysctl: 32768 to 60999; include/net/tcp.h: TCP_TIMEWAIT_LEN (60*HZ).
    assert wire.LINUX_PORTS == 28232
    # V. Bernat, 2014: about 30,000 ports a minute, so about 500 connections a second.
    assert wire.port_limit_rps(1) == pytest.approx(500, rel=0.06)
    assert wire.port_limit_rps(1, ports=30_000) == pytest.approx(500)


@given(numbers, latencies, numbers, holds)
def test_ports_in_use_are_those_there_are(number, latency, destinations, hold):
    limit = wire.port_limit_rps(number, latency, destinations, time_wait_s=hold)
    connections = limit / number
    held = little_connections(connections, number * latency) + little_connections(connections, hold)
    assert held == pytest.approx(destinations * wire.LINUX_PORTS)


@given(throughputs, numbers, latencies, holds)
def test_destinations_needed_are_enough_and_one_fewer_is_not(wanted, number, latency, hold):
    needed = wire.destinations_needed(wanted, number, latency, time_wait_s=hold)
    assert wire.port_limit_rps(number, latency, needed, time_wait_s=hold) >= wanted * (1 - 1e-8)
    if needed > 1:
        assert wire.port_limit_rps(number, latency, needed - 1, time_wait_s=hold) < wanted * (1 + 1e-8)


@given(throughputs, latencies, numbers, holds)
def test_requests_needed_are_enough_and_one_fewer_is_not(wanted, latency, destinations, hold):
    needed = wire.requests_per_connection_needed(wanted, latency, destinations, time_wait_s=hold)
    if math.isinf(needed):
        assert wanted * latency >= destinations * wire.LINUX_PORTS
        return
    assume(needed < 1e9)  # at the very edge of the ports the denominator is rounding
    assert wire.port_limit_rps(needed, latency, destinations, time_wait_s=hold) >= wanted * (1 - 1e-7)
    if needed > 1:
        assert wire.port_limit_rps(needed - 1, latency, destinations, time_wait_s=hold) < wanted * (1 + 1e-7)


def test_limits_broadcast_and_grow():
    limit = wire.port_limit_rps(1, 0, np.array([1, 2, 4])[:, None], [1000, 28232], [60.0])
    assert limit.shape == (3, 2)
    assert (np.diff(limit, axis=0) > 0).all() and (np.diff(limit, axis=1) > 0).all()


def test_missing_passes_through():
    assert math.isnan(wire.port_limit_rps(math.nan))
    assert math.isnan(wire.destinations_needed(math.nan))
    assert math.isnan(wire.requests_per_connection_needed(math.nan))


test_rules = refuses(
    (lambda: wire.port_limit_rps(0), "requests_per_connection must be >= 1"),
    (lambda: wire.port_limit_rps(1, -1), "latency_s must be >= 0"),
    (lambda: wire.port_limit_rps(1, time_wait_s=0), "time_wait_s must be > 0"),
    (lambda: wire.destinations_needed(0), "throughput_rps must be > 0"),
    (lambda: wire.requests_per_connection_needed(1, ports=0), "ports must be >= 1"),
)
