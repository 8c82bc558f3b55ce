import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.stats import find_mean, summarise_repeats

# Ferrari's 48 response times; mean, variance and the naive width are those of Pilot's unit_test_statistics.cc.
FERRARI = [
    1.21, 1.67, 1.71, 1.53, 2.03, 2.15, 1.88, 2.02, 1.75, 1.84, 1.61, 1.35, 1.43, 1.64, 1.52, 1.44,
    1.17, 1.42, 1.64, 1.86, 1.68, 1.91, 1.73, 2.18, 2.27, 1.93, 2.19, 2.04, 1.92, 1.97, 1.65, 1.71,
    1.89, 1.70, 1.62, 1.48, 1.55, 1.39, 1.45, 1.67, 1.62, 1.77, 1.88, 1.82, 1.93, 2.09, 2.24, 2.16,
]  # fmt: skip


def test_ferrari_mean_and_naive_width():
    mean = find_mean(FERRARI)
    assert mean.value == pytest.approx(1.756458333, rel=1e-9)
    assert mean.hi - mean.lo == pytest.approx(0.157, abs=5e-4)


def test_ferrari_merged_by_4_is_wider():
    merged = find_mean(np.reshape(FERRARI, (12, 4)).mean(axis=1))
    assert merged.hi - merged.lo == pytest.approx(0.2915706, rel=1e-6)


def test_one_repeat_has_no_interval():
    mean = find_mean([5.0])
    assert mean.value == 5
    assert math.isnan(mean.lo) and math.isnan(mean.hi)
    assert mean.warnings == ("1 repeat: no interval",)


def test_no_repeat_has_no_value():
    mean = find_mean([math.nan])
    assert math.isnan(mean.value)
    assert mean.warnings == ("1 of 1 repeats have no value", "0 repeats: no value")


def test_equal_repeats_have_a_point_for_an_interval():
    mean = find_mean([3.0, 3.0, 3.0])
    assert (mean.lo, mean.hi) == (3, 3)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_repeat_is_refused(value):
    with pytest.raises(ValueRuleError, match="finite"):
        find_mean([1.0, value])


def test_values_are_one_dimensional():
    with pytest.raises(ValueRuleError, match="values must be one-dimensional"):
        find_mean([[1.0, 2.0]])


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(0.01, 0.98))
def test_a_higher_level_is_never_narrower(values, level):
    low, high = find_mean(values, level), find_mean(values, level + 0.01)
    assert high.lo <= low.lo <= low.value <= low.hi <= high.hi


def runs():
    return pd.DataFrame(
        {
            "variant": pd.array(["a", "a", None, None], dtype=pd.StringDtype("python")),
            "connections": pd.array([8, 8, 8, 16], dtype="Int64"),
            "throughput_rps": [9.0, 11.0, 7.0, math.nan],
        }
    )


def test_summary_has_a_row_for_each_point_and_keeps_the_types():
    summary = summarise_repeats(runs(), by=["variant", "connections"], column="throughput_rps")
    assert list(summary) == ["variant", "connections", "throughput_rps", "lo", "hi", "repeats"]
    assert summary["throughput_rps"].tolist()[:2] == [10, 7]
    assert summary["repeats"].tolist() == [2, 1, 0]
    assert summary["connections"].dtype == "Int64"
    assert summary["variant"].isna().tolist() == [False, True, True]


def test_summary_of_counts_that_may_be_missing():
    summary = summarise_repeats(runs(), by="variant", column="connections")
    assert summary["connections"].tolist() == [8, 12]


def test_summary_of_nothing_is_empty():
    summary = summarise_repeats(runs().iloc[:0], by="connections", column="throughput_rps")
    assert list(summary) == ["connections", "throughput_rps", "lo", "hi", "repeats"]
    assert summary.empty


@pytest.mark.parametrize("column", ["latency_p99_s", "latency_p50_s", "p99_s", "median_s", "latency_median_s"])
def test_percentiles_are_never_averaged(column):
    frame = pd.DataFrame({"connections": [1], column: [0.1]})
    with pytest.raises(ValueRuleError, match="a percentile has none"):
        summarise_repeats(frame, by="connections", column=column)


def test_quantiles_of_the_latency_table_are_never_averaged():
    frame = pd.DataFrame({"run_id": ["a", "b"], "quantile": [0.5, 0.5], "latency_s": [0.1, 0.2]})
    with pytest.raises(ValueRuleError, match="a percentile has none"):
        summarise_repeats(frame, by="quantile", column="latency_s")


def test_a_missing_column_is_named():
    with pytest.raises(ValueRuleError, match="column must be one of variant, connections, throughput_rps, got 'x'"):
        summarise_repeats(runs(), by="x", column="throughput_rps")
