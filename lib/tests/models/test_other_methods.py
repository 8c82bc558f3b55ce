"""One curve, three methods, three peaks: the ray tracer of "Guerrilla Capacity Planning"."""

import numpy as np
import pytest
from published_scaling import RAYTRACER, SYNTHETIC

from loadcurve.errors import ValueRuleError
from loadcurve.models import find_peak, fit_usl, usl_peak_connections
from loadcurve.models.scaling import usl_by_parabola, usl_through_first


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
    assert np.isinf(find_peak(fit_usl(*RAYTRACER)).value)


def test_all_agree_where_the_law_holds():
    for found in (usl_by_parabola(*SYNTHETIC), usl_through_first(*SYNTHETIC)):
        assert found == pytest.approx((0.02, 0.02), rel=1e-3)


def test_the_first_level_is_one():
    with pytest.raises(ValueRuleError, match="connections must be 1 at the first level, got 2"):
        usl_by_parabola([2, 4, 8], [20, 38, 70])
