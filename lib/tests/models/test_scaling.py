import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from published_scaling import NGINX_100KB, RAYTRACER, SPECSDM91, SYNTHETIC, SYSBENCH, WRK_616

from loadcurve.errors import ValueRuleError
from loadcurve.models import fit_usl, usl, usl_limit_rps, usl_peak_connections

costs = st.floats(0, 1)


def warned(fit, start):
    return any(warning.startswith(start) for warning in fit.warnings)


def test_law_by_sca_tools():
    # sca_tools: λ 90, σ .03, κ 1e-4.
    values = usl([1, 20, 21, 41, 61, 81], 90, 0.03, 1e-4)
    expected = [90, 1119.40298507, 1151.03532278, 1560.91370558, 1734.04927353, 1800.88932806]
    assert values == pytest.approx(expected, rel=1e-11)


def test_what_if_by_r_usl():
    assert usl_peak_connections(0.001, 1e-5) == pytest.approx(316.0696, rel=1e-6)
    assert usl_limit_rps(89.99523, 0.001) == pytest.approx(89995.23)


@given(st.floats(1e-3, 1e9), costs, costs)
def test_one_connection_makes_the_unit_throughput(unit, contention, coherency):
    assert usl(1, unit, contention, coherency) == unit


@given(st.floats(0, 0.9), st.floats(1e-6, 1e-2), st.floats(0.5, 2))
def test_no_level_is_above_the_peak(contention, coherency, factor):
    peak = max(usl_peak_connections(contention, coherency), 1)
    elsewhere = max(peak * factor, 1)
    assert usl(elsewhere, 1, contention, coherency) <= usl(peak, 1, contention, coherency) * (1 + 1e-9)


def test_law_without_costs_has_neither_peak_nor_limit():
    assert usl_peak_connections(0, 0) == math.inf
    assert usl_limit_rps(1, 0) == math.inf
    assert np.isnan(usl_peak_connections(1.5, 0.1))


def test_specsdm91():
    # R usl, tests/summary.Rout.save; intervals recomputed with t(4).
    fit = fit_usl(*SPECSDM91, weights="equal")
    unit, contention, coherency = fit.parameters.values()
    assert unit.value == pytest.approx(90.00, abs=5e-3)
    assert contention.value == pytest.approx(0.02773, abs=5e-6)
    assert coherency.value == pytest.approx(1.044e-4, abs=5e-8)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx([14.21, 0.009122, 1.988e-5], rel=4e-4)
    assert (unit.lo, unit.hi) == pytest.approx((50.5, 129.5), abs=0.05)
    assert (contention.lo, contention.hi) == pytest.approx((0.00240, 0.05305), abs=5e-6)
    assert (coherency.lo, coherency.hi) == pytest.approx((4.92e-5, 1.595e-4), abs=5e-8)
    assert fit.residual_sd == pytest.approx(82.85, abs=5e-3)
    assert fit.degrees_of_freedom == 4
    assert np.sum((fit.predict(fit.connections) - fit.throughput_rps) ** 2) == pytest.approx(27453.72, abs=5e-3)
    assert fit.predict(fit.connections) == pytest.approx([90, 1078, 1541, 1850, 1879, 1822, 1646], abs=0.5)
    efficiency = fit.throughput_rps / (fit.connections * unit.value)
    assert efficiency == pytest.approx([0.7211, 0.6148, 0.5100, 0.2860, 0.1882, 0.1370, 0.0876], abs=5e-5)


def test_raytracer_has_its_coherency_at_the_bound():
    fit = fit_usl(*RAYTRACER, weights="equal")
    unit, contention, coherency = fit.parameters.values()
    assert unit.value == pytest.approx(21.848843, rel=1e-7)
    assert contention.value == pytest.approx(0.05777078, rel=1e-6)
    assert coherency.value == coherency.lo == 0
    assert np.sum((fit.predict(fit.connections) - fit.throughput_rps) ** 2) == pytest.approx(697.2378, rel=1e-7)
    assert fit.warnings == ("coherency is at its bound 0: no finite peak is supported by these data",)


def test_raytracer_first_six_points():
    n, x = RAYTRACER
    fit = fit_usl(n[:6], x[:6], weights="equal")
    assert fit.values() == pytest.approx([20.8560, 0.0244440, 0.0016268], rel=2e-5)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx([0.7885, 0.00839, 0.000261], rel=2e-3)
    # R usl prints .00754 to .04135 for α (one-sided, n − 1): wrong.  The right interval contains 0.
    contention = fit.parameters["contention"]
    assert (contention.lo, contention.hi) == pytest.approx((-0.0023, 0.0511), abs=1e-4)
    assert warned(fit, "no level past the peak: the peak at N = 24")
    assert not warned(fit, "6 points")


def test_raytracer_first_five_points_are_few():
    n, x = RAYTRACER
    fit = fit_usl(n[:5], x[:5], weights="equal")
    assert fit.values() == pytest.approx([21.059, 0.028, 0.001], rel=0.01, abs=5e-4)
    assert warned(fit, "5 points: 3 parameters need at least 6")


