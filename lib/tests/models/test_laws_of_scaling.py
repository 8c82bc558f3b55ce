"""Every law that can be fitted: its formula, its slopes, and that the least sum of squares is really found."""

import numpy as np
import pytest
from examples import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from published_scaling import NGINX_100KB, RAYTRACER, SPECSDM91, SYSBENCH
from scipy import optimize

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS, fit_law, fit_usl
from loadcurve.models.scaling.finite_source import finite_source_rps

NUMBER = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
TRUE = {
    "linear": [30.0],
    "amdahl": [30.0, 0.05],
    "usl": [30.0, 0.05, 0.001],
    "free_usl": [30.0, -0.02, 0.004],
    "roofline": [30.0, 400.0],
    "saturating": [30.0, 400.0, 2.5],
    "finite_source": [1 / 400, 0.1],
}


def test_every_law_is_here():
    assert set(TRUE) == set(LAWS)


@pytest.mark.parametrize("name", TRUE)
def test_a_law_is_found_again(name):
    law = LAWS[name]
    fit = fit_law(law, NUMBER, law.function(NUMBER, *TRUE[name]))
    assert fit.values() == pytest.approx(TRUE[name], rel=1e-5)
    assert fit.predict(NUMBER) == pytest.approx(law.function(NUMBER, *TRUE[name]))
    assert np.nanmax(np.abs(fit.leave_one_out)) < 0.26  # the roofline knows its slope no more without N = 1, 2, 4, 8


@pytest.mark.parametrize("name", TRUE)
def test_slopes_are_those_of_the_formula(name):
    law, values = LAWS[name], np.array(TRUE[name])
    slopes = law.gradient(NUMBER, *values)
    assert slopes.shape == (NUMBER.size, len(values))
    for i in range(len(values)):
        step = 1e-6 * np.abs(values) * (np.arange(len(values)) == i)
        change = law.function(NUMBER, *(values + step)) - law.function(NUMBER, *(values - step))
        assert slopes[:, i] == pytest.approx(change / (2 * step[i]), rel=1e-4, abs=1e-6 * np.abs(slopes[:, i]).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUE)
@examples(25)
@given(seed=st.integers(0, 2**32 - 1), noise=st.floats(0.001, 0.2))
@example(seed=18267, noise=0.1875)  # a curved valley of the finite-source law, where full steps alternate
@example(seed=9723159, noise=0.109375)  # of the saturating law: the slopes by its sharpness are rounding
@example(seed=774851674, noise=0.18354130942814942)  # of the saturating law: a valley of sharpness 0.125 to 0.16
def test_no_other_search_finds_less(name, seed, noise):
    """SciPy, begun where the data come from and at what was found, finds no lower sum of squares."""
    law, draw = LAWS[name], np.random.default_rng(seed)
    throughput = law.function(NUMBER, *TRUE[name]) * np.exp(noise * draw.standard_normal(NUMBER.size))
    weights = draw.uniform(0.3, 3, NUMBER.size)
    found = law.solve(NUMBER, throughput[None], weights)
    least = law.squares(NUMBER, throughput[None], weights, found)[0]
    lower = [0.0 if name == "usl" and p in law.bounds else -np.inf for p in law.parameters]

    def residuals(p):
        if name == "saturating" and min(p) <= 0:  # SciPy's steps leave the domain, where the law has a logarithm
            return np.full(NUMBER.size, 1e9)
        return np.nan_to_num((law.function(NUMBER, *p) - throughput) * np.sqrt(weights), nan=1e9, posinf=1e9)

    for start in (TRUE[name], found[0]):
        if not np.isfinite(start).all():
            continue
        other = optimize.least_squares(
            residuals, np.maximum(start, lower), bounds=(lower, np.inf), x_scale=np.abs(TRUE[name])
        )
        outside = any(other.x[i] < 0 for i, p in enumerate(law.parameters) if name != "free_usl")
        assume(not outside and not (name == "saturating" and other.x[2] > law.bounds["sharpness"][0]))
        # With 5 degrees of freedom, 2e-4 of the sum of squares moves no parameter by more than √(5 · 2e-4) = 1/31 of
        # its standard error.  Where the sharpness hardly matters, up to 8e-6 was seen.
        assert least <= 2 * other.cost * (1 + (2e-4 if name == "saturating" else 1e-6))


@pytest.mark.parametrize("exponent", [0.7, 0.8, 0.9, 0.95])
def test_without_a_capacity_the_saturating_law_fits_as_well_as_a_line(exponent):
    """Throughput that rises as a power of N bends at no level, and a line is a special case of the law."""
    throughput = 30 * NUMBER**exponent
    for weights in (np.ones(NUMBER.size), throughput**-2):
        squares = [
            law.squares(NUMBER, throughput[None], weights, law.solve(NUMBER, throughput[None], weights))[0]
            for law in (LAWS["saturating"], LAWS["linear"])
        ]
        assert squares[0] <= squares[1] * (1 + 1e-9)


@pytest.mark.parametrize("name", TRUE)
def test_many_data_sets_at_once_are_each_as_alone(name):
    law, draw = LAWS[name], np.random.default_rng(7)
    many = law.function(NUMBER, *TRUE[name]) * np.exp(0.1 * draw.standard_normal((20, NUMBER.size)))
    weights = np.ones(NUMBER.size)
    together = law.solve(NUMBER, many, weights)
    alone = np.vstack([law.solve(NUMBER, one[None], weights) for one in many])
    least = law.squares(NUMBER, many, weights, together)
    assert least == pytest.approx(law.squares(NUMBER, many, weights, alone), rel=1e-6)


