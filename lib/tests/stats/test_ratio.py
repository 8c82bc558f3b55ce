import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from loadcurve.errors import ValueRuleError
from loadcurve.stats import find_geometric_ratio, find_paired_ratio, find_ratio

runs = st.lists(st.floats(50, 150), min_size=2, max_size=12)
# "Student" (1908), additional hours of sleep under two drugs, as R's data set `sleep`.
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)


def test_logarithms_by_r():
    # R, t.test(extra ~ group, sleep): df 17.776, interval −3.3654832 to 0.2054832.
    found = find_geometric_ratio(*np.exp(SLEEP))
    assert np.log([found.lo, found.hi]) == pytest.approx([-3.3654832, 0.2054832], abs=5e-8)
    assert math.log(found.value) == pytest.approx(0.75 - 2.33)
    assert "17.8 degrees" in found.method


def test_ends_of_fieller_are_where_a_t_test_turns():
    # The definition (Fieller 1954): |a − ρ b| = t √(v_a + ρ² v_b) at both ends; 5 and 5 runs of equal scatter: ν = 8.
    a, b = np.array([10, 12, 11, 13, 14.0]), np.array([10, 12, 11, 13, 14.0])
    found = find_ratio(a, b)
    for end in (found.lo, found.hi):
        error = math.sqrt((a.var(ddof=1) + end**2 * b.var(ddof=1)) / 5)
        assert abs(a.mean() - end * b.mean()) / error == pytest.approx(2.306004, abs=1e-6)  # t table, ν = 8


@pytest.mark.parametrize("find", [find_ratio, find_geometric_ratio])
@given(runs, runs)
def test_b_against_a_is_one_over_a_against_b(find, a, b):
    forth, back = find(a, b), find(b, a)
    assert forth.value * back.value == pytest.approx(1)
    if math.isfinite(forth.hi) and back.lo > 0:
        assert forth.hi * back.lo == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("find", [find_ratio, find_geometric_ratio])
@given(runs, runs, st.floats(1e-6, 1e6))
def test_unit_does_not_matter(find, a, b, unit):
    here, there = find(a, b), find(np.multiply(a, unit), np.multiply(b, unit))
    assert (there.value, there.lo) == pytest.approx((here.value, here.lo), rel=1e-6, abs=1e-9)


def test_one_run_each_concludes_nothing():
    # Document 004: 9040.98 requests/s before and 8948.49 after 10,000 rules, one run each: "no influence".
    for find in (find_ratio, find_geometric_ratio):
        found = find([8948.49], [9040.98])
        assert found.value == pytest.approx(0.98977, abs=5e-6)
        assert math.isnan(found.lo)
        assert math.isnan(found.hi)
        assert found.warnings == ("1 run of A and 1 run of B: nothing can be concluded about repeats",)
    assert find_ratio([1, 2], [3]).warnings == ("1 run of B: nothing can be concluded about repeats",)


def test_outlier_is_named_and_kept():
    a, b = [100, 101, 99, 102, 98, 160], [100, 101, 99, 102, 98, 100]
    found = find_ratio(a, b)
    assert found.value == pytest.approx(660 / 600)
    assert [w for w in found.warnings if "run 6 of A (160)" in w and "kept" in w]


def test_a_denominator_that_may_be_0_has_no_upper_end():
    found = find_ratio([10, 11], [1, 40])
    assert found.hi == math.inf
    assert found.lo >= 0
    assert "no upper end" in found.warnings[-1]


def test_runs_all_alike_are_no_certainty():
    found = find_ratio([2, 2], [1, 1])
    assert (found.lo, found.value, found.hi) == (2, 2, 2)
    assert "no scatter" in found.warnings[0]


def test_missing_runs_are_counted():
    found = find_ratio([110, np.nan, 112, 108], [100, 101, 99])
    assert found.value == pytest.approx(1.1)
    assert found.warnings == ("1 of 4 runs of A have no value and are left out",)


@pytest.mark.parametrize("wrong", [[1, 0], [1, -1], [1, np.inf], [], [np.nan], [[1, 2]]])
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ValueRuleError, match="a must be"):
        find_ratio(wrong, [1, 2])
    with pytest.raises(ValueRuleError, match="b must be"):
        find_geometric_ratio([1, 2], wrong)


def test_level_moves_the_ends():
    assert find_ratio([1, 2, 3], [2, 3, 4], 0.5).hi < find_ratio([1, 2, 3], [2, 3, 4], 0.9).hi
    with pytest.raises(ValueRuleError, match="level"):
        find_ratio([1, 2], [2, 3], 95)
    assert special.stdtrit(8, 0.975) == pytest.approx(2.306004, abs=1e-6)


def test_pairs_by_r():
    # R, t.test(sleep$extra[1:10], sleep$extra[11:20], paired = TRUE): interval −2.4598858 to −0.7001142.
    found = find_paired_ratio(*np.exp(SLEEP))
    assert np.log([found.lo, found.hi]) == pytest.approx([-2.4598858, -0.7001142], abs=5e-8)
    assert math.log(found.value) == pytest.approx(-1.58)


def test_what_a_pair_shares_cancels():
    blocks = np.array([1.0, 0.7, 1.4])
    a, b = 1.1 * blocks * [1, 1.001, 0.999], blocks
    assert find_paired_ratio(a, b).lo > 1.09
    assert find_geometric_ratio(a, b).lo < 1


def test_pairs_must_be_whole():
    found = find_paired_ratio([1, 2, np.nan], [1, 2, 3])
    assert found.value == 1
    assert found.warnings == ("1 of 3 pairs are not whole and are left out",)
    assert math.isnan(find_paired_ratio([2], [1]).lo)
    with pytest.raises(ValueRuleError, match="shape"):
        find_paired_ratio([1, 2], [1, 2, 3])
    with pytest.raises(ValueRuleError, match="known"):
        find_paired_ratio([np.nan], [1])
