"""Scale-out: the document with two sockets, laws whose efficiency is known, and projections that hold."""

import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from published_scaling import SPECSDM91
from refused import refuses

from loadcurve import read_published
from loadcurve.models.capacity.scale_out import summarise_projection, summarise_scale_out
from loadcurve.models.scaling import ENTRANTS, LAWS


def test_document_003_is_above_1_because_its_baseline_is_a_lower_bound():
    # 33.2 + 32.7 = 65.9 (10⁴ requests/s) from two sockets, "30+" from one: 65.9 / (2 × 30) = 1.10.
    row = summarise_scale_out([1, 2], [30e4, 65.9e4], baseline_is_lower_bound=True).iloc[1]
    assert row["efficiency_ratio"] == pytest.approx(1.10, abs=5e-3)
    assert math.isnan(row["efficiency_lo"])
    assert row["marginal_rps"] == pytest.approx(35.9e4)
    assert "the baseline is a lower bound: this efficiency is at most 1.10" in row["warnings"]
    assert "super-linear" not in row["warnings"]
    assert "1 run of 2 units and 1 run of the baseline: nothing can be concluded" in row["warnings"]


def test_the_same_numbers_without_the_plus_are_super_linear():
    row = summarise_scale_out([1, 2], [30e4, 65.9e4]).iloc[1]
    assert "super-linear, efficiency 1.10" in row["warnings"]


def test_efficiency_of_specsdm91():
    # X / (N X(1)) by hand, X(1) = 64.9: 995.9/(18 × 64.9) = .852508, 1702.2/(216 × 64.9) = .121426.
    table = summarise_scale_out(*SPECSDM91)
    assert table["efficiency_ratio"].iloc[[1, -1]].tolist() == pytest.approx([0.852508, 0.121426], abs=1e-6)
    assert table["marginal_rps"].iloc[-1] == pytest.approx((1702.2 - 1775.0) / 72)


@examples(30)
@given(st.floats(0, 0.9), st.floats(1, 1e6))
def test_efficiency_of_amdahl(contention, unit):
    # X_n / (n X_1) = 1 / (1 + α (n − 1)).
    units = np.array([1.0, 2, 4, 8])
    table = summarise_scale_out(units, LAWS["amdahl"].function(units, unit, contention))
    assert table["efficiency_ratio"].to_numpy() == pytest.approx(1 / (1 + contention * (units - 1)))


@examples(30)
@given(st.floats(1e-3, 1e3))
def test_units_of_throughput_do_not_matter(scale):
    units, throughput = [1, 1, 2, 2, 4, 4], np.array([99.0, 101, 185, 188, 330, 340])
    one, other = summarise_scale_out(units, throughput), summarise_scale_out(units, throughput * scale)
    for column in ("efficiency_ratio", "efficiency_lo", "efficiency_hi", "marginal_ratio"):
        assert other[column].to_numpy() == pytest.approx(one[column].to_numpy(), nan_ok=True)
    assert other["marginal_hi"].to_numpy() == pytest.approx(one["marginal_hi"].to_numpy() * scale, nan_ok=True)


def test_a_baseline_of_several_units_is_said():
    table = summarise_scale_out([2, 4], [200, 360])
    assert table["efficiency_ratio"].tolist() == pytest.approx([1, 0.9])
    assert table["marginal_ratio"].tolist() == pytest.approx([1, 0.8])
    assert "the baseline is 2 units" in table["warnings"][1]


@pytest.mark.slow
def test_intervals_cover_in_simulation():
    """95 % intervals of efficiency and marginal in 400 studies of 4 runs each: 3 standard errors are 3.3 %."""
    random, efficiency_hits, marginal_hits = np.random.default_rng(6), 0, 0
    units = np.repeat([1.0, 2.0], 4)
    for _ in range(400):
        throughput = np.where(units == 1, 100.0, 180.0) * (1 + 0.03 * random.standard_normal(8))
        row = summarise_scale_out(units, throughput).iloc[1]
        efficiency_hits += row["efficiency_lo"] <= 0.9 <= row["efficiency_hi"]
        marginal_hits += row["marginal_lo"] <= 80 <= row["marginal_hi"]
    assert efficiency_hits / 400 >= 0.917
    assert marginal_hits / 400 >= 0.917


def test_runs_without_scatter_have_an_interval_without_width():
    row = summarise_scale_out([1, 1, 2, 2], [100, 100, 180, 180]).iloc[1]
    assert (row["marginal_lo"], row["marginal_hi"]) == (80, 80)


@examples(30)
@given(st.floats(0, 1), st.floats(1, 1e4), st.integers(3, 64))
def test_bounds_of_two_sizes_hold_what_amdahl_makes_of_them(contention, unit, more):
    two, further = (LAWS["amdahl"].function(np.array(n, float), unit, contention) for n in ([1, 2], [more]))
    row = summarise_projection([1, 2], two, more).iloc[0]
    assert math.isnan(row["throughput_rps"])
    assert row["lo"] <= further[0] * (1 + 1e-9)
    assert further[0] <= row["hi"] * (1 + 1e-9)