def test_sysbench_is_a_roofline():
    """R. Schwartz' sca_tools has these data as a case where the Universal Scalability Law is wrong."""
    roofline, law = fit_law(LAWS["roofline"], *SYSBENCH, weights="equal"), fit_usl(*SYSBENCH, weights="equal")
    assert roofline.parameters["capacity_rps"].value == pytest.approx(np.mean(SYSBENCH[1][2:]), rel=1e-6)
    assert roofline.r_squared > 0.9999 > law.r_squared
    assert roofline.corrected_aic < law.corrected_aic - 50


def test_nginx_at_the_link_is_a_roofline():
    roofline, law = fit_law(LAWS["roofline"], *NGINX_100KB, weights="equal"), fit_usl(*NGINX_100KB, weights="equal")
    assert np.abs(roofline.predict(NGINX_100KB[0]) / NGINX_100KB[1] - 1).max() < 0.05
    assert np.abs(law.predict(NGINX_100KB[0]) / NGINX_100KB[1] - 1).max() > 0.2  # 22 % at worst
    assert roofline.corrected_aic < law.corrected_aic


def test_raytracer_with_free_signs():
    """R package usl, raytracer: unconstrained, β = −2.01e-4 and the sum of squares 484.018."""
    fit = fit_law(LAWS["free_usl"], *RAYTRACER, weights="equal")
    assert fit.parameters["coherency"].value == pytest.approx(-2.01e-4, rel=2e-3)
    assert fit.residual_sd**2 * fit.degrees_of_freedom == pytest.approx(484.018, rel=1e-6)
    assert any("a cost is below 0" in warning for warning in fit.warnings)


def test_the_laws_are_nested():
    """A law with a parameter more misses no more; at its bounds it is the simpler one."""
    linear, amdahl, law = (fit_law(LAWS[name], *SPECSDM91, weights="equal") for name in ("linear", "amdahl", "usl"))
    assert linear.r_squared < amdahl.r_squared < law.r_squared
    bounded = fit_usl(*RAYTRACER, weights="equal")
    amdahl = fit_law(LAWS["amdahl"], *RAYTRACER, weights="equal")
    assert bounded.values()[:2] == pytest.approx(amdahl.values(), rel=1e-6)


@given(st.floats(1e-3, 1.0), st.floats(1e-3, 1e5), st.integers(1, 400))
def test_finite_source_is_erlangs_recursion(demand, load, number):
    """1/B(N) = 1 + N/a · 1/B(N−1): the stable textbook recursion, an independent way to the same number."""
    inverse = 1.0
    for n in range(1, number + 1):
        inverse = 1 + n / load * inverse
    found = finite_source_rps(np.array([float(number)]), demand, load * demand)
    assert found == pytest.approx((1 - 1 / inverse) / demand, rel=1e-6, abs=1e-9 / demand)


@given(st.floats(1e-4, 1.0), st.floats(0, 10.0))
def test_finite_source_keeps_to_its_bounds(demand, delay):
    number = np.arange(1.0, 65)
    found = finite_source_rps(number, demand, delay)
    assert (found <= np.minimum(1 / demand, number / (demand + delay)) * (1 + 1e-9)).all()
    assert (np.diff(found) >= -1e-9 / demand).all()
    assert found[0] == pytest.approx(1 / (demand + max(delay, 1e-9 * demand)), rel=1e-6)


def test_weights_count():
    number, throughput = [1, 2, 4, 8], [10.0, 20.0, 44.0, 80.0]
    assert fit_law(LAWS["linear"], number, throughput, weights=[1, 1, 1e-9, 1]).values() == pytest.approx([10.0])
    equal = fit_law(LAWS["linear"], number, throughput, weights="equal")
    assert fit_law(LAWS["linear"], number, throughput, weights=[5, 5, 5, 5]).values() == equal.values()
    # By default each point weighs 1 / (γN)², so that γ is the mean of X / N.
    relative = fit_law(LAWS["linear"], number, throughput)
    assert relative.values() == pytest.approx([np.mean(throughput / np.array(number))])
    assert (relative.weighting, equal.weighting) == ("relative", "equal")
    assert "linear, least squares with relative weights, 4 points" in str(relative)
    assert "relative weights" in relative.parameters["unit_throughput_rps"].method
    with pytest.raises(ValueRuleError, match="weights must be one of relative, equal, or an array, got 'x'"):
        fit_law(LAWS["linear"], number, throughput, weights="x")
    with pytest.raises(ValueRuleError, match="weights must be > 0"):
        fit_law(LAWS["linear"], number, throughput, weights=[1, 1, 0, 1])
    with pytest.raises(ValueRuleError, match="weights must be of the shape"):
        fit_law(LAWS["linear"], number, throughput, weights=[1, 1])


def test_what_the_data_do_not_show_is_said():
    fit = fit_law(LAWS["roofline"], [1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 160, 320])
    assert fit.values() == [pytest.approx(10.0), np.inf]
    assert "the capacity is at its bound: these data show no plateau" in fit.warnings
    smooth = fit_law(LAWS["saturating"], [1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 160, 320])
    assert smooth.values()[1] == np.inf
    assert np.isnan(smooth.parameters["sharpness"].lo)
    assert any(warning.startswith("sharpness does not affect the fit") for warning in smooth.warnings)
