import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models import wire

payloads = st.integers(1, 10**6)


def total(table, column, **where):
    for name, value in where.items():
        table = table[table[name] == value]
    return table[column].sum()


def test_one_request_on_a_connection_of_its_own_takes_ten_frames():
    # SYN, SYN-ACK, ACK, request, response, its ACK, FIN, ACK, FIN, ACK: RFC 9293, sections 3.5 and 3.6.
    once = wire.summarise_exchange(100, 216, requests_per_connection=1)
    assert total(once, "frames") == 10
    assert total(once, "frames", direction="to_client") == 4
    assert total(once, "frame_bytes") == 2 * 74 + (100 + 66) + (216 + 66) + 6 * 66
    assert total(once, "medium_bytes") == total(once, "frame_bytes") + 10 * 24


def test_with_keep_alive_only_request_and_response_are_left():
    kept = wire.summarise_exchange(100, 216)
    assert total(kept, "frames") == 2
    assert total(kept, "frames", part="open") == total(kept, "frames", part="close") == 0


def test_acknowledgements_by_rfc_5681():
    # Section 4.2: at least every second full segment; a lone last one is acknowledged by the next request.
    assert wire.acknowledgements([0, 1, 2, 3, 4, 5]).tolist() == [0, 0, 1, 1, 2, 2]
    # Offload joins up to 45: 71 segments arrive as 45 and 26.
    assert wire.acknowledgements([1, 2, 45, 46, 47, 71], 45).tolist() == [0, 1, 1, 1, 2, 2]
    assert math.isnan(wire.acknowledgements(math.nan))


def test_without_timestamps_empty_frames_are_padded_on_the_medium():
    plain = wire.Wire(timestamps=False)
    closing = wire.summarise_exchange(100, 216, plain, requests_per_connection=1)
    assert total(closing, "frame_bytes", part="close") == 4 * 54
    assert total(closing, "medium_bytes", part="close") == 4 * 84


@pytest.mark.slow
@given(payloads, payloads, st.integers(1, 1000))
def test_keep_alive_shares_opening_and_closing(request_bytes, response_bytes, number):
    kept = wire.summarise_exchange(request_bytes, response_bytes)
    shared = wire.summarise_exchange(request_bytes, response_bytes, requests_per_connection=number)
    own = wire.summarise_exchange(request_bytes, response_bytes, requests_per_connection=1)
    for column in ("frames", "frame_bytes", "medium_bytes"):
        extra = total(own, column) - total(kept, column)
        assert number * (total(shared, column) - total(kept, column)) == pytest.approx(extra, abs=1e-6)


@pytest.mark.slow
@given(payloads, payloads)
def test_a_proxy_sends_and_receives_what_its_two_exchanges_do(request_bytes, response_bytes):
    legs = [wire.summarise_exchange(request_bytes + extra, response_bytes) for extra in (0, 10)]
    proxy = wire.summarise_proxy(*legs)
    for column in ("frames", "frame_bytes", "medium_bytes"):
        sent = total(legs[0], column, direction="to_client") + total(legs[1], column, direction="to_server")
        assert total(proxy, column, port="sent") == sent
        assert total(proxy, column) == sum(total(leg, column) for leg in legs)


def test_packets_by_what_is_counted():
    table = wire.summarise_packets(100, [216, 216, 3000])
    assert table["frames"].tolist() == [1, 1, 3, 2, 2, 5, 10, 10, 13]  # 3000: 3 + request + ACK of two; lone last + 7
    assert table["counted"].unique().tolist() == ["response", "with keep-alive", "own connection"]


def test_sizes_broadcast():
    table = wire.summarise_exchange(100, [216, 216, 3000])
    assert len(table) == 3 * 8
    assert table.loc[table["part"] == "response", "frames"].tolist() == [1, 1, 3]


test_rules = refuses(
    (lambda: wire.summarise_exchange(0, 1), "request_payload_bytes must be > 0"),
    (lambda: wire.summarise_exchange(1, 0), "response_payload_bytes must be > 0"),
    (lambda: wire.summarise_exchange(1, 1, requests_per_connection=0.5), "requests_per_connection must be >= 1"),
    (lambda: wire.summarise_exchange(1, 1, segments_per_ack=1), "segments_per_ack must be a whole number >= 2"),
)
