import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import wire

rates = st.floats(1e6, 1e11)
sizes = st.integers(1, 10**6)


@given(rates, sizes)
def test_requests_times_bytes_are_the_line_rate(link, payload):
    on_medium = wire.medium_bytes(payload)
    limit = wire.link_limit_rps(link, on_medium)
    assert 8 * limit * on_medium == pytest.approx(link)
    assert wire.link_used_ratio(link, limit, on_medium) == pytest.approx(1)


@given(rates, sizes, st.integers(0, 5))
def test_requests_times_packets_are_the_packet_rate(packets, payload, others):
    limit = wire.packet_limit_rps(packets, payload, others=others)
    assert limit * (wire.segments(payload) + others) == pytest.approx(packets)


def test_limits_broadcast():
    link = np.array([1e9, 10e9, 40e9])[:, None]
    payload = np.array([216, 1448, 1449, 100_000])
    limit = wire.link_limit_rps(link, wire.medium_bytes(payload))
    assert limit.shape == (3, 4)
    assert (np.diff(limit, axis=1) < 0).all() and (np.diff(limit, axis=0) > 0).all()
    assert wire.server_limit_rps(1e-6, 1e-7, np.zeros((2, 1)), payload).shape == (2, 4)
    assert wire.smallest_payload_bytes(link, np.array([1e-6, 2e-6])).shape == (3, 2)


def fills(link, request, segment, byte, payload):
    limit = wire.server_limit_rps(request, segment, byte, payload)
    return wire.link_used_ratio(link, limit, wire.medium_bytes(payload))


# Times that a server of our day spends: from nothing to some microseconds, together above 0.
times = st.tuples(st.floats(1e-8, 1e-5), st.floats(0, 1.2e-6), st.floats(0, 7e-10))


@given(times, st.integers(1, 3000))
def test_first_size_fills_the_link_and_no_smaller_one_does(spent, least):
    found = wire.smallest_payload_bytes(10e9, *spent, least_bytes=least)
    if math.isnan(found):
        large = np.arange(1, 400) * wire.ETHERNET.segment_bytes
        assert (fills(10e9, *spent, large) < 1 + 1e-8).all()
        return
    assert fills(10e9, *spent, found) >= 1 - 1e-8
    smaller = np.arange(least, min(found, least + 20_000))
    assert (fills(10e9, *spent, smaller) < 1 + 1e-8).all()
    assert fills(10e9, *spent, max(found - 1, least)) < 1 + 1e-8 or found == least


def test_a_second_segment_slows_the_server_so_that_a_larger_size_empties_the_link_again():
    # 1250 bytes/us, and a segment costs 1 us: 1160 bytes and 90 fill it; 1449 bytes in two segments are 1629 of 2500.
    assert wire.smallest_payload_bytes(10e9, 0, 1e-6) == 1160
    assert fills(10e9, 0, 1e-6, 0, 1449) < 1


def test_a_packet_rate_below_that_of_full_frames_never_fills_the_link():
    # 812744 full frames/s fill 10 Gbit/s: with 800000 packets/s no size does, with 820000 a nearly full one does.
    assert math.isnan(wire.smallest_payload_bytes(10e9, 0, 1 / 800_000))
    assert 1400 < wire.smallest_payload_bytes(10e9, 0, 1 / 820_000) <= 1448


@pytest.mark.parametrize("payload", [[216, 1448, 1449], [150, 766, 1448, 1449, 2740]])
def test_server_costs_are_those_that_made_the_rates(payload):
    assert wire.server_costs_s(payload, wire.server_limit_rps(1e-6, 2e-7, 3e-10, payload)) == pytest.approx(
        (1e-6, 2e-7, 3e-10), rel=1e-6
    )


def test_summary_of_limits():
    table = wire.summarise_limits([1448, 1449], [1e9, 10e9], [1e6])
    assert table["limit"].drop_duplicates().tolist() == ["1 Gbit/s", "10 Gbit/s", "1 Mpps"]
    assert table["throughput_rps"].tolist()[-2:] == [1e6, 5e5]
    assert table["throughput_rps"].iloc[2] == pytest.approx(812743, abs=1)  # RFC 5180, appendix A.1


def test_missing_passes_through():
    assert math.isnan(wire.smallest_payload_bytes(math.nan, 1e-6))
    assert math.isnan(wire.link_limit_rps(10e9, math.nan))


def test_mix_gives_the_wanted_share_of_full_packets():
    for wanted in (0, 0.1, 0.5, 0.75, 1):
        mix = wire.summarise_mix(wanted, small_bytes=216, header_bytes=216)
        assert mix["responses_ratio"].sum() == pytest.approx(1)
        full, small = ((mix["responses_ratio"] * mix[kind]).sum() for kind in ("full", "small"))
        assert full / (full + small) == pytest.approx(wanted)
        assert (mix["segments"] == mix["full"] + mix["small"]).all()


@given(st.floats(0, 1), st.integers(216, 1447))
def test_mix_is_made_of_the_packets_it_names(wanted, small):
    mix = wire.summarise_mix(wanted, small, 216)
    assert (mix["payload_bytes"] == 1448 * mix["full"] + small * mix["small"]).all()
    assert mix["responses_ratio"].between(0, 1).all()


test_rules = refuses(
    (lambda: wire.link_limit_rps(0, 1), "link_bps must be > 0"),
    (lambda: wire.link_limit_rps(1, 0), "carried_bytes must be > 0"),
    (lambda: wire.packet_limit_rps(1, 1, others=-1), "others must be >= 0"),
    (lambda: wire.server_limit_rps(0, 0, 0, 1), "byte_s T must be > 0"),
    (lambda: wire.server_costs_s([216, 832, 1448], [3, 2, 1]), "payload_bytes must be of one and of two segments"),
    (lambda: wire.server_costs_s([216, 832], [3, 2]), "payload_bytes must be three or more known sizes"),
    (lambda: wire.smallest_payload_bytes(10e9, 1, byte_s=1e-9), "byte_s must be < 8 / link_bps"),
    (lambda: wire.summarise_mix(1.1, 216, 216), "full_ratio must be 0 <= full_ratio <= 1"),
    (lambda: wire.summarise_mix(0.5, 100, 216), "small_bytes must be header_bytes <= small_bytes < 1448"),
    (lambda: wire.summarise_consistency(1, 1, 1, 1, 1, 2), "tolerance_ratio must be 0 <= tolerance_ratio <= 1"),
)
