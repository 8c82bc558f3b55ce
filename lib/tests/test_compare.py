"""Measurements against each other: ratios, their intervals, gates, steps over dates, and settings of one study."""

import json
import math
import os
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from loadcurve import analyse
from loadcurve.analysis import (
    changes_of_settings,
    common_variants,
    compare,
    compare_over_time,
    label_settings,
    parse_gate,
)
from loadcurve.analysis.history import starts_of_levels
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.files import paths
from loadcurve.ingest.answers import read_answers
from loadcurve.report import comparison_report
from loadcurve.stats import Estimate, find_geometric_ratio

LOADS = [1, 4, 16]


@cache
def measured(factor=1.0, repeats=3, seed=0):
    """Runs of a server at three loads that scatter by 1 %."""
    draw = np.random.default_rng(seed)
    rows = [
        {"run_id": f"c{n}-{i}", "connections": n, "throughput_rps": 100.0 * n * factor * np.exp(draw.normal(0, 0.01))}
        for n in LOADS
        for i in range(repeats)
    ]
    runs = pd.DataFrame(rows).assign(tool="wrk", status="finished", latency_mean_s=0.01)
    return analyse({"runs": runs}, source=f"x{factor:g}")


def about_the_ratio(found):
    """The warnings without what is said of each side alone."""
    return [warning for warning in found.warnings if not re.match(r"\S+: (usable|do not use|offered rates)", warning)]


def redrawn(side, factor, draw):
    """The same measurement with other throughputs: its analysis takes longer than comparing it."""
    (curve,) = side.curves
    rates = 100.0 * curve.runs["connections"].astype(float) * factor * np.exp(draw.normal(0, 0.01, len(curve.runs)))
    return replace(side, curves=(replace(curve, runs=curve.runs.assign(throughput_rps=rates)),))


def test_a_metric_of_0_has_no_ratio():
    side = measured()
    zero = replace(side, curves=(replace(side.curves[0], runs=side.curves[0].runs.assign(latency_mean_s=0.0)),))
    with pytest.raises(LoadcurveError, match="latency_mean_s is 0 in 9 runs of x1"):
        compare(side, zero, metric="latency_mean_s")


@pytest.mark.slow
def test_a_slower_server_is_found_with_its_ratio():
    found = compare(measured(), measured(0.9, seed=1))
    assert found.overall.lo < 0.9 < found.overall.hi
    assert found.overall.hi < 0.95
    assert list(found.levels["connections"]) == LOADS
    assert list(found.levels["verdict"]) == ["different"] * 3
    assert "(geometric means over the runs)" in comparison_report(found).splitlines()[0]


@pytest.mark.slow
def test_the_same_runs_are_equivalent():
    found = compare(measured(), measured())
    assert found.overall.value == pytest.approx(1)
    assert set(found.levels["verdict"]) == {"equivalent within ±2 %"}


@pytest.mark.slow
def test_the_interval_of_a_level_is_welch_s_at_bonferroni_s_level():
    a, b = measured(), measured(0.97, seed=3)
    found = compare(a, b, level=0.94).levels.iloc[1]
    pair = [side.curves[0].runs.query("connections == 4")["throughput_rps"] for side in (b, a)]
    by_hand = find_geometric_ratio(*pair, level=0.98)
    assert (found["ratio"], found["lo"], found["hi"]) == pytest.approx((by_hand.value, by_hand.lo, by_hand.hi))


@pytest.mark.slow
def test_the_overall_interval_covers_as_often_as_it_says():
    first, second, draw = measured(), measured(0.95, seed=1), np.random.default_rng(2)
    draws = [compare(redrawn(first, 1.0, draw), redrawn(second, 0.95, draw)).overall for _ in range(80)]
    held = sum(one.lo <= 0.95 <= one.hi for one in draws)
    assert 67 <= held <= 80  # 0.9999 of a binomial with p = 0.95


