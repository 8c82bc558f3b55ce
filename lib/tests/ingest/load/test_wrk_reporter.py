"""wrk's text and its reporter's JSON of one run: one row of `runs`, the JSON's numbers, as long as both agree."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_wrk import format_bytes, format_time

from loadcurve.ingest.load.wrk import parse_wrk
from loadcurve.ingest.load.wrk_json import join_reporter, parse_wrk_json

DATA = Path(__file__).parents[2] / "data" / "wrk"
TEXT = (DATA / "few-requests.txt").read_text("utf-8")
JSON = (DATA / "reporter-few-requests.txt").read_text("utf-8")


def pair(quantiles, mean, stdev, duration_us, requests, octets):
    """What wrk prints of a run, and what the reporter writes of it."""
    seconds = duration_us / 1e6
    ranks = dict(zip(("50", "75", "90", "99"), sorted(quantiles), strict=True))
    text = [
        "Running 2s test @ http://h/",
        "  1 threads and 2 connections",
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        f"    Latency   {format_time(mean)}   {format_time(stdev)}   {format_time(ranks['99'])}   75.00%",
        "    Req/Sec    40.00     25.50    70.00     60.00%",
        "  Latency Distribution",
        *(f"     {rank}%   {format_time(value)}" for rank, value in ranks.items()),
        f"  {requests} requests in {format_time(duration_us)}, {format_bytes(octets)} read",
        f"Requests/sec: {requests / seconds:9.2f}",
        f"Transfer/sec: {format_bytes(octets / seconds):>11}",
    ]
    document = {
        "wrk_reporter": 1, "url": "http://h/", "threads": 1, "connections": 2, "started_us": [10**15],
        "duration_us": duration_us, "requests": requests, "bytes": octets,
        "errors": dict.fromkeys(("connect", "read", "write", "status", "timeout"), 0),
        "latency_us": {"min": 1, "max": ranks["99"], "mean": mean, "stdev": stdev}, "percentiles_us": ranks,
        "counters_us": None,
    }  # fmt: skip
    return "\n".join(text) + "\n", document


microseconds = st.integers(1, 4 * 10**8)
runs = st.builds(
    pair,
    st.lists(microseconds, min_size=4, max_size=4),
    st.floats(1, 4e8),
    st.floats(1, 4e8),
    st.integers(10**6, 10**10),
    st.integers(10**3, 10**12),
    st.integers(10**3, 10**15),
)


def test_a_row_has_the_numbers_of_the_reporter():
    text, report = join_reporter(parse_wrk(TEXT), parse_wrk_json(JSON))
    (row,) = text.tables["runs"].to_dict("records")
    assert row["duration_s"] == pytest.approx(2.003516)
    assert row["throughput_rps"] == pytest.approx(20 / 2.003516)
    assert (row["received_bytes"], row["latency_min_s"]) == (46563, pytest.approx(907e-6))
    assert (row["status"], row["connections"], row["errors_read"]) == ("finished", 8, 0)
    assert list(text.tables) == ["runs"]
    assert {name: len(table) for name, table in report.tables.items()} == {"latency": 8, "histogram": 40}
    assert text.warnings == report.warnings == ()


@pytest.mark.slow
@given(runs)
def test_what_rounding_hides_is_no_contradiction(run):
    text, document = run
    joined, report = join_reporter(parse_wrk(text), parse_wrk_json(json.dumps(document)))
    assert not [w for w in report.warnings if "left out" in w]
    assert joined.tables["runs"]["duration_s"].tolist() == [pytest.approx(document["duration_us"] * 1e-6)]


@given(runs, st.sampled_from(["max", "mean", "stdev"]))
def test_a_number_that_rounding_does_not_explain_is_a_contradiction(run, name):
    text, document = run
    times = document["latency_us"]
    changed = document | {"latency_us": times | {name: times[name] * 1.02 + 0.01}}
    parsed = parse_wrk(text)
    joined, report = join_reporter(parsed, parse_wrk_json(json.dumps(changed)))
    assert joined is parsed
    assert not report.tables
    assert f"left out: latency_{name}_s is " in report.warnings[0]


def test_both_numbers_are_told():
    _, report = join_reporter(parse_wrk(TEXT), parse_wrk_json(JSON.replace("47930", "47940")))
    assert report.warnings == (
        "not of the run that the text reports, and left out: "
        "latency_max_s is 0.04794 here, 0.04793 in the text (and 1 more)",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"requests": 20', '"requests": 21', "requests is 21 here, 20 in the text"),
        ('"connections": 8', '"connections": 9', "connections is 9 here, 8 in the text"),
        (":18977/close", ":18977/other", "url is http://127.0.0.1:18977/other here, http://127.0.0.1:18977/close in"),
    ],
)
def test_what_is_not_rounded_must_be_the_same(old, new, said):
    _, report = join_reporter(parse_wrk(TEXT), parse_wrk_json(JSON.replace(old, new)))
    assert said in report.warnings[0]


def test_several_reports_in_the_text():
    _, report = join_reporter(parse_wrk(TEXT + TEXT), parse_wrk_json(JSON))
    assert "2 reports in the text, 1 here" in report.warnings[0]


def test_where_nothing_was_measured_the_text_tells_the_quantiles_that_are_missing():
    text, document = pair([1, 1, 1, 1], 0, 0, 10**6, 0, 0)
    text = text.replace("1.00us", "0.00us").replace("75.00%", "-nan%")
    document |= {"latency_us": None, "percentiles_us": {}, "counters_us": []}
    joined, report = join_reporter(parse_wrk(text), parse_wrk_json(json.dumps(document)))
    assert joined.tables["latency"]["latency_s"].isna().tolist() == [True] * 4
    assert (len(joined.tables["runs"]), dict(report.tables), report.warnings) == (1, {}, ())
