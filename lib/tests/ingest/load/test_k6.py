"""k6: what its source says, as properties; its traps."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.load.k6 import parse_k6, parse_k6_json
from loadcurve.ingest.registry import form_of
from loadcurve.ingest.report_text import go_time_s

DATA = Path(__file__).parents[2] / "data/k6"
OLD = (DATA / "text-before-1.txt").read_text()
NEW = (DATA / "text-1.txt").read_text()
EXPORT = (DATA / "summary-export.txt").read_text()


def humanize(ms):
    """What humanizeGenericDuration of k6's summary does: cut, not rounded."""

    def cut(n, digits):
        return f"{int(n * 10**digits) / 10**digits:g}"

    if ms == 0:
        return "0s"
    if ms < 0.001:
        return f"{int(ms * 1e6)}ns"
    if ms < 1:
        return f"{cut(ms * 1000, 2)}µs"
    if ms < 1000:
        return f"{cut(ms, 2)}ms"
    seconds = f"{cut((ms % 60000) / 1000, 0 if ms > 60000 else 2)}s"
    minutes = int(ms // 60000)
    if minutes < 1:
        return seconds
    return f"{minutes}m{seconds}" if minutes < 60 else f"{minutes // 60}h{minutes % 60}m{seconds}"


@given(st.floats(0, 1e8))
def test_times_come_back(ms):
    slack = 1 if ms > 60000 else 0.011 if ms >= 1000 else 1.1e-5 if ms >= 1 else 1.1e-8
    assert go_time_s(humanize(ms), 1) == pytest.approx(ms / 1000, abs=slack)


@given(
    count=st.integers(1, 10**8),
    failed=st.integers(0, 10**8),
    ms=st.floats(1, 1e8),
    times=st.lists(st.floats(1e-6, 59_999), min_size=4, max_size=4),
)
def test_both_forms_of_the_summary_say_the_same(count, failed, ms, times):
    failed = min(failed, count)
    least, median, high, most = sorted(times)
    trend = {"avg": (least + most) / 2, "min": least, "med": median, "max": most, "p(99)": high}
    rate = count / ms * 1000
    document = {
        "metrics": {
            "http_req_duration": {"values": trend},
            "http_req_failed": {"values": {"rate": failed / count, "passes": failed, "fails": count - failed}},
            "http_reqs": {"values": {"count": count, "rate": rate}},
        },
        "state": {"testRunDurationMs": ms},
    }
    text = (
        "  █ TOTAL RESULTS \n    HTTP\n"
        f"    http_req_duration....: {' '.join(f'{k}={humanize(v)}' for k, v in trend.items())}\n"
        f"    http_req_failed......: {failed / count:.2%} {failed} out of {count}\n"
        f"    http_reqs............: {count} {rate:.6f}/s\n"
    )
    exact, printed = parse_k6_json(json.dumps(document)).tables, parse_k6(text).tables
    for tables in (exact, printed):
        run = tables["runs"].iloc[0]
        assert (run.requests, run.requests_failed) == (count, failed)
        assert run.throughput_rps == pytest.approx(rate, abs=1e-6)
        assert run.goodput_rps == pytest.approx(rate * (1 - failed / count), abs=1e-6 + 1e-9 * rate)
        assert run.latency_mean_s == pytest.approx(trend["avg"] / 1000, abs=0.011)
        assert tables["latency"]["quantile"].tolist() == [0.5, 0.99]
        assert tables["latency"]["latency_s"].tolist() == pytest.approx([median / 1000, high / 1000], abs=0.011)


def test_the_ticked_ones_are_the_failed_ones():
    run = parse_k6(OLD.replace("0.00%   ✓ 0          ✗ 52939", "25.00%  ✓ 13234      ✗ 39705")).tables["runs"].iloc[0]
    assert (run.requests_failed, run.requests_succeeded) == (13234, 39705)
    assert run.goodput_rps == pytest.approx(756.255434 * 39705 / 52939)


def test_counts_that_contradict_their_share_are_missing():
    parsed = parse_k6(OLD.replace("0.00%   ✓ 0 ", "50.00%  ✓ 0 "))
    assert parsed.tables["runs"].goodput_rps.isna().all()
    assert "http_req_failed is 0.5, but its counts say 0" in parsed.warnings[0]


def test_thresholds_are_marked_before_the_name():
    text = OLD.replace("     http_req_duration....", "   ✗ http_req_duration....")
    assert parse_k6(text).tables["runs"].latency_max_s[0] == 2.24


def test_groups_and_scenarios_have_blocks_of_their_own():
    block = "  █ GROUP: login\n\n    http_req_duration..............: avg=9s min=9s med=9s max=9s p(90)=9s p(95)=9s\n\n"
    before = NEW.replace("  █ TOTAL", f"{block}  █ TOTAL")
    after = NEW.replace("running (", f"{block}running (")
    for text in (before, after):
        tables = parse_k6(text).tables
        assert len(tables["runs"]) == 1
        assert tables["runs"].latency_max_s[0] == pytest.approx(0.05487)


def test_a_column_cut_by_the_terminal_is_left_out():
    parsed = parse_k6(OLD.replace("p(90)=1.1s    p(95)=1.23s   \n       {", "p(90)=1.1\n       {"))
    assert parsed.tables["latency"]["quantile"].tolist() == [0.5]
    assert "line 10: cut at its right end" in parsed.warnings[0]


def test_requests_without_a_connection_are_no_response_of_0_s():
    text = (DATA / "arrival-rate.txt").read_text().replace("0.00% 0 out of 601", "10.00% 60 out of 600")
    parsed = parse_k6(text.replace("min=67.2µs   med=117.24µs", "min=0s   med=117.24µs"))
    assert parsed.tables["runs"].latency_min_s.isna().all()
    assert "find out why connections fail, and repeat the run" in parsed.warnings[-1]
    # The same as JSON, all without a response; a server that closes each connection after the request sends no byte.
    trend = {"avg": 0.02, "min": 0.01, "max": 0.03}
    metrics = {
        "http_reqs": {"count": 101, "rate": 100.9}, "http_req_failed": {"passes": 101, "fails": 0, "value": 1},
        "data_received": {"count": 0, "rate": 0}, "http_req_duration": trend, "http_req_waiting": trend,
    }  # fmt: skip
    parsed = form_of("k6", "json").parse(json.dumps({"metrics": metrics}))
    assert parsed.tables["runs"][["requests", "status"]].values.tolist() == [[0, "failed"]]
    assert parsed.tables["runs"].filter(regex="^latency_.*_s$").isna().all(axis=None)
    assert len(parsed.tables["phases"]) == 0


def test_the_machine_readable_summary_of_1_x():
    metrics = [
        {"name": "http_reqs", "type": "counter", "contains": "default", "values": {"count": 20, "rate": 2.0}},
        {"name": "http_req_failed", "type": "rate", "values": {"matches": 5, "total": 20, "rate": 0.25}},
        {"name": "http_req_duration", "type": "trend", "contains": "time", "values": {"avg": 3.0, "p(99.9)": 9.0}},
    ]  # fmt: skip
    text = json.dumps({"version": "1.0.0", "config": {"duration": 10.0}, "results": {"metrics": metrics}})
    tables = parse_k6_json(text).tables
    run = tables["runs"].iloc[0]
    assert (run.requests_failed, run.goodput_rps, run.duration_s) == (5, 1.5, 10)
    assert tables["latency"].values.tolist() == [[0, 0.999, 0.009, False]]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [('"p(90)": 595', '"q(90)": 595'), ('"count": 302', '"count": -302'), ('"avg": 398', '"avg": "398"x')],
)
def test_json_refused(right, wrong):
    with pytest.raises(ParseError):
        parse_k6_json(EXPORT.replace(right, wrong))
