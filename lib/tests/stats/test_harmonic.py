import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.stats.harmonic import find_harmonic_mean

rates = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=20)


def test_equal_work_is_all_work_over_all_time():
    # 1000 requests at 100/s take 10 s, at 25/s 40 s: 2000 requests in 50 s are 40/s; the arithmetic mean says 62.5.
    assert find_harmonic_mean([100, 25]).value == pytest.approx(40)


@given(rates)
def test_it_lies_below_the_arithmetic_mean_and_is_scipys(values):
    found = find_harmonic_mean(values)
    assert found.value == pytest.approx(stats.hmean(values))
    assert found.value <= np.mean(values) * (1 + 1e-12)
    if len(values) > 1:
        assert found.lo <= found.value <= found.hi


def test_wild_repeats_have_no_upper_end():
    assert find_harmonic_mean([1, 100]).hi == math.inf


def test_missing_repeats_are_told():
    found = find_harmonic_mean([100, 25, math.nan])
    assert found.value == pytest.approx(40)
    assert found.warnings[0] == "1 of 3 repeats have no value"
    assert math.isnan(find_harmonic_mean([math.nan]).value)


@pytest.mark.parametrize("wrong", [0, -1, math.inf])
def test_work_that_never_ends_is_refused(wrong):
    with pytest.raises(ValueRuleError, match="rates must be > 0 and finite"):
        find_harmonic_mean([1.0, wrong])
