from pathlib import Path

import pandas as pd
import pytest
from examined import examiner

import loadcurve
from loadcurve.tables import check
from loadcurve.tables.schemas.failures import count_failures, error_ratio

DATA = Path(__file__).parents[1] / "data"


def finding(**run):
    return examiner()("failed-requests", run).iloc[0]


@pytest.mark.parametrize(
    ("failed", "severity"), [(0, "ok"), (10, "ok"), (11, "warning"), (100, "warning"), (101, "error"), (1000, "error")]
)
def test_thresholds(failed, severity):
    found = finding(requests=1000, errors_status=failed)
    assert (found["severity"], found["observed"]) == (severity, failed / 1000)
    assert bool(found["advice"]) == (severity != "ok")


def test_the_causes_are_named_and_goodput_is_reported():
    run = {"tool": "wrk", "requests": 1000, "errors_status": 30, "errors_timeout": 20, "throughput_rps": 100.0}
    found = finding(**run)
    assert found["evidence"].startswith(
        "5.00 % of 1000 requests failed (1000 responses): 30 responses with an error status, 20 timeouts"
    )
    assert "goodput 95.0 of 100.0 requests/s" in found["evidence"]
    assert "error log" in found["advice"] and "timeout" in found["advice"]


TOOLS = [
    # The published run with 30,000 connections: 39,021 responses, 298,852 failed reads and 16 failed writes.
    ("wrk", {"requests": 39021, "errors_read": 298852, "errors_write": 16, "errors_timeout": 3115}, 301983 / 337889),
    ("wrk", {"requests": 60, "errors_timeout": 40, "errors_status": 30}, 1.0),  # a late 404 is no more than one
    ("wrk", {"requests": 0, "connections": 8, "errors_read": 0}, 1.0),  # nobody was answered
    # check_timeouts of wrk2, and of wrk before 4.0, counts a waiting connection again every 2 s.
    ("wrk2", {"requests": 60, "errors_timeout": 40}, 0.4),
    ("wrk2", {"requests": 60, "errors_timeout": 400, "duration_s": 20.0}, 0.4),
    ("wrk", {"requests": 1776, "errors_timeout": 1848, "duration_s": 10.0}, 369.6 / 2145.6),
    # ab -r -n 2000 before a server that reset each fourth connection, and error pages of another length.
    ("ab", {"requests": 2000, "errors_read": 500, "errors_exception": 500, "errors_length": 500}, 0.25),
    ("ab", {"requests": 200, "errors_status": 53, "errors_length": 53, "requests_failed": 53}, 0.265),
    ("ab", {"requests": 200, "errors_status": 0, "received_bytes": 0.0}, 1.0),  # closed without a byte
    # src/client.c of weighttp 0.4: each that ended is done, each done one succeeded or failed; 4xx and 5xx failed.
    ("weighttp", {"requests": 100, "requests_failed": 30, "errors_status": 20, "errors_other": 0}, 0.3),
    ("weighttp", {"requests": 100000, "requests_succeeded": 1255, "requests_failed": 98745}, 0.98745),
    ("h2load", {"requests": 75, "requests_failed": 40, "errors_status": 15, "errors_other": 25}, 0.4),
    ("hey", {"requests": 150, "requests_failed": 50, "errors_status": 0, "errors_connect": 50}, 0.25),
    ("oha", {"requests": 75, "requests_failed": 25, "errors_status": 0, "errors_connect": 25}, 0.25),
    ("vegeta", {"requests": 394, "requests_failed": 14606, "errors_other": 14606}, 14606 / 15000),
    ("k6", {"requests": 400, "requests_failed": 100}, 0.25),
    ("fortio", {"requests": 95, "requests_failed": 25, "requests_succeeded": 75, "errors_other": 5}, 0.25),
    # src/browser.c of siege: hits hold 4xx; a status from 500 on and a failed socket are counted apart.
    ("siege", {"requests": 626, "requests_succeeded": 600, "requests_failed": 1123}, 1149 / 1749),
    ("ghz", {"requests": 2000, "requests_failed": 4, "errors_read": 4}, 0.002),
    (None, {"requests": 90, "errors_status": 15, "errors_read": 10}, 0.25),  # as the columns are defined
    (None, {"requests": 100, "requests_failed": 5}, 0.05),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "run", "share"), TOOLS)
def test_each_tool_counts_its_errors_in_its_own_way(tool, run, share):
    assert error_ratio(pd.DataFrame([{"tool": tool, **run}])).tolist() == [pytest.approx(share)]
    found = finding(tool=tool, **run)
    assert found["observed"] == pytest.approx(share)
    assert found["severity"] == ("error" if share > 0.1 else "warning" if share > 0.01 else "ok")


def test_runs_of_several_tools_are_counted_row_by_row():
    runs = pd.DataFrame([{"tool": tool, **run} for tool, run, _ in TOOLS], index=[0] * len(TOOLS))
    assert error_ratio(runs).tolist() == pytest.approx([share for *_, share in TOOLS])
    two = pd.DataFrame([{"tool": "wrk", "requests": 0, "connections": 8}, {"tool": "wrk", "requests": 72}])
    two["errors_status"] = 0
    assert count_failures(two).sum().tolist() == [8, 80]


def test_goodput_of_every_report_leaves_out_what_failed():
    folders = "ab weighttp hey oha h2load wrk wrk2 vegeta k6 fortio gatling jmeter"
    for folder in folders.split():
        for path in sorted((DATA / folder).glob("*.txt")):
            read = loadcurve.read(path).tables
            runs = check("runs", read["runs"] if "runs" in read else pd.DataFrame(), extra=True)
            runs = runs[runs["goodput_rps"].notna() & (runs["requests"] > 0)]
            counts = count_failures(runs)
            good = runs["throughput_rps"] * (counts["sent"] - counts["failed"]) / runs["requests"]
            assert runs["goodput_rps"].tolist() == pytest.approx(good.tolist(), rel=0.01), path


def test_pages_of_another_length_are_a_warning_and_no_failure():
    found = finding(tool="ab", requests=1000, errors_status=0, errors_length=900, requests_failed=900)
    assert found["severity"] == "warning" and "ab -l" in found["advice"]
    assert found["evidence"] == "90.0 % of 1000 responses had another length than the first."


def test_connections_that_failed_to_open_are_no_requests():
    assert finding(requests=1000, errors_status=0, errors_connect=500)["severity"] == "ok"


def test_without_counts_nothing_is_checked():
    assert finding(throughput_rps=10.0)["severity"] == "unchecked"
    assert finding(requests=100)["severity"] == "unchecked"