@pytest.mark.slow
def test_single_runs_take_the_levels_as_repeats_and_say_so():
    found = compare(measured(repeats=1), measured(0.9, repeats=1, seed=1))
    assert found.levels["lo"].isna().all()
    assert found.overall.lo < 0.9 < found.overall.hi
    assert any("levels without repeats" in warning for warning in found.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lo", "hi", "verdict"),
    [(0.90, 0.94, "fail"), (0.96, 1.1, "pass"), (0.9, 1.0, "undecided"), (math.nan, math.nan, "fail")],
)
def test_a_gate_needs_the_whole_interval(lo, hi, verdict):
    middle = 0.93 if math.isnan(lo) else (lo + hi) / 2
    assert parse_gate("throughput_rps < 0.95").judge(Estimate(middle, lo, hi, 0.95, "given")) == verdict


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["", "throughput_rps", "throughput_rps = 1", "< 0.9", "throughput_rps < 0", "x < y"])
def test_a_wrong_gate_is_one_line(wrong):
    with pytest.raises(LoadcurveError, match="gate must be METRIC < RATIO"):
        parse_gate(wrong)


@pytest.mark.slow
def test_a_level_that_fails_is_named():
    slow = measured(seed=5)
    runs = slow.tables["runs"].copy()
    runs.loc[runs["connections"] == 16, "throughput_rps"] *= 0.86
    text = comparison_report(
        compare(measured(), analyse({"runs": runs}, source="B")), [parse_gate("throughput_rps<93%")]
    )
    assert "fail: throughput_rps < 0.93? connections = 16, 0.8" in text


@pytest.mark.slow
def test_what_only_one_has_is_named():
    both = pd.concat([measured().tables["runs"].assign(variant=name, run_id=name) for name in "xy"])
    runs = {name: analyse({"runs": both[both["variant"].isin(list(name))]}, source=name) for name in ("xy", "x")}
    found = compare(runs["xy"], analyse({"runs": both.assign(variant=both["variant"].replace("y", "z"))}, source="xz"))
    assert found.warnings[:2] == ("only xy has y", "only xz has z")
    assert set(found.levels["variant"]) == {"x"}


@pytest.mark.slow
def test_nothing_in_common_is_one_line():
    other = measured()
    runs = other.tables["runs"].assign(connections=lambda frame: frame["connections"] + 1)
    with pytest.raises(
        LoadcurveError, match=r"load in common, got connections = 1, 4, 16 \(x1\); connections = 2, 5, 17"
    ):
        compare(other, analyse({"runs": runs}, source="y"))
    with pytest.raises(LoadcurveError, match="metric must be one of .*throughput_rps, got 'latency_p99_s'"):
        compare(other, other, "latency_p99_s")


@pytest.mark.slow
def test_what_else_may_explain_the_ratio_is_named():
    assert not about_the_ratio(compare(measured(), measured(0.9, seed=1)))
    ab = analyse({"runs": measured(seed=1).tables["runs"].assign(tool="ab")}, source="ab")
    assert any("tool of all runs: wrk in A, ab in B" in warning for warning in compare(measured(), ab).warnings)


@pytest.mark.slow
def test_a_measurement_against_itself_is_named():
    assert any("one measurement, not two" in warning for warning in compare(measured(), measured()).warnings)
    assert not any("one measurement" in warning for warning in compare(measured(), measured(seed=1)).warnings)


@pytest.mark.slow
def test_loads_that_only_one_has_are_named():
    fewer = measured(seed=1).tables["runs"].query("connections < 16")
    found = compare(measured(), analyse({"runs": fewer}, source="B"))
    assert found.warnings[0] == "only x1 has connections = 16"
    assert list(found.levels["connections"]) == [1, 4]


@pytest.mark.slow
def test_a_side_without_a_number_is_one_line():
    empty = analyse({"runs": measured().tables["runs"].assign(throughput_rps=np.nan)}, source="B")
    with pytest.raises(LoadcurveError, match="must have a run with a load and a throughput, got none"):
        compare(measured(), empty)


