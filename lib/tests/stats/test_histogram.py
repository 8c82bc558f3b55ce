import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.reading import read
from loadcurve.stats.histogram import summarise_histogram_quantiles


def classes(samples, edges, **columns):
    counts, ends = np.histogram(samples, edges)
    table = pd.DataFrame({"lower_s": ends[:-1], "upper_s": ends[1:], "responses": counts, "corrected": False})
    return table.assign(**columns)


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 20), st.floats(0.01, 0.99))
def test_the_pooled_quantile_lies_between_the_ends(seed, one, other, quantile):
    rng = np.random.default_rng(seed)
    fast, slow = rng.random(37), 3 * rng.random(211)
    table = pd.concat(
        [classes(fast, np.linspace(0, 1, one + 1), point="a"), classes(slow, np.linspace(0, 3, other + 1), point="a")]
    )
    row = summarise_histogram_quantiles(table, [quantile], by="point").iloc[0]
    pooled = np.quantile(np.concatenate([fast, slow]), quantile, method="inverted_cdf")
    assert row["lower_s"] <= pooled <= row["upper_s"]
    assert row["responses"] == 248


def test_the_mean_of_percentiles_would_be_wrong():
    # 990 fast and 10 slow responses, and 10 slow ones alone: the pooled 99 % quantile is slow, 1 % and 100 % are slow.
    columns = {"lower_s": [0.0, 0.9, 0.9], "upper_s": [0.1, 1.0, 1.0], "responses": [990, 9, 10]}
    table = pd.DataFrame(columns).assign(point="a", corrected=False)
    row = summarise_histogram_quantiles(table, [0.99], by="point").iloc[0]
    assert (row["lower_s"], row["upper_s"]) == (0.9, 1.0)  # the mean of the runs' 99 % quantiles is at most .55


def test_open_ends_are_wide():
    columns = {"lower_s": [np.nan, 0.5], "upper_s": [0.5, np.nan], "responses": pd.array([1, 1], dtype="Int64")}
    table = pd.DataFrame(columns).assign(point="a", corrected=False)
    ends = summarise_histogram_quantiles(table, [0.5, 0.9], by=["point"])
    assert ends["lower_s"].tolist() == [0.0, 0.5]
    assert ends["upper_s"].tolist() == [0.5, np.inf]


def test_points_stay_apart():
    table = pd.concat([classes([0.5], [0, 1], connections=1), classes([2.5], [2, 3], connections=2)])
    rows = summarise_histogram_quantiles(table, [0.5], by="connections")
    assert rows["upper_s"].tolist() == [1, 3]


GOOD = classes([0.5, 1.5], [0, 1, 2], point="a")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (GOOD.drop(columns="responses"), "column must be one of .*, got 'responses'"),
        (GOOD.assign(corrected=[True, False]), "corrected must be the same for all runs of a point, got 'both at a'"),
        (GOOD.assign(responses=[1.0, np.nan]), "responses must be known for each class"),
        (GOOD.assign(responses=0), "responses must be known for each class, >= 0, and some at each point"),
        (GOOD.assign(lower_s=[5.0, 6.0]), "upper_s must be >= lower_s, got 1.0"),
    ],
)
def test_what_cannot_be_added_up_is_refused(table, message):
    with pytest.raises(ValueRuleError, match=message):
        summarise_histogram_quantiles(table, [0.5], by="point")


@pytest.mark.parametrize(
    ("sample", "rounding_s"),
    [("hey/plain", 0.0005), ("hey/flaky", 0.0005), ("fortio/text", 5e-7), ("oha/json-old", 5e-7)],
)
def test_the_tools_own_percentiles_lie_between_the_ends(sample, rounding_s):
    tables = read(ROOT / "lib" / "tests" / "data" / f"{sample}.txt").tables
    latency = tables["latency"]
    found = summarise_histogram_quantiles(
        tables["histogram"], latency["quantile"].tolist(), by="generator", rounding_s=rounding_s
    )
    digit = 5e-5 if sample.startswith("hey") else 5e-7  # the percentiles are rounded too
    assert (found["lower_s"].to_numpy() <= latency["latency_s"].to_numpy() + digit).all()
    assert (latency["latency_s"].to_numpy() <= found["upper_s"].to_numpy() + digit).all()


def test_rounding_is_not_negative():
    with pytest.raises(ValueRuleError, match="rounding_s must be >= 0, got -1"):
        summarise_histogram_quantiles(GOOD, [0.5], by="point", rounding_s=-1)


def test_a_quantile_is_a_share():
    with pytest.raises(ValueRuleError, match="quantiles must be 0 < quantiles < 1, got 99"):
        summarise_histogram_quantiles(GOOD, [99], by="point")
