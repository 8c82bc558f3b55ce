"""vegeta: what its source says, as properties; its traps."""

import base64
import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from loadcurve.ingest.load.vegeta import parse_vegeta, parse_vegeta_json
from loadcurve.ingest.load.vegeta_requests import _quickly, _slowly, _table, parse_vegeta_csv, parse_vegeta_jsonl
from loadcurve.tables import check

DATA = Path(__file__).parents[2] / "data/vegeta"
TEXT = (DATA / "text.txt").read_text()


@given(
    good=st.integers(0, 10**7),
    bad=st.integers(0, 10**5),
    silent=st.integers(0, 10**5),
    ns=st.integers(10**8, 10**13),
    wait=st.integers(0, 10**10),
    latency=st.lists(st.integers(1, 10**11), min_size=4, max_size=4),
)
def test_json_that_vegeta_can_write_is_read(good, bad, silent, ns, wait, latency):
    hits = good + bad + silent
    if not hits:
        return
    least, median, high, most = sorted(latency)
    mean = (least + most) // 2
    report = {
        "latencies": {"total": mean * hits, "mean": mean, "50th": median, "99th": high, "max": most, "min": least},
        "bytes_in": {"total": 7, "mean": 1}, "bytes_out": {"total": 0, "mean": 0}, "duration": ns, "wait": wait,
        "requests": hits, "rate": hits / ns * 1e9, "throughput": good / (ns + wait) * 1e9, "success": good / hits,
        "status_codes": {"200": good, "503": bad, "0": silent}, "errors": ["EOF"],
    }  # fmt: skip
    tables = parse_vegeta_json(json.dumps(report)).tables
    run = tables["runs"].iloc[0]
    assert (run.requests, run.requests_succeeded, run.errors_status) == (good + bad, good, bad)
    assert run.throughput_rps == pytest.approx((good + bad) / (ns + wait) * 1e9, rel=1e-6)
    assert run.goodput_rps == pytest.approx(good / (ns + wait) * 1e9, rel=1e-9)
    assert run.latency_min_s == pytest.approx(least / 1e9)
    assert tables["latency"].latency_s.tolist() == pytest.approx([median / 1e9, high / 1e9])


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(10**18, 2 * 10**18), st.sampled_from([0, 200, 503]), st.integers(0, 10**12), st.text()),
        min_size=1,
        max_size=20,
    )
)
def test_csv_that_vegeta_can_write_is_read(hits):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    hits = [(at, code, ns, error.replace("\r", "").replace("\0", "")) for at, code, ns, error in hits]
    for at, code, ns, error in hits:
        body = base64.b64encode(b"x").decode()
        writer.writerow([at, code, ns, 1, 2, error, body, "a", 3, "GET", "http://h/", ""])
    table = parse_vegeta_csv(out.getvalue()).tables["requests"]
    assert table.latency_s.tolist() == [ns / 1e9 for _, _, ns, _ in hits]
    assert [t.value for t in table.time] == [at for at, *_ in hits]
    assert table.status.isna().tolist() == [code == 0 for _, code, *_ in hits]
    assert table.error.fillna("").tolist() == [error for *_, error in hits]


def test_a_run_without_any_answer_failed():
    text = TEXT.replace("200:1250", "0:1250").replace("100.00%", "0.00%").replace("249.89", "0.00").rstrip()
    run = parse_vegeta(text + "\nGet http://h/: dial tcp: connection refused\n").tables["runs"].iloc[0]
    assert (run.status, run.reason) == ("failed", "Get http://h/: dial tcp: connection refused")
    assert (run.requests, run.throughput_rps) == (0, 0)


def test_without_status_codes_the_rate_of_responses_is_not_known():
    parsed = parse_vegeta("\n".join(TEXT.split("\n")[:4]) + "\n")
    run = parsed.tables["runs"].iloc[0]
    assert (run.requests_started, run.target_rate_rps, run.goodput_rps) == (1250, 250.21, 249.89)
    assert "throughput_rps" not in run
    assert "no status codes" in parsed.warnings[0]


def test_csv_of_vegeta_6():
    assert parse_vegeta_csv('1476696644001690668,200,2124978,0,103,""\n').tables["requests"].status.tolist() == [200]


def test_a_cut_last_line_is_left_out():
    text = (DATA / "requests-json.txt").read_text()
    parsed = parse_vegeta_jsonl(text[:-40])
    assert len(parsed.tables["requests"]) == 1
    assert "line 2: the text ends inside a line" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("total", "throughput", "doubted"),
    [("1m0s", "75.24", False), ("1m0s", "70.24", True), ("1h0m0s", "1.254", False), ("1h0m0s", "1.200", True)],
)
def test_a_duration_that_vegeta_rounded_does_not_contradict_the_throughput(total, throughput, doubted):
    text = (
        f"Requests      [total, rate, throughput]         4547, 76.05, {throughput}\n"
        f"Duration      [total, attack, wait]             {total}, {total}, 416.529ms\n"
        "Latencies     [min, mean, 50, 90, 95, 99, max]  9.86ms, 660.113ms, 665.943ms, 931.831ms, 1.036s, 1.5s, 1.9s\n"
        "Success       [ratio]                           100.00%\n"
        "Status Codes  [code:count]                      200:4547  \n"
        "Error Set:\n"
    )
    assert any("successes / duration" in warning for warning in parse_vegeta(text).warnings) == doubted


HIT = "1476696644001690668,200,2124978,0,103,,,attack,0,GET,http://h/a,"


@pytest.mark.parametrize(
    ("old", "new", "is_usual"),
    [
        ("", "", True),
        ("200", "0", True),
        (",,,attack", ',"EOF, no answer",aGk=,', True),
        (",GET,http://h/a,", "", True),
        (",http://h/a,", ",http://h/a", True),
        ("GET", '"G\nET"', False),
        ("200", '"2\n0"', False),
        ("200", " 200", True),
        ("200", "+200", False),
        ("1476", "9476", False),
        ("1476", "14760", False),
        ("attack,0", "attack,x", False),
        ("attack,0,GET,http://h/a,", "", False),
        (HIT, "", False),
    ],
)
def test_records_at_once_give_the_columns_of_records_one_by_one(old, new, is_usual):
    """Or None, so that the slow reader decides: it returns the same hits, or names the line."""
    hit = HIT.replace(old, new, 1)
    lines = [HIT, hit] if hit.count(",") == HIT.count(",") else [hit, hit]
    text = "".join(f"{line}\n" for line in lines)
    found = _quickly(text)
    assert (found is not None) == is_usual
    if found is not None:
        checked = [
            check("requests", _table(frame, []).tables["requests"]) for frame in (found, pd.DataFrame(_slowly(text)))
        ]
        assert_frame_equal(*checked)
