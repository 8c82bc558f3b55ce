import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_series import FERRARI
from refused import refuses

from loadcurve.stats.mean import find_mean
from loadcurve.stats.merging import autocorrelation, find_mean_of_series, merge_samples

numbers = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=10, max_size=60)


def test_ferraris_autocorrelation_before_and_after_merging_by_4():
    assert autocorrelation(FERRARI) == pytest.approx(0.6365557, rel=1e-6)
    merged = merge_samples(FERRARI, 4)
    assert merged.var(ddof=1) == pytest.approx(0.0526471, rel=1e-6)
    assert autocorrelation(merged) == pytest.approx(0.0823099, rel=1e-6)


def test_the_rule_chooses_ferraris_4():
    mean = find_mean_of_series(FERRARI)
    assert mean.value == pytest.approx(1.756458333, rel=1e-9)
    assert mean.method == "mean, t interval over 12 means of 4 successive samples"
    # Never narrower than Ferrari's own interval; the .08 that remains is allowed for.
    assert 0.2915706 < mean.hi - mean.lo < 2 * 0.2915706
    few, short = mean.warnings
    assert few == "12 merged samples, fewer than 30: the interval may cover less than it says"
    assert short.startswith("48 samples, fewer than 1000: they cannot show a drift slower than the run")


def test_autocorrelation_by_hand():
    # 1 2 3 4 around 2.5: −1.5 −.5 .5 1.5; lag 1: .75 − .25 + .75 = 1.25, lag 2: −.75 − .75 = −1.5, over 5
    assert autocorrelation([1, 2, 3, 4]) == pytest.approx(0.25)
    assert autocorrelation([1, 2, 3, 4], lag=2) == pytest.approx(-0.3)


@given(numbers, st.integers(1, 9))
def test_autocorrelation_keeps_its_range_and_its_value_under_a_change_of_unit(values, lag):
    found = autocorrelation(values, lag)
    assert -1 <= found <= 1
    assert autocorrelation(2 * np.array(values), lag) == pytest.approx(found, abs=1e-9)


def test_a_constant_series():
    assert autocorrelation([0.1] * 7) == 0
    mean = find_mean_of_series([0.1] * 40)
    assert (mean.lo, mean.hi) == pytest.approx((0.1, 0.1))


@given(numbers, st.integers(1, 10))
def test_merging_keeps_the_mean_of_what_it_takes(values, size):
    merged = merge_samples(values, size)
    assert merged.size == len(values) // size
    assert merged.mean() == pytest.approx(np.mean(values[: merged.size * size]), abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-1000, 1000))
def test_the_interval_follows_the_unit(seed, scale, shift):
    values = np.cumsum(np.random.default_rng(seed).normal(0, 1, 60)) % 5
    one, other = find_mean_of_series(values), find_mean_of_series(scale * values + shift)
    expected = [scale * end + shift for end in (one.lo, one.value, one.hi)]
    assert [other.lo, other.value, other.hi] == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True)


@given(numbers, st.floats(0.5, 0.98))
def test_a_higher_level_is_never_narrower(values, level):
    low, high = find_mean_of_series(values, level), find_mean_of_series(values, level + 0.01)
    assert math.isnan(low.lo) or high.lo <= low.lo <= low.value <= low.hi <= high.hi


def test_independent_samples_are_not_merged():
    values = np.random.default_rng(2).normal(50, 5, 200)
    mean, plain = find_mean_of_series(values), find_mean(values)
    assert "200 means of 1" in mean.method
    assert mean.value == pytest.approx(plain.value)
    assert mean.hi - mean.lo == pytest.approx(plain.hi - plain.lo, rel=0.15)


def test_a_drift_has_no_interval():
    mean = find_mean_of_series(np.arange(100.0))
    assert math.isnan(mean.lo) and math.isnan(mean.hi)
    assert mean.value == 49.5
    assert mean.warnings[0].startswith("autocorrelation is still 0.40 between means of 20 samples")


test_rules = refuses(
    (lambda: find_mean_of_series([1, 2, 3, 4]), "values must be at least 5 samples, got '4'"),
    (lambda: find_mean_of_series([1, 2, math.nan, 4, 5]), "values must be without gaps, got nan"),
    (lambda: find_mean_of_series([[1, 2], [3, 4]]), "values must be one-dimensional"),
    (lambda: find_mean_of_series([1, 2, 3, 4, 5], level=95), "level must be 0 < level < 1, got 95"),
    (lambda: autocorrelation([1, 2, 3], lag=3), "lag must be a whole number, 1 <= lag < 3, got 3"),
    (lambda: merge_samples([1, 2, 3], 0), "size must be a whole number, 1 <= size <= 3, got 0"),
)
