"""h2load: what its source says, as properties; its traps."""

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.ingest.load.h2load import parse_h2load

DATA = Path(__file__).parents[2] / "data/h2load"
H1 = (DATA / "h1.txt").read_text()
HEAD = "spawning thread #0: 8 total client(s). Timing-based test with 5s of warm-up time and 30s of main duration for"


def format_time(us):
    """What util::format_duration does."""
    return f"{us}us" if us < 1000 else f"{us / 1e3:.2f}ms" if us < 10**6 else f"{us / 1e6:.2f}s"


def format_size(n):
    """What util::utos_funit does."""
    for unit, power in (("G", 30), ("M", 20), ("K", 10)):
        if n >= 1 << power:
            return f"{n / (1 << power):.2f}{unit}"
    return str(n)


@examples(150)
@given(
    us=st.integers(1000, 10**10),
    done=st.integers(1, 10**7),
    bad=st.integers(0, 10**6),
    size=st.integers(0, 10**12),
    times=st.lists(st.integers(1, 10**9), min_size=4, max_size=4),
)
def test_reports_that_h2load_can_write_are_read(us, done, bad, size, times):
    bad = min(bad, done)
    least, mean, deviation, most = sorted(times)
    row = "  ".join(f"{format_time(t):>10}" for t in (least, most, mean, deviation))
    rate = done / us * 1e6
    text = (
        f"\nfinished in {format_time(us)}, {rate:.2f} req/s, {format_size(int(size / us * 1e6))}B/s\n"
        f"requests: {done} total, {done} started, {done} done, {done - bad} succeeded, {bad} failed, "
        "0 errored, 0 timeout\n"
        f"status codes: {done - bad} 2xx, 0 3xx, 0 4xx, {bad} 5xx\n"
        f"traffic: {format_size(size)}B ({size}) total, 0B (0) headers (space savings 0.00%), 0B (0) data\n"
        "                     min         max         mean         sd        +/- sd\n"
        f"time for request: {row}    50.00%\n"
    )
    parsed = parse_h2load(text)
    run = parsed.tables["runs"].iloc[0]
    assert (run.requests, run.requests_failed, run.errors_status, run.received_bytes) == (done, bad, bad, size)
    assert run.latency_max_s == pytest.approx(most * 1e-6, rel=0.006)
    assert run.latency_mean_s == pytest.approx(mean * 1e-6, rel=0.006)


def test_a_warm_up_is_in_the_time_but_not_in_the_rate():
    text = f"{HEAD} measurements.\n\nfinished in 35.00s, 2113.07 req/s, 1.00MB/s\nrequests: 63392 total, 63400 started,"
    text += (
        " 63392 done, 63392 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 63392 2xx, 0 3xx, 0 4xx, 0 5xx\n"
    )
    parsed = parse_h2load(text)
    run = parsed.tables["runs"].iloc[0]
    assert (run.duration_s, run.throughput_rps, run.connections) == (30.0, 2113.07, 8)
    assert parsed.warnings == ()
    without = parse_h2load(text.split("\n", 1)[1])
    assert without.tables["runs"].duration_s[0] == 35.0
    assert "over the main part of a timed run" in without.warnings[0]


def test_status_codes_may_be_more_than_the_requests_done():
    text = H1.replace("20000 2xx", "20001 2xx")
    assert parse_h2load(text).tables["runs"].responses_2xx[0] == 20001


def test_errors_of_h2loadrunner():
    text = """finished in 11.03s, 9711.00 req/s, 772.10KB/s
requests: 99420 total, 99999 started, 99420 done, 90115 succeeded, 9305 failed, 2310 errored, 2312 timeout
status codes: 90115 2xx, 0 3xx, 6995 4xx, 0 5xx
"""
    parsed = parse_h2load(text)
    run = parsed.tables["runs"].iloc[0]
    assert (run.requests_failed, run.errors_timeout, run.errors_other, run.errors_status) == (9305, 2312, 0, 6995)
    # 2310 of those done ended without a response: the responses are those of the status codes.
    assert run.requests == 90115 + 6995
    assert run.throughput_rps == pytest.approx(9711 * 97110 / 99420)
    assert "requests_asked" not in run
    assert "2310 requests without a response" in parsed.warnings[0]
    assert "over the main part" in parsed.warnings[1]


@pytest.mark.parametrize(("started", "failed", "errored"), [(1000, 0, 0), (1000, 40, 30), (970, 70, 70)])
def test_requests_asked_only_where_the_text_says_so(started, failed, errored):
    """-n: requests never sent or abandoned are failed and errored, and not done."""
    done = 1000 - errored
    report = (
        f"finished in 1.00s, {done}.00 req/s, 1.00KB/s\nrequests: 1000 total, {started} started, {done} done, "
        f"{1000 - failed} succeeded, {failed} failed, {errored} errored, 0 timeout\n"
        f"status codes: {1000 - failed} 2xx, 0 3xx, {failed - errored} 4xx, 0 5xx\n"
    )
    head = "starting benchmark...\nspawning thread #0: 10 total client(s). 1000 total requests\n"
    asked = parse_h2load(head + report).tables["runs"].iloc[0]
    assert (asked.requests_asked, asked.requests) == (1000, done)
    assert "requests_asked" not in parse_h2load(report).tables["runs"]