def test_synthetic():
    fit = fit_usl(*SYNTHETIC)
    assert fit.values() == pytest.approx([1, 0.02, 0.02], rel=1e-3)
    assert fit.warnings == ()


def test_sysbench_is_no_usl_and_says_so():
    fit = fit_usl(*SYSBENCH, weights="equal")
    assert warned(fit, "poor fit")
    assert warned(fit, "the law misses the throughput")


def test_nginx_at_the_link_is_no_usl_and_says_so():
    # The oracle: USL misses it by 22 % at worst and must be rejected.
    assert any("by +22%" in warning for warning in fit_usl(*NGINX_100KB, weights="equal").warnings)


@pytest.mark.parametrize("weights", ["relative", "equal"])
def test_a_sharp_plateau_is_no_usl_and_says_so(weights):
    """Relative weights spread the misses, so that none is large: there, min(γN, C) is right and leaves far less."""
    for data in (SYSBENCH, NGINX_100KB):
        assert any("the plateau begins sharply" in warning for warning in fit_usl(*data, weights=weights).warnings)
    for data in (SPECSDM91, RAYTRACER, SYNTHETIC):
        assert not any("begins sharply" in warning for warning in fit_usl(*data, weights=weights).warnings)


def test_a_level_that_the_others_contradict_is_named():
    """The law is 1.22 times one level: the fit bends towards it and misses it by less, the others alone do not."""
    number = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
    throughput = usl(number, 100, 0.05, 0.001)
    throughput[4] *= 1 / 1.22
    named = [text for text in fit_usl(number, throughput).warnings if "fitted to the other levels" in text]
    assert named == ["fitted to the other levels, the law misses the throughput at N = 16 by +22%"]


def test_super_linear_start_is_warned_about():
    # 11578.57 at N = 1, 67578.85 at N = 4: 5.84 times the throughput from 4 times the connections.
    assert (
        "throughput rises faster than connections from N=1 to N=4 (efficiency 1.46): "
        "USL with non-negative parameters cannot follow"
    ) in fit_usl(*WRK_616).warnings


def test_straight_line_is_at_both_bounds():
    fit = fit_usl([1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 160, 320])
    assert fit.values() == pytest.approx([10, 0, 0])
    assert warned(fit, "coherency is at its bound 0")
    assert warned(fit, "contention is at its bound 0")


def test_flat_line_is_pure_contention():
    fit = fit_usl([1, 2, 4, 8, 16, 32], [10] * 6)
    assert fit.values() == pytest.approx([10, 1, 0])
    assert math.isnan(fit.r_squared)


def test_three_points_have_no_interval():
    fit = fit_usl([1, 4, 16], usl([1, 4, 16], 50, 0.1, 0.01))
    assert fit.values() == pytest.approx([50, 0.1, 0.01], rel=1e-6)
    assert math.isnan(fit.residual_sd)
    assert all(math.isnan(estimate.lo) for estimate in fit.parameters.values())
    assert warned(fit, "3 points for 3 parameters: no interval")


@examples(40)
@given(st.floats(1, 1e6), st.floats(0.001, 0.5), st.floats(1e-5, 0.05))
def test_fit_finds_the_parameters_the_data_were_made_with(unit, contention, coherency):
    number = np.array([1, 2, 4, 8, 16, 32, 64, 128])
    fit = fit_usl(number, usl(number, unit, contention, coherency))
    assert fit.values() == pytest.approx([unit, contention, coherency], rel=1e-5)


@examples(20)
@given(st.floats(1e-3, 1e6), st.permutations(range(7)))
def test_unit_and_order_of_the_data_do_not_matter(factor, order):
    n, x = np.array(SPECSDM91[0]), np.array(SPECSDM91[1])
    plain, scaled = fit_usl(n, x), fit_usl(n[order], factor * x[order])
    assert scaled.values() == pytest.approx(np.array(plain.values()) * [factor, 1, 1], rel=1e-6)
    assert scaled.parameters["coherency"].hi == pytest.approx(plain.parameters["coherency"].hi, rel=1e-6)
    assert scaled.warnings == plain.warnings


def test_missing_points_are_left_out():
    n, x = SPECSDM91
    fit = fit_usl([*n, 300], [*x, math.nan])
    assert fit.points == 7
    assert fit.warnings[0] == "1 of 8 points have no value and are left out"


@pytest.mark.parametrize(
    ("n", "x", "message"),
    [
        ([1, 2, 2, 4], [1, 2, 2, 3], "connections must be each level once"),
        ([1, 2], [1, 2], "points must be >= 3"),
        ([0, 1, 2], [1, 2, 3], "connections must be > 0, got 0.0"),
        ([1, 2, 4], [1, 0, 3], "throughput_rps must be > 0, got 0.0"),
        ([1, 2, 4], [1, 2], "throughput_rps must be of the shape of connections"),
    ],
)
def test_rules(n, x, message):
    with pytest.raises(ValueRuleError, match=message):
        fit_usl(n, x)


def test_law_rules():
    with pytest.raises(ValueRuleError, match="coherency must be >= 0"):
        usl(1, 1, 0, -1e-4)
