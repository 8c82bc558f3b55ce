"""ab: what its C code prints, of every version, as properties; the traps of real files; what is refused."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test
from refused import refused_line

from loadcurve import parse
from loadcurve.errors import ParseError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.load.ab import parse_ab
from loadcurve.ingest.load.ab_requests import parse_ab_percentiles, parse_ab_requests
from loadcurve.tables.schemas.failures import error_ratio

DATA = Path(__file__).parents[2] / "data/ab"
SLEEP = (DATA / "sleep.txt").read_text()
FLAKY = (DATA / "flaky.txt").read_text()
NOCONF = (DATA / "noconf.txt").read_text()
V20 = (DATA / "v20.txt").read_text()
PERCENTS = (50, 66, 75, 80, 90, 95, 98, 99)


def run_of(text):
    return parse_ab(text).tables["runs"].iloc[0]


def report(times_us, waits_us, connections, length, failures=(0, 0, 0, 0), status=0, taken_us=0, version="2.3"):
    """What output_results of ab 2.3 prints of these times; integers are divided as C divides them."""
    done, total, body = len(times_us), len(times_us) * (length + 150), len(times_us) * length
    taken = (taken_us or max(1, sum(times_us) // connections)) / 1e6
    clock = f"{taken:.3f}" if version == "2.3" else f"{int(taken * 1e6) // 10**6}.{int(taken * 1e6) % 10**6:03d}"
    ms = [(us + 500) // 1000 for us in sorted(times_us)]

    def row(name, values):
        mean = sum(values) // done
        sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (done - 1)) / 1000 if done > 1 else 0
        median = sorted(values)[done // 2]
        low, mid, half, high = ((v + 500) // 1000 for v in (min(values), mean, median, max(values)))
        return f"{name + ':':<12}{low:5d} {mid:4d} {sd:5.1f} {half:6d} {high:7d}"

    return "\n".join(
        [
            f"This is ApacheBench, Version {version} <$Revision: 1843412 $>",
            "Benchmarking 127.0.0.1 (be patient).....done",
            "",
            "",
            "Server Software:        nginx/1.22.1",
            "Server Hostname:        127.0.0.1",
            "Server Port:            8080",
            "",
            "Document Path:          /",
            f"Document Length:        {length} bytes",
            "",
            f"Concurrency Level:      {connections}",
            f"Time taken for tests:   {clock} seconds",
            f"Complete requests:      {done}",
            f"Failed requests:        {sum(failures)}",
            *(["   (Connect: {}, Receive: {}, Length: {}, Exceptions: {})".format(*failures)] if sum(failures) else []),
            *([f"Non-2xx responses:      {status}"] if status else []),
            f"Total transferred:      {total} bytes",
            f"HTML transferred:       {body} bytes",
            f"Requests per second:    {done / taken:.2f} [#/sec] (mean)",
            f"Time per request:       {connections * taken * 1000 / done:.3f} [ms] (mean)",
            f"Time per request:       {taken * 1000 / done:.3f} [ms] (mean, across all concurrent requests)",
            f"Transfer rate:          {total / 1024 / taken:.2f} [Kbytes/sec] received",
            "",
            "Connection Times (ms)",
            "              min  mean[+/-sd] median   max",
            row("Connect", [0] * done),
            row("Processing", times_us),
            row("Waiting", waits_us),
            row("Total", times_us),
            "",
            "Percentage of the requests served within a certain time (ms)",
            *(f"  {p}%  {ms[done * p // 100]:5d}" for p in PERCENTS),
            f" 100%  {ms[-1]:5d} (longest request)",
            "",
        ]
    )


@pytest.mark.slow
@given(
    times=st.lists(st.integers(1, 10**8), min_size=2, max_size=60),
    connections=st.integers(1, 20000),
    length=st.integers(0, 10**7),
    failures=st.tuples(*[st.integers(0, 10**6)] * 4),
    taken=st.integers(1000, 10**10),
)
def test_reports_that_ab_can_write_are_read(times, connections, length, failures, taken):
    parsed = parse_ab(report(times, times, connections, length, failures, status=1, taken_us=taken))
    run = parsed.tables["runs"].iloc[0]
    found = (run.status, run.requests, run.connections, run.document_bytes)
    assert found == ("finished", len(times), connections, length)
    assert run.duration_s == pytest.approx(taken / 1e6, abs=0.000501)
    assert run.throughput_rps == pytest.approx(len(times) / taken * 1e6, abs=0.00501)
    assert run.received_bytes_per_s == pytest.approx(len(times) * (length + 150) / taken * 1e6, abs=5.13)
    assert tuple(run[f"errors_{k}"] for k in ("connect", "read", "length", "exception")) == failures
    assert run.errors_status == 1
    assert run.latency_max_s == pytest.approx(max(times) / 1e6, abs=0.000501)
    for row in parsed.tables["latency"].itertuples():
        rank = min(round(row.quantile * 100) * len(times) // 100, len(times) - 1)
        assert row.latency_s == pytest.approx(sorted(times)[rank] / 1e6, abs=0.000501)
    if run.latency_origin == "measured":
        assert run.latency_mean_s == pytest.approx(sum(times) / len(times) / 1e6, abs=0.000502)
    else:
        assert run.latency_mean_s == pytest.approx(connections * taken / len(times) / 1e6, abs=1e-6)
    assert not [w for w in parsed.warnings if "not" in w and "whole milliseconds" not in w], parsed.warnings


@given(seconds=st.integers(0, 10**5), micros=st.integers(0, 999_999), done=st.integers(2, 10**6))
def test_2_0_prints_microseconds_without_leading_zeros(seconds, micros, done):
    taken = seconds + micros / 1e6
    if taken < 0.001:
        return
    text = V20.replace(" 322.49 ", f" {np.float32(done / taken):.2f} ").replace(" 3225\n", f" {done}\n")
    text = text.replace("10.203 seconds", f"{seconds}.{micros:03d} seconds")
    assert run_of(text).duration_s == pytest.approx(taken, abs=2e-6)


def test_the_time_of_2_0_without_a_rate():
    text = V20.split("Complete requests")[0].replace("10.203", "2.34689")
    assert run_of(text).duration_s == pytest.approx(2.034689)
    assert run_of(text.replace("2.0.40-dev", "2.3")).duration_s == pytest.approx(2.34689)


def test_the_html_of_2_0_takes_milliseconds_for_microseconds():
    text = (DATA / "html.txt").read_text().replace("Version 2.3", "Version 2.0.40-dev")
    text = text.replace("0.005 seconds", "0.2034 seconds").replace("21217.91", "49.16").replace("17612.52", "41.79")
    run = run_of(text)
    assert run.duration_s == pytest.approx(2.034)
    assert run.received_bytes_per_s == 41790  # 85000 bytes / 2.034 s in kB of 1000 bytes


@pytest.mark.parametrize(
    ("measured", "period", "mean", "origin"),
    [
        ("0    0   0.0      0       0", "0.346", 0.000346, "derived (N/X)"),
        ("0    3   0.4      3       7", "3.122", 0.003122, "derived (N/X)"),
        ("0    3   0.4      3       7", "3.777", 0.003, "measured"),  # rounding does not explain the difference
        ("100  101   0.5    101     102", "105.901", 0.101, "measured"),
        ("3004 3004   0.3   3004    3005", "4506.347", 3.004, "measured"),  # connections without a request
    ],
)
def test_the_mean_is_measured_unless_its_rounding_hides_it(measured, period, mean, origin):
    lines = SLEEP.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("Total: "))
    lines[at] = f"Total:  {measured}"
    run = run_of("\n".join(lines).replace("105.901 [ms]", f"{period} [ms]"))
    assert run.latency_mean_s == pytest.approx(mean)
    assert run.latency_origin == origin


def test_columns_of_S_may_touch():
    text = NOCONF.replace("Total:          0     0    0", f"Total:      {0:5d} {120:5d}{12345:5d}")
    phases = parse_ab(text).tables["phases"].set_index("phase")
    assert phases.loc["total", ["min_s", "mean_s", "max_s"]].tolist() == [0, 0.120, 12.345]
    with pytest.raises(ParseError, match="3 numbers in ms"):  # once the blanks are lost, the two cannot be told apart
        parse_ab(" ".join(text.split(" ")).replace(f"Total:      {0:5d} {120:5d}{12345:5d}", "Total: 0 12012345"))


@pytest.mark.parametrize(
    ("line", "column", "value"),
    [
        ("Failed requests:        53\n   (Connect: 0, Length: 53, Exceptions: 0)", "errors_length", 53),
        ("Failed requests:        3\n   (Connect: 0, Receive: 1, Length: 0, Exceptions: 2)", "errors_read", 1),
        ("Failed requests:        0\nWrite errors:           7", "errors_write", 7),
        ("Failed requests:        0\nBroken pipe errors:     7", "errors_write", 7),
        ("Failed requests:        0\nKeep-Alive aborts:      2", "requests_failed", 0),
        ("Failed requests:        0  # none", "requests_failed", 0),
        ("Failed requests:\n0", "requests_failed", 0),
        ("Failed\u0020requests:\u00a00", "requests_failed", 0),
    ],
)
def test_lines_of_other_versions(line, column, value):
    run = run_of(clean(SLEEP.replace("Failed requests:        0", line)))
    assert run[column] == value
    assert run.requests == 200


def test_the_head_of_the_trunk():
    text = SLEEP.replace(
        "Concurrency Level:      10\n",
        "Number of workers:      4\nConcurrency Level:      10\n"
        "Concurrency achieved:   10\nRampup delay:           0 [ms]\n",
    ).replace("Complete requests", "Number of requests:     50 (window)\nComplete requests")
    parsed = parse_ab(text)
    run = parsed.tables["runs"].iloc[0]
    assert run.threads == 4
    assert "requests_asked" not in run
    assert ["fewer times than requests" in warning for warning in parsed.warnings] == [True]
    stopped = parse_ab(
        "apr_socket_recv: Connection reset by peer (104)\n" + text.replace("50 (window)", "500")
    ).tables["runs"].iloc[0]  # fmt: skip
    assert (stopped.status, stopped.requests, stopped.requests_asked) == ("failed", 200, 500)
    assert stopped.reason == "apr_socket_recv: Connection reset by peer (104)"


def test_counters_of_32_bits():
    parsed = parse_ab(SLEEP.replace("25200 bytes", "-1794967296 bytes").replace("11.62", "-828122.33"))
    run = parsed.tables["runs"].iloc[0]
    assert "received_bytes" not in run
    assert "received_bytes_per_s" not in run
    assert ["below 0" in warning for warning in parsed.warnings] == [True, True]


def test_absurd_times_are_left_out():
    text = SLEEP.replace("Waiting:       99  101", "Waiting: 9223372036854776  -12")
    parsed = parse_ab(text)
    waiting = parsed.tables["phases"].set_index("phase").loc["waiting"]
    assert waiting[["min_s", "mean_s"]].isna().all()
    assert waiting.max_s == 0.102
    assert len(parsed.warnings) == 1


def test_what_real_ab_contradicts_is_only_warned_of():
    text = SLEEP.replace("Keep-Alive", "Non-2xx responses:      201\nKeep-Alive").replace("94.43", "99.43")
    parsed = parse_ab(text.replace(" 100%    102", " 100%    103").replace("  98%    102", "  98%     99"))
    assert len(parsed.tables["runs"]) == 1
    said = " ".join(parsed.warnings)
    for part in ("not 99.43 requests per second", "more Non-2xx", "Concurrency Level /", "not the maximum", "98%"):
        assert part in said


def test_errors_of_tls_are_counted_and_the_run_goes_on():
    noise = "SSL handshake failed (5).\n140264:error:1408F10B:SSL routines:ssl3_get_record:wrong version number\n"
    parsed = parse_ab(SLEEP.replace("(be patient)", "(be patient)\n" + noise * 3))
    assert parsed.tables["runs"].status.tolist() == ["finished"]
    assert parsed.warnings == ("line 6: SSL handshake failed (5). and 5 more such",)
    run, whole = parsed.tables["runs"].iloc[0], parse_ab(SLEEP).tables["runs"].iloc[0]
    # A request without a handshake is closed, and so counted as complete.
    assert run.errors_other == 3
    # It has no byte, so ab counts it as a response of another length too.
    counted = parsed.tables["runs"].assign(tool="ab", errors_length=3, requests_failed=3)
    assert error_ratio(counted).tolist() == [pytest.approx(3 / whole.requests)]


@in_one_test("label", ["Server Software", "Server Hostname", "Document Path", "SSL/TLS Protocol"])
@in_one_test("prose", [" (our proxy)", "  # 2nd run", "（静态页面）", "\t<- cached", " 3 workers, 1024 connections"])
def test_prose_behind_a_word_is_no_part_of_it(label, prose):
    lines = SLEEP.split("\n")
    at = next((i for i, line in enumerate(lines) if line.startswith(f"{label}:")), None)
    if at is None:
        at = next(i for i, line in enumerate(lines) if line.startswith("Server Port:")) + 1
        lines.insert(at, f"{label}:       TLSv1.3,TLS_AES_256_GCM_SHA384,256,256")
    plain = parse_ab("\n".join(lines))
    said = parse_ab("\n".join([*lines[:at], lines[at].rstrip() + prose, *lines[at + 1 :]]))
    assert said.tables["runs"].equals(plain.tables["runs"])
    assert len(said.warnings) == len(plain.warnings) + (1 if lines[at].split(":")[1].strip() else 0)


def test_a_path_without_its_host_is_kept():
    text = "\n".join(line for line in SLEEP.split("\n") if not line.startswith("Server Hostname"))
    path = re.search(r"Document Path: +(\S+)", SLEEP)[1]
    assert parse_ab(text).tables["runs"].url.tolist() == [path]


@pytest.mark.parametrize("heading", ["\n", " "])
def test_percentiles_in_one_line(heading):
    before, _, after = SLEEP.partition("certain time (ms)\n")
    row = " ".join(after.split())
    found = parse_ab(f"{before}certain time (ms){heading}{row}\n").tables["latency"]
    assert found.equals(parse_ab(SLEEP).tables["latency"])


def test_reports_follow_each_other():
    refused = (
        "ab: invalid URL\nUsage: ab [options] [http[s]://]hostname[:port]/path\nOptions are:\n    -n requests  N\n"
    )
    begun = f"{SLEEP.split('Benchmarking')[0]}Benchmarking h (be patient)\n"
    text = f"$ ab -k URL\n{SLEEP}$ ab http://h\n{refused}{FLAKY}{begun}"
    parsed = parse(text)
    runs = parsed.tables["runs"]
    assert runs.generator.tolist() == [0, 1, 2, 3]
    assert runs.status.fillna("").tolist() == ["finished", "failed", "finished", ""]
    assert parsed.tables["latency"].generator.tolist() == [0] * 9 + [2] * 9


def test_standard_error_may_stand_before_or_after():
    progress = "Completed 100 requests\nCompleted 200 requests\nFinished 200 requests\n"
    plain = parse(SLEEP)
    for text in (progress + SLEEP, SLEEP + progress):
        parsed = parse(text)
        pd.testing.assert_frame_equal(parsed.tables["runs"], plain.tables["runs"])
        assert parsed.warnings == ()
    alone = parse(progress)
    assert alone.tables["runs"][["status", "requests"]].to_numpy().tolist() == [["finished", 200]]


def test_interrupted():
    run = run_of(SLEEP.replace("(be patient)\n", "(be patient)\n^C\n"))
    assert (run.status, run.requests) == ("interrupted", 200)


def test_lines_that_a_web_page_broke():
    text = SLEEP.replace("Server Port:            80", "Server  \nPort:             \n80")
    text = text.replace("Transfer rate:          ", "Transfer rate:           \n").replace(
        "[ms] (mean", "[ms]  \n(mean"
    )
    text = text.replace("Processing:   100  101", "Processing:   100  101  \n").replace(
        "Total:        100", "Total:\n 100"
    )
    broken, whole = parse_ab(text), parse_ab(SLEEP)
    for name, table in whole.tables.items():
        pd.testing.assert_frame_equal(broken.tables[name], table)
    assert all("joined" in warning for warning in broken.warnings)


def test_part_of_a_report():
    parsed = parse(
        "...\nRequests per second:    6.44 [#/sec] (mean)\nTime per request:       310788.789 [ms] (mean)\n\n"
    )
    assert parsed.tables["runs"].throughput_rps.tolist() == [6.44]
    assert "status" not in parsed.tables["runs"]
    assert parsed.warnings


def test_percentiles_of_2_0_and_of_several_files():
    rows = "".join(f"{i},{5155 + i:e}\n" for i in range(100))
    parsed = parse(f"Percentage served,Time in ms\n{rows}Percentage served,Time in ms\n{rows}")
    latency = parsed.tables["latency"]
    assert len(latency) == 200
    assert latency.generator.iloc[-1] == 1
    assert latency.latency_s.iloc[-1] == pytest.approx(5.254)
    assert parsed.warnings == ()


@pytest.mark.parametrize("wrong", ["5,", "5;3.1", "4,3.1", "5,3.1.2", "101,4", "5,1e999", "5,-3"])
def test_percentiles_refused(wrong):
    assert refused_line(parse_ab_percentiles, f"Percentage served,Time in ms\n4,3.0\n{wrong}\n6,3.2\n") == 3


HEADER = "starttime\tseconds\tctime\tdtime\tttime\twait\n"
ROW = "Fri Nov 20 22:26:36 2026\t1795213596\t1\t3\t5\t3\n"


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 4 * 10**9), *[st.integers(0, 10**6)] * 4), min_size=1, max_size=20))
def test_requests_come_back(rows):
    text = HEADER + "".join("Fri Nov 20 22:26:36 2026\t" + "\t".join(map(str, row)) + "\n" for row in rows)
    for variant in (text, text.replace("\t", "  "), text.replace(HEADER, "$ cat g.tsv\n" + HEADER)):
        requests = parse_ab_requests(variant).tables["requests"]
        assert (requests.time.astype("int64") // 10**6).tolist() == [row[0] for row in rows]
        for column, i in (("connect_s", 1), ("processing_s", 2), ("latency_s", 3), ("waiting_s", 4)):
            assert requests[column].tolist() == [row[i] / 1000 for row in rows]


def test_requests_of_2_0_have_microseconds():
    requests = parse_ab_requests(HEADER + ROW.replace("1795213596", "1795213596123456")).tables["requests"]
    assert requests.time.tolist() == [pd.Timestamp(1795213596123456, unit="us", tz="UTC")]


def test_a_cut_row_is_left_out():
    parsed = parse_ab_requests(HEADER + ROW + ROW[:-3])
    assert len(parsed.tables["requests"]) == 1
    assert parsed.warnings == ("line 3: the text ends here; this row is left out, as it may be cut",)


@pytest.mark.parametrize(
    "wrong", ["1\t3\t5\tx", "1\t3\t5", "1\t3\t5\t3\t9", "1\t\t5\t3", "1\t3\t5\t3.5", "1\t3\t5\t" + "9" * 30]
)
def test_requests_refused(wrong):
    assert refused_line(parse_ab_requests, HEADER + ROW + ROW.replace("1\t3\t5\t3", wrong) + ROW) == 3


def test_headings_that_people_have_changed():
    text = SLEEP.replace("Times (ms)", "Times (ms):").replace("of the requests served", "of requests served")
    changed, plain = parse_ab(text), parse_ab(SLEEP)
    assert all(changed.tables[name].equals(plain.tables[name]) for name in plain.tables)
    assert changed.warnings == plain.warnings
