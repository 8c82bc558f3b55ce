"""The law read backwards: round trips, Little's law, and the published inverses that are wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import usl, usl_connections_at, usl_peak_connections, usl_throughput_at

SCA = (90, 0.03, 1e-4)  # the model of sca_tools' tests
USL4J = (40, 0.06, 0.06)  # λ, σ and κ of usl4j's tests

units = st.floats(1e-2, 1e5)
contentions = st.floats(0, 0.9)
coherencies = st.floats(1e-6, 0.05)


@given(units, contentions, coherencies, st.floats(0.01, 0.98))
def test_connections_come_back_on_their_branch(unit, alpha, beta, share):
    peak = usl_peak_connections(alpha, beta)
    for number, branch in ((1 + share * (peak - 1), "rising"), (peak / share, "falling")):
        if number < 1 or peak <= 1:
            continue
        found = usl_connections_at(usl(number, unit, alpha, beta), unit, alpha, beta, branch)
        assert found == pytest.approx(number, rel=1e-4)  # near the peak the curve is flat, and N loses digits


@given(units, st.floats(1.01, 3), st.one_of(st.just(0.0), coherencies), st.floats(1.5, 1e3))
def test_throughput_that_falls_from_the_start_has_only_a_falling_branch(unit, alpha, beta, number):
    throughput = usl(number, unit, alpha, beta)
    assert usl_connections_at(throughput, unit, alpha, beta, "falling") == pytest.approx(number, rel=1e-4)
    assert np.isnan(usl_connections_at(throughput, unit, alpha, beta, "rising"))


@given(units, st.one_of(contentions, st.floats(1, 3)), st.floats(1e-4, 0.05), st.floats(2, 1e4))
def test_throughput_and_latency_are_of_one_point(unit, alpha, beta, number):
    throughput = usl(number, unit, alpha, beta)
    assert usl_throughput_at(number / throughput, unit, alpha, beta) == pytest.approx(throughput, rel=1e-4)


@given(units, st.floats(0, 1), st.floats(1e-9, 1))
def test_the_peak_is_on_both_branches(unit, alpha, beta):
    """The throughput at the peak itself: rounding must not make it one that the law never reaches."""
    peak = usl_peak_connections(alpha, beta)
    if peak < 1:
        return
    most = usl(peak, unit, alpha, beta)
    for branch in ("rising", "falling"):
        assert usl_connections_at(most, unit, alpha, beta, branch) == pytest.approx(peak, rel=1e-4)
    assert np.isnan(usl_connections_at(most * (1 + 1e-9), unit, alpha, beta))


def test_sca_tools_breaks_littles_law():
    """X(R = 10) is asserted there as 312.413; with N = X R the law's own throughput is another."""
    ours = usl_throughput_at(10, *SCA)
    assert ours == pytest.approx(285.2608, abs=1e-4)
    assert usl(ours * 10, *SCA) == pytest.approx(ours, rel=1e-9)
    assert usl(312.413 * 10, *SCA) != pytest.approx(312.413, rel=0.05)


def test_usl4j_gives_a_latency_to_a_throughput_that_cannot_be():
    """``LatencyAtThroughput(600)`` = .235 is asserted there; its own model never makes more than 84.2."""
    most = usl(usl_peak_connections(*USL4J[1:]), *USL4J)
    assert most == pytest.approx(84.2, abs=0.05)
    assert np.isnan(usl_connections_at(600, *USL4J))
    assert np.isnan(usl_connections_at(most * 1.001, *USL4J, branch="falling"))


def test_usl4j_has_a_sign_reversed():
    """``ThroughputAtLatency`` there has σ − κ for κ − σ: with σ = κ, as in its test, nobody sees it."""

    def theirs(latency, unit, contention, coherency):
        square = coherency**2 + contention**2 + 2 * coherency * (2 * unit * latency + contention - 2)
        return (np.sqrt(square) + coherency - contention) / (2 * coherency * latency)

    def reversed_sign(latency, unit, contention, coherency):
        return theirs(latency, unit, contention, coherency) + (contention - coherency) / (coherency * latency)

    for model in (SCA, USL4J):
        assert usl_throughput_at(10, *model) == pytest.approx(theirs(10, *model), rel=1e-9)
    assert reversed_sign(10, *USL4J) == pytest.approx(theirs(10, *USL4J))
    assert reversed_sign(10, *SCA) != pytest.approx(usl_throughput_at(10, *SCA), rel=0.05)


def test_without_coherency():
    assert usl_connections_at(1000, 90, 0.03, 0) == pytest.approx(
        1000 * 0.97 / (90 - 0.03 * 1000)  # γ N = X (1 + α (N − 1))
    )
    assert np.isnan(usl_connections_at(3000, 90, 0.03, 0))  # the limit γ / α is never reached
    assert np.isnan(usl_connections_at(1000, 90, 0.03, 0, branch="falling"))
    assert usl_throughput_at(1.0, 90, 0.0, 0.0) != usl_throughput_at(1.0, 90, 0.0, 0.0)  # R is 1/γ at every N: NaN


def test_rules():
    with pytest.raises(ValueRuleError, match="branch must be one of rising, falling, got 'up'"):
        usl_connections_at(100, *SCA, branch="up")
    with pytest.raises(ValueRuleError, match="throughput_rps must be > 0"):
        usl_connections_at(0, *SCA)
    assert np.isnan(usl_throughput_at(0.001, *SCA))
