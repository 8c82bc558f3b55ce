"""fortio: what its source says, as properties; its traps."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.ingest.load.fortio import parse_fortio, parse_fortio_json

DATA = Path(__file__).parents[2] / "data/fortio"
TEXT = (DATA / "text.txt").read_text()
JSON = (DATA / "json.txt").read_text()


@given(
    counts=st.lists(st.integers(1, 10**6), min_size=1, max_size=8),
    silent=st.integers(0, 100),
    ns=st.integers(10**6, 10**13),
    mean=st.floats(1e-5, 10),
)
def test_text_and_json_say_the_same(counts, silent, ns, mean):
    calls = sum(counts)
    silent = min(silent, calls)
    qps = calls / ns * 1e9
    data, rows, so_far = [], [], 0
    for i, count in enumerate(counts):
        so_far += count
        share = 100 * so_far / calls
        data.append({"Start": i * 1e-3, "End": (i + 1) * 1e-3, "Percent": share, "Count": count})
        low, high, middle = (f"{(i + part) * 1e-3:.6g}" for part in (0, 1, 0.5))
        rows.append(f"{'>' if i else '>='} {low} <= {high} , {middle} , {share:.2f}, {count}")
    document = {
        "RequestedQPS": "max", "ActualQPS": qps, "ActualDuration": ns, "NumThreads": 4,
        "DurationHistogram": {
            "Count": calls, "Min": 0.0, "Max": 1.0, "Sum": mean * calls, "Avg": mean, "StdDev": 0.0, "Data": data,
            "Percentiles": [{"Percentile": 99.9, "Value": 0.5}],
        },
        "RetCodes": {"-1": silent, "200": calls - silent},
    }  # fmt: skip
    lines = [
        f"Ended after {ns / 1e9:.9f}s : {calls} calls. qps={qps:.5g}",
        f"Aggregated Function Time : count {calls} avg {mean:.8g} +/- 0 min 0 max 1 sum {mean * calls:.9g}",
        "# range, mid point, percentile, count", *rows, "# target 99.9% 0.5",
        f"Code  -1 : {silent} ({100 * silent / calls:.1f} %)",
        f"Code 200 : {calls - silent} ({100 * (calls - silent) / calls:.1f} %)",
        f"All done {calls} calls (plus 0 warmup) {mean * 1000:.3f} ms avg, {qps:.1f} qps", "",
    ]  # fmt: skip
    text = "\n".join(lines)
    for tables, digits in ((parse_fortio_json(json.dumps(document)).tables, 1e-9), (parse_fortio(text).tables, 1e-4)):
        run = tables["runs"].iloc[0]
        assert (run.requests, run.requests_started) == (calls - silent, calls)
        assert run.throughput_rps == pytest.approx(qps * (calls - silent) / calls, rel=digits)
        assert run.latency_mean_s == pytest.approx(mean, rel=1e-6)
        assert tables["histogram"].responses.tolist() == counts
        assert tables["latency"][["quantile", "latency_s"]].values.tolist() == [[0.999, 0.5]]


def test_lines_of_the_log_may_stand_anywhere():
    lines = TEXT.split("\n")
    lines.insert(5, '{"ts":1692767216.8,"level":"info","file":"periodic.go","msg":"T001 ended after 13ms : 10 calls."}')
    lines.insert(5, "12:58:08.530 r1 [INF] logger.go:254> Log level is now 3 Warning (was 2 Info)")
    assert parse_fortio("\n".join(lines)).tables["runs"].equals(parse_fortio(TEXT).tables["runs"])


def test_without_codes_what_was_answered_is_not_known():
    parsed = parse_fortio(TEXT.split("Sockets")[0])
    assert "throughput_rps" not in parsed.tables["runs"]
    assert "no codes of all 20 calls" in parsed.warnings[0]


def test_a_list_of_results_is_a_run_each():
    tables = parse_fortio_json(f"[{JSON},{JSON}]").tables
    assert tables["runs"]["generator"].tolist() == [0, 1]
