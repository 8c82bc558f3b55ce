"""Knees: Kneedle's published figure, closed forms of laws, and what a knee may not do when units change."""

import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test
from published_knees import KNEES
from published_scaling import SPECSDM91, SYSBENCH
from refused import refuses
from scipy import optimize

from loadcurve.models.capacity.knee import (
    find_curvature_knee,
    find_kneedle_knee,
    find_power_knee,
    find_power_level,
    kneedle,
    summarise_knees,
)
from loadcurve.models.scaling import LAWS

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
FEW = {"draws": 20}


def exact(law, *parameters):
    return LEVELS, LAWS[law].function(LEVELS, *parameters)


@in_one_test(("x", "y", "sensitivity", "curve", "direction", "mode", "knee"), KNEES)
def test_kneedle_of_published_curves(x, y, sensitivity, curve, direction, mode, knee):
    found = kneedle(x, y, sensitivity, curve=curve, direction=direction, mode=mode)
    assert found == pytest.approx(knee, nan_ok=True)


@pytest.mark.parametrize("mode", ["largest", "offline", "online"])
def test_mirrored_curves_have_mirrored_knees(mode):
    """Doubling loads: the four shapes are one curve with its axes mirrored, so they share its knee."""
    x, y = np.array([1.0, 2, 4, 8, 16, 32, 64]), np.array([1.0, 1.9, 3.5, 5, 5.2, 5.3, 5.25])
    assert kneedle(x, y, mode=mode) == 8
    assert kneedle(x, -y, curve="convex", direction="decreasing", mode=mode) == 8
    assert kneedle(-x[::-1], y[::-1], direction="decreasing", mode=mode) == -8
    assert kneedle(-x[::-1], -y[::-1], curve="convex", mode=mode) == -8


def test_kneedle_of_response_times_that_leave_their_floor():
    """R = max(10 ms, N / 800): the floor ends at 8 connections; every other shape finds no knee."""
    x = np.array([1, 2, 4, 6, 8, 10, 12, 14, 16])
    y = np.maximum(0.010, x / 800)
    assert kneedle(x, y, curve="convex") == 8
    assert math.isnan(kneedle(x, y))


def test_kneedle_of_a_normal_distribution_function():
    # kneed, test_NoisyGaussian: mean 50, standard deviation 10, 1000 samples: 60.5 within 5 %.
    x = np.sort(np.random.default_rng(7).normal(50, 10, 1000))
    assert kneedle(x, np.arange(1000) / 1000) == pytest.approx(60.5, rel=0.05)


def test_kneedle_finds_none_where_nothing_bends():
    assert math.isnan(kneedle([1, 2, 3, 4], [10, 20, 30, 40]))
    assert math.isnan(kneedle([1, 2, 3, 4], [5, 5, 5, 5]))
    assert math.isnan(kneedle([1, 2, 3, 4], [1, 2, 4, 8]))  # it bends the other way


def test_kneedle_believes_a_knee_only_as_flat_as_asked():
    x = np.linspace(0, 1, 10)
    assert math.isnan(kneedle(x, -1 / (x + 0.1) + 5, sensitivity=100))


@examples(50)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_kneedle_does_not_know_units(scale, shift, of_load):
    x = np.linspace(0, 1, 10)
    y = -1 / (x + 0.1) + 5
    assert kneedle(x * of_load, y * scale + shift) / of_load == pytest.approx(kneedle(x, y))


@examples(30)
@given(st.floats(0.02, 0.5), st.floats(1, 1e6))
def test_power_of_amdahl_in_closed_form(contention, unit):
    # d/dN of N / (1 + α(N − 1))² = 0 at N = (1 − α) / α.
    found = find_power_knee(LAWS["amdahl"], *exact("amdahl", unit, contention), **FEW)
    assert found.value == pytest.approx(max((1 - contention) / contention, 1), rel=1e-3)


