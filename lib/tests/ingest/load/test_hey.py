"""hey's layout: what its source says, as properties; the traps of hey, boom, oha and ghz."""

import math
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refused_line

from loadcurve.ingest.load.hey import parse_hey, parse_hey_csv

DATA = Path(__file__).parents[2] / "data"
PLAIN = (DATA / "hey/plain.txt").read_text()
FLAKY = (DATA / "hey/flaky.txt").read_text()


def run_of(text):
    return parse_hey(text).tables["runs"].iloc[0]


@examples(150)
@given(
    seconds=st.floats(0.01, 1e5),
    good=st.integers(1, 10**6),
    bad=st.integers(0, 10**5),
    refused=st.integers(0, 10**4),
    latency=st.lists(st.floats(0, 100), min_size=10, max_size=10),
)
def test_reports_that_hey_can_write_are_read(seconds, good, bad, refused, latency):
    least, *quantiles, most = sorted(latency)
    mean = sum(latency) / 10
    lines = [
        "\nSummary:", f"  Total:\t{seconds:.4f} secs", f"  Slowest:\t{most:.4f} secs", f"  Fastest:\t{least:.4f} secs",
        f"  Average:\t{mean:.4f} secs", f"  Requests/sec:\t{(good + bad + refused) / seconds:.4f}", "  ",
        "Response time histogram:", f"  {least:.3f} [1]\t|", f"  {most:.3f} [{good + bad - 1}]\t|■■■", "",
        "Latency distribution:",
        *(f"  {p}% in {q:.4f} secs" for p, q in zip((10, 25, 50, 75, 90, 95, 99), quantiles, strict=False)), "",
        "Status code distribution:", f"  [200]\t{good} responses", *([f"  [503]\t{bad} responses"] if bad else []), "",
        *(["Error distribution:", f"  [{refused}]\tGet http://h/: EOF"] if refused else []), "", "",
    ]  # fmt: skip
    tables = parse_hey("\n".join(lines)).tables
    run = tables["runs"].iloc[0]
    assert (run.requests, run.requests_failed, run.errors_status) == (good + bad, refused, bad)
    if good + bad <= 10**6:
        assert run.throughput_rps == pytest.approx((good + bad) / seconds, rel=0.006, abs=0.0001)
        assert run.latency_mean_s == pytest.approx(mean, abs=0.000051)
    assert tables["latency"]["latency_s"].tolist() == pytest.approx(quantiles[:7], abs=0.000051)


def test_failed_requests_are_taken_off_the_rate():
    text = FLAKY.replace("200]\t144", "200]\t100").rstrip() + "\n\nError distribution:\n  [44]\tGet http://h/: EOF\n"
    run = run_of(text)
    assert run.throughput_rps == pytest.approx(99.9465 * 156 / 200)
    assert (run.requests, run.errors_read, run.requests_started) == (156, 44, 200)


def test_the_rate_of_old_versions_is_of_responses_already():
    text = (
        FLAKY.rstrip() + "\n\nError distribution:\n  [44]\tGet http://h/: net/http: request canceled (Client.Timeout)\n"
    )
    run = run_of(text)
    assert run.throughput_rps == 99.9465
    assert run.errors_timeout == 44


def test_averages_over_a_million_responses_are_not_hey_s_averages():
    text = PLAIN.replace("20000 responses", "5000000 responses").replace("45553.1294", "11389521.6401")
    parsed = parse_hey(text)
    assert math.isnan(parsed.tables["runs"].latency_mean_s[0])
    assert parsed.tables["phases"].mean_s.isna().all()
    assert "line 6: hey divides its averages" in parsed.warnings[-1]


def test_only_the_summary_is_kept_with_a_warning():
    parsed = parse_hey(PLAIN.split("Response time")[0])
    assert parsed.tables["runs"].throughput_rps[0] == 45553.1294
    assert "requests" not in parsed.tables["runs"]
    assert "no status codes" in parsed.warnings[0]


@pytest.mark.parametrize("line", ["  10%!i(MISSING)n 0.0001 secs", "  10% in 0.0001 secs", "  10%% in 0.1000 ms"])
def test_ways_to_write_a_percentile(line):
    text = PLAIN.replace("  10% in 0.0001 secs", line)
    assert parse_hey(text).tables["latency"].latency_s[0] == pytest.approx(0.0001)


def test_a_percentile_of_0_stands_for_none():
    assert len(parse_hey(PLAIN.replace("99% in 0.0029", "0% in 0.0000")).tables["latency"]) == 6


def test_oha_chooses_a_unit_and_cuts_requests_off_at_the_end():
    text = (DATA / "oha/text.txt").read_text()
    text = text.replace("100.1750", "102.1744").rstrip() + "\n\nError distribution:\n  [20] aborted due to deadline\n"
    run = run_of(text.replace("10.0025 secs", "10002.5 ms").replace("5.2051 secs\n  F", "5205.1 ms\n  F"))
    assert run.duration_s == pytest.approx(10.0025)
    assert (run.requests_started, run.requests_failed, run.errors_timeout) == (1022, 0, 0)
    assert run.throughput_rps == pytest.approx(100.175, rel=1e-5)


def test_old_csv_has_neither_status_nor_offset():
    text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n0.1,0.0,0.0,0.0,0.1,0.0\n"
    table = parse_hey_csv(text).tables["requests"]
    assert "status" not in table
    assert table.latency_s.tolist() == [0.1]
    assert refused_line(parse_hey_csv, text + "0.1,0.0,0.0\n") == 3


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("rpc error: code = Unavailable desc = error reading from server: EOF", "read"),
        ('rpc error: code = Unavailable desc = connection error: desc = "error reading server preface: EOF"', "read"),
        ("rpc error: code = Unavailable desc = error reading from server: read tcp 127.0.0.1:5->127.0.0.1:6: "
         "read: connection reset by peer", "read"),
        ("rpc error: code = Unavailable desc = transport is closing", "read"),
        ("rpc error: code = Unavailable desc = the connection is draining", "connect"),
        ('rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp '
         '127.0.0.1:6: connect: connection refused"', "connect"),
        ("rpc error: code = DeadlineExceeded desc = context deadline exceeded", "timeout"),
        ("rpc error: code = Unavailable desc = error writing: write tcp 127.0.0.1:5: broken pipe", "write"),
    ],
)  # fmt: skip
def test_what_a_status_of_grpc_says_tells_the_class_of_its_error(message, kind):
    report = (
        "Summary:\n  Count:\t2\n  Total:\t1.00 s\n  Slowest:\t1.00 ms\n  Fastest:\t1.00 ms\n  Average:\t1.00 ms\n"
        f"  Requests/sec:\t2.00\n\nStatus code distribution:\n  [OK]   1 responses\n  [Unavailable]   1 responses\n\n"
        f"Error distribution:\n  [1]   {message}\n"
    )
    run = parse_hey(report).tables["runs"].iloc[0]
    assert run[f"errors_{kind}"] == 1
    assert sum(run[f"errors_{name}"] for name in ("connect", "read", "write", "timeout", "other")) == 1
