"""Every fit stays in its law's domain, finds the least squares in it, and has a peak and a limit, for any sweep."""

from functools import partial

import numpy as np
import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize

from loadcurve.errors import ValueRuleError
from loadcurve.models import find_demand, find_limit, find_peak, find_peak_throughput
from loadcurve.models.capacity import kneedle
from loadcurve.models.scaling import LAWS, QUANTITIES, bootstrap_law, find_profile, fit_law, fit_usl, run_tournament

# Where SciPy begins: costs small, middling and large.
STARTS = [(contention, coherency) for contention in (1e-3, 0.3, 0.99) for coherency in (1e-6, 1e-3, 0.3)]
# A real sweep whose every level lies past the peak: it gave γ = −11498 and α = −5.
FALLING = ([8, 16, 32], [2633.6, 1448.5, 263.4])  # as many levels as parameters, and γ at its ceiling
PAST = ([8, 16, 32, 64, 128, 256], [2693.18, 2425.41, 2358.79, 2308.87, 2265.52, 2167.86])


@st.composite
def sweeps(draw, least=4):
    """Doubled loads from any first one; throughput that rises, falls or stays, with scatter, in any unit."""
    levels = draw(st.integers(least, 9))
    number = draw(st.sampled_from([1.0, 3.0, 8.0, 64.0])) * 2.0 ** np.arange(levels)
    power = draw(st.sampled_from([1.0, 0.7, 0.0, -0.3, -1.0, -1.6]))
    kink = draw(st.sampled_from([0.5, 4.0, 20.0]))
    shape = np.where(number < kink, number / kink, (number / kink) ** min(power, 0.7))
    scatter = draw(st.sampled_from([0.0, 0.005, 0.05, 0.3]))
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal(levels)
    return number, draw(st.sampled_from([1e-9, 1.0, 1e12])) * shape * np.exp(scatter * noise)


def in_domain(values):
    unit, contention, coherency = (*values, 0.0, 0.0)[:3]
    return 0 < unit < np.inf and 0 <= contention <= 1 and 0 <= coherency < np.inf


@pytest.mark.slow
@examples(40)
@given(sweeps(least=3), st.sampled_from(["linear", "amdahl", "usl"]), st.sampled_from(["relative", "equal"]))
@example(PAST, "usl", "equal")
@example(PAST, "amdahl", "equal")
@example(FALLING, "usl", "relative")
def test_no_other_search_of_the_domain_finds_less(sweep, name, weights):
    """SciPy with the same bounds, from several starts; logarithms of γ and β, which span decades."""
    number, throughput = np.array(sweep[0], float), np.array(sweep[1])
    law, fit = LAWS[name], fit_law(LAWS[name], *sweep, weights=weights)
    assert in_domain(fit.values())
    count, scale, root = len(law.parameters), throughput.max(), np.sqrt(fit.weights)

    def residuals(place):
        values = np.array([np.exp(place[0]), *place[1:2], *np.exp(place[2:])])
        return (law.function(number, *values) - throughput / scale) * root

    most = np.log(law.ceiling(number, throughput[None])[0, 0] / scale)
    bounds = np.array([(-50, most), (0, 1), (-50, 10)])[:count].T
    squares = np.sum(((fit.predict(number) - throughput) * root / scale) ** 2)
    for contention, coherency in STARTS:
        start = np.array([0.0, contention, np.log(coherency)])[:count]
        other = optimize.least_squares(residuals, start, bounds=bounds)
        assert squares <= 2 * other.cost * (1 + 1e-6) + 1e-12 * np.sum(root**2)


@pytest.mark.slow
@examples(20)
@given(sweeps(), st.sampled_from(["relative", "equal"]), st.sampled_from(QUANTITIES))
@example(PAST, "equal", "peak")
@example(([1, 2, 4, 8, 16, 32], [10] * 6), "relative", "peak")
def test_peak_and_limit_are_always_given(sweep, weights, quantity):
    fit = fit_usl(*sweep, weights=weights)
    peak = find_peak(fit)
    assert peak.value >= fit.connections[0]
    if peak.value > fit.connections[-1]:
        assert any("extrapolated" in text or "no finite peak" in text for text in peak.warnings)
    assert find_limit(fit).value >= find_peak_throughput(fit).value * (1 - 1e-9) > 0
    assert find_peak_throughput(fit).value >= fit.predict(fit.connections).max() * (1 - 1e-9)
    found = find_profile(fit, quantity)
    assert 0 <= found.lo <= found.hi


@pytest.mark.slow
@examples(20)
@given(sweeps())
@example(PAST)
def test_a_batch_stays_in_the_domain(sweep):
    """The bootstrap refits thousands of curves at once, by the same solver."""
    for name in ("amdahl", "usl"):
        drawn = bootstrap_law(LAWS[name], *sweep, draws=50)
        assert all(in_domain(values) for values in drawn[list(LAWS[name].parameters)].to_numpy())


