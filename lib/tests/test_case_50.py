"""The report of nginx on 10 Gigabit Ethernet against physics: library and tracked data give the numbers of its page.

Expected numbers were recomputed by hand from the printed ones, apart from this library.
"""

import math

import pandas as pd
import pytest

from loadcurve import read_published, read_table
from loadcurve.models import saturation_throughput_rps, service_demand_s, wire
from loadcurve.study import Study
from validation.reruns import rerun_10gbe, rerun_of_paths


@pytest.fixture(scope="module")
def rates():
    return read_published("nginx_10gbe", "rates")


def test_without_tcp_nopush_header_and_body_are_two_segments(rates):
    off = rates[(rates["test"] == 4) & (rates["condition"] == "off")]
    took = off["sent_bytes_per_s"] / off["throughput_rps"]
    assert took.to_numpy() == pytest.approx(wire.frame_bytes(1448 - 1232) + wire.frame_bytes(1232), rel=0.002)


def test_rate_of_a_fully_busy_machine(rates):
    """The log costs three quarters of the rate, and a quarter of what the same processors could do."""
    log = rates[rates["case"] == "access_log"].set_index("condition")
    busy = log[["cpu_user_ratio", "cpu_system_ratio", "cpu_irq_ratio"]].sum(axis=1).round(6)
    full = saturation_throughput_rps(service_demand_s(log["throughput_rps"], busy))
    assert log["throughput_rps"]["on"] / log["throughput_rps"]["off"] - 1 == pytest.approx(-0.740, abs=0.001)
    # 180148 / (8.966 + 21.337 + 4.483) % against 691614 / 100 %
    assert full[1] / full[0] - 1 == pytest.approx(180148 / 0.34786 / 691614 - 1, rel=1e-6)


def test_the_rerun_has_the_step_at_one_full_segment():
    """1298 bytes of body and 150 of header are the 1448 bytes of a segment; the labels name every recorded setting."""
    runs = read_table("runs", "response_sizes")
    sized = rerun_10gbe.add_bodies(runs, read_table("factors", "response_sizes"))
    assert sized.groupby("body_bytes")["payload_bytes"].unique().map(list).to_dict() == {
        0: [147], 616: [765], 1233: [1383], 1298: [1448], 1299: [1449], 2590: [2740],
    }  # fmt: skip
    compared = rerun_10gbe.compare_sizes(sized)
    model = compared.groupby("variant")["model_rps"].first()
    assert model["reno_1299"] < 0.85 * model["reno_1298"] and model.isna().sum() == 6
    assert compared["setting"].iloc[0] == "reno, 0 B"


@pytest.mark.parametrize(
    ("study", "labels"),
    [
        ("nginx_settings", rerun_10gbe.LOG | rerun_10gbe.SETTINGS),
        ("nginx_proxy", rerun_10gbe.PROXY),
        ("other_servers", rerun_10gbe.SERVERS),
        ("server_addresses", rerun_10gbe.PORTS),
        ("nginx_names", rerun_10gbe.NAMES),
        ("nginx_nopush", rerun_10gbe.NOPUSH),
        ("lossy_path", rerun_of_paths.SHORT | rerun_of_paths.LONG),
    ],
)
def test_every_recorded_setting_of_the_rerun_has_a_label(study, labels):
    assert set(read_table("runs", study)["variant"]) == set(labels)


def test_the_size_of_a_server_that_waits_is_arithmetic():
    """100 / 40 ms are 2500/s: 90 % of 50 Mbit/s are 2250 bytes each, less two headers of 66 and one of 150."""
    trials = pd.DataFrame({"payload_bytes": [766.0, 2150.0], "body_bytes": [616.0, 2000.0]})
    assert rerun_10gbe.predict_size(trials, 50e6, 0.9, 2500) == {"header_bytes": 150, "body_bytes": 1968}
    limits = rerun_10gbe.limits_of_search(trials, 50e6, 2500).set_index("limit")
    link = limits.loc["50 Mbit/s"]
    at = link["payload_bytes"].sub(2118).abs() < 1
    assert link.loc[at, "throughput_rps"].mean() == pytest.approx(50e6 / 8 / 2250, rel=1e-3)
    wait, search = {"nginx": {"response": {"delay": {"delay_ms": 40}}}}, {"saturating_size": {"tolerance_ratio": 0.1}}
    load, links = {"connections": 100}, {"S1": {"rate_bps": 50e6}}
    study = Study("size", "Which?", server=wait, search=search, load=load, links=links)
    answer, trials["throughput_rps"] = pd.Series({"lower": 1950.0, "upper": 1988.0}), [2250.0, 2250.0]
    numbers = rerun_10gbe.numbers_of_search(trials, answer, study)
    assert (numbers["predicted_size"], numbers["by_rate_size"]) == (1968, 2218)  # 2500 bytes each at 2250/s
    assert (numbers["size_miss_ratio"].lo, numbers["size_miss_ratio"].hi) == pytest.approx((-18 / 1968, 20 / 1968))


def test_the_models_of_lost_packets_stand_beside_the_runs():
    """64 connections / (20 ms + 2 x 220 ms x 1 % / 98 %); four windows of sqrt(1.5 / 4 %) segments each 20 ms."""
    rates = {"clean": 2e5, "lossy": 1e4, "delayed": 3200.0, "delayed_lossy": 2600.0} | dict.fromkeys(
        rerun_of_paths.LONG, 2.0
    )
    runs = pd.DataFrame({"variant": list(rates), "throughput_rps": list(rates.values()), "received_bytes_per_s": 2e6})
    short = rerun_of_paths.compare_exchanges(runs).set_index("variant")["model_rps"]
    assert short["delayed_lossy"] == pytest.approx(64 / (0.02 + 2 * 0.22 * 0.01 / 0.98)) and short.isna().sum() == 2
    long = rerun_of_paths.compare_transfers(runs, 0.02).set_index("variant")
    assert long.loc["reno_4", "model_rps"] == pytest.approx(4 * 1448 * (1.5 / 0.04) ** 0.5 / 0.02 / 1e6)
    assert long["throughput_rps"].unique().tolist() == [2.0] and math.isnan(long.loc["bbr_1", "model_rps"])
    miss = rerun_of_paths.misses_of_model(long.reset_index())
    assert miss["reno_4"].value == pytest.approx(2 / long.loc["reno_4", "model_rps"] - 1) and "bbr_1" not in miss


def test_a_mix_of_equally_many_responses_has_the_harmonic_mean():
    runs = pd.DataFrame({"variant": ["log_off", "text_2590"], "throughput_rps": [200.0, 100.0]})
    assert rerun_10gbe.mixed_rate_rps(runs) == pytest.approx(400 / 3)
