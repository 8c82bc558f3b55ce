"""What the case of the LVS acceptance test shows, from the library and the tracked data.

Expected numbers are those that the founders of this project recomputed by hand from the report, those that the report
prints, and published constants.
"""

import numpy as np
import pytest

from loadcurve import models, read_published, stats
from loadcurve.models import wire
from loadcurve.reading import read_published_raw

CLOSING_BYTES = len("Connection: keep-alive") - len("Connection: close")


@pytest.fixture(scope="module")
def blocks():
    outputs = read_published("lvs_acceptance", "outputs")
    found = outputs[outputs["raw"].str.startswith("rules_")].pivot_table("value", "raw", "quantity")
    return found.rename({"rules_none.ab.txt": "without", "rules_10000.ab.txt": "with"})


@pytest.fixture(scope="module")
def said():
    return read_published("lvs_acceptance", "prose").set_index("name")["value"]


@pytest.fixture(scope="module")
def traffic():
    keys = ["case", "direction", "quantity", "statistic"]
    return read_published("lvs_acceptance", "traffic").set_index(keys)["value"].sort_index()


def header_bytes(blocks):
    closed = blocks["requests"] - blocks["requests_keepalive"]
    return (blocks["received_bytes"] - blocks["received_body_bytes"] + CLOSING_BYTES * closed) / blocks["requests"]


def test_little_gives_the_printed_time(blocks):
    wait = models.little_latency_s(blocks["connections"], blocks["throughput_rps"])
    assert wait[list(blocks.index).index("without")] == pytest.approx(1.10608, abs=1e-5)
    assert wait == pytest.approx(blocks["time_per_request_s"].to_numpy(), rel=1e-6)
    assert blocks.loc["without", "time_per_request_s"] == 1.106074


def test_five_bytes_explain_every_byte(blocks):
    assert CLOSING_BYTES == 5
    assert header_bytes(blocks).tolist() == [231, 231]  # whole, and the same in both runs


def test_with_lvs_the_run_was_shorter_than_without():
    times = read_published("lvs_acceptance", "response_times").set_index("case")
    rate = times["requests"] / times["duration_s"]
    np.testing.assert_allclose(1 / rate, times["time_per_request_s"], atol=5e-7)  # the printed time is 1/X
    wait = models.little_latency_s(times["connections"], rate)
    assert wait.tolist() == pytest.approx([1.3198, 1.4474])
    far = np.log(rate["with LVS"] / rate["without LVS"]) / np.log(9040.98 / 8948.49)
    assert far == pytest.approx(9, abs=0.1)


def test_round_robin_dealt_in_turn():
    table = read_published_raw("lvs_acceptance", "round_robin.ipvsadm.txt").tables["balancer"]
    servers = table[table["kind"] == "server"]
    active, inactive = (servers[name].to_numpy(dtype=int) for name in ("active", "inactive"))
    assert (active + inactive).tolist() == [18129, 18129]
    found = [stats.summarise_fairness(counts).loc[0] for counts in (active, inactive, active + inactive)]
    # Σ (o − e)²/e by hand: 2 × 67²/3265 and 2 × 67²/14864.
    assert [one["chi_square"] for one in found] == pytest.approx([2.7498, 0.60401, 0], abs=5e-5)
    assert found[2]["verdict"] == "as even as round robin"


def test_bits_and_packets_of_small_answers(blocks, said, traffic):
    exchange = wire.summarise_exchange(106, said["small_response_bytes"] + header_bytes(blocks).iloc[0])
    one = exchange[["frames", "frame_bytes", "medium_bytes"]].sum()
    rate = wire.link_limit_rps(traffic["small", "in", "traffic", "mean"], one["frame_bytes"])
    assert rate * one["frames"] == pytest.approx(traffic["small", "in", "packets", "mean"], rel=0.05)
    assert wire.link_used_ratio(said["link_bps"], rate, one["medium_bytes"]) == pytest.approx(0.78, abs=0.01)


def test_bits_and_packets_of_large_answers(blocks, said, traffic):
    exchange = wire.summarise_exchange(106, said["large_response_bytes"] + header_bytes(blocks).iloc[0])
    ways = exchange.groupby("direction")[["frames", "frame_bytes", "medium_bytes"]].sum()
    rate = wire.link_limit_rps(traffic["large", "not stated", "traffic", "peak"], ways.loc["to_client", "frame_bytes"])
    assert rate * ways["frames"].sum() == pytest.approx(traffic["large", "both", "packets", "peak"], rel=0.02)
    used = wire.link_used_ratio(said["link_bps"], rate, ways.loc["to_client", "medium_bytes"])
    assert used == pytest.approx(0.81, abs=0.01)


def test_packets_are_far_from_the_rate_of_least_frames(said, traffic):
    most = wire.link_limit_rps(said["link_bps"], wire.ETHERNET.empty_medium_bytes(0))
    assert most == pytest.approx(1_488_095, abs=1)  # RFC 5180, appendix A.1: 64 bytes on Gigabit Ethernet
    assert traffic["small", "in", "packets", "peak"] / most == pytest.approx(0.1, abs=0.001)


def test_claims_and_points_of_the_plan_belong_together():
    claims, points = (read_published("lvs_acceptance", name) for name in ("claims", "acceptance_plan"))
    assert set(points["claim"]) - {""} <= set(claims["name"])
