import math

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit.rules.effective_concurrency import RULE


def finding(**run):
    run = {"study": "s", "run_id": "r", "status": "finished", **run}
    return RULE.audit({"runs": tables.check("runs", pd.DataFrame([run]))}).iloc[0]


def test_document_001_asks_for_8000():
    # wrk -t1 -c8000, 1024 file descriptors: connect 6980, 20260.60 requests/s at 49.94 ms.
    found = finding(
        tool="wrk", threads=1, connections=8000, throughput_rps=20260.6, latency_mean_s=0.04994, errors_connect=6980
    )
    assert found["severity"] == "error"
    assert found["observed"] == pytest.approx(1011.8, abs=0.05)
    assert found["expected"] == 8000
    assert found["evidence"] == (
        "20260.6 × 49.94 ms = 1011.8 in flight; 8000 connections were requested, 6980 failed to open."
    )
    assert "ulimit -n" in found["advice"]
    assert "ip_local_port_range" in found["advice"]


def test_document_001_asks_for_30000():
    # wrk -t2 -c30000: 664 in flight; the connections opened, but 298852 reads failed and 3115 responses were late.
    found = finding(
        tool="wrk",
        threads=2,
        connections=30000,
        throughput_rps=1288.65,
        latency_mean_s=0.51529,
        errors_connect=0,
        errors_read=298852,
        errors_timeout=3115,
    )
    assert found["severity"] == "error"
    assert found["observed"] == pytest.approx(664, abs=0.5)
    assert "298852 read errors" in found["evidence"]
    assert "ulimit" not in found["advice"]
    assert "ss -s" in found["advice"]


def test_document_001_with_one_connection():
    found = finding(tool="wrk", threads=1, connections=1, throughput_rps=22.23, latency_mean_s=0.045)
    assert found["severity"] == "ok"
    assert found["evidence"] == "22.2 × 45.00 ms = 1.0 in flight; 1 connection was requested."
    assert found["advice"] == ""


def test_sample_without_file_descriptors():
    # Sample wrk/fdlimit-t2.out: 1000 asked for on 2 threads, connect 751, 125928.95 requests/s at 1.95 ms.
    found = finding(
        tool="wrk", threads=2, connections=1000, throughput_rps=125928.95, latency_mean_s=1.95e-3, errors_connect=751
    )
    assert found["severity"] == "error"
    assert found["observed"] == pytest.approx(1000 - 751, rel=0.02)


@pytest.mark.parametrize(
    ("ratio", "severity"),
    [(0, "error"), (0.49, "error"), (0.51, "warning"), (0.89, "warning"), (0.91, "ok"), (1, "ok"), (1.09, "ok"),
     (1.11, "warning"), (1.99, "warning"), (2.01, "error")],
)  # fmt: skip
def test_thresholds(ratio, severity):
    found = finding(connections=100, throughput_rps=ratio * 1000, latency_mean_s=0.1)
    assert found["severity"] == severity
    assert bool(found["advice"]) == (severity != "ok")


def test_more_than_asked_for_with_a_tool_that_corrects():
    # Sample wrk/sweep-616.txt-c16.txt: 125880.25 requests/s at 186.45 µs with 16 connections.
    run = {"tool": "wrk", "threads": 1, "connections": 16, "throughput_rps": 125880.25, "latency_mean_s": 186.45e-6}
    assert "coordinated omission" in finding(**run, latency_corrected=True)["advice"]
    assert "coordinated omission" not in finding(**run, latency_corrected=False)["advice"]
    assert "coordinated omission" not in finding(**run)["advice"]
    assert finding(**run)["severity"] == "warning"


def test_wrk_opens_equal_shares():
    found = finding(tool="wrk", threads=4, connections=7, throughput_rps=40, latency_mean_s=0.1)
    assert "wrk opens 4 of them on 4 threads" in found["evidence"]
    assert "multiple of the number of threads" in found["advice"]
    assert (
        "opens 4" not in finding(tool="ab", threads=4, connections=7, throughput_rps=40, latency_mean_s=0.1)["evidence"]
    )


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"connections": 8, "throughput_rps": 10.0}, "needs the mean response time"),
        ({"connections": 8, "throughput_rps": 10.0, "latency_mean_s": 0.0}, "the mean response time is 0, so no"),
        ({"throughput_rps": 10.0, "latency_mean_s": 0.1}, "needs the connections"),
        ({}, "needs the connections and the throughput and the mean response time"),
    ],
)
def test_a_missing_number_is_never_ok(run, words):
    found = finding(**run)
    assert found["severity"] == "unchecked"
    assert found["evidence"].startswith(f"Not checked: {words}")
    assert math.isnan(found["observed"])
    assert found["advice"]


def test_only_finished_runs_are_judged():
    runs = tables.check("runs", pd.DataFrame([{"study": "s", "run_id": "r", "status": "failed"}]))
    assert RULE.audit({"runs": runs}).empty


def test_too_few_in_flight_without_errors_points_at_wrks_clock():
    found = finding(tool="wrk", threads=1, connections=512, throughput_rps=94432.84, latency_mean_s=0.00379)
    assert found["severity"] == "warning"
    assert "leave out the time for which a connection waits for a busy wrk" in found["advice"]
    assert "R = N / X" in found["advice"]
