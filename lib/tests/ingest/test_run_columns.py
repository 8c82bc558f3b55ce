"""Columns that the record of a run adds to the tables of its files."""

import pandas as pd
import pytest

from loadcurve.ingest.run_columns import complete
from loadcurve.study import Command, Run

START = pd.Timestamp("2026-11-23T00:00:00Z")
SAMPLES = pd.DataFrame(
    {
        "interface": ["eth0", "lo"],
        "received_bytes_per_s": [1e6, 5e6],
        "transmitted_bytes_per_s": [12e6, 5e6],
        "utilisation_ratio": [0.0096, 0.004],
    }
)


@pytest.mark.parametrize(
    ("queues", "ratio"),
    [
        (["tbf rate 12500000 burst 15000 lat 50000"], 0.96),  # 12 MB/s of 100 Mbit/s
        (["netem delay 0.01", "tbf rate 125000000 burst 150000"], 0.096),
        (["noqueue"], 0.0096),  # as sar printed it, of the nominal 10 Gbit/s
        (["tbf rate 0"], 0.0096),
        ([], 0.0096),
    ],
)
def test_a_link_is_used_by_the_share_of_its_rate_limit(queues, ratio):
    assert share(queues, "") == pytest.approx([ratio, 0.004])


def test_a_veth_without_a_limit_has_no_speed():
    assert share(["noqueue"], "veth") == pytest.approx([float("nan"), 0.004], nan_ok=True)
    assert share(["tbf rate 12500000"], "veth") == pytest.approx([0.96, 0.004])


def share(queues, kind):
    machine = {"hosts": {"S1": {"interfaces": {"eth0": {"qdiscs": queues, "kind": kind}, "lo": {}}}}}
    run = Run("s", "r1", "finished", {}, machine)
    sar = Command("collector", "sar", ("sar", "1"), "S1.sar.txt", "", 9.0, host="S1")
    found = complete("network", SAMPLES, run, sar, "S1.sar.txt", START, None)
    return found["utilisation_ratio"].tolist()


@pytest.mark.parametrize(("shares", "units"), [({}, None), ({"S1": 1.0}, 1), ({"S1": 0.5, "S2": 0.5}, 2)])
def test_servers_behind_a_balancer_are_units(shares, units):
    run = Run("s", "r1", "finished", {"expected_shares": shares} if shares else {}, {})
    wrk = Command("generator", "wrk", ("wrk",), "C1.wrk.txt", "", 9.0, host="C1", started_at=str(START))
    rows = complete("runs", pd.DataFrame({"throughput_rps": [100.0]}), run, wrk, "C1.wrk.txt", START, 0)
    assert rows.get("server_units", pd.Series([None])).tolist() == [units]