def test_bounds_know_the_scatter_of_repeats():
    narrow = summarise_projection([1, 2], [100, 180], 4).iloc[0]
    wide = summarise_projection([1, 1, 1, 2, 2, 2], [98, 100, 102, 175, 180, 185], 4).iloc[0]
    assert (narrow["lo"], narrow["hi"]) == (180, 340)
    assert wide["lo"] < 180 and wide["hi"] > 340
    assert "1 repeat of a size" in narrow["warnings"]
    assert "1 repeat" not in wide["warnings"]


def test_document_003_has_bounds_only():
    row = summarise_projection([1, 2], [30e4, 65.9e4], 4, baseline_is_lower_bound=True).iloc[0]
    assert (row["lo"], row["hi"]) == pytest.approx((65.9e4, 65.9e4 + 2 * 35.9e4))
    assert "2 sizes support no law" in row["warnings"]


def test_broken_assumptions_of_the_bounds_are_said():
    assert "brought more than the first" in summarise_projection([1, 2], [30, 66], 4)["warnings"][0]
    harmed = summarise_projection([1, 2], [100, 80], 4).iloc[0]
    assert "did harm" in harmed["warnings"]
    assert (harmed["lo"], harmed["hi"]) == (80, 80)


def test_three_sizes_and_more_are_projected_by_laws():
    units = np.array([1.0, 2, 3, 4, 6, 8])
    throughput = LAWS["amdahl"].function(units, 1000, 0.05)
    row = summarise_projection(units, throughput, 12).iloc[0]
    assert row["lo"] <= LAWS["amdahl"].function(12.0, 1000, 0.05) <= row["hi"]
    assert row["lo"] <= row["throughput_rps"] <= row["hi"]
    assert row["method"].startswith("tournament of laws: ")
    assert "extrapolated beyond 8 units" in row["warnings"]


def test_the_upper_end_is_no_more_than_perfect_copies_make():
    # nginx with 10 KB at 1, 2, 4 and 8 processors (NGINX sizing article): one makes 54684 requests/s.
    units, throughput = [1, 2, 4, 8], [54684, 102069, 207848, 392151]
    table = summarise_projection(units, throughput, [16, 32, 36])
    assert (table["hi"] <= 54684 * table["units"]).all()
    wide = summarise_projection(units, throughput, [16, 32, 36], level=0.99999)
    assert wide["hi"].iloc[-1] == pytest.approx(54684 * 36)  # the band itself goes further
    assert ((table["lo"] < [663921, 774567, 764744]) & (table["hi"] > [663921, 774567, 764744])).all()
    assert "super-linear" not in table["warnings"][0]


def test_no_published_curve_rises_above_that_ceiling():
    curves = read_published("scaling_curves", "curves")
    for curve, rows in curves.groupby("curve"):
        seen = np.arange(len(rows)) < (len(rows) + 1) // 2
        by_unit = rows["throughput"] / rows["load"]
        assert by_unit[~seen].max() <= by_unit[seen].max(), curve


def test_free_signs_do_not_compete():
    assert "free_usl" in LAWS and "free_usl" not in ENTRANTS
    table = summarise_projection([1, 2, 4, 8], [100, 230, 520, 1150], 16)
    assert "super-linear, and more units may make more than the upper end" in table["warnings"][0]
    assert table["hi"][0] <= 16 * 1150 / 8


@pytest.mark.slow
def test_projections_of_perfect_copies_hold_them():
    """90 % bands in 15 studies with a scatter of 3 %; the ceiling comes from the luckiest size, so it costs little."""
    random, hits = np.random.default_rng(7), 0
    for _ in range(15):
        row = summarise_projection(
            [1, 2, 4, 8], 100 * np.array([1, 2, 4, 8]) * np.exp(0.03 * random.normal(size=4)), 16
        )
        hits += row["lo"][0] <= 1600 <= row["hi"][0]
    assert hits >= 12  # fewer have a probability of 5.6 % at 0.9


def test_a_lower_bound_is_no_point_of_a_curve():
    units, throughput = [1, 2, 3, 4], [10, 190, 280, 360]  # the law would have to explain "10+"
    row = summarise_projection(units, throughput, 6, baseline_is_lower_bound=True).iloc[0]
    assert "the baseline is a lower bound and left out" in row["warnings"]
    assert row["lo"] <= 520 <= row["hi"]
    two = summarise_projection(units[:3], throughput[:3], 6, baseline_is_lower_bound=True).iloc[0]
    assert two["method"] == "bounds from 3 sizes"
    assert two["hi"] == pytest.approx(280 + 3 * 90)


test_rules = refuses(
    (lambda: summarise_scale_out([1], [1]), "levels of units must be >= 2"),
    (lambda: summarise_scale_out([0, 1], [1, 2]), "units must be > 0"),
    (lambda: summarise_scale_out([1, 2], [1, 0]), "throughput_rps must be > 0"),
    (lambda: summarise_scale_out([1, 2], [1, 2], level=95), "level must be"),
    (lambda: summarise_projection([1, 2], [1, 2], 2), "at must be above the largest size measured, 2"),
    (lambda: summarise_projection([1, 2], [1, 2], 4, level=0), "level must be"),
)
