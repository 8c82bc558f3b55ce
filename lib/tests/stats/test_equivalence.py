import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.stats import (
    equivalence_power,
    repeats_for_difference,
    repeats_for_equivalence,
    summarise_equivalence,
    variation_that_hides,
)

runs = st.lists(st.floats(90, 110), min_size=2, max_size=8)


def verdict(a, b, **more):
    return summarise_equivalence(a, b, **more).loc[0, "verdict"]


def test_repeats_by_powertost():
    # R PowerTOST, example of sampleN.TOST: on an untransformed scale, margins ±0.2, true difference −0.05, standard
    # deviation 0.2, two parallel groups: 48 in all, power 0.815435.  The same numbers as logarithms:
    variation, margin, true = math.sqrt(math.expm1(0.04)), math.exp(0.2) - 1, math.exp(-0.05)
    assert repeats_for_equivalence(variation, margin, true_ratio=true) == 24
    assert equivalence_power(24, variation, margin, true_ratio=true) == pytest.approx(0.815435, abs=5e-7)


@pytest.mark.slow
def test_power_is_the_share_of_simulated_verdicts():
    rng = np.random.default_rng(7)
    found = [verdict(*np.exp(rng.normal(0, 0.02, (2, 8)))) for _ in range(400)]
    share = np.mean([one.startswith("equivalent") for one in found])
    assert share == pytest.approx(equivalence_power(8, 0.02, 0.02), abs=0.075)


@pytest.mark.slow
def test_a_difference_at_the_margin_is_called_equivalent_at_most_in_5_percent():
    rng = np.random.default_rng(8)
    pairs = [(1.02 * np.exp(rng.normal(0, 0.01, 6)), np.exp(rng.normal(0, 0.01, 6))) for _ in range(500)]
    wrong = np.mean([verdict(a, b).startswith("equivalent") for a, b in pairs])
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)


def test_three_verdicts():
    assert verdict([100.1, 99.8, 100.3], [100.2, 100.0, 99.7]) == "equivalent within ±2 %"
    assert verdict([110, 112, 108], [100, 101, 99]) == "different"
    assert verdict([104, 99, 108], [100, 97, 105]) == "undecided"
    # A difference can be sure and still too small to matter.
    small = summarise_equivalence([101.0, 101.1, 100.9], [100.0, 100.1, 99.9]).loc[0]
    assert small["p_difference"] < 0.05
    assert small["verdict"] == "equivalent within ±2 %"
    assert verdict([101.0, 101.1, 100.9], [100.0, 100.1, 99.9], margin_ratio=0.005) == "different"


@pytest.mark.slow
@given(runs, runs)
def test_verdict_follows_from_its_own_intervals(a, b):
    one = summarise_equivalence(a, b).loc[0]
    inside = one["equivalence_lo"] > 1 / 1.02 and one["equivalence_hi"] < 1.02
    if abs(one["p_equivalence"] - 0.05) > 1e-9 and abs(one["p_difference"] - 0.05) > 1e-9:
        assert (one["verdict"] == "equivalent within ±2 %") == inside
        assert (one["verdict"] == "different") == (not inside and not one["lo"] <= 1 <= one["hi"])
    assert verdict(b, a) == one["verdict"]


def test_one_run_each_is_undecided():
    # Document 004 calls 8948.49 against 9040.98 "no influence on the performance".
    one = summarise_equivalence([8948.49], [9040.98]).loc[0]
    assert one["verdict"] == "undecided"
    assert math.isnan(one["p_equivalence"])
    assert math.isnan(one["repeats_needed"])
    assert one["warnings"] == "1 run of A and 1 run of B: nothing can be concluded about repeats"


def test_plan_says_how_unsure_it_is():
    one = summarise_equivalence([104, 99, 108], [100, 97, 105]).loc[0]
    assert one["repeats_needed"] < one["repeats_needed_hi"]
    assert one["repeats_needed"] == repeats_for_equivalence(one["variation_ratio"], 0.02)


@given(st.floats(0.001, 0.3), st.floats(0.01, 0.3))
def test_repeats_are_the_fewest(variation, margin):
    needed = repeats_for_equivalence(variation, margin)
    if not math.isnan(needed):
        assert equivalence_power(int(needed), variation, margin) >= 0.8
        assert needed == 2 or equivalence_power(int(needed) - 1, variation, margin) < 0.8


def test_no_plan_beyond_reason():
    assert math.isnan(repeats_for_equivalence(1.0, 0.001))
    assert 2**16 < repeats_for_equivalence(2.0, 0.02) < 100_000
    assert equivalence_power(5, 0, 0.02) == 1


@pytest.mark.parametrize("ratio", [1.01, 0.9])
def test_equal_servers_are_often_as_far_apart_with_the_scatter_that_hides(ratio):
    variation = variation_that_hides(ratio)
    sd = math.sqrt(math.log1p(variation**2))
    pairs = np.random.default_rng(3).normal(0, sd, (40_000, 2))
    as_far = np.abs(pairs[:, 0] - pairs[:, 1]) >= abs(math.log(ratio))
    assert as_far.mean() == pytest.approx(0.05, abs=0.005)


@given(st.floats(0.5, 2))
def test_what_hides_a_ratio_hides_its_inverse(ratio):
    assert variation_that_hides(ratio) == pytest.approx(variation_that_hides(1 / ratio))
    assert variation_that_hides(1) == 0


test_wrong_arguments_are_refused = refuses(
    (lambda: variation_that_hides(0), "ratio"),
    (lambda: variation_that_hides(math.inf), "ratio"),
    (lambda: variation_that_hides(1.1, level=1), "level"),
    (lambda: summarise_equivalence([1, 2], [1, 2], margin_ratio=0), "margin_ratio"),
    (lambda: summarise_equivalence([1, 2], [1, 2], level=0.4), "level"),
    (lambda: repeats_for_equivalence(0.1, 0.02, true_ratio=1.03), "true_ratio"),
    (lambda: repeats_for_equivalence(0.1, 0.02, power=1), "power"),
    (lambda: equivalence_power(1, 0.1, 0.02), "repeats"),
    (lambda: equivalence_power(3, -0.1, 0.02), "variation_ratio"),
    (lambda: equivalence_power(3, 0.1, -0.02), "margin_ratio"),
    (lambda: equivalence_power(3, 0.1, 0.02, level=0.5), "level"),
)


@pytest.mark.parametrize(("effect", "runs"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17)])
def test_repeats_for_a_difference_by_cohen(effect, runs):
    # G*Power 3.1 and R's power.t.test, two-sided t test of two groups, level 5 %, power 80 %: the effect is d = δ/σ.
    assert repeats_for_difference(math.sqrt(math.expm1(0.01)), math.expm1(0.1 * effect)) == runs


def test_the_share_of_simulated_differences_is_the_power():
    rng = np.random.default_rng(9)
    needed = int(repeats_for_difference(0.03, 0.05))
    found = [verdict(*(np.exp(rng.normal(0, 0.03, (2, needed))) * [[1.05], [1]])) for _ in range(400)]
    assert np.mean([one == "different" for one in found]) == pytest.approx(0.8, abs=0.06)
