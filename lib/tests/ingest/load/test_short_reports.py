"""oha, siege, httperf and Locust: what their sources say, as properties; their traps."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.files import parse_bytes
from loadcurve.ingest.load.httperf import parse_httperf
from loadcurve.ingest.load.oha import parse_oha_csv, parse_oha_json
from loadcurve.ingest.load.siege import parse_siege

# ------------------------------------------------------------------ oha
OHA_DATA = Path(__file__).parents[2] / "data/oha"
JSON = (OHA_DATA / "json.txt").read_text()


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
    counts = (run.requests, run.requests_failed, run.errors_connect, run.errors_status)
    assert counts == (good + bad, refused, refused, bad)
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
    text = (OHA_DATA / "requests.txt").read_text()
    for wrong in (text.replace(",5,200", ",5"), text.replace("0.5,0.6", "0.5,-0.6"), text.replace(",503", ",5O3")):
        with pytest.raises(ParseError):
            parse_oha_csv(wrong)
    assert len(parse_oha_csv(text.rstrip()).tables["requests"]) == 2


# ------------------------------------------------------------------ siege
SIEGE_DATA = Path(__file__).parents[2] / "data/siege"
SIEGE = (SIEGE_DATA / "text.txt").read_text()


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
    text = SIEGE.replace("6.95 secs", "6950.00 ms").replace("30.08", "30080.00 ms").replace("0.00\n", "2.00 ms\n")
    run = parse_siege(text).tables["runs"].iloc[0]
    assert (run.latency_mean_s, run.latency_max_s, run.latency_min_s) == pytest.approx((6.95, 30.08, 0.002))


def test_json_does_not_tell_its_unit_but_little_s_law_does():
    run = parse_siege(
        (SIEGE_DATA / "json.txt")
        .read_text()
        .replace('"response_time":\t\t        0.00', '"response_time":\t\t        0.54')
    ).tables["runs"]
    assert run.latency_mean_s[0] == pytest.approx(0.00054)
    assert run.latency_max_s[0] == pytest.approx(0.00001)


def test_an_aborted_siege_keeps_its_numbers_and_its_reason():
    text = "siege aborted due to excessive socket failure; you\n" + SIEGE
    run = parse_siege(text).tables["runs"].iloc[0]
    assert (run.status, run.requests) == ("finished", 626)
    assert run.reason.startswith("siege aborted")


def test_a_wrong_rate_is_named():
    assert "line 11: 17.97 per second" in parse_siege(SIEGE.replace("11.97", "17.97")).warnings[0]


# ------------------------------------------------------------------ httperf
HTTPERF = (Path(__file__).parents[2] / "data/httperf/errors.txt").read_text()


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
    assert parse_httperf(command + HTTPERF).tables["runs"].target_rate_rps[0] == 5000
    assert parse_httperf(command.replace(" --num-calls=5", "") + HTTPERF).tables["runs"].target_rate_rps[0] == 1000
    assert "target_rate_rps" not in parse_httperf(HTTPERF).tables["runs"]


def test_counts_that_contradict_each_other_are_named():
    assert (
        "575319 replies, but 575318 have a status" in parse_httperf(HTTPERF.replace("=175849", "=175848")).warnings[0]
    )


# ------------------------------------------------------------------ locust
LOCUST_DATA = Path(__file__).parents[2] / "data/locust"
NEW = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
NEW += "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%"
ROW = ",Aggregated,39,5,81,109,66,402,1916,1.03,0.13,81,86,87,89,300,330,400,400"


def of(text):
    return parse_bytes(text.encode(), "x.csv")


@pytest.mark.parametrize(
    ("header", "row", "requests", "rps", "good"),
    [
        (NEW + ",99.9%,99.99%,100%", ROW + ",400,400,402", 39, 1.03, 0.90),  # 1.0 on
        (NEW + ",99.9%,99.99%,99.999%,100%", ROW.replace(",Agg", "None,Agg") + ",400,400,400,402", 39, 1.03, 0.90),
        ("Type,Name,# requests,# failures,Requests/s,Requests Failed/s", ",Aggregated,39,5,1.03,0.13", 39, 1.03, 0.9),
        ("Method,Name,# requests,# failures,Requests/s", "None,Total,34,5,0.68", 39, 0.78, 0.68),
    ],
)  # fmt: skip
def test_headers_of_every_generation(header, row, requests, rps, good):
    """Before 0.13 ``# requests`` leaves out failures, so the rate is of successful requests."""
    for text in (
        f"{header}\n{row}\n",
        "".join(f'"{name.strip(chr(34))}",' for name in header.split(","))[:-1] + f"\n{row}\n",
    ):
        run = of(text).tables["runs"].iloc[0]
        assert (run.requests, run.requests_failed) == (requests, 5)
        assert (run.throughput_rps, run.goodput_rps) == (pytest.approx(rps), pytest.approx(good))
        assert run.duration_s == pytest.approx(requests / rps)


def test_the_last_table_of_the_console_counts():
    text = (LOCUST_DATA / "console.txt").read_text()
    running = of(text.split("[2026-11-22 22:17:26,530]")[0])
    assert running.tables["runs"]["requests"].tolist() == [250]
    assert any("the table of percentiles does not follow" in warning for warning in running.warnings)


def test_quantiles_rounded_over_the_maximum_are_no_contradiction():
    text = (LOCUST_DATA / "stats.txt").read_text().replace(",32,32,32\n", ",33,33,33\n")
    assert of(text).warnings == ()
    assert "over the maximum" in of(text.replace(",33,33,33\n", ",55,55,55\n")).warnings[0]
