"""httperf: what its source says, as properties; its traps."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadcurve.ingest.load.httperf import parse_httperf

TEXT = (Path(__file__).parents[2] / "data/httperf/errors.txt").read_text()


@example(requests=117, lost=1, bad=0, seconds=1.0625, response=1.0)
@given(
    requests=st.integers(1, 10**7),
    lost=st.integers(0, 10**5),
    bad=st.integers(0, 10**5),
    seconds=st.floats(1, 1e4),
    response=st.floats(0.1, 1e4),
)
def test_reports_that_httperf_can_write_are_read(requests, lost, bad, seconds, response):
    replies = max(requests - lost, 1)
    bad = min(bad, replies)
    rate = requests / seconds
    text = (
        f"Total: connections 10 requests {requests} replies {replies} test-duration {seconds:.3f} s\n\n"
        f"Request rate: {rate:.1f} req/s ({1000 / rate:.1f} ms/req)\n"
        f"Reply time [ms]: response {response:.1f} transfer 0.0\n"
        f"Reply status: 1xx=0 2xx={replies - bad} 3xx=0 4xx={bad} 5xx=0\n"
    )
    parsed = parse_httperf(text)
    run = parsed.tables["runs"].iloc[0]
    assert parsed.warnings == ()
    assert (run.requests, run.requests_started, run.errors_status) == (replies, requests, bad)
    assert run.throughput_rps == pytest.approx(replies / seconds, abs=0.051)
    assert run.latency_mean_s == pytest.approx(response / 1000, abs=0.000051)


@pytest.mark.parametrize(("replies", "requests", "rate"), [(74, 169, "2.8"), (9, 9, "0.1")])
def test_the_throughput_of_a_slow_run_is_not_taken_from_a_rounded_rate(replies, requests, rate):
    text = f"Total: connections 10 requests {requests} replies {replies} test-duration 60.984 s\n\n"
    text += f"Request rate: {rate} req/s (360.9 ms/req)\nSession: avg 1.00 connections/session\n"
    parsed = parse_httperf(text)
    assert parsed.warnings == ()
    assert parsed.tables["runs"].throughput_rps[0] == pytest.approx(replies / 60.984, rel=1e-9)


def test_what_was_asked_for_is_told_by_the_command():
    command = "httperf --client=0/1 --server=h --port=80 --uri=/ --rate=1000 --num-conns=2000 --num-calls=5\n"
    assert parse_httperf(command + TEXT).tables["runs"].target_rate_rps[0] == 5000
    assert parse_httperf(command.replace(" --num-calls=5", "") + TEXT).tables["runs"].target_rate_rps[0] == 1000
    assert "target_rate_rps" not in parse_httperf(TEXT).tables["runs"]


def test_nothing_answered_is_a_failed_run():
    text = "Total: connections 50 requests 0 replies 0 test-duration 0.010 s\n\nRequest rate: 0.0 req/s (0.0 ms/req)\n"
    text += "Reply status: 1xx=0 2xx=0 3xx=0 4xx=0 5xx=0\n"
    text += "Errors: total 50 client-timo 0 socket-timo 0 connrefused 50 connreset 0\n"
    text += "Connection time [ms]: min 0.0 avg 0.0 max 0.0 median 0.0 stddev 0.0\nConnection time [ms]: connect 500.4\n"
    text += "Reply time [ms]: response 0.0 transfer 0.0\n"
    tables = parse_httperf(text).tables
    assert tables["phases"][["phase", "mean_s"]].values.tolist() == [["connect", 0.5004]]
    run = tables["runs"].iloc[0]
    assert (run.status, run.throughput_rps, run.errors_connect) == ("failed", 0, 50)
    assert "latency_mean_s" not in run


def test_counts_that_contradict_each_other_are_named():
    assert "575319 replies, but 575318 have a status" in parse_httperf(TEXT.replace("=175849", "=175848")).warnings[0]
