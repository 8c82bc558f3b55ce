"""Acceptance of a balancer: the declared checks, decisions from numbers, and the report."""

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from loadcurve.acceptance import CHECKS, decisions, describe_checks, is_acceptance, judge_functions
from loadcurve.acceptance.decisions import LoadRuns
from loadcurve.files.paths import designs
from loadcurve.lab import read_checked
from loadcurve.report.acceptance import acceptance_report, verdict_line
from loadcurve.study import Study


def runs(**variants):
    """Runs with load of a balancer `b`: values of one column by variant."""
    rows = [
        {"variant": variant.replace("__", "_"), "run_id": f"{variant}-r{at}", **row}
        for variant, values in variants.items()
        for at, row in enumerate(values)
    ]
    return LoadRuns({"runs": pd.DataFrame(rows)}, "b")


def rates(column, *values):
    return [{column: value} for value in values]


def test_each_check_says_what_it_proves_and_why_its_threshold_is_what_it_is():
    table = describe_checks()
    assert table["check"].is_unique and len(table) == len(CHECKS)
    for column in ("proves", "criterion", "reason"):
        assert table[column].str.fullmatch(r"[A-Z0-9].*\.").all(), column
    variants = set(read_checked(designs() / "lvs_acceptance").variants)
    for check in CHECKS:
        needed = {name if name.startswith("direct_") else f"nft_{name}" for name in check.needs}
        assert needed <= variants, f"the design has no run for {check.name}"


# A ratio of two means whose runs are all alike has an interval without width: the ratio decides by itself.
@pytest.mark.parametrize(
    ("ours", "verdict"),
    [((98, 98), "pass"), ((97.9, 97.9), "fail"), ((96, 100), "not checked"), ((98,), "not checked")],
)
def test_large_responses_need_98_percent_of_the_bandwidth(ours, verdict):
    column = "received_bytes_per_s"
    got = decisions.large_responses(runs(b_large=rates(column, *ours), direct_large=rates(column, 100, 100)))
    assert got.verdict == verdict, got


@pytest.mark.parametrize(
    ("ours_us", "verdict", "lo", "hi"),
    [
        # Differences 99 and 101 µs, all runs alike.
        ((199, 199), "pass", 99e-6, 99e-6),
        ((201, 201), "fail", 101e-6, 101e-6),
        # Welch by hand: mean 60 µs more, standard error √(20²/2 + 0) = 20/√2, t with one degree of freedom 12.706.
        ((140, 180), "not checked", 60e-6 - 12.7062 * 20e-6, 60e-6 + 12.7062 * 20e-6),
    ],
)
def test_the_added_response_time_is_judged_by_its_interval(ours_us, verdict, lo, hi):
    ours = rates("latency_mean_s", *(1e-6 * value for value in ours_us))
    got = decisions.response_time(runs(b_few=ours, direct_few=rates("latency_mean_s", 100e-6, 100e-6)))
    assert (got.verdict, got.lo, got.hi) == (verdict, pytest.approx(lo, abs=1e-9), pytest.approx(hi, abs=1e-9))


def test_two_servers_are_not_compared_with_one():
    ours = [row | {"server_units": 2} for row in rates("latency_mean_s", 65e-6, 65e-6)]
    got = decisions.response_time(runs(b_few=ours, direct_few=rates("latency_mean_s", 78e-6, 78e-6)))
    assert got.verdict == "not checked" and "2 servers with it, 1 without it" in got.numbers


def test_lost_segments_and_a_processor_full_of_interrupts_fail_small_responses():
    def judged(retransmits, softirq):
        base = {"variant": "b_small", "run_id": "b_small-r1", "host": "LB", "time": 0}
        rows = {
            "runs": {"throughput_rps": 1e5},
            "network": {"interface": "eth0", "received_pps": 2e5, "transmitted_pps": 2e5},
            "tcp": {"retransmits_pps": retransmits, "segments_sent_pps": 2e5},
            "cpu": {"cpu": "0", "cpu_softirq_ratio": softirq},
        }
        tables = {name: pd.DataFrame([base | row]) for name, row in rows.items()}
        return decisions.small_responses(LoadRuns(tables, "b")).verdict

    assert [judged(20, 0.95), judged(21, 0.2), judged(0, 0.96)] == ["pass", "fail", "fail"]


@pytest.mark.parametrize(("counts", "verdict"), [((500, 501), "pass"), ((500, 503), "fail"), ((0, 0), "not checked")])
def test_turns_under_load_differ_by_one_at_most(counts, verdict):
    rows = [
        {"variant": "b_short", "run_id": "b_short-r1", "kind": "server", "server_address": f"10.0.0.{at}",
         "server_port": 80, "time": time, "connections": count * time, "expected_share_ratio": 0.5}
        for at, count in enumerate(counts) for time in (0, 1)
    ]  # fmt: skip
    assert decisions.dealt_under_load(LoadRuns({"balancer": pd.DataFrame(rows)}, "b")).verdict == verdict


def test_one_failed_request_fails():
    rows = [{"requests": 100, "errors_timeout": errors, "throughput_rps": 1.0} for errors in (0, 1)]
    assert decisions.no_failed_request(runs(b_small=rows)).verdict == "fail"
    assert decisions.no_failed_request(runs(b_small=rows[:1], direct_small=rows)).verdict == "pass"


def test_the_report_counts_each_verdict_and_skips_what_was_not_checked():
    row = {"criterion": "All.", "numbers": "3 of 3", "runs": 1}
    verdicts = {"client_address": "pass", "round_robin": "fail", "fail_over": "not checked"}
    judged = pd.DataFrame(
        [{"check": name, "balancer": "nft", "verdict": said, **row} for name, said in verdicts.items()]
    )
    assert verdict_line(judged) == "nft: 1 pass, 1 fail, 1 not checked"
    suite = ET.fromstring(acceptance_report(judged, "study", "junit"))[0]
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "skipped")} == {
        "name": "nft", "tests": "3", "failures": "1", "skipped": "1",
    }  # fmt: skip
    for form in ("text", "html"):
        text = acceptance_report(judged, "study", form)
        assert "1 pass, 1 fail, 1 not checked" in text and "client_address" in text


def test_without_any_file_no_functional_check_passes(tmp_path):
    assert (judge_functions(tmp_path)["verdict"] == "fail").all()


def test_a_study_without_functional_tests_is_no_acceptance_test():
    assert is_acceptance(read_checked(designs() / "lvs_acceptance"))
    assert not is_acceptance(Study("s", "?", variants={"nft_large": {}}))
