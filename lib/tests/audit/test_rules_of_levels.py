"""Rules about repeated levels: intervals of means, and comparisons of variants."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from loadcurve import read
from loadcurve.audit.rules import averaged_percentiles, few_repeats, undecided_comparison, wide_interval
from loadcurve.tables import check

RUN = {"study": "s", "status": "finished", "tool": "wrk"}


def audited(rule, *levels):
    """Findings about repeats: each level is a variant, its connections, and the throughput of each repeat."""
    rows = [
        RUN | {"variant": variant, "connections": n, "repeat": i, "throughput_rps": float(rate)}
        for variant, n, rates in levels
        for i, rate in enumerate(rates, 1)
    ]
    runs = pd.DataFrame([row | {"run_id": f"r{i}"} for i, row in enumerate(rows)])
    return rule.RULE.audit({"runs": check("runs", runs)})


# Student's t of 2 degrees of freedom is 4.303 (Student 1908): 9, 10, 11 is 10 ± 4.303 / sqrt(3) = 10 ± 2.484.
def test_the_widest_interval_is_students():
    found = audited(wide_interval, ("a", 1, [9, 10, 11]), ("a", 2, [20, 20.1, 19.9])).iloc[0]
    assert found["severity"] == "warning" and found["observed"] == pytest.approx(0.2484, abs=1e-4)
    assert "±24.8 %, at 1 connection of a (3 runs, which scatter by 10 %). 1 of 2 levels" in found["evidence"]


# The half width of 1 − d, 1, 1 + d is 2.484 d; the scatter is d: 10 % needs d = 0.0403.
@pytest.mark.parametrize(("scatter", "severity"), [(0.040, "ok"), (0.041, "warning")])
def test_both_sides_of_the_width(scatter, severity):
    found = audited(wide_interval, ("a", 1, [100 - 100 * scatter, 100, 100 + 100 * scatter]))
    assert found["severity"].tolist() == [severity] and pd.isna(found["run_id"][0])


def test_the_advice_is_the_number_of_repeats():
    """A scatter of 10 %: t(6) = 2.447 gives 9.2 % with seven repeats, t(5) = 2.571 gives 10.5 % with six."""
    found = audited(wide_interval, ("a", 1, [90, 100, 110])).iloc[0]
    assert "Measure each level at least 7 times" in found["advice"]
    both = [
        audited(rule, ("a", 1, [90, 100, 110]), ("a", 2, [90, 110])).iloc[0] for rule in (wide_interval, few_repeats)
    ]
    assert all("Measure each level at least 8 times" in found["advice"] for found in both)
    calm = [("a", level, [99.9, 100, 100.1]) for level in range(2, 8)]  # the widest level decides, not all of them
    assert "at least 7 times" in audited(wide_interval, ("a", 1, [90, 100, 110]), *calm).iloc[0]["advice"]


def test_single_runs_have_no_interval():
    found = audited(wide_interval, ("a", 1, [90]), ("a", 2, [100])).iloc[0]
    assert found["severity"] == "unchecked" and found["evidence"] == "Not checked: needs two runs of a level."
    assert audited(wide_interval, ("a", 1, [90])).empty, "one run alone is no sweep"
    assert audited(undecided_comparison, ("a", 1, [90]), ("b", 1, [100])).empty, "few-repeats says it"


NOISY = [85.0, 100.0, 115.0]
SHARP = [99.0, 100.0, 101.0]


@pytest.mark.parametrize(
    ("first", "second", "severity", "words"),
    [
        (SHARP, [119.0, 120.0, 121.0], "ok", "1 show a difference"),
        (SHARP, SHARP, "ok", "1 show agreement within 5 %"),
        (NOISY, NOISY, "warning", "1 show neither. At 1 connection, a has 0.7"),
        (NOISY, [95.0, 110.0, 125.0], "warning", "times the throughput of b."),
        (NOISY, [850.0, 1000.0, 1150.0], "ok", "1 show a difference"),
    ],
)
def test_undecided_comparison(first, second, severity, words):
    found = audited(undecided_comparison, ("a", 1, first), ("b", 1, second)).iloc[0]
    assert found["severity"] == severity and words in found["evidence"]


def test_levels_of_one_variant_are_not_compared():
    assert audited(undecided_comparison, ("a", 1, NOISY), ("a", 2, NOISY)).empty
    assert audited(undecided_comparison, ("a", 1, NOISY), ("b", 2, NOISY)).empty


def test_half_of_the_comparisons_may_be_undecided():
    same = ("a", 2, SHARP), ("b", 2, SHARP)
    found = audited(undecided_comparison, ("a", 1, NOISY), ("b", 1, NOISY), *same).iloc[0]
    assert (found["severity"], found["observed"]) == ("ok", 0.5)


def test_equal_systems_are_seldom_said_to_differ():
    """Ten repeats that scatter by 2 %, at 200 loads: a 95 % interval excludes the truth at about ten of them."""
    rates = np.random.default_rng(2).normal(100, 2, (2, 200, 10))
    levels = [(name, n, rates[i, n]) for i, name in enumerate("ab") for n in range(200)]
    evidence = audited(undecided_comparison, *levels)["evidence"].iloc[0]
    assert 2 <= int(evidence.split("load: ")[1].split()[0]) <= 20


def test_rows_with_one_run_id_may_be_generators_of_one_run():
    """Reports in one file are runs of their own; a table of a user's may repeat a run_id, and not say what it means."""
    five = read(ROOT / "lib" / "tests" / "data" / "wrk" / "five-reports.txt").tables
    found = few_repeats.RULE.audit(five).iloc[0]
    assert (found["severity"], found["observed"]) == ("ok", 5)
    runs = five["runs"].assign(run_id="r", generator=range(5))
    found = few_repeats.RULE.audit({"runs": runs}).iloc[0]
    assert found["severity"] == "unchecked" and "repeats or generators" in found["evidence"]
    found = few_repeats.RULE.audit({"runs": runs.assign(connections=range(1, 6))}).iloc[0]
    assert (found["severity"], found["observed"]) == ("warning", 1)


