"""Several generators' results as one: counts are sums, quantiles those of all responses."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.models.capacity import summarise_overlap
from loadcurve.stats import summarise_merged


def runs(requests, durations, starts, **columns):
    at = pd.to_datetime("2026-01-01T00:00:00Z") + pd.to_timedelta(pd.Series(starts, dtype=float), unit="s")
    facts = {"run_id": "a", "generator": range(len(requests)), "requests": requests, "duration_s": durations}
    return pd.DataFrame({**facts, "started_at": at} | columns)


def classes(*generators, corrected=False):
    """Classes of one microsecond for each generator's times."""
    rows = [
        {"run_id": "a", "generator": g, "lower_s": t, "upper_s": t, "responses": 1, "corrected": corrected}
        for g, times in enumerate(generators)
        for t in times
    ]
    return pd.DataFrame(rows, columns=["run_id", "generator", "lower_s", "upper_s", "responses", "corrected"])


def merged(frame, histogram, quantiles=(0.5, 0.9, 0.99), **settings):
    return summarise_merged(frame, histogram, quantiles, by="run_id", **settings).iloc[0]


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), min_size=1, max_size=5),
    st.floats(0.01, 0.99),
)
def test_the_quantile_is_that_of_all_responses(times, quantile):
    """Nearest rank of the pooled times: the definition, on data that no histogram has touched."""
    frame = runs([len(t) for t in times], [1.0] * len(times), [0.0] * len(times))
    row = merged(frame, classes(*times), [quantile])
    pooled = sorted(t for each in times for t in each)
    expected = pooled[max(math.ceil(quantile * len(pooled) * (1 - 1e-12)), 1) - 1]
    ends = [row[name] for name in row.index if name.startswith("latency_p")]
    assert ends == [expected, expected]
    assert row["requests"] == len(pooled)


def test_the_mean_of_percentiles_is_not_the_percentile():
    """990 fast responses here and 10 slow ones there: the 99th percentile of all is fast, the mean of both is not."""
    row = merged(runs([990, 10], [1.0, 1.0], [0, 0]), classes([0.001] * 990, [1.0] * 10))
    assert row["latency_p99_lower_s"] == row["latency_p99_upper_s"] == 0.001
    assert np.mean([0.001, 1.0]) > 0.5


def test_generators_that_run_at_one_time_have_one_throughput():
    row = merged(
        runs([3000, 1000], [10.0, 10.0], [5, 5], errors_read=[1, 2], received_bytes=[10.0, 20.0]), classes([1], [1])
    )
    assert (row["throughput_lower_rps"], row["throughput_upper_rps"]) == (400, 400)
    assert (row["any_s"], row["all_s"], row["start_skew_s"]) == (10, 10, 0)
    assert (row["errors_read"], row["received_bytes"]) == (3, 30)


def test_the_bounds_are_those_of_the_overlap_model():
    """`summarise_overlap` says the same of generators started one after the other."""
    requests, rates, delay = [3000, 2000, 4000], [300.0, 250.0, 200.0], 1.5
    expected = summarise_overlap(requests, rates, delay).iloc[0]
    frame = runs(requests, [n / x for n, x in zip(requests, rates, strict=True)], [0, delay, 2 * delay])
    row = merged(frame.sample(frac=1, random_state=1), classes([1], [1], [1]))
    for name, other in {"any_s": "any_s", "all_s": "all_s", "throughput_lower_rps": "lo_rps"}.items():
        assert row[name] == pytest.approx(expected[other])
    assert row["throughput_upper_rps"] == pytest.approx(expected["hi_rps"])


def test_generators_that_never_ran_together_have_no_common_throughput():
    row = merged(runs([100, 100], [1.0, 1.0], [0, 5]), classes([1], [1]))
    assert (row["any_s"], row["all_s"]) == (2, 0)
    assert np.isnan(row["throughput_lower_rps"]) and np.isnan(row["throughput_upper_rps"])


def test_what_one_does_not_tell_is_missing_for_all():
    frame = runs([100, 100], [1.0, 1.0], [0, 0], received_bytes=[5.0, np.nan], errors_read=pd.array([1, None], "Int64"))
    frame.loc[1, "started_at"] = pd.NaT
    row = merged(frame, classes([1], []))
    assert pd.isna(row["received_bytes"]) and pd.isna(row["errors_read"])
    assert np.isnan(row["throughput_upper_rps"]) and np.isnan(row["any_s"])
    assert np.isnan(row["latency_p99_upper_s"]), "the classes of one are not those of both"


def test_without_any_histogram_there_are_no_quantiles():
    row = merged(runs([100], [1.0], [0]), classes([]))
    assert np.isnan(row["latency_p50_lower_s"])
    assert row["throughput_upper_rps"] == 100


def test_runs_are_kept_apart():
    both = pd.concat([runs([100], [1.0], [0]), runs([200, 200], [1.0, 1.0], [0, 0]).assign(run_id="b")])
    histogram = pd.concat([classes([1]), classes([2], [3]).assign(run_id="b")])
    found = summarise_merged(both, histogram, [0.9], by="run_id").set_index("run_id")
    assert found["requests"].to_dict() == {"a": 100, "b": 400}
    assert found["latency_p90_upper_s"].to_dict() == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("frame", "histogram", "name"),
    [
        (runs([1], [0.0], [0]), classes([1]), "duration_s"),
        (runs([1], [1.0], [0]).drop(columns="requests"), classes([1]), "column"),
        (runs([1, 1], [1.0, 1.0], [0, 0]).assign(generator=0), classes([1]), "generator"),
        (runs([1], [1.0], [0]), pd.concat([classes([1]), classes([1], corrected=True)]), "corrected"),
        (runs([1], [1.0], [0]), classes([1]).drop(columns="generator"), "column"),
    ],
)
def test_what_cannot_be_merged_is_refused(frame, histogram, name):
    with pytest.raises(ValueRuleError, match=f"^{name} must be"):
        merged(frame, histogram)