@pytest.mark.slow
def test_connections_are_never_compared_with_rates():
    rates = measured(seed=1).tables["runs"].assign(target_rate_rps=lambda runs: runs["connections"], connections=8)
    with pytest.raises(LoadcurveError, match=r"got connections \(x1\), target_rate_rps \(open\)"):
        compare(measured(), analyse({"runs": rates}, source="open"))
    with pytest.raises(LoadcurveError, match="load must be the same column"):
        compare_over_time([measured(), analyse({"runs": rates}, source="open")])


def both_loops(seed, rates):
    """Runs of a closed loop, and of an open loop at measured rates."""
    closed = measured(seed=seed).tables["runs"]
    extra = closed.assign(target_rate_rps=rates, connections=pd.NA, run_id=closed["run_id"] + "o")
    return analyse({"runs": pd.concat([closed, extra])}, source="AB"[seed])


@pytest.mark.slow
def test_closed_and_open_loops_are_compared_each_at_its_own_load():
    # vegeta prints the rates at which it sent: 250, 500 and 1,000 were asked for.
    first = both_loops(0, [250.2, 250.3, 250.25, 500.2, 500.1, 500.3, 1000.2, 1000.4, 999.1])
    second = both_loops(1, [250.4, 250.1, 250.25, 500.0, 500.1, 497.3, 1000.2, 1000.4, 999.1])
    found = compare(first, second)
    assert found.levels["connections"].dropna().tolist() == LOADS
    assert found.levels["target_rate_rps"].dropna().tolist() == [250, 500, 1000]
    assert set(found.levels["other_runs"]) == {3} and not about_the_ratio(found)
    headings, rows = found.cells()
    assert headings[:2] == ["variant", "load"]
    assert [row[:2] for row in rows[2:4]] == [
        ["closed loop", "connections = 16"],
        ["open loop", "target_rate_rps = 250"],
    ]
    only_closed = compare(first, measured(seed=5))
    assert list(only_closed.levels["connections"]) == LOADS and about_the_ratio(only_closed) == ["only A has open loop"]


@pytest.mark.slow
def test_a_side_without_variants_is_compared_with_each_of_the_other():
    several = pd.concat([measured(seed=n).tables["runs"].assign(variant=name) for n, name in enumerate("xy")])
    fewer = several[(several["variant"] == "y") | (several["connections"] < 16)]
    found = compare(measured(seed=3), analyse({"runs": fewer}, source="xy"))
    assert list(found.levels["variant"]) == ["x", "x", "y", "y", "y"]
    assert found.warnings == (
        "x1 names no variant: it is compared with each variant of the others",
        "only x1 has x, connections = 16",
    )
    other = analyse({"runs": several.assign(variant=several["variant"] + "z")}, source="z")
    with pytest.raises(LoadcurveError, match=r"variant in common, got x, y \(xy\); xz, yz \(z\): name the folder"):
        compare(analyse({"runs": several}, source="xy"), other)


@pytest.mark.slow
def test_a_metric_that_one_variant_lacks_narrows_the_comparison():
    several = pd.concat([measured(seed=n).tables["runs"].assign(variant=name) for n, name in enumerate("xy")])
    timed = several.assign(latency_max_s=np.where(several["variant"] == "x", 0.5, np.nan))
    sides = [analyse({"runs": timed.assign(run_id=timed["run_id"] + name)}, source=name) for name in "AB"]
    found = compare(*sides, "latency_max_s")
    assert set(found.levels["variant"]) == {"x"} and "y: left out, A has no latency_max_s" in found.warnings


@pytest.mark.slow
def test_warnings_about_repeats_are_not_given_for_levels():
    warnings = about_the_ratio(compare(measured(repeats=1), measured(repeats=1, seed=1)))
    assert warnings == ["levels without repeats: the interval takes the ratios of the levels as repeats of one ratio"]


@pytest.mark.slow
def test_what_weakens_a_side_is_said_under_its_name():
    """Only B was measured once, and failed once."""
    runs = pd.concat([measured(0.9, 1).tables["runs"], pd.DataFrame([{"run_id": "x", "status": "failed"}])])
    warnings = compare(measured(), analyse({"runs": runs}, source="after")).warnings
    assert [line.partition(":")[0] for line in warnings if line.startswith(("x1", "after"))] == ["after", "after"]
    assert warnings[0].startswith("after: do not use: unfinished-run") and "after: 1 run failed" in warnings