def with_row_of_means(number, quantiles=(0.5, 0.9, 0.99), seed=1):
    """Percentiles of three recorded-like repeats whose p99 differ, and of a row with their means."""
    spread = np.random.default_rng(seed).lognormal(0, 0.5, (3, 1)) * np.array([[1.0, 2.0, 9.0]])[:, : len(quantiles)]
    times = np.vstack([spread, spread.mean(axis=0)])[: 3 + number]
    runs = [RUN | {"run_id": f"r{i}", "connections": 8, "throughput_rps": 1.0} for i in range(len(times))]
    rows = [{"study": "s", "run_id": f"r{i}", "quantile": q, "latency_s": round(time, 5)}
            for i, row in enumerate(times) for q, time in zip(quantiles, row, strict=True)]  # fmt: skip
    tables = {"runs": check("runs", pd.DataFrame(runs)), "latency": check("latency", pd.DataFrame(rows))}
    return averaged_percentiles.RULE.audit(tables)


def test_a_row_of_mean_percentiles():
    found = with_row_of_means(1).iloc[0]
    assert found["severity"] == "warning"
    assert "1 of 4 runs" in found["evidence"] and "In r3, p99 is" in found["evidence"]
    assert with_row_of_means(0).iloc[0]["severity"] == "ok"
    assert with_row_of_means(1, (0.5, 0.99)).empty, "two percentiles may be near the mean by chance"


@pytest.mark.parametrize(("requests", "severity"), [((100, 101, 102), "ok"), ((100, 100, 101), "warning")])
def test_a_copy_is_no_repeat(requests, severity):
    same = {"duration_s": 10.0, "latency_mean_s": 0.8, "latency_stdev_s": 0.01, "latency_max_s": 0.9}
    rows = [
        RUN | same | {"run_id": f"r{i}", "connections": 8, "requests": number, "throughput_rps": number / 10}
        for i, number in enumerate(requests)
    ]
    found = few_repeats.RULE.audit({"runs": check("runs", pd.DataFrame(rows))}).iloc[0]
    assert found["severity"] == severity and ("a copy is no repeat" in found["evidence"]) == (severity == "warning")
