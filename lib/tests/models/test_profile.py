"""Profile intervals: what they are by their definition, and how often they hold what made the data."""

import numpy as np
import pytest
from published_scaling import RAYTRACER, SPECSDM91
from scipy import optimize, stats

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS, QUANTITIES, find_profile, fit_law, fit_usl, usl

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 96])
TRUE = (100.0, 0.03, 0.0008)
DERIVED = {
    "unit_throughput_rps": lambda unit, alpha, beta: unit,
    "contention": lambda unit, alpha, beta: alpha,
    "coherency": lambda unit, alpha, beta: beta,
    "peak": lambda unit, alpha, beta: np.sqrt((1 - alpha) / beta),
    "limit_rps": lambda unit, alpha, beta: unit / alpha,
}


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_an_end_is_where_the_squares_reach_the_limit(quantity):
    """SciPy's constrained search, another way to the least sum of squares with the quantity held at an end."""
    fit = fit_usl(*SPECSDM91, weights="equal")
    found = find_profile(fit, quantity)
    number, throughput = np.array(SPECSDM91[0]), np.array(SPECSDM91[1])
    scale = np.array(fit.values())

    def squares(parameters):
        return np.sum((usl(number, *(np.abs(parameters) * scale)) - throughput) ** 2)

    limit = squares(np.ones(3)) * (1 + stats.f.ppf(0.95, 1, 4) / 4)
    for end in (found.lo, found.hi):
        held = {"type": "eq", "fun": lambda p, end=end: DERIVED[quantity](*(np.abs(p) * scale)) / end - 1}
        least = optimize.minimize(squares, np.ones(3), constraints=held, method="SLSQP", options={"maxiter": 500})
        assert least.fun == pytest.approx(limit, rel=2e-3)


def test_at_its_bound_it_is_the_interval_of_the_fit():
    fit = fit_usl(*RAYTRACER, weights="equal")
    found, of_fit = find_profile(fit, "coherency"), fit.parameters["coherency"]
    assert (found.value, found.lo) == (0, 0)
    assert found.hi == pytest.approx(of_fit.hi, rel=1e-4)


def test_what_the_data_do_not_bound_is_open():
    fit = fit_usl(*RAYTRACER, weights="equal")
    peak = find_profile(fit, "peak")
    assert np.isinf([peak.value, peak.hi]).all()
    assert RAYTRACER[0][-1] < peak.lo < 100  # an earlier peak would have been seen
    six = fit_usl(RAYTRACER[0][:6], RAYTRACER[1][:6], weights="equal")
    assert find_profile(six, "contention").lo == 0  # the published correct interval contains 0
    assert np.isinf(find_profile(six, "limit_rps").hi)


@pytest.mark.slow
@pytest.mark.parametrize(("quantity", "true"), [("contention", 0.03), ("peak", np.sqrt(0.97 / 0.0008))])
def test_it_covers_in_simulation(quantity, true):
    """95 % intervals in 80 simulated curves of 8 levels with 3 % of scatter: within 3 standard errors of 95 %."""
    draw, hits = np.random.default_rng(17), 0
    for _ in range(80):
        throughput = usl(LEVELS, *TRUE) + 0.03 * 700 * draw.standard_normal(LEVELS.size)
        found = find_profile(fit_usl(LEVELS, np.maximum(throughput, 1.0)), quantity)
        hits += found.lo <= true <= found.hi
    assert hits / 80 >= 0.875


def test_rules():
    fit = fit_usl(*SPECSDM91, weights="equal")
    with pytest.raises(ValueRuleError, match="quantity must be one of"):
        find_profile(fit, "knee")
    with pytest.raises(ValueRuleError, match="fit must be of the law usl, got 'amdahl'"):
        find_profile(fit_law(LAWS["amdahl"], *SPECSDM91, weights="equal"), "contention")
    with pytest.raises(ValueRuleError, match="points must be > 3"):
        find_profile(fit_usl([1, 2, 4], [10, 17, 26]), "peak")


@pytest.mark.slow
@pytest.mark.parametrize("true", [(100, 0.0, 0.0), (100, 0.0, 1e-5), (100, 0.03, 0.0)])
def test_parameters_at_their_bounds_have_every_profile(true):
    """Where the fit stands at a bound, the interval ends at 0 or is open, and says what the fit's own interval says."""
    draw = np.random.default_rng(3)
    for _ in range(15):
        throughput = usl(LEVELS, *true) * (1 + 0.01 * draw.standard_normal(LEVELS.size))
        fit = fit_usl(LEVELS, throughput, weights=1 / throughput**2)
        found = {quantity: find_profile(fit, quantity) for quantity in QUANTITIES}
        for name in ("contention", "coherency"):
            if fit.parameters[name].value == 0:
                assert found[name].lo == 0
                assert found[name].hi == pytest.approx(fit.parameters[name].hi, rel=1e-3)
        assert (found["coherency"].lo == 0) == (found["peak"].hi == np.inf)
        assert (found["contention"].lo == 0) == (found["limit_rps"].hi == np.inf)


def test_no_scatter_no_width():
    found = find_profile(fit_usl(LEVELS, usl(LEVELS, *TRUE)), "peak")
    assert found.lo == found.hi == pytest.approx(np.sqrt(0.97 / 0.0008))
    assert "no scatter was measured" in found.warnings[-1]