@pytest.mark.slow
def test_two_rates_that_were_held_have_no_ratio_of_throughput():
    runs = pd.DataFrame({"target_rate_rps": [100.0, 200.0], "throughput_rps": [100.0, 199.0], "latency_p99_s": 0.1})
    found = compare(analyse(runs), analyse(runs.assign(latency_p99_s=0.2)))
    assert any("compare latency_p99_s" in warning for warning in found.warnings)
    assert str(found.blocks()[0].text).startswith("B against A (")


def day(number, factor=1.0, **more):
    draw = np.random.default_rng(number)
    runs = pd.DataFrame({"connections": [8, 8, 64, 64], "tool": "wrk", "status": "finished", "latency_mean_s": 0.01})
    runs["run_id"] = [f"r{i}" for i in range(4)]
    runs["throughput_rps"] = [50, 50, 100, 100] * np.exp(draw.normal(0, 0.005, 4)) * factor
    return analyse({"runs": runs.assign(**more)}, source=f"2026-11-{number:02d}")


@pytest.mark.slow
def test_a_step_is_found_with_its_size():
    found = compare_over_time([day(n, 1.0 if n <= 8 else 0.9) for n in range(1, 17)])
    assert found.load == "connections = 64"
    (change,) = found.changes
    assert change.source == "2026-11-09"
    assert change.ratio.lo < 0.9 < change.ratio.hi
    said = f"{100 * (change.ratio.value - 1):.1f} % [".replace("-", "−")
    assert f"1. {said}" in str(found) and f"<li>{said}" in found._repr_html_()
    assert "] from 2026-11-09 on" in str(found)
    assert found._repr_html_().count("<tr>") == 1 + 16


@pytest.mark.slow
def test_noise_hardly_ever_changes_and_a_step_nearly_always():
    alarms = found = 0
    for seed in range(200):
        values = np.random.default_rng(seed).normal(0, 1, 30)
        alarms += len(starts_of_levels(values)) > 1
        values[15:] -= 3
        found += len(starts_of_levels(values)) == 2
    assert alarms <= 12 and found >= 185  # 2 % and 98 % of 200, each by more than four standard deviations


@pytest.mark.slow
def test_equal_values_are_one_level():
    assert starts_of_levels(np.full(40, 4.6)) == [0]


@pytest.mark.slow
def test_few_dates_are_shown_without_a_verdict():
    found = compare_over_time([day(2), day(1)], at=8)
    assert list(found.points["source"]) == ["2026-11-01", "2026-11-02"]
    assert "2 measurements: at least 10 are needed to find a change" in found.warnings


@pytest.mark.slow
def test_a_date_comes_from_the_report_then_the_name_then_the_file(tmp_path):
    file = tmp_path / "report.txt"
    file.write_text("x")
    os.utime(file, (1e9, 1e9))
    plain = analyse(day(1).tables | {"runs": day(1).tables["runs"].assign(source=str(file))}, source="nightly")
    stated = day(3, started_at=pd.Timestamp("2001-02-03", tz="UTC"))
    points = compare_over_time([day(2), stated, plain]).points
    assert list(points["dated_by"]) == ["report", "file", "name"]
    assert points["time"][1] == pd.Timestamp(1e9, unit="s", tz="UTC")


@pytest.mark.slow
def test_what_cannot_be_compared_is_one_line():
    with pytest.raises(LoadcurveError, match="at least 2 measurements, got 1"):
        compare_over_time([day(1)])
    two = analyse({"runs": pd.concat([day(1).tables["runs"].assign(variant=name) for name in "ab"])}, source="x")
    with pytest.raises(LoadcurveError, match="variant must be one of a, b, got ''"):
        compare_over_time([day(1), two])
    with pytest.raises(LoadcurveError, match="metric must be one of latency_mean_s, throughput_rps, got 'foo'"):
        compare_over_time([day(1), day(2)], "foo")
    with pytest.raises(LoadcurveError, match="a measurement must have connections = 3, got none: .*but at 8, 64"):
        compare_over_time([day(1), day(2)], at=3)
    other = analyse({"runs": day(1).tables["runs"].assign(connections=[9, 9, 99, 99])}, source="y")
    with pytest.raises(LoadcurveError, match="must have a load in common, got connections = 8, 64; 9, 99"):
        compare_over_time([day(1), other])


