"""What each level of connections brings and costs, with numbers that divide by hand."""

import math

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.models import summarise_gain

RUNS = [
    ("a1", 1, 90.0, 0.009),
    ("a2", 1, 110.0, 0.011),
    ("b1", 2, 150.0, 0.012),
    ("b2", 2, 170.0, 0.016),
    ("c1", 4, 200.0, 0.018),
]
LATENCY = [
    ("a1", 0.99, 0.020), ("a2", 0.99, 0.030), ("b1", 0.99, 0.090), ("b2", 0.99, 0.010), ("c1", 0.99, 0.050),
    ("a1", 0.50, 0.500), ("a2", 0.999, 0.999),
    ("of another study's variant", 0.99, 9.0),
]  # fmt: skip


def table_of_runs(rows=RUNS):
    frame = pd.DataFrame(rows, columns=["run_id", "connections", "throughput_rps", "latency_mean_s"])
    status = ["finished" if known else "interrupted" for known in frame["throughput_rps"].notna()]
    return tables.check("runs", frame.assign(study="s", status=status, variant="cpu"))


def table_of_latency(rows=LATENCY):
    return tables.check("latency", pd.DataFrame(rows, columns=["run_id", "quantile", "latency_s"]).assign(study="s"))


def test_columns():
    assert list(summarise_gain(table_of_runs(), table_of_latency()).columns) == [
        "connections", "throughput_rps", "throughput_change_ratio", "latency_by_little_s", "latency_change_ratio",
        "latency_mean_s", "latency_p99_worst_s",
    ]  # fmt: skip


def test_means_over_the_repeats_of_each_level():
    gain = summarise_gain(table_of_runs(), table_of_latency())
    assert gain["connections"].tolist() == [1, 2, 4]
    assert gain["throughput_rps"].tolist() == pytest.approx([100, 160, 200])
    assert gain["latency_mean_s"].tolist() == pytest.approx([0.010, 0.014, 0.018])


def test_response_time_by_little_is_connections_over_mean_throughput():
    gain = summarise_gain(table_of_runs(), table_of_latency())
    assert gain["latency_by_little_s"].tolist() == pytest.approx([1 / 100, 2 / 160, 4 / 200])


def test_changes_are_from_the_level_before_and_missing_at_the_first():
    gain = summarise_gain(table_of_runs(), table_of_latency())
    assert math.isnan(gain["throughput_change_ratio"][0])
    assert math.isnan(gain["latency_change_ratio"][0])
    assert gain["throughput_change_ratio"][1:].tolist() == pytest.approx([0.60, 0.25])  # 160/100, 200/160
    assert gain["latency_change_ratio"][1:].tolist() == pytest.approx([0.25, 0.60])  # 12.5/10, 20/12.5


def test_levels_come_in_order_whatever_the_order_of_the_runs():
    pd.testing.assert_frame_equal(
        summarise_gain(table_of_runs(RUNS[::-1]), table_of_latency(LATENCY[::-1])),
        summarise_gain(table_of_runs(), table_of_latency()),
    )


def test_the_worst_p99_is_that_of_one_repeat_and_never_a_mean():
    gain = summarise_gain(table_of_runs(), table_of_latency())
    assert gain["latency_p99_worst_s"].tolist() == [0.030, 0.090, 0.050]  # the means are 0.025 and 0.050


def test_a_level_without_a_99_percent_quantile_has_none():
    gain = summarise_gain(table_of_runs(), table_of_latency([("a1", 0.99, 0.020), ("b1", 0.50, 0.010)]))
    assert gain["latency_p99_worst_s"][0] == 0.020
    assert gain["latency_p99_worst_s"][1:].isna().all()


def test_a_run_that_did_not_finish_changes_nothing():
    more = table_of_runs([*RUNS, ("c2", 4, math.nan, math.nan), ("d1", pd.NA, math.nan, math.nan)])
    pd.testing.assert_frame_equal(
        summarise_gain(more, table_of_latency()), summarise_gain(table_of_runs(), table_of_latency())
    )


def test_a_level_where_no_run_finished_is_missing():
    gain = summarise_gain(table_of_runs([*RUNS, ("d1", 8, math.nan, math.nan)]), table_of_latency())
    assert gain["connections"].tolist() == [1, 2, 4, 8]
    assert gain.iloc[-1, 1:].isna().all()
