"""effective-concurrency: thresholds, and every cause on recorded or published numbers."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from examined import examiner
from hypothesis import given, settings
from hypothesis import strategies as st

import loadcurve
from loadcurve import tables
from loadcurve.audit.rules.effective_concurrency import RULE

SAMPLES = Path(__file__).parents[1] / "data"
# The published report "Nginx Performance Test": wrk -t2 -c30000.
C30000 = {"tool": "wrk", "threads": 2, "connections": 30000, "throughput_rps": 1288.65, "latency_mean_s": 0.51529,
          "latency_max_s": 2.0, "requests": 39021, "errors_connect": 0, "errors_read": 298852, "errors_write": 16,
          "errors_timeout": 3115}  # fmt: skip


def finding(of=None, **run):
    return examiner()(RULE.name, run, **(of or {})).iloc[0]


def recorded(sample, **known):
    runs = loadcurve.read(SAMPLES / sample).tables["runs"].head(1)
    return RULE.audit({"runs": runs.assign(**known)}).iloc[0]


def test_document_001_asks_for_8000():
    # wrk -t1 -c8000, 1024 file descriptors: connect 6980, 20260.60 requests/s at 49.94 ms.
    found = finding(
        tool="wrk", threads=1, connections=8000, throughput_rps=20260.6, latency_mean_s=0.04994, errors_connect=6980
    )
    assert found["severity"] == "error"
    assert found["observed"] == pytest.approx(1011.8, abs=0.05)
    assert found["expected"] == 8000
    assert found["evidence"] == (
        "20260.6 × 49.94 ms = 1011.8 in flight; 8000 connections were requested. Cause: 6980 failed to open, and the "
        "1020 left are just below 1024, a usual limit of open files."
    )
    assert found["advice"].startswith("Raise the generator's limit of open files (`ulimit -n`).")


def test_document_001_asks_for_30000():
    # 664 in flight; the connections opened, but 298852 reads failed, and 3115 responses of at least 2 s are left out:
    # 1288.65 × (0.51529 + 3115 / 39021 × 1.48471) = 816.8.
    found = finding(**C30000)
    assert found["severity"] == "error"
    assert found["observed"] == pytest.approx(664, abs=0.5)
    late, failed = "3115 of 39021 responses came after the timeout", "298868 requests had no response"
    assert late in found["evidence"] and "at least 817 were in flight" in found["evidence"]
    assert found["evidence"].index(late) < found["evidence"].index(failed)
    assert "ulimit" not in found["advice"] and "--timeout" in found["advice"] and "ss -s" in found["advice"]


def test_document_001_shows_7959_established():
    client = {"host": "client", "elapsed_s": 5.0, "established": 7959}
    server = {"host": "server", "elapsed_s": 5.0, "established": 28}
    found = finding({"sockets": [client, server]}, **C30000, host="client", duration_s=30.3)
    assert "`ss -s` on the generator's host counted at most 7959 established connections" in found["evidence"]
    unknown = finding({"sockets": [{"elapsed_s": 5.0, "established": 28}]}, **C30000, duration_s=30.3)
    assert "established" not in unknown["evidence"], "the file may be of any host"


def test_document_001_with_one_connection():
    found = finding(tool="wrk", threads=1, connections=1, throughput_rps=22.23, latency_mean_s=0.045)
    assert found["severity"] == "ok"
    assert found["evidence"] == "22.2 × 45.00 ms = 1.0 in flight; 1 connection was requested."
    assert found["advice"] == ""


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        # prlimit --nofile=256 wrk -t2 -c1000: 249 opened, 125928.95 × 1.95 ms = 245.6.
        ("samples/wrk/fdlimit-t2.out", "Cause: 751 failed to open, and the 249 left are just below 256, a usual limit"),
        # -c8000 in 2 s: nothing failed, and nothing else was recorded.
        ("samples/wrk/bigc.out", "No cause in the data."),
        ("samples/weighttp/empty.out", "Cause: the run took 8.11 ms, of which opening connections is a part."),
        ("h2load/median.txt", "No cause in the data."),
    ],
)
def test_causes_in_recorded_reports(sample, words):
    found = recorded(sample)
    assert found["severity"] in ("warning", "error") and words in found["evidence"]


def test_a_recorded_limit_of_open_files_is_named_instead_of_a_usual_one():
    settings = [{"host": "C1", "process": "generator", "setting": "Max open files", "value": "300"}]
    run = {"tool": "wrk", "threads": 1, "connections": 1000, "throughput_rps": 2900.0, "latency_mean_s": 0.1}
    found = finding({"settings": settings}, **run, host="C1", errors_connect=705)
    assert "the 295 left are just below 300, the limit of open files" in found["evidence"]
    uncounted = finding({"settings": settings}, **run, host="C1")
    assert "Cause: the generator may have 300 open files." in uncounted["evidence"]
    assert "300" not in finding({"settings": settings}, **run, host="S1")["evidence"], "a limit of another host"


_LATE = {"requests": 18284, "errors_timeout": 64, "latency_max_s": 0.04, "duration_s": 9.03}
_OVER, _STALL = {"duration_s": 8.0, "duration_asked_s": 5.0}, {"duration_s": 8.01, "latency_max_s": 4.02}
_POLLED = {"requests": 1776, "errors_timeout": 1848, "duration_s": 60.0}
_HELD = {"target_rate_rps": 2000.0, "latency_corrected": True}
SAID = [
    # Sample wrk/sweep-616.txt-c16.txt; a corrected mean leaves throughput and load usable.
    ("wrk", 16, 125880.25, 186.45e-6, {"latency_corrected": True}, "warning", "N / X is 127.1 µs", "Until"),
    ("wrk", 16, 125880.25, 186.45e-6, {"latency_corrected": False}, "warning", "throughput then cover", "omission"),
    ("wrk", 32, 1000.0, 0.0783, {"latency_corrected": True}, "warning", "R = N / X", "Until then"),
    # wrk -t12 -c100 opens 12 · 8 = 96.  With 7 on 4 threads the share is below 0.9; others distribute the remainder.
    ("wrk", 100, 960.0, 0.1, {"threads": 12}, "ok", "", "Cause"),
    ("wrk", 7, 40.0, 0.1, {"threads": 4}, "warning", "Cause: wrk opens 4 of them on 4 threads.", "No cause"),
    ("wrk2", 7, 40.0, 0.1, {"threads": 4}, "warning", "Request a multiple of the number of threads.", "No cause"),
    ("ab", 7, 40.0, 0.1, {"threads": 4}, "warning", "No cause in the data.", "threads"),
    ("weighttp", 7, 40.0, 0.1, {"threads": 4}, "warning", "No cause in the data.", "threads"),
    # Users wait 100 / 9.09 - 1 = 10 s, and 100 / 99 - 0.01 = 1 s.
    ("jmeter", 100, 100 / 11, 1.0, {}, "ok", "100 users were requested. Cause: the users", "Until"),
    ("k6", 100, 99.0, 0.01, {}, "ok", "each waited 1.00 s between requests", "Until then"),
    ("wrk", 100, 100 / 11, 1.0, {}, "error", "a connection waits for a busy wrk or for a Lua script", "waited"),
    # As recorded with stalls: (N / X - 21.0 ms) · 18284 / 64 = 3.04 s each; 10 would have to take 20 s of the 9 s.
    ("wrk", 64, 2023.9, 0.02106, _LATE, "warning", "64 of 18284 responses came after the timeout", "No cause"),
    ("wrk", 64, 2023.9, 0.02106, _LATE, "warning", "they fill the difference if each took 3.04 s.", "No cause"),
    ("wrk", 64, 2023.9, 0.02106, _LATE | {"errors_timeout": 10}, "warning", "10 of 18284", "fill the difference"),
    # An old wrk counts a waiting connection again at each look; 794 ms each is below its timeout of 2 s.
    ("wrk", 100, 29.5, 1.5, _POLLED, "error", "", "1848 of 1776"),
    ("wrk", 64, 2023.9, 0.02106, _LATE | {"errors_timeout": 245}, "warning", "245 of 18284", "fill the difference"),
    # 15 connections that wait for the last 3 of 8 s are 5.6 on average; a stall of 4.02 s of ab -c16, as recorded.
    ("ab", 15, 400.0, 0.02, _OVER, "warning", "up to 14 were in flight", "No cause"),
    ("ab", 15, 400.0, 0.02, {"duration_s": 8.0, "duration_asked_s": 7.5}, "warning", "No cause in the data", "up to"),
    ("ab", 16, 390.3, 0.022, _STALL, "warning", "up to 16 were in flight", "No cause"),
    # Refused handshakes are retried, in a published run 88542 times.
    ("wrk", 1000, 100.0, 0.1, {"errors_connect": 88542}, "error", "88542 attempts to open a connection", "rest"),
    ("wrk", 1000, 100.0, 0.1, {"errors_connect": 300}, "error", "Cause in part: 300 failed to open. The rest", "1024"),
    ("wrk", 512, 94432.84, 0.00379, {}, "warning", "R = N / X", "Cause:"),
    # Open loops: idle connections, also of tools that do not print the rate, and requests that wait for their turn.
    ("wrk2", 32, 1988.3, 702.7e-6, {}, "ok", "holds a rate", "Until then"),
    ("vegeta", 32, 1988.3, 702.7e-6, {}, "ok", "holds a rate", "Until then"),
    ("oha", 8, 0.8, 0.1, _HELD, "ok", "holds a rate", "when a request was due"),
    ("oha", 8, 80.0, 0.1, _HELD, "ok", "8.0 in flight", "holds a rate"),
    ("wrk2", 8, 88.8, 0.1, _HELD, "ok", "when a request was due", "holds a rate"),
    ("wrk2", 50, 1890.0, 5.2, _HELD, "ok", "when a request was due", "holds a rate"),
    # h2load -c4 -m25 and ab of 32 connections, as recorded; ab rounds 6.4 ms.
    ("h2load", 4, 3709.4, 0.02671, {}, "ok", "several requests in flight on each connection (HTTP/2", "Until then"),
    ("ab", 32, 4464.5, 0.006, {}, "ok", "Within the printed digits", "Until then"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "connections", "rate", "mean", "others", "severity", "words", "other_words"), SAID)
def test_what_the_numbers_of_a_tool_mean(tool, connections, rate, mean, others, severity, words, other_words):
    found = finding(tool=tool, connections=connections, throughput_rps=rate, latency_mean_s=mean, **others)
    said = f"{found['evidence']} {found['advice']}"
    assert found["severity"] == severity and words in said and other_words not in said, said
    assert bool(found["advice"]) == (severity != "ok")


def test_each_generator_of_a_run_has_its_own_last_digit():
    """As recorded of two ab: one printed its mean in whole milliseconds, the mean of the other was computed."""
    runs = pd.DataFrame(
        {
            "run_id": "D-r1", "generator": [0, 1], "tool": "ab", "connections": 32, "threads": 1,
            "throughput_rps": [7079.06, 6913.21], "latency_mean_s": [0.004, 0.004629],
        }
    )  # fmt: skip
    found = loadcurve.audit({"runs": runs}).query("rule == 'effective-concurrency'")
    assert found["severity"].tolist() == ["ok", "ok"]
    assert found["evidence"].str.contains("Within the printed digits").any()


@pytest.mark.parametrize(
    ("ratio", "severity"),
    [(0, "unchecked"), (0.49, "error"), (0.51, "warning"), (0.89, "warning"), (0.91, "ok"), (1, "ok"), (1.09, "ok"),
     (1.11, "warning"), (1.99, "warning"), (2.01, "error")],
)  # fmt: skip
def test_thresholds(ratio, severity):
    found = finding(connections=100, throughput_rps=ratio * 1000, latency_mean_s=0.1)
    assert found["severity"] == severity
    assert bool(found["advice"]) == (severity != "ok")


def test_failed_writes_come_before_a_busy_generator():
    """As recorded with a server that was killed: wrk is busy with 435,934 writes to closed connections."""
    cpu = [{"cpu": "1", "elapsed_s": 5.0, "cpu_idle_ratio": 0.007, "cpu_iowait_ratio": 0.0}]
    run = {"tool": "wrk", "connections": 64, "throughput_rps": 1509.6, "latency_mean_s": 0.02094, "duration_s": 10.0,
           "requests": 12130, "errors_read": 65, "errors_write": 435934}  # fmt: skip
    found = finding({"cpu": cpu}, **run, server_cpu=0, generator_cpu=1)
    assert "Cause: 435999 requests had no response, beside 12130 that had one" in found["evidence"]
    assert "busy" not in found["evidence"]


@pytest.mark.parametrize(
    ("tool", "opens", "named"), [("wrk", 16700.0, True), ("wrk", 170.0, False), ("ab", 16700.0, False)]
)
def test_a_connection_for_each_request_is_opened_before_wrk_starts_timing(tool, opens, named):
    """As recorded of two generators: 8,493 requests/s of 44.11 µs; the first second of sar has fewer connections."""
    tcp = [{"host": "C1", "elapsed_s": at, "active_opens_per_s": n} for at, n in ((0.2, opens / 2), (1.2, opens))]
    run = {"tool": tool, "connections": 1, "throughput_rps": 8493.0, "latency_mean_s": 44.11e-6, "duration_s": 2.0}
    rows = [{"study": "s", "run_id": "r", "status": "finished", "host": "C1", **run, "generator": g} for g in (0, 1)]
    frames = {"runs": rows, "tcp": [{"study": "s", "run_id": "r"} | row for row in tcp]}
    found = RULE.audit({name: tables.check(name, pd.DataFrame(of)) for name, of in frames.items()}).iloc[0]
    assert ("opened 0.98 connections per request" in found["evidence"]) == named
    assert (found["severity"], "as a point at N" in found["advice"]) == (
        ("warning", False) if named else ("error", True)
    )


@pytest.mark.parametrize("failed", [0, 36])
def test_a_full_table_of_tracked_connections(failed):
    """A host between tracks at most 64 connections, and wrk requests 100; dropped packets are no error of wrk."""
    names = {"net.netfilter.nf_conntrack_count": "64", "net.netfilter.nf_conntrack_max": "64"}
    settings = [{"host": "LB", "setting": name, "value": value, "elapsed_s": 5.0} for name, value in names.items()]
    run = {"tool": "wrk", "connections": 100, "throughput_rps": 640.0, "latency_mean_s": 0.1, "duration_s": 10.0}
    found = finding({"settings": settings}, **run, errors_connect=failed)
    assert "64 of 64 connections were tracked on LB." in found["evidence"] and "Cause:" in found["evidence"]
    assert "nf_conntrack_max" in found["advice"] and "ulimit" not in found["advice"]
    assert ("36 failed to open, and 64 of 64" in found["evidence"]) == (failed > 0)


@pytest.mark.parametrize(("idle", "named"), [(0.03, True), (0.12, False)])
def test_a_busy_generator(idle, named):
    cpu = [{"cpu": "1", "elapsed_s": 5.0, "cpu_idle_ratio": idle, "cpu_iowait_ratio": 0.0}]
    run = {"tool": "wrk", "connections": 512, "throughput_rps": 94432.84, "latency_mean_s": 0.00379, "duration_s": 10.0}
    found = finding({"cpu": cpu}, **run, server_cpu=0, generator_cpu=1)
    assert ("Cause: the generator's processor was busy for 97.0 %" in found["evidence"]) == named
    assert ("No cause in the data" in found["evidence"]) == (not named)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"connections": 8, "throughput_rps": 10.0}, "needs the mean response time"),
        ({"connections": 8, "throughput_rps": 10.0, "latency_mean_s": 0.0}, "the mean response time is 0, so no"),
        ({"connections": 8, "throughput_rps": 10.0, "latency_mean_s": 0.8, "latency_origin": "derived (N/X)"},
         "the mean response time was computed as N / X"),
        ({"throughput_rps": 10.0, "latency_mean_s": 0.1}, "needs the connections"),
        ({"connections": 0, "throughput_rps": 10.0, "latency_mean_s": 0.1}, "the report counts 0 connections"),
        ({}, "needs the connections and the throughput and the mean response time"),
    ],
)  # fmt: skip
def test_a_missing_number_is_never_ok(run, words):
    found = finding(**run)
    assert found["severity"] == "unchecked"
    assert found["evidence"].startswith(f"Not checked: {words}")
    assert math.isnan(found["observed"])
    assert found["advice"]


def test_only_finished_runs_are_judged():
    runs = tables.check("runs", pd.DataFrame([{"study": "s", "run_id": "r", "status": "failed"}]))
    assert RULE.audit({"runs": runs}).empty


@settings(max_examples=300, deadline=None)
@given(
    tool=st.sampled_from(["wrk", "wrk2", "ab", "hey", "oha", "h2load", "k6", "jmeter", "fortio", "siege", None]),
    connections=st.integers(1, 30000), threads=st.integers(1, 64), requests=st.integers(1, 10**6),
    duration_s=st.floats(0.1, 600), mean=st.floats(1e-5, 10), slowest=st.floats(1, 100),
    errors_timeout=st.integers(0, 10**6), errors_connect=st.integers(0, 10**5), errors_read=st.integers(0, 10**6),
    corrected=st.sampled_from([True, False, None]),
)  # fmt: skip
def test_no_sentence_is_impossible(tool, connections, requests, duration_s, mean, slowest, corrected, **counts):
    """Counts are parts of their totals, times lie between timeout and run, and what was in flight could be carried."""
    rate = requests / duration_s
    found = finding(tool=tool, connections=connections, requests=requests, duration_s=duration_s, throughput_rps=rate,
                    latency_mean_s=mean, latency_max_s=mean * slowest, latency_corrected=corrected,
                    **counts)  # fmt: skip
    text = found["evidence"]
    assert not text.startswith("Not checked: internal")
    if match := re.search(r"(\d+) of (\d+) responses came after", text):
        assert int(match[1]) <= int(match[2]) == requests and tool == "wrk"
    if match := re.search(r"if each took ([\d.]+) (ms|s)", text):
        each, late = float(match[1]) * {"ms": 1e-3, "s": 1}[match[2]], counts["errors_timeout"] / requests
        assert max(2, mean * slowest) <= each * 1.01 and each <= duration_s * 1.01
        assert rate * ((1 - late) * mean + late * each) == pytest.approx(connections, rel=0.02)
    if match := re.search(r"with them (?:at least|up to) (\d+) were", text):
        assert rate * mean * 0.99 - 1 <= int(match[1]) <= 1.1 * connections + 1
    if match := re.search(r"the (\d+) left|opens (\d+) of them", text):
        assert rate * mean / 1.1 - 1 <= int(match[1] or match[2]) < connections
    if match := re.search(r"each waited ([\d.]+)", text):
        assert float(match[1]) > 0 and tool in ("k6", "jmeter", "siege")
    if "the run took" in text or "longest response took" in text or "responses, and those" in text:
        assert rate * mean < connections
