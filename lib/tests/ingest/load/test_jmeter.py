"""JMeter: samples that its writer can write, against plain arithmetic; its own totals of the same run; its traps."""

import csv
import io
import json
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.load.jmeter import parse_jmeter
from loadcurve.ingest.load.jmeter_jtl import parse_jtl, parse_jtl_xml

DATA = Path(__file__).parents[2] / "data/jmeter"
CSV = (DATA / "csv.txt").read_text()
COLUMNS = [
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "success", "bytes", "allThreads",
]  # fmt: skip
START = 1_795_384_236_680
sample = st.tuples(
    st.integers(0, 60_000), st.integers(1, 5000), st.sampled_from(["Home, 1", 'say "hi"', "Größe"]),
    st.sampled_from([("200", "OK", "true"), ("503", "Busy; later", "false"),
                     ("Non HTTP response code: java.net.ConnectException", "Connection\nrefused", "false")]),
    st.integers(0, 9000), st.integers(1, 500),
)  # fmt: skip


@examples(60)
@given(st.lists(sample, min_size=1, max_size=30), st.permutations(COLUMNS), st.sampled_from(",;\t|"))
def test_samples_that_jmeter_can_write_are_read(samples, columns, delimiter):
    text = io.StringIO()
    write = csv.DictWriter(text, columns, delimiter=delimiter, lineterminator="\n")
    write.writeheader()
    for i, (at, elapsed, label, (code, message, success), size, users) in enumerate(samples):
        row = (START + at, elapsed, label, code, message, f"Users 1-{i}", success, size, users)
        write.writerow(dict(zip(COLUMNS, row, strict=True)))
    parsed = parse_bytes(text.getvalue().encode(), "x.jtl")
    run, requests = parsed.tables["runs"].iloc[0], parsed.tables["requests"]
    assert requests["latency_s"].tolist() == [each[1] / 1000 for each in samples]
    assert requests["label"].tolist() == [each[2] for each in samples]
    failed = [each for each in samples if each[3][2] == "false"]
    counts = (run.requests, run.requests_failed, requests["error"].notna().sum())
    assert counts == (len(samples), len(failed), len(failed))
    assert run.errors_connect == sum(each[3][0].startswith("Non") for each in samples)
    seconds = (max(each[0] + each[1] for each in samples) - min(each[0] for each in samples)) / 1000
    assert run.duration_s == pytest.approx(seconds)
    assert run.throughput_rps == pytest.approx(len(samples) / seconds)
    assert run.connections == max(each[5] for each in samples)
    assert run.received_bytes == sum(each[4] for each in samples)
    latencies = sorted(each[1] / 1000 for each in samples)
    for quantile, value in parsed.tables["latency"][["quantile", "latency_s"]].itertuples(index=False):
        assert sum(each <= value for each in latencies) >= quantile * len(samples) - 1e-9
        assert sum(each < value for each in latencies) < quantile * len(samples) + 1e-9
    assert parsed.tables["labels"]["requests"].sum() == len(samples)


def test_jmeter_s_own_statistics_of_the_same_run_agree():
    """Its dashboard counts the sub-samples too, so labels are compared; ``Total`` is not."""
    stated = json.loads((DATA / "statistics.txt").read_text())
    for row in parse_jtl(CSV).tables["labels"].itertuples():
        own = stated[row.label]
        assert (row.requests, row.requests_failed) == (own["sampleCount"], own["errorCount"])
        assert row.latency_mean_s == pytest.approx(own["meanResTime"] / 1000)
        assert row.latency_max_s == own["maxResTime"] / 1000
    assert stated["Total"]["sampleCount"] == 24 + 12


@pytest.mark.parametrize(
    ("rows", "requests", "warning"),
    [
        (
            "1000,50,Moved,200,Users 1-1,true\n1000,20,Moved-0,302,Users 1-1,true\n1020,9,Moved-1,200,Users 1-1,true\n",
            1,
            "2 rows",
        ),
        # Of another thread, or later: a name of its own.
        ("1000,50,Item,200,Users 1-1,true\n1000,20,Item-7,200,Users 1-2,true\n", 2, ""),
        ("1000,50,Item,200,Users 1-1,true\n2000,20,Item-7,200,Users 1-1,true\n", 2, ""),
        ("1000,-5,Item,200,Users 1-1,true\n1000,9,Item,200,Users 1-1,true\n", 2, "below 0"),
    ],
)
def test_sub_samples_are_those_inside_their_parent(rows, requests, warning):
    text = "timeStamp,elapsed,label,responseCode,threadName,success\n" + rows
    parsed = parse_jtl(text)
    assert parsed.tables["runs"]["requests"].tolist() == [requests]
    assert len(parsed.warnings) == bool(warning) and warning in "".join(parsed.warnings)


def test_two_files_joined_keep_one_header():
    header, rows = CSV.split("\n", 1)
    joined = parse_jtl(CSV + "\n" + header + "\n" + rows)
    assert joined.tables["runs"]["requests"].tolist() == [48]


def test_formatted_time_stamps_are_in_the_given_zone():
    text = (DATA / "semicolons.txt").read_text()
    assert str(parse_jtl(text, "Europe/Berlin").tables["requests"]["time"][0]) == "2026-11-22 20:51:07.881000+00:00"


def test_a_document_type_is_refused():
    with pytest.raises(ParseError, match="document type"):
        parse_jtl_xml('<!DOCTYPE testResults [<!ENTITY a "b">]>\n<testResults version="1.2"/>')


def test_a_summary_before_the_end_says_so_and_two_runs_are_two():
    text = (DATA / "summary.txt").read_text()
    assert "the end of the run does not follow" in parse_jmeter(text.split("Tidying")[0]).warnings[-1]
    twice = parse_jmeter(text + text).tables["runs"]
    assert (twice["generator"].tolist(), twice["requests"].tolist()) == ([0, 1], [192, 192])
    old = "summary = 1000 in  10.5s =   95.2/s Avg:    12 Min:     1 Max:   215 Err:     0 (0.00%)\n"
    assert parse_jmeter(old).tables["runs"]["duration_s"][0] == pytest.approx(10.5, abs=0.01)
    with pytest.raises(ParseError, match="a share of 0 of 1000"):
        parse_jmeter(old.replace("0.00%", "5.00%"))