@pytest.mark.slow
def test_each_variant_has_a_history_and_what_lacks_it_is_left_out():
    days = [
        analyse({"runs": pd.concat([day(n).tables["runs"].assign(variant=v) for v in "ab"])}, source=f"2026-11-{n:02d}")
        for n in (1, 2)
    ]
    less = analyse({"runs": days[0].tables["runs"].query("variant == 'b' or connections == 8")}, source="2026-11-03")
    measurements = [*days, day(4), less]
    assert common_variants(measurements) == (
        ["a", "b"],
        ["2026-11-04 names no variant: it is compared with each variant of the others"],
    )
    found = [compare_over_time(measurements, variant=variant) for variant in "ab"]
    # The load that most have, not one that all have: the third day has variant a at 8 connections only.
    assert [history.load for history in found] == ["a, connections = 8", "b, connections = 64"]
    assert [len(history.points) for history in found] == [4, 4]
    left = compare_over_time(measurements, variant="a", at=64)
    assert len(left.points) == 3
    assert left.warnings[0] == "2026-11-03: left out, it has no throughput_rps at connections = 64, but at 8"


@pytest.mark.slow
def test_a_date_of_files_is_named_as_such(tmp_path):
    (tmp_path / "report.txt").write_text("x")
    plain = analyse({"runs": day(1).tables["runs"].assign(source=str(tmp_path / "report.txt"))}, source="nightly")
    found = compare_over_time([plain, day(2)])
    assert any(warning.startswith("nightly: dated by the last change of the files") for warning in found.warnings)


def blocks():
    """Two blocks of which the second is twice as fast, whatever the setting."""
    rows = [("log", 1, 80.0), ("plain", 1, 100.0), ("plain", 2, 200.0), ("log", 2, 160.0)]
    return pd.DataFrame(rows, columns=["variant", "repeat", "throughput_rps"])


def test_a_change_is_that_within_blocks():
    change = changes_of_settings(blocks(), {"logged": "log plain", "back": "plain log"})
    assert (change["logged"].value, change["logged"].lo, change["logged"].hi) == pytest.approx((-0.2, -0.2, -0.2))
    assert change["back"].value == pytest.approx(0.25)


def test_settings_have_the_order_of_their_labels():
    assert label_settings(blocks(), {"plain": "off", "log": "on"})["setting"].tolist() == ["off", "off", "on", "on"]


def test_a_setting_that_no_run_has_is_named():
    with pytest.raises(ValueRuleError, match="settings of the runs: log, plain, got .*gzip"):
        label_settings(blocks(), {"gzip": "packed"})
    with pytest.raises(ValueRuleError, match="settings of the runs: log, plain, got .*gzip"):
        changes_of_settings(blocks(), {"packed": "gzip plain"})


def test_answers_are_read_with_their_ends(tmp_path, monkeypatch):
    study = tmp_path / "s"
    study.mkdir()
    (study / "study.yml").write_text("study: s\nquestion: Which?\n", "utf-8")
    with pytest.raises(LoadcurveError, match="no answers; launch a study with search or stop to its end"):
        read_answers(study)
    one = {"of": "wait", "kind": "saturating_size", "factor": "f", "quantity": "frame_bytes_per_s", "lower": None,
           "upper": 2200, "value": 1.2e7, "reached": True, "runs": 9, "load_s": 12, "warnings": []}  # fmt: skip
    (study / "answers.json").write_text(json.dumps([one]), "utf-8")
    monkeypatch.setenv("LOADCURVE_READS", str(ledger := tmp_path / "reads"))
    found = read_answers(study).loc["wait"]
    assert found["upper"] == 2200 and pd.isna(found["lower"])
    assert ledger.read_text("utf-8") == f"{paths.shown(study / 'answers.json')}\0"
