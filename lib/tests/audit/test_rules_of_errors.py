"""Rules about responses that were none, and about runs that ended early or late: recorded reports, and every limit."""

from pathlib import Path

import pandas as pd
import pytest
from examined import case, examiner

import loadcurve
from loadcurve.audit import AuditSettings, all_rules, audit
from loadcurve.tables import check

DATA = Path(__file__).parents[1] / "data"
audited = examiner(tool="wrk", url="http://127.0.0.1:1/616.txt", connections=8)


def recorded(rule, path):
    return audit(loadcurve.read(DATA / path), AuditSettings(select=(rule,))).iloc[0]


def replies(empty, header=144, body=616, number=46700):
    """Totals of equal responses, of which some are empty."""
    whole = number - empty
    received, bodies = whole * float(header + body), whole * float(body)
    return {"tool": "ab", "requests": number, "received_bytes": received, "received_body_bytes": bodies}


def lengths(*each):
    return [{"requests": 100, "received_bytes": 100.0 * number} for number in each]


def longer(more):
    """Totals of responses to which some bytes are added: bodies of several lengths."""
    run = replies(0)
    return run | {name: run[name] + more for name in ("received_bytes", "received_body_bytes")}


P99 = [{"generator": 0, "quantile": 0.99, "latency_s": 0.1}]
LATE = {"requests": 1000, "errors_timeout": 50, "generator": 0}
# ab -t ends with requests in flight: 3863 counted, and the bytes of 3864 responses of 123 and 3 bytes.
UNCOUNTED = {"tool": "ab", "requests": 3863, "received_bytes": 486864.0, "received_body_bytes": 11592.0}
# HTML transferred: 10882 bytes in 200 responses of a document of 100 bytes.
SHORTER = {"tool": "ab", "requests": 200, "received_bytes": 40872.0, "received_body_bytes": 10882.0}
SIZES = [{"run_id": f"r{i}", "factor": "server.response_bytes", "level": n} for i, n in enumerate(["616"] * 3 + ["0"])]
LOADS = [{"run_id": f"r{i}", "factor": "load.connections", "level": f"{i}"} for i in range(4)]
CASES = [
    *[case(rule, "", {}) for rule in ("timeouts", "empty-replies", "short-responses", "early-end", "late-end")],
    *[case("short-load", severity, {"duration_s": lasts, "duration_asked_s": 60.0}, observed=lasts)
      for lasts, severity in ((0.0, "warning"), (2.99, "warning"), (3.0, "ok"), (3600.0, "ok"))],
    case("short-load", "unchecked", {"duration_asked_s": 10.0}, says="needs the duration of the load"),
    # No percentile is known to leave the late responses out.
    case("timeouts", "warning", LATE | {"tool": "k6"}, latency=P99),
    case("timeouts", "warning", LATE),
    case("empty-replies", "ok", UNCOUNTED | {"connections": 2}),
    case("empty-replies", "ok", UNCOUNTED | {"document_bytes": 3.0, "connections": 0}),
    *[case("empty-replies", "ok", longer(more)) for more in (1, 17, 1234)],
    case("empty-replies", "ok", {"requests": 1000, "received_bytes": 9000.0}),
    case("empty-replies", "error", {"requests": 1000, "received_bytes": 8999.0}),
    *[case("short-responses", f"ok ok {severity}", *lengths(850, 850, last), observed=last / 850)
      for last, severity in ((850, "ok"), (808, "ok"), (807, "warning"), (425, "warning"), (424, "error"),
                             (2000, "ok"))],
    *[case("short-responses", "ok ok ok unchecked", *lengths(850, 850, 850), lengths(100)[0] | other)
      for other in ({"url": "http://127.0.0.1:1/0.txt"}, {"variant": "gzip"}, {"tool": "ab"}, {"errors_status": 90},
                    {"study": "t"})],
    # Another port is the same URL; a factor of the size makes other responses, one of the load does not.
    case("short-responses", "ok ok error", *lengths(850, 850), lengths(100)[0] | {"url": "http://127.0.0.1:2/616.txt"}),
    case("short-responses", "ok ok ok unchecked", *lengths(850, 850, 850, 100), factors=[*SIZES, *LOADS]),
    case("short-responses", "warning", SHORTER | {"document_bytes": 100.0}, says="54.4 bytes; the first had 100"),
    case("short-responses", "ok", SHORTER | {"document_bytes": 54.0}),
    case("early-end", "ok", {"duration_asked_s": 10.0, "duration_s": 9.6}, says="9.6 s of 10 s"),
    case("early-end", "warning", {"duration_asked_s": 10.0, "duration_s": 9.4}, says="9.4 s of 10 s"),
    case("early-end", "error", {"duration_asked_s": 10.0, "duration_s": 4.9}, says="4.9 s of 10 s"),
    case("early-end", "ok", {"duration_asked_s": 10.0, "duration_s": 30.0}),
    case("early-end", "ok", {"requests_asked": 100, "requests": 96}, says="96 requests of 100 requests"),
    case("early-end", "warning", {"requests_asked": 100, "requests": 90}, says="90 requests of 100 requests"),
    case("early-end", "ok", {"requests_asked": 100, "requests": 40, "requests_started": 100}),
    case("early-end", "ok", {"requests_asked": 100, "requests": 40, "errors_read": 60}),
    # ab -t 10 -n 100000000 ends by time, and ab -t 10 (-n 50000) by requests.
    case("early-end", "ok", {"requests_asked": 10**8, "requests": 50, "duration_asked_s": 10.0, "duration_s": 10.0}),
    case("early-end", "ok", {"requests_asked": 50000, "requests": 50000, "duration_asked_s": 10.0, "duration_s": 2.0}),
    # wrk -d3s with SYNs dropped took 135 s; -d1s takes 1.1 s.
    *[case("late-end", severity, {"duration_asked_s": asked, "duration_s": took})
      for asked, took, severity in ((1.0, 1.1, "ok"), (3.0, 4.2, "ok"), (3.0, 4.4, "warning"), (3.0, 135.0, "error"),
                                    (10.0, 12.1, "warning"))],
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_severities_and_words(case):
    case.check(audited)


@pytest.mark.parametrize(
    ("path", "lasted", "option"),
    [
        ("samples/ab/reno-direct-616-k.txt", "161 ms", "ab -t 10 -n 10000000"),
        ("samples/wrk/oneoffd1000ms.out", "1.00 s", "wrk -d 10s"),
        ("samples/other/hey-nokeep.txt", "126 ms", "hey -z 10s"),
        ("h2load/h1.txt", "171 ms", "h2load -D 10"),
        ("weighttp/keepalive.txt", "831 ms", "weighttp -n"),
        ("siege/json.txt", "130 ms", "siege -t 10S"),
        ("oha/json.txt", "1.00 s", "oha -z 10s"),
    ],
)
def test_a_recorded_load_of_less_than_3_s_is_too_short(path, lasted, option):
    """ab prints `Time taken for tests:   0.161 seconds`, wrk `9 requests in 1.00s`, hey `Total: 0.1257 secs`."""
    found = recorded("short-load", path)
    assert (found["severity"], found["expected"]) == ("warning", 3)
    assert found["evidence"] == f"The load lasted {lasted}."
    assert found["advice"] == f"Measure for at least 10 s (`{option}`)."


@pytest.mark.parametrize("path", ["samples/other/wrk-lighttpd.txt", "k6/arrival-rate.txt", "locust/stats.txt"])
def test_a_recorded_load_of_3_s_is_long_enough(path):
    found = recorded("short-load", path)
    assert (found["severity"], found["advice"]) == ("ok", "")


def test_a_higher_limit_is_the_duration_that_is_advised():
    runs = check("runs", pd.DataFrame([{"run_id": "r0", "status": "finished", "duration_s": 20.0, "tool": "httperf"}]))
    found = all_rules()["short-load"].audit({"runs": runs}, {"seconds": 60.0}).iloc[0]
    assert (found["severity"], found["advice"]) == ("warning", "Measure for at least 60 s.")


@pytest.mark.parametrize(
    ("late", "severity"), [(0, "ok"), (1, "ok"), (2, "warning"), (10, "warning"), (11, "error"), (2000, "error")]
)
def test_timeouts_against_the_highest_percentile(late, severity):
    """More than 1 % late: the printed p99 is certainly too low.  wrk may count more timeouts than responses."""
    rows = [{"generator": 0, "quantile": q, "latency_s": 0.1} for q in (0.5, 0.99)]
    found = audited("timeouts", {"requests": 1000, "errors_timeout": late, "generator": 0}, latency=rows).iloc[0]
    assert (found["severity"], found["observed"]) == (severity, min(late / 1000, 1))
    assert ("the printed p99 leaves them out" in found["evidence"]) == (severity == "error")


def test_recorded_empty_replies():
    """ab: Complete requests: 200, Failed requests: 0, Total transferred: 0 bytes; its status is failed."""
    found = recorded("empty-replies", "ab/no-bytes.txt")
    assert found["severity"] == "error" and "0 bytes in 200 responses" in found["evidence"]
    empty_file = recorded("empty-replies", "samples/ab/empty-k.out")
    assert empty_file["severity"] == "ok" and empty_file["observed"] == 235, "470000 bytes in 2000 responses: headers"


# 4590 of 46700 were recorded with ab -l, while a server closed a tenth of the connections.
@pytest.mark.parametrize(
    ("empty", "severity"), [(0, "ok"), (1, "warning"), (4590, "warning"), (4671, "error"), (10000, "error")]
)
def test_some_empty_replies_show_in_the_totals(empty, severity):
    found = audited("empty-replies", replies(empty)).iloc[0]
    assert found["severity"] == severity
    if empty:
        assert f"{46700 - empty} equal responses (144 bytes of header, 616 of body)" in found["evidence"]
        assert f"so at least {empty} replies were empty" in found["evidence"]


def test_a_recorded_run_without_a_response_or_an_error():
    """wrk, while a firewall dropped the server's FINs and data: 0 requests in 3.01s, exit code 0."""
    found = recorded("failed-requests", "samples/misc/wrk-fin-dropped.out")
    assert (found["severity"], found["evidence"]) == ("error", "No response came.")


def test_error_pages_of_another_length_are_counted_once():
    """ab -n 200: 53 Non-2xx responses, and the same 53 as failures of Length."""
    assert recorded("failed-requests", "ab/flaky.txt")["observed"] == pytest.approx(53 / 200)


def test_the_recorded_interrupt_of_wrk():
    """wrk -d10s ended by ^C after 2 s prints a whole report."""
    found = recorded("unfinished-run", "wrk/sigint.txt")
    assert found["severity"] == "error" and "interrupted" in found["evidence"]
    assert "measured 2 s of the 10 s asked for" in found["evidence"]


def test_the_heading_of_wrk_says_what_was_asked_for():
    runs = loadcurve.read(DATA / "samples/wrk/oneoffd1000ms.out").tables["runs"]
    assert runs["duration_asked_s"].tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "report", ["ab/html.txt", "ab/sleep.txt", "wrk/plain.txt", "wrk/latency.txt", "wrk2/rate2000.txt", "h2load/h1.txt",
               "weighttp/keepalive.txt", "hey/plain.txt", "siege/text.txt", "oha/text.txt", "vegeta/text.txt"],
)  # fmt: skip
def test_a_report_that_is_cut_off_is_never_taken_for_a_finished_run_without_its_totals(report, tmp_path):
    """Cut after each of the last lines: the run has its throughput, or `unfinished-run` is an error."""
    lines = (DATA / report).read_text("utf-8").splitlines(keepends=True)
    for number in range(max(len(lines) - 14, 1), len(lines)):
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(lines[:number]), "utf-8")
        try:
            tables = loadcurve.read(path).tables
        except Exception:  # refused
            continue
        if "runs" not in tables:
            continue
        runs = check("runs", tables["runs"], extra=True)
        found = audit({"runs": runs}, AuditSettings(select=("unfinished-run",)))
        whole = runs["throughput_rps"].notna() & runs["status"].eq("finished")
        assert found["severity"].eq("ok").tolist() == whole.tolist(), (number, lines[number - 1])