@examples(30)
@given(st.floats(0.01, 0.3), st.floats(1e-4, 1e-2))
def test_power_of_usl_in_closed_form(alpha, beta):
    # d/dN of N / C(N)² = 0 at C = 2 N C′: 3 β N² + (α − β) N − (1 − α) = 0.
    root = (-(alpha - beta) + math.sqrt((alpha - beta) ** 2 + 12 * beta * (1 - alpha))) / (6 * beta)
    assert find_power_knee(LAWS["usl"], *exact("usl", 100, alpha, beta), **FEW).value == pytest.approx(root, rel=1e-3)


@examples(30)
@given(st.floats(0.02, 0.5))
def test_curvature_of_amdahl_in_closed_form(alpha):
    # A hyperbola bends most at its vertex, where the slope is 1: here on axes of 0…1 with L = 128, y = X / X(L).
    last, (number, throughput) = LEVELS[-1], exact("amdahl", 1.0, alpha)
    vertex = (math.sqrt(last * (1 - alpha) / throughput[-1]) - (1 - alpha)) / alpha
    found = find_curvature_knee(LAWS["amdahl"], number, throughput, **FEW)
    assert found.value == pytest.approx(vertex, rel=1e-3)


@examples(30)
@given(st.floats(2.5, 60), st.floats(1, 1e6))
def test_a_roofline_has_its_knee_at_the_kink_by_every_law(kink, unit):
    number, throughput = exact("roofline", unit, unit * kink)
    for find in (find_curvature_knee, find_power_knee):
        assert find(LAWS["roofline"], number, throughput, **FEW).value == pytest.approx(kink, rel=1e-3)


def test_sysbench_bends_where_its_four_threads_are_busy():
    # min(γN, C) is right there: C / γ = 27350 / 8290 = 3.3 connections, the next level is 4.
    table = summarise_knees(*SYSBENCH, LAWS["roofline"], **FEW).set_index("definition")
    assert table.loc[["saturation N*", "maximum curvature", "maximum power"], "connections"].between(3.2, 3.4).all()
    assert (table.loc[["power of levels", "Kneedle"], "connections"] == 4).all()
    assert not table["warnings"].str.contains("disagree").any()


@pytest.mark.slow
def test_saturation_of_a_finite_source():
    # One queue with D = 1 ms behind a delay of 20 ms: N* = (D + Z) / D = 21, and all knees lie near it.
    table = summarise_knees(*exact("finite_source", 0.001, 0.020), LAWS["finite_source"], **FEW)
    knees = table.set_index("definition")["connections"]
    assert knees["saturation N*"] == pytest.approx(21, rel=1e-6)
    assert knees.between(21 / 2, 2 * 21).all()


def test_curvature_of_usl_by_another_way():
    # Bounded search by SciPy with differences in N itself.
    number, throughput = exact("usl", 100, 0.03, 8e-4)
    highest = LAWS["usl"].function(math.sqrt(0.97 / 8e-4), 100, 0.03, 8e-4)

    def bend(at, step=1e-3):
        y = LAWS["usl"].function(at + step * np.array([-1, 0, 1]), 100, 0.03, 8e-4) / highest
        slope, second = (y[2] - y[0]) / (2 * step) * 128, (y[2] - 2 * y[1] + y[0]) / step**2 * 128**2
        return second / (1 + slope**2) ** 1.5

    best = optimize.minimize_scalar(bend, bounds=(2, 127), method="bounded").x
    assert find_curvature_knee(LAWS["usl"], number, throughput, **FEW).value == pytest.approx(best, rel=1e-3)


def test_definitions_that_disagree_say_so():
    table = summarise_knees(*SPECSDM91, **FEW)
    factor = table["connections"].max() / table["connections"].min()
    assert factor > 2
    assert table["warnings"].str.contains(f"the definitions disagree by a factor of {factor:.1f}").all()
    assert table["method"].is_unique


