"""Case study 53, two sockets behind LVS: what the hand check of the report found, from its tracked data."""

import numpy as np
import pytest

from loadcurve import read_published
from loadcurve.models import capacity, little_latency_s

SOURCE = "scale_out_lvs"


@pytest.fixture
def rates():
    return read_published(SOURCE, "rates").set_index("case")["throughput_rps"]


@pytest.fixture
def loads():
    """Both generators in the order of the script, with what they printed."""
    loads = read_published(SOURCE, "loads")
    loads["port"] = loads["url"].str.extract(r":(\d+)$").astype(float)
    return loads.merge(read_published(SOURCE, "rates")[["port", "throughput_rps"]], on="port")


def test_the_sum_is_that_of_both_rates(rates):
    # 33.2 + 32.7 = 65.9, in ten thousand requests per second.
    assert rates["weighttp 1"] / 1e4 == pytest.approx(33.2, abs=0.05)
    assert rates["weighttp 2"] / 1e4 == pytest.approx(32.7, abs=0.05)
    assert (rates["weighttp 1"] + rates["weighttp 2"]) / 1e4 == pytest.approx(65.9, abs=0.05)
    assert rates["both"] / 1e4 == pytest.approx(65.9, abs=0.05)


def test_efficiency_against_a_lower_bound(rates):
    # 65.9 / (2 × 30) = 1.10.
    scale = capacity.summarise_scale_out(
        [1, 2], [rates["untuned, one socket"], rates["both"]], baseline_is_lower_bound=True
    )
    row = scale.set_index("units").loc[2]
    assert row["efficiency_ratio"] == pytest.approx(1.10, abs=0.005)
    assert np.isnan(row["efficiency_lo"])
    assert "the baseline is a lower bound" in row["warnings"]


def test_projection_is_an_interval_from_nothing_gained(rates):
    # Upper: 65.9 + (n − 2) (65.9 − 30) = 137.7 and 281.3 ten thousand.
    bounds = capacity.summarise_projection(
        [1, 2], [rates["untuned, one socket"], rates["both"]], [4, 8], baseline_is_lower_bound=True
    )
    assert (bounds["lo"] / 1e4).tolist() == pytest.approx([65.9, 65.9])
    assert (bounds["hi"] / 1e4).tolist() == pytest.approx([137.7, 281.3])
    assert bounds["throughput_rps"].isna().all()


def test_length_of_a_run_and_response_time(loads):
    # 3,000,000 / 332,000 = 9.04 s and 4096 / 332,000 = 12.3 ms; 9.17 s and 12.5 ms for the slower.
    assert (loads["requests"] / loads["throughput_rps"]).tolist() == pytest.approx([9.174, 9.036], abs=1e-3)
    latency = little_latency_s(loads["connections"], loads["throughput_rps"])
    assert latency.tolist() == pytest.approx([0.012526, 0.012337], abs=1e-6)


def test_started_at_once_the_sum_is_right_within_one_percent(loads):
    # 6,000,000 requests in 9.174 s are 654,000/s; 1 s later 10.036 s and 597,800/s; one after the other about half.
    rows = capacity.summarise_overlap(loads["requests"], loads["throughput_rps"], [0, 1, 10])
    assert rows["lo_rps"].tolist() == pytest.approx([654_000, 597_840, 329_481], rel=1e-4)
    assert rows["overstated_ratio"].iloc[0] < 0.01


def test_each_address_leads_to_one_socket():
    flows = read_published(SOURCE, "flows")
    assert (flows.groupby("target")["target_after_nat"].nunique() == 1).all()
    assert flows["target"].nunique() == flows["target_after_nat"].nunique() == 2
