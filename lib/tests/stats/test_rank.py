import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.stats import find_rank_ratio, find_shift, summarise_ranks
from loadcurve.stats.rank import _probability_below

# M. Hollander, D. A. Wolfe (1973): permeability of the human chorioamnion, at term and at 12 to 26 weeks.
TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]
# E. Brunner, U. Munzel (2000): pain scores under two treatments.
PAIN = ([1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1], [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4])
distinct = st.lists(st.integers(1, 10**6), min_size=12, max_size=24, unique=True)


def test_shift_by_sas():
    # SAS NPAR1WAY on these data: shift 0.305; exact two-sided p 0.2544; asymptotic limits −0.17 and 0.76.
    found = find_shift(TERM, EARLY)
    assert found.value == pytest.approx(0.305)
    assert found.hi == pytest.approx(0.76)
    assert found.lo == pytest.approx(-0.17, abs=0.03)
    assert summarise_ranks(TERM, EARLY).loc[0, "p_value"] == pytest.approx(0.2544, abs=5e-5)


@pytest.mark.slow
@given(distinct)
def test_interval_holds_what_the_exact_test_does_not_reject(values):
    # SciPy's exact test, on runs shifted by a little less and a little more than each end.
    a, b = np.array(values[:6], dtype=float), np.array(values[6:], dtype=float)
    found = find_shift(a, b)
    for inside, outside in ((found.lo + 0.25, found.lo - 0.25), (found.hi - 0.25, found.hi + 0.25)):
        assert stats.mannwhitneyu(a - inside, b, method="exact").pvalue > 0.05 or found.lo == found.hi
        assert stats.mannwhitneyu(a - outside, b, method="exact").pvalue <= 0.05


@given(st.lists(st.floats(1, 1e3), min_size=4, max_size=9), st.lists(st.floats(1, 1e3), min_size=4, max_size=9))
def test_b_against_a_is_one_over_a_against_b(a, b):
    forth, back = find_rank_ratio(a, b), find_rank_ratio(b, a)
    assert forth.value * back.value == pytest.approx(1)
    assert forth.lo * back.hi == pytest.approx(1)


def test_three_runs_have_no_interval_of_95():
    found = find_rank_ratio([4, 5, 6], [1, 2, 3])
    assert math.isnan(found.lo)
    assert found.warnings == ("3 runs of A and 3 of B: no rank interval has more than 90 % confidence",)
    assert find_rank_ratio([4, 5, 6], [1, 2, 3], 0.9).lo == pytest.approx(4 / 3)
    assert find_rank_ratio([4], [1, 2, 3]).warnings == ("1 run of A: nothing can be concluded about repeats",)


def test_a_wild_run_hardly_moves_the_ratio():
    b = [100, 101, 99, 102, 98, 100.5]
    calm, wild = (
        find_rank_ratio([110, 111, 109, 112, 108, 110.5], b),
        find_rank_ratio([110, 111, 109, 112, 108, 1e6], b),
    )
    assert wild.value == pytest.approx(calm.value, rel=0.01)
    assert "run 6 of A" in wild.warnings[0]


def test_brunner_munzel_by_r():
    # R lawstat, brunner.munzel.test: 3.1375, p 0.005786, P(X < Y) + ½ P(X = Y) = 0.788961.
    table = summarise_ranks(PAIN[1], PAIN[0]).set_index("test")
    assert table.loc["Brunner–Munzel", "statistic"] == pytest.approx(3.1375, abs=5e-5)
    assert table.loc["Brunner–Munzel", "p_value"] == pytest.approx(0.005786, abs=5e-7)
    assert table["a_above_b_ratio"].to_list() == pytest.approx([0.788961] * 2, abs=5e-7)
    assert "ties" in table.loc["Mann–Whitney", "warnings"]


@pytest.mark.parametrize(("runs_a", "runs_b"), [(a, b) for a in range(1, 6) for b in range(1, 7)])
def test_the_distribution_of_u_is_that_of_all_orders(runs_a, runs_b):
    """By counting: each order of the runs is equally likely."""
    orders = itertools.combinations(range(runs_a + runs_b), runs_a)
    statistics = [sum(places) - runs_a * (runs_a - 1) // 2 for places in orders]
    expected = [np.mean(np.array(statistics) <= u) for u in range(runs_a * runs_b // 2 + 1)]
    assert _probability_below(runs_a, runs_b) == pytest.approx(expected, rel=1e-14)


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_distribution_of_u_rises_to_its_middle(runs_a, runs_b):
    below = _probability_below(runs_a, runs_b)
    assert below[0] * math.comb(runs_a + runs_b, runs_a) == pytest.approx(1)
    assert (np.diff(below) >= 0).all()
    # P(U < n/2) and P(U > n/2) are equal by symmetry.
    size = runs_a * runs_b
    assert below[-1] == pytest.approx(0.5) if size % 2 else below[-1] + below[-2] == pytest.approx(1)


def test_few_runs_say_what_their_test_cannot():
    table = summarise_ranks([4, 5, 6], [1, 2, 3])
    assert table.loc[0, "p_value"] == pytest.approx(0.1)  # 2 of the 20 orders
    assert "p is never below 0.1" in table.loc[0, "warnings"]
    assert math.isnan(table.loc[1, "p_value"])
    assert "overlap" in table.loc[1, "warnings"]
    assert "too small too often" in summarise_ranks([1, 3, 5], [2, 4, 6]).loc[1, "warnings"]


@pytest.mark.filterwarnings("error")
def test_runs_that_are_all_equal_have_no_brunner_munzel_test():
    table = summarise_ranks([5, 5, 5], [5, 5, 5])
    assert math.isnan(table.loc[1, "p_value"])
    assert table.loc[1, "warnings"] == "no value: all runs have the same value"


def test_wrong_values_are_refused():
    with pytest.raises(ValueRuleError, match="0 < level < 1"):
        find_shift([1, 2], [1, 2], level=math.nan)
    with pytest.raises(ValueRuleError, match="b must be > 0"):
        find_shift([1, 2], [0, 1])
