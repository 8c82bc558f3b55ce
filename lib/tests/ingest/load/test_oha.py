"""oha: its JSON and CSV; its text is tested with hey's."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.load.oha import parse_oha_csv, parse_oha_json

DATA = Path(__file__).parents[2] / "data/oha"
JSON = (DATA / "json.txt").read_text()


@given(
    good=st.integers(1, 10**7),
    bad=st.integers(0, 10**6),
    refused=st.integers(0, 10**6),
    late=st.integers(0, 1000),
    total=st.floats(0.01, 1e5),
    marks=st.lists(st.integers(1, 10**9), min_size=11, max_size=11, unique=True),
)
def test_json_that_oha_can_write_is_read(good, bad, refused, late, total, marks):
    marks = [mark / 1e6 for mark in sorted(marks)]
    everything = good + bad + refused + late
    # serde sorts the keys as text
    classes = dict.fromkeys(sorted(f"{mark:.6f}" for mark in marks), 1) | {f"{marks[-1]:.6f}": good + bad - 10}
    errors = {"connection error: Connection refused (os error 111)": refused, "aborted due to deadline": late}
    document = {
        "summary": {
            "successRate": (good + bad) / (good + bad + refused), "total": total, "slowest": marks[-1],
            "fastest": marks[0], "average": marks[5], "requestsPerSec": everything / total, "totalData": 5,
            "sizePerRequest": None, "sizePerSec": 1.0,
        },
        "responseTimeHistogram": classes if good + bad > 10 else {},
        "latencyPercentiles": {"p50": marks[5], "p99.99": None},
        "statusCodeDistribution": {"200": good, "503": bad},
        "errorDistribution": errors,
    }  # fmt: skip
    parsed = parse_oha_json(json.dumps(document))
    run = parsed.tables["runs"].iloc[0]
    assert parsed.warnings == ()
    assert (run.requests, run.requests_failed, run.errors_connect, run.errors_status) == (
        good + bad,
        refused,
        refused,
        bad,
    )
    assert run.throughput_rps == pytest.approx((good + bad) / total)
    if good + bad > 10:
        assert parsed.tables["histogram"].upper_s.tolist() == pytest.approx(marks)
    assert parsed.tables["latency"]["quantile"].tolist() == [0.5, 0.9999]
    assert parsed.tables["latency"].latency_s.isna().tolist() == [False, True]


def test_a_run_without_any_answer_failed():
    text = JSON.replace('{ "200": 62218 }', "{}").replace("aborted due to deadline", "connection refused")
    run = parse_oha_json(text.replace("0.009679042", "null")).tables["runs"].iloc[0]
    assert (run.status, run.reason, run.throughput_rps) == ("failed", "connection refused", 0)


def test_numbers_that_contradict_each_other_leave_the_rate_out():
    parsed = parse_oha_json(JSON.replace("62218", "32218"))
    assert "throughput_rps" not in parsed.tables["runs"]
    assert "requestsPerSec x total is 62221, but 32221 are listed" in parsed.warnings[0]


def test_rows_of_requests_must_be_whole():
    text = (DATA / "requests.txt").read_text()
    for wrong in (text.replace(",5,200", ",5"), text.replace("0.5,0.6", "0.5,-0.6"), text.replace(",503", ",5O3")):
        with pytest.raises(ParseError):
            parse_oha_csv(wrong)
    assert len(parse_oha_csv(text.rstrip()).tables["requests"]) == 2