def test_a_curve_that_still_rises_is_warned_about():
    found = find_power_knee(LAWS["amdahl"], *exact("amdahl", 1, 0.001), **FEW)
    assert found.value == pytest.approx(128)
    assert any("at the last level, N = 128" in warning for warning in found.warnings)
    straight = find_curvature_knee(LAWS["linear"], *exact("linear", 10), **FEW)
    assert math.isnan(straight.value)
    assert any(warning.startswith("no knee") for warning in straight.warnings)


def test_a_queue_without_company_has_its_knee_at_the_first_level():
    found = find_power_knee(LAWS["amdahl"], *exact("amdahl", 1, 0.9), **FEW)
    assert any("at the first level" in warning for warning in found.warnings)


@pytest.mark.slow
@examples(20)
@given(st.floats(1e-3, 1e6))
def test_no_knee_moves_with_the_unit_of_throughput(scale):
    number, throughput = exact("usl", 100, 0.03, 8e-4)
    one, other = (summarise_knees(number, throughput * s, **FEW)["connections"] for s in (1, scale))
    assert other.to_numpy() == pytest.approx(one.to_numpy(), rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("find", [find_power_knee, find_curvature_knee])
def test_intervals_cover_the_knee_of_the_law(find):
    truth = find(LAWS["usl"], *exact("usl", 100, 0.03, 8e-4), **FEW).value
    random, hits = np.random.default_rng(5), 0
    number = np.repeat(LEVELS, 5)
    for study in range(100):
        throughput = LAWS["usl"].function(number, 100, 0.03, 8e-4) * (1 + 0.03 * random.standard_normal(number.size))
        found = find(LAWS["usl"], number, throughput, draws=200, seed=study)
        hits += found.lo <= truth <= found.hi
    assert hits >= 85  # as the bootstrap of the peak: percentiles of 5 repeats cover about 92 %


def test_levels_alone_have_no_interval_without_repeats():
    found = find_power_level(*exact("usl", 100, 0.03, 8e-4))
    assert found.value == 16  # the law's own maximum is at 14.7
    assert math.isnan(found.lo)
    assert "1 repeat at every level: no interval" in found.warnings


def test_levels_vary_with_their_runs():
    # X²/N of 4: 100²/4 = 2500 in the mean, and 8: 140²/8 = 2450 — the draws choose now one, now the other.
    found = find_power_level([1, 1, 4, 4, 8, 8], [30, 31, 95, 105, 130, 150])
    assert (found.lo, found.value, found.hi) == (4, 4, 8)


def test_same_seed_same_interval_and_missing_runs_are_named():
    runs = ([1, 1, 4, 4, 8, 8, 8], [30, 31, 95, 105, 130, 150, math.nan])
    assert find_kneedle_knee(*runs, seed=3) == find_kneedle_knee(*runs, seed=3)
    assert "1 of 7 runs have no value and are left out" in find_kneedle_knee(*runs).warnings


test_rules = refuses(
    (lambda: kneedle([1, 1, 2], [1, 2, 3]), "x must be increasing"),
    (lambda: kneedle([1, 2], [1, 2]), "y must be as many finite numbers"),
    (lambda: kneedle([1, 2, 3], [1, 2, 3], -1), "sensitivity must be >= 0"),
    (lambda: kneedle([1, 2, 3], [1, 2, 3], curve="round"), "curve must be concave or convex"),
    (lambda: kneedle([1, 2, 3], [1, 2, 3], direction="up"), "direction must be increasing or decreasing"),
    (lambda: kneedle([1, 2, 3], [1, 2, 3], mode="first"), "mode must be one of largest, offline, online"),
    (lambda: find_power_level([1, 2], [1, 2]), "levels of connections must be >= 3"),
    (lambda: find_power_level([1, 2, 0], [1, 2, 3]), "connections must be > 0"),
    (lambda: find_curvature_knee(LAWS["usl"], [1, 2], [1, 2]), "levels of connections must be >= 3"),
    (lambda: summarise_knees([1, 2, 3], [1, 2]), "throughput_rps must be of the shape"),
)
