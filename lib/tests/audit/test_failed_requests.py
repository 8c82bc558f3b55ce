import pandas as pd
import pytest

from loadcurve.audit.rules.failed_requests import RULE
from loadcurve.tables import check


def finding(**run):
    runs = pd.DataFrame([{"study": "s", "run_id": "r", "status": "finished", **run}])
    return RULE.audit({"runs": check("runs", runs)}).iloc[0]


@pytest.mark.parametrize(
    ("failed", "severity"), [(0, "ok"), (10, "ok"), (11, "warning"), (100, "warning"), (101, "error"), (1000, "error")]
)
def test_thresholds(failed, severity):
    found = finding(requests=1000, errors_status=failed)
    assert (found["severity"], found["observed"]) == (severity, failed / 1000)
    assert bool(found["advice"]) == (severity != "ok")


def test_the_causes_are_named_and_goodput_is_reported():
    found = finding(requests=1000, errors_status=30, errors_timeout=20, throughput_rps=100.0, goodput_rps=97.0)
    assert found["evidence"].startswith(
        "5.00 % of the requests failed (1000 responses): 30 responses with an error status, 20 timeouts"
    )
    assert "goodput 97.0 of 100.0 requests/s" in found["evidence"]
    assert "error log" in found["advice"] and "timeout" in found["advice"]


def test_what_ended_in_a_socket_error_is_no_response_of_wrk():
    """The published run with 30,000 connections: 39,021 responses, 298,852 failed reads and 16 failed writes."""
    run = {"requests": 39021, "errors_read": 298852, "errors_write": 16, "errors_timeout": 3115}
    assert finding(tool="wrk", **run)["observed"] == pytest.approx((298852 + 16 + 3115) / (39021 + 298852 + 16))


def test_connections_that_failed_to_open_are_no_requests():
    assert finding(requests=1000, errors_status=0, errors_connect=500)["severity"] == "ok"


def test_without_counts_nothing_is_checked():
    assert finding(throughput_rps=10.0)["severity"] == "unchecked"
    assert finding(requests=100)["severity"] == "unchecked"
