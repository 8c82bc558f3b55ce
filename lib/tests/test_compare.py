"""One measurement against another: the ratio, its interval, and what a gate makes of it."""

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from loadcurve import analyse
from loadcurve.analysis import compare, compare_over_time, parse_gate
from loadcurve.errors import LoadcurveError
from loadcurve.report import comparison_report
from loadcurve.stats import Estimate, find_geometric_ratio

pytestmark = pytest.mark.slow  # each test analyses whole folders

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


def test_a_slower_server_is_found_with_its_ratio():
    found = compare(measured(), measured(0.9, seed=1))
    assert found.overall.lo < 0.9 < found.overall.hi
    assert found.overall.hi < 0.95
    assert list(found.levels["connections"]) == LOADS
    assert list(found.levels["verdict"]) == ["different"] * 3
    assert "(geometric means over the runs)" in comparison_report(found).splitlines()[0]


def test_the_same_runs_are_equivalent():
    found = compare(measured(), measured())
    assert found.overall.value == pytest.approx(1)
    assert set(found.levels["verdict"]) == {"equivalent within ±2 %"}


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


def test_single_runs_take_the_levels_as_repeats_and_say_so():
    found = compare(measured(repeats=1), measured(0.9, repeats=1, seed=1))
    assert found.levels["lo"].isna().all()
    assert found.overall.lo < 0.9 < found.overall.hi
    assert any("levels without repeats" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("lo", "hi", "verdict"),
    [(0.90, 0.94, "fail"), (0.96, 1.1, "pass"), (0.9, 1.0, "undecided"), (math.nan, math.nan, "fail")],
)
def test_a_gate_needs_the_whole_interval(lo, hi, verdict):
    middle = 0.93 if math.isnan(lo) else (lo + hi) / 2
    assert parse_gate("throughput_rps < 0.95").judge(Estimate(middle, lo, hi, 0.95, "given")) == verdict


@pytest.mark.parametrize("wrong", ["", "throughput_rps", "throughput_rps = 1", "< 0.9", "throughput_rps < 0", "x < y"])
def test_a_wrong_gate_is_one_line(wrong):
    with pytest.raises(LoadcurveError, match="gate must be METRIC < RATIO"):
        parse_gate(wrong)


def test_a_level_that_fails_is_named():
    slow = measured(seed=5)
    runs = slow.tables["runs"].copy()
    runs.loc[runs["connections"] == 16, "throughput_rps"] *= 0.86
    text = comparison_report(
        compare(measured(), analyse({"runs": runs}, source="B")), [parse_gate("throughput_rps<93%")]
    )
    assert "fail: throughput_rps < 0.93? connections = 16, 0.8" in text


def test_what_only_one_has_is_named():
    both = pd.concat([measured().tables["runs"].assign(variant=name, run_id=name) for name in "xy"])
    runs = {name: analyse({"runs": both[both["variant"].isin(list(name))]}, source=name) for name in ("xy", "x")}
    found = compare(runs["xy"], analyse({"runs": both.assign(variant=both["variant"].replace("y", "z"))}, source="xz"))
    assert found.warnings[:2] == ("only xy has y", "only xz has z")
    assert set(found.levels["variant"]) == {"x"}


def test_nothing_in_common_is_one_line():
    other = measured()
    runs = other.tables["runs"].assign(connections=lambda frame: frame["connections"] + 1)
    with pytest.raises(
        LoadcurveError, match=r"load in common, got connections = 1, 4, 16 \(x1\); connections = 2, 5, 17"
    ):
        compare(other, analyse({"runs": runs}, source="y"))
    with pytest.raises(LoadcurveError, match="metric must be one of .*throughput_rps, got 'latency_p99_s'"):
        compare(other, other, "latency_p99_s")


def test_what_else_may_explain_the_ratio_is_named():
    assert not about_the_ratio(compare(measured(), measured(0.9, seed=1)))
    ab = analyse({"runs": measured(seed=1).tables["runs"].assign(tool="ab")}, source="ab")
    assert any("tool of all runs: wrk in A, ab in B" in warning for warning in compare(measured(), ab).warnings)


def test_a_measurement_against_itself_is_named():
    assert any("one measurement, not two" in warning for warning in compare(measured(), measured()).warnings)
    assert not any("one measurement" in warning for warning in compare(measured(), measured(seed=1)).warnings)


def test_loads_that_only_one_has_are_named():
    fewer = measured(seed=1).tables["runs"].query("connections < 16")
    found = compare(measured(), analyse({"runs": fewer}, source="B"))
    assert found.warnings[0] == "only x1 has connections = 16"
    assert list(found.levels["connections"]) == [1, 4]


def test_a_side_without_a_number_is_one_line():
    empty = analyse({"runs": measured().tables["runs"].assign(throughput_rps=np.nan)}, source="B")
    with pytest.raises(LoadcurveError, match="must have a run with a load and a throughput, got none"):
        compare(measured(), empty)


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


def test_a_metric_that_one_variant_lacks_narrows_the_comparison():
    several = pd.concat([measured(seed=n).tables["runs"].assign(variant=name) for n, name in enumerate("xy")])
    timed = several.assign(latency_max_s=np.where(several["variant"] == "x", 0.5, np.nan))
    sides = [analyse({"runs": timed.assign(run_id=timed["run_id"] + name)}, source=name) for name in "AB"]
    found = compare(*sides, "latency_max_s")
    assert set(found.levels["variant"]) == {"x"} and "y: left out, A has no latency_max_s" in found.warnings


def test_warnings_about_repeats_are_not_given_for_levels():
    warnings = about_the_ratio(compare(measured(repeats=1), measured(repeats=1, seed=1)))
    assert warnings == ["levels without repeats: the interval takes the ratios of the levels as repeats of one ratio"]


def test_what_weakens_a_side_is_said_under_its_name():
    """Only B was measured once, and failed once."""
    runs = pd.concat([measured(0.9, 1).tables["runs"], pd.DataFrame([{"run_id": "x", "status": "failed"}])])
    warnings = compare(measured(), analyse({"runs": runs}, source="after")).warnings
    assert [line.partition(":")[0] for line in warnings if line.startswith(("x1", "after"))] == ["after", "after"]
    assert warnings[0].startswith("after: do not use: unfinished-run") and "after: 1 run failed" in warnings


def test_two_rates_that_were_held_have_no_ratio_of_throughput():
    runs = pd.DataFrame({"target_rate_rps": [100.0, 200.0], "throughput_rps": [100.0, 199.0], "latency_p99_s": 0.1})
    found = compare(analyse(runs), analyse(runs.assign(latency_p99_s=0.2)))
    assert any("compare latency_p99_s" in warning for warning in found.warnings)
    assert str(found.blocks()[0].text).startswith("B against A (")
