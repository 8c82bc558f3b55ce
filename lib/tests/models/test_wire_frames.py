import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import wire

HEADER = 216
wires = st.builds(
    wire.Wire,
    mtu_bytes=st.integers(576, 65535),
    timestamps=st.booleans(),
    ip_header_bytes=st.sampled_from([20, 40]),
    link_header_bytes=st.sampled_from([14, 18]),
)
payloads = st.integers(1, 10**7)


def test_sizes_of_ethernet_and_tcp():
    # RFC 6691: MSS 1460 at an MTU of 1500; with time stamps (RFC 7323, appendix A) a segment carries 12 bytes less.
    assert wire.ETHERNET.mss_bytes == 1460
    assert wire.ETHERNET.segment_bytes == 1448
    # The frame of a SYN with Linux's options, and of a pure ACK, as any capture shows them.
    assert (wire.ETHERNET.syn_bytes, wire.ETHERNET.overhead_bytes) == (74, 66)
    assert (wire.Wire(timestamps=False).syn_bytes, wire.Wire(timestamps=False).overhead_bytes) == (66, 54)


def test_bytes_on_the_medium_by_rfc_5180():
    # RFC 5180, appendix A.1: frames of 64, 128, 512, 1024 and 1518 bytes (with check sequence) at 10 Gbit/s.
    plain = wire.Wire(timestamps=False)
    sizes = np.array([64, 128, 512, 1024, 1518]) - 4 - plain.overhead_bytes
    rates = wire.link_limit_rps(10e9, wire.medium_bytes(sizes, plain))
    assert np.floor(rates) == pytest.approx([14_880_952, 8_445_945, 2_349_624, 1_197_318, 812_743])


def test_goodput_of_full_segments():
    # 1460 of 1538 bytes are payload: 94.93 % (blog.a2o.si, 2015-06-26); with time stamps the 941 Mbit/s of iperf.
    assert 1460 / wire.medium_bytes(1460, wire.Wire(timestamps=False)) == pytest.approx(0.9493, abs=5e-5)
    assert 1e3 * 1448 / wire.medium_bytes(1448) == pytest.approx(941, abs=0.5)


def test_an_empty_frame_is_padded():
    # IEEE 802.3: the shortest frame takes 84 bytes of the medium; a pure ACK without time stamps has 54 of 60.
    assert wire.Wire(timestamps=False).empty_medium_bytes(54) == 84
    assert wire.ETHERNET.empty_medium_bytes(66) == 90


def test_one_byte_more_is_one_segment_more():
    # Document 000: 1232 bytes of body fill one segment, 1233 need a second.
    payload = wire.message_bytes([1232, 1233], HEADER)
    assert wire.segments(payload).tolist() == [1, 2]
    assert np.diff(wire.frame_bytes(payload)) == 1 + 66
    assert np.diff(wire.medium_bytes(payload)) == 1 + 90


def test_tls_records():
    # RFC 8446, section 5: records of up to 2^14 bytes, each with 22 bytes of header, type and tag.
    assert wire.message_bytes([2**14, 2**14 + 1], 0, tls_overhead_bytes=22).tolist() == [16406, 16429]
    assert wire.message_bytes(5, 3) == 8


@given(payloads, wires)
def test_segments_hold_the_payload_and_no_fewer_do(payload, on):
    number = wire.segments(payload, on)
    assert (number - 1) * on.segment_bytes < payload <= number * on.segment_bytes


@given(payloads, wires)
def test_bytes_grow_with_size_and_from_layer_to_layer(payload, on):
    assert payload < wire.frame_bytes(payload, on) < wire.medium_bytes(payload, on)
    assert wire.frame_bytes(payload + 1, on) > wire.frame_bytes(payload, on)
    assert wire.medium_bytes(payload + 1, on) > wire.medium_bytes(payload, on)


@given(st.integers(1, 1000), wires)
def test_steps_stand_at_multiples_of_a_segment_and_nowhere_else(number, on):
    edge = number * on.segment_bytes
    sizes = np.array([edge - 1, edge, edge + 1, edge + 2])
    step = on.overhead_bytes + on.medium_overhead_bytes
    assert np.diff(wire.medium_bytes(sizes, on)).tolist() == [1, 1 + step, 1]


def test_summary_agrees_with_its_functions():
    table = wire.summarise_responses([0, 1232, math.nan], HEADER)
    assert table["payload_bytes"].tolist()[:2] == [216, 1448]
    assert table["body_ratio"].tolist()[:2] == pytest.approx([0, 1232 / 1538])
    assert table.iloc[2].drop("header_bytes").isna().all()
    assert wire.summarise_responses([[0], [1]], [100, 200]).shape[0] == 4


def test_missing_passes_through():
    assert math.isnan(wire.segments(math.nan)) and math.isnan(wire.medium_bytes(math.nan))


test_rules = refuses(
    (lambda: wire.segments(-1), "payload_bytes must be >= 0"),
    (lambda: wire.message_bytes(-1, 0), "response_bytes must be >= 0"),
    (lambda: wire.message_bytes(0, 0, -1), "tls_overhead_bytes must be >= 0"),
    (lambda: wire.Wire(mtu_bytes=100), "mtu_bytes must be 576 <= mtu_bytes <= 65535"),
    (lambda: wire.Wire(link_header_bytes=-1), "link_header_bytes must be >= 0"),
)
