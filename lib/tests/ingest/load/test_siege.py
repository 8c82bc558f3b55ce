"""siege: what its source says, as properties; its traps."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.ingest.load.siege import parse_siege

DATA = Path(__file__).parents[2] / "data/siege"
TEXT = (DATA / "text.txt").read_text()
JSON = (DATA / "json.txt").read_text()


@given(
    hits=st.integers(1, 10**7),
    good=st.integers(0, 10**7),
    failed=st.integers(0, 10**6),
    seconds=st.floats(0.5, 1e5),
    mean=st.floats(0, 100),
)
def test_summaries_that_siege_can_write_are_read(hits, good, failed, seconds, mean):
    good = min(good, hits)
    rate, concurrency = hits / seconds, hits * mean / seconds
    text = (
        f"\nTransactions:\t\t{hits:12d} hits\nAvailability:\t\t{100 * hits / (hits + failed):12.2f} %\n"
        f"Elapsed time:\t\t{seconds:12.2f} secs\nData transferred:\t{1.5:12.2f} MB\n"
        f"Response time:\t\t{mean:12.2f} secs\nTransaction rate:\t{rate:12.2f} trans/sec\n"
        f"Throughput:\t\t{0.5:12.2f} MB/sec\nConcurrency:\t\t{concurrency:12.2f}\n"
        f"Successful transactions:{good:12d}\nFailed transactions:\t{failed:12d}\n"
        f"Longest transaction:\t{mean:12.2f}\nShortest transaction:\t{mean:12.2f}\n \n"
    )
    parsed = parse_siege(text)
    run = parsed.tables["runs"].iloc[0]
    assert parsed.warnings == ()
    assert (run.requests, run.requests_succeeded, run.requests_failed) == (hits, good, failed)
    assert run.throughput_rps == pytest.approx(rate, abs=0.0051)
    assert run.received_body_bytes == 1.5 * 1024**2
    if run.get("latency_origin") == "measured":
        assert run.latency_mean_s == pytest.approx(mean, abs=0.0051)
    elif rate > 1:
        assert run.latency_mean_s == pytest.approx(mean, abs=0.011)


def test_the_newest_versions_print_milliseconds():
    text = TEXT.replace("6.95 secs", "6950.00 ms").replace("30.08", "30080.00 ms").replace("0.00\n", "2.00 ms\n")
    run = parse_siege(text).tables["runs"].iloc[0]
    assert (run.latency_mean_s, run.latency_max_s, run.latency_min_s) == pytest.approx((6.95, 30.08, 0.002))


def test_json_does_not_tell_its_unit_but_little_s_law_does():
    run = parse_siege(JSON.replace('"response_time":\t\t        0.00', '"response_time":\t\t        0.54')).tables[
        "runs"
    ]
    assert run.latency_mean_s[0] == pytest.approx(0.00054)
    assert run.latency_max_s[0] == pytest.approx(0.00001)


def test_comments_beside_the_numbers():
    text = "Transactions: 550 hits //550\nResponse time: 3.04 secs //speed\nTransaction rate: 17.56 trans/sec<br/>\n"
    run = parse_siege(text + "Elapsed time: 31.32 secs\n").tables["runs"].iloc[0]
    assert (run.requests, run.latency_mean_s, run.throughput_rps) == (550, 3.04, 17.56)


def test_an_aborted_siege_keeps_its_numbers_and_its_reason():
    text = "siege aborted due to excessive socket failure; you\n" + TEXT
    run = parse_siege(text).tables["runs"].iloc[0]
    assert (run.status, run.requests) == ("finished", 626)
    assert run.reason.startswith("siege aborted")


def test_a_wrong_rate_is_named():
    assert "line 11: 17.97 per second" in parse_siege(TEXT.replace("11.97", "17.97")).warnings[0]
