"""One curve, three methods, three peaks: the ray tracer of "Guerrilla Capacity Planning"."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_scaling import RAYTRACER, SYNTHETIC

from loadcurve.errors import ValueRuleError
from loadcurve.models import find_peak, fit_usl, usl_peak_connections
from loadcurve.models.scaling import usl, usl_by_parabola, usl_through_first, usl_through_two


def test_the_parabola_of_gunther():
    """Guerrilla Capacity Planning, section 5.2.3: α .050024, β 4.70822e-6, peak 449.19."""
    alpha, beta = usl_by_parabola(*RAYTRACER)
    assert (alpha, beta) == (pytest.approx(0.050024, rel=1e-4), pytest.approx(4.70822e-6, rel=1e-4))
    assert usl_peak_connections(alpha, beta) == pytest.approx(449.19, rel=1e-4)


def test_least_squares_through_the_first_point():
    """α .0497973, β 1.14345e-5, peak 288.27."""
    alpha, beta = usl_through_first(*RAYTRACER)
    assert (alpha, beta) == (pytest.approx(0.0497973, rel=1e-4), pytest.approx(1.14345e-5, rel=1e-3))
    assert usl_peak_connections(alpha, beta) == pytest.approx(288.27, rel=1e-3)


def test_three_parameters_show_no_peak():
    assert np.isinf(find_peak(fit_usl(*RAYTRACER, weights="equal")).value)


def test_all_agree_where_the_law_holds():
    for found in (usl_by_parabola(*SYNTHETIC), usl_through_first(*SYNTHETIC)):
        assert found == pytest.approx((0.02, 0.02), rel=1e-3)


@given(
    st.integers(1, 50), st.integers(1, 50), st.floats(1, 1e5), st.floats(0, 0.9), st.floats(1e-6, 1)
)  # fmt: skip
def test_two_points_of_a_law_give_it_back(first, more, unit, alpha, beta):
    number = [first, first + more]
    found = usl_through_two(number, usl(number, unit, alpha, beta), alpha)
    assert usl(number, *found) == pytest.approx(usl(number, unit, alpha, beta))
    assert found == pytest.approx((unit, alpha, beta), rel=1e-4, abs=1e-7)


def test_a_rate_halved_from_4_to_8_needs_coherency():
    """By hand: 2 (1 + 12 β) / (1 + 56 β) = 1/2, so β = 3/8, and γ = 40,000 (1 + 12 β) / 4."""
    assert usl_through_two([4, 8], [40_000, 20_000]) == pytest.approx((55_000, 0, 3 / 8))


# A rise beyond N is no law with β >= 0; a fall beyond 24/56, which is the law's as β grows, needs more than β.
@pytest.mark.parametrize("throughput", [(100, 300), (100, 40), (100, 100 * 24 / 56)])
def test_two_points_of_no_law(throughput):
    assert np.isnan(usl_through_two([4, 8], throughput)[::2]).all()


@pytest.mark.parametrize("connections", [[4, 4], [1, 2, 3], [4]])
def test_two_points_are_two(connections):
    with pytest.raises(ValueRuleError, match="connections must be two different numbers"):
        usl_through_two(connections, [100] * len(connections))


def test_the_first_level_is_one():
    with pytest.raises(ValueRuleError, match="connections must be 1 at the first level, got 2"):
        usl_by_parabola([2, 4, 8], [20, 38, 70])
