"""The wire model against "Nginx 万兆网络环境测试": bytes per request, the link, and the 2590 bytes found by trial."""

import numpy as np
import pytest

from loadcurve.models import wire

MIB, LINK, HEADER = 2**20, 10e9, 1448 - 1232  # "1232 bytes fill one TCP packet with the header"

# Test 2, web server: body, requests/s, "MBps" (MiB/s), observed bytes/request, those of the model by hand, 10 GbE used.
TEST_2 = [
    (0, 691614, 187.408, 284.1, 282, 0.169),
    (616, 586296, 459.435, 821.7, 898, 0.43),
    (1232, 579103, 838.146, 1517.6, 1514, 0.713),
    (1233, 513099, 772.826, 1579.4, 1581, 0.669),
    (2590, 418226, 1173.760, 2942.9, 2938, 0.999),
]
# Test 5, proxy with keep-alive to the servers.
TEST_5 = [
    (0, 392406, 165.185),
    (1232, 369582, 588.209),
    (2590, 296866, 898.885),
    (10 * 1024, 118163, 1167.280),
    (1232, 370590, 588.422),
    (2590, 297289, 897.755),
    (10 * 1024, 118033, 1168.160),
    (100 * 1024, 11388, 1168.890),
]


def of_test_2():
    body, throughput, mib, *_ = np.array(TEST_2).T
    model = wire.summarise_responses(body, HEADER)
    return wire.summarise_consistency(throughput, mib * MIB, model["frame_bytes"], model["medium_bytes"], LINK)


def of_test_5(upstream_request_bytes=93, **how):
    body, throughput, mib = np.array(TEST_5).T
    response = wire.message_bytes(body, HEADER)
    legs = [wire.summarise_exchange(size, response, **how) for size in (93, upstream_request_bytes)]
    proxy = wire.summarise_proxy(*legs)
    model = proxy[proxy["port"] == "sent"].groupby("exchange")[["frame_bytes", "medium_bytes"]].sum()
    return wire.summarise_consistency(throughput, mib * MIB, model["frame_bytes"], model["medium_bytes"], LINK)


def test_test_2_by_hand():
    *_, observed, model, used = np.array(TEST_2).T
    table = of_test_2()
    assert table["model_bytes"].tolist() == model.tolist()
    assert table["observed_bytes"].to_numpy() == pytest.approx(observed, abs=0.06)
    assert table["link_used_ratio"].to_numpy() == pytest.approx(used, abs=3e-3)


def test_test_2_is_consistent_but_for_616_bytes():
    table = of_test_2()
    assert table["verdict"].tolist() == ["consistent", "inconsistent", "consistent", "consistent", "consistent"]
    assert table.loc[[0, 2, 3, 4], "deviation_ratio"].abs().max() < 0.01
    assert table.loc[1, "deviation_ratio"] == pytest.approx(-0.085, abs=5e-4)


def test_mbps_are_mebibytes():
    # As 10^6 bytes/s every row would lie 5 % below the model, and no row within 1 % of it.
    table = of_test_2()
    as_megabytes = table["observed_bytes"] * 1e6 / MIB / table["model_bytes"] - 1
    assert (as_megabytes.abs() > 0.03).all()


def test_the_empty_proxied_response_shows_the_upstream_request():
    # 441.4 bytes/request = 282 + about 159: 93 bytes of request in one frame.
    observed = 165.185 * MIB / 392406
    assert observed == pytest.approx(441.4, abs=0.05)
    assert observed - wire.frame_bytes(HEADER) == pytest.approx(159.4, abs=0.05)
    assert of_test_5().loc[0, "model_bytes"] == 282 + 93 + 66


def test_proxy_responses_of_100_kb():
    # 107628 observed, 107302 predicted for the response alone, 99.3 % of the link.
    payload = wire.message_bytes(100 * 1024, HEADER)
    assert wire.frame_bytes(payload) == 107302
    observed = 1168.890 * MIB / 11388
    assert observed == pytest.approx(107628, abs=0.5)
    assert observed == pytest.approx(wire.frame_bytes(payload), rel=0.01)
    assert wire.link_used_ratio(LINK, 11388, wire.medium_bytes(payload)) == pytest.approx(0.993, abs=5e-4)


def test_proxy_peak_of_10_kb_is_physically_impossible():
    # Responses alone need 103 to 106 % of the link, whether 10 KB are 10000 or 10240 bytes.
    for body, used in ((10_000, 1.034), (10_240, 1.056)):
        on_medium = wire.medium_bytes(wire.message_bytes(body, HEADER))
        assert wire.link_used_ratio(LINK, 118163, on_medium) == pytest.approx(used, abs=5e-4)


def test_proxy_rows_with_receive_offload_are_consistent_but_for_10_kb():
    table = of_test_5(segments_per_ack=wire.OFFLOADED_SEGMENTS)
    impossible = table["verdict"] == "above line rate"
    assert impossible.tolist() == [body == 10 * 1024 for body, *_ in TEST_5]
    assert (table.loc[~impossible, "verdict"] == "consistent").all()
    assert table.loc[~impossible, "deviation_ratio"].abs().max() < 0.006


def test_an_acknowledgement_for_every_second_segment_would_not_fit_the_link():
    # 100 KB: 35 acknowledgements to the server beside the response would pass the line rate.
    assert of_test_5().iloc[-1]["verdict"] == "above line rate"


def test_2590_bytes_follow_from_the_model():
    # At the rate that was measured with 2590 bytes, the link is full from 2593 bytes on: 0.1 % from the trial.
    found = wire.smallest_payload_bytes(LINK, 1 / 418226, least_bytes=HEADER) - HEADER
    assert found == pytest.approx(2590, rel=2e-3)
    # From 0, 1232 and 1233 bytes alone, as costs of a request, a segment and a byte: 9 % from it.
    body, throughput, *_ = np.array([TEST_2[0], TEST_2[2], TEST_2[3]]).T
    payload = wire.message_bytes(body, HEADER)
    costs = wire.server_costs_s(payload, throughput)
    assert min(costs) > 0
    assert wire.server_limit_rps(*costs, payload) == pytest.approx(throughput)
    forecast = wire.smallest_payload_bytes(LINK, *costs, least_bytes=HEADER) - HEADER
    assert forecast == pytest.approx(2590, rel=0.1)


def test_closing_each_upstream_connection_costs_what_test_6_shows():
    # Many domains: 185.632 MiB/s at 384513/s with keep-alive, 28.310 at 34879 without: 345 bytes more for a request.
    observed = 28.310 * MIB / 34879 - 185.632 * MIB / 384513
    kept = wire.summarise_exchange(93, HEADER)
    closed = wire.summarise_exchange(93, HEADER, requests_per_connection=1)
    extra = [table.loc[table["direction"] == "to_server", "frame_bytes"].sum() for table in (kept, closed)]
    assert extra[1] - extra[0] == 74 + 4 * 66
    assert extra[1] - extra[0] == pytest.approx(observed, rel=0.03)