@pytest.mark.parametrize("odd", [1e-300, 1e300])
@pytest.mark.parametrize("find", [*(partial(fit_law, law) for law in LAWS.values()), find_demand, run_tournament])
def test_a_size_that_no_measurement_has_is_refused(find, odd):
    for sweep in (([1, 2, 4, 8], [odd, 20, 30, 40]), ([1, 2, 4, odd], [10, 20, 30, 40])):
        with pytest.raises(ValueRuleError, match="1e-30 to 1e[+]30"):
            find(*sweep)


def test_a_message_about_an_array_is_one_line():
    with pytest.raises(ValueRuleError) as error:
        kneedle(np.arange(300.0)[::-1], np.arange(300.0))
    assert "\n" not in str(error.value)


def test_a_law_below_one_connection_has_no_negative_peak():
    """Below N = 1 the costs subtract: 1 − α (1 − N) − β N (1 − N) can be negative between the levels."""
    fit = fit_usl([0.1075, 1.173, 1.473, 2.1], [1302550, 2337.6, 788344.8, 46028.6])
    found = find_peak_throughput(fit)
    assert found.value > 0 or (np.isnan(found.value) and "whole units" in found.warnings[-1])


def test_free_signs_keep_a_positive_throughput_of_one():
    assert fit_law(LAWS["free_usl"], *PAST).values()[0] > 0
    falling = np.array(PAST[0])
    assert fit_law(LAWS["free_usl"], falling, 1e4 / (falling - 1.0)).values()[0] > 0


def test_data_far_past_the_peak_do_not_bound_the_throughput_of_one():
    """X = 1 / (N − 1) is the law with γ and β endless: one connection could make any throughput."""
    number = np.array([8.0, 16, 32, 64, 128, 256])
    noise = 1 + 0.01 * np.array([1, -1, 1, 1, -1, 1])
    fit = fit_usl(number, noise / (number - 1))
    unit, _, coherency = fit.parameters.values()
    assert unit.hi == coherency.hi == np.inf
    assert any("do not bound the throughput of one connection" in text for text in fit.warnings)


def test_an_interval_beside_a_bound_does_not_take_the_bound_for_known():
    """α = 1 at its bound: a smaller α goes with a smaller γ, which the t interval of γ alone would exclude."""
    fit = fit_usl(*PAST)
    unit, contention, _ = fit.parameters.values()
    assert contention.value == contention.hi == 1
    assert contention.lo < 0.5
    assert unit.lo < 0.5 * unit.value < unit.value < unit.hi < 1.2 * unit.value
    assert "profile" in unit.method and "at its bound" in contention.method


def test_a_sharp_bend_takes_the_bound_of_the_sharpness_exactly():
    fit = fit_law(LAWS["saturating"], [1, 2, 4, 8, 16, 32], [100, 198, 405, 640, 641, 639])
    sharpness = fit.parameters["sharpness"]
    assert sharpness.value == sharpness.hi == LAWS["saturating"].bounds["sharpness"][0]
    assert "at its bound" in sharpness.method


@pytest.mark.slow
@examples(40)
@given(sweeps(), st.sampled_from(["roofline", "saturating", "finite_source"]))
@example(([1, 2, 4, 8, 16, 32, 64], [100, 200, 400, 633, 641, 640, 638]), "saturating")
def test_no_interval_leaves_the_range_of_a_capacity_a_time_or_a_sharpness(sweep, name):
    law, fit = LAWS[name], fit_law(LAWS[name], *sweep)
    assert np.isfinite(fit.predict(fit.connections)).all()
    for parameter, estimate in fit.parameters.items():
        assert estimate.value > 0
        if parameter != "unit_throughput_rps":
            assert not estimate.lo < 0
            assert not estimate.hi > max(law.bounds.get(parameter, (np.inf,)))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_unit_of_throughput_does_not_matter(unit):
    """Requests per day, or thousands of them per second: times are the inverse, without an upper limit in seconds."""
    number = np.array([1.0, 2, 4, 8, 16, 32])
    law = LAWS["finite_source"]
    fit = fit_law(LAWS["finite_source"], number, law.function(number, 0.01 / unit, 0.1 / unit))
    assert fit.values() == pytest.approx([0.01 / unit, 0.1 / unit], rel=1e-5)


@pytest.mark.parametrize("name", ["linear", "amdahl", "roofline", "saturating"])
def test_loads_may_be_fractions(name):
    """Fractions of a machine: where a law does not count from 1, scaling the loads scales its slope alone."""
    number, throughput = np.array([1.0, 2, 4, 8, 16, 32]), np.array([100, 190, 360, 600, 800, 820])
    whole, part = (fit_law(LAWS[name], n, throughput) for n in (number, number / 64))
    assert part.predict(number / 64) == pytest.approx(whole.predict(number), rel=1e-4)
    assert any("every load is at most 1" in text for text in part.warnings) == ("contention" in part.parameters)
