"""Laws against each other: whom known data name, and whether the bands hold what they promise."""

import numpy as np
import pytest
from published_scaling import NGINX_100KB, RAYTRACER, SYNTHETIC, SYSBENCH, WRK_616
from scipy import integrate

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import ENTRANTS, LAWS, run_tournament
from loadcurve.models.scaling.posterior import sample
from loadcurve.models.scaling.priors import parameters_of, ranges

NUMBER = np.array([1.0, 2, 4, 8, 12, 16, 24, 32])


def first(found):
    return found.table["law"][0]


def of(found, law):
    return found.table.set_index("law").loc[law]


def test_known_curves():
    """SYSBENCH and NGINX are where the Universal Scalability Law is wrong; SYNTHETIC was made by it."""
    assert first(run_tournament(*SYSBENCH)) == "roofline"
    assert not of(run_tournament(*SYSBENCH), "usl")["accepted"]
    assert not of(run_tournament(*NGINX_100KB), "usl")["accepted"]
    assert first(run_tournament(*SYNTHETIC)) == "usl"
    assert first(run_tournament(*RAYTRACER)) in ("amdahl", "usl")  # with coherency at its bound they are one law


def test_all_may_be_rejected():
    """A start that rises faster than the connections is of no law here."""
    found = run_tournament(*WRK_616)
    assert not found.table["accepted"].any()
    assert found.verdict.startswith("no law describes these data: even the most probable one, ")
    assert "every law is rejected: the bands are of laws that do not fit" in found.warnings


def test_unit_order_and_seed():
    number, throughput = np.array(SYSBENCH[0]), np.array(SYSBENCH[1])
    found = run_tournament(number, throughput)
    again = run_tournament(number[::-1], throughput[::-1])
    assert found.table.equals(again.table)
    larger = run_tournament(number, throughput * 1000)
    assert larger.table["probability"].to_numpy() == pytest.approx(found.table["probability"].to_numpy(), rel=1e-6)
    bands, by_larger = found.predict([3, 5000]), larger.predict([3, 5000])
    assert by_larger["prediction_hi"].to_numpy() == pytest.approx(1000 * bands["prediction_hi"].to_numpy(), rel=1e-6)


def test_bands_are_nested_and_say_where_they_extrapolate():
    found = run_tournament(*SYNTHETIC).predict([1, 5, 10, 11, 40], level=0.9)
    order = found[["prediction_lo", "lo", "throughput_rps", "hi", "prediction_hi"]].to_numpy()
    assert (np.diff(order, axis=1) >= -1e-3 * order[:, 2:3]).all()
    assert found["extrapolated"].tolist() == [False, False, False, True, True]
    wider = run_tournament(*SYNTHETIC).predict([5], level=0.99)
    assert wider["hi"][0] > found["hi"][1]
    with pytest.raises(ValueRuleError, match="level must be"):
        run_tournament(*SYNTHETIC).predict([1], level=90)


def test_few_points():
    found = run_tournament([1, 2, 4], [10, 19, 33])
    assert any("mostly the prior" in warning for warning in found.warnings)
    assert "not checked" in of(found, "usl")["reason"]
    assert np.isfinite(found.predict([8])["throughput_rps"][0])
    with pytest.raises(ValueRuleError, match="points must be >= 3"):
        run_tournament([1, 2], [10, 19])


def test_the_evidence_is_the_integral():
    """For the law of one parameter, SciPy's quadrature of likelihood × prior gives it too."""
    throughput = 10 * NUMBER * np.exp(0.04 * np.random.default_rng(5).standard_normal(NUMBER.size))
    lower, upper = np.log(ranges("linear", NUMBER, throughput)).ravel()

    def likelihood(log_unit):
        return (2 * 0.03**2 + np.sum((np.log(throughput / NUMBER) - log_unit) ** 2)) ** (-(2 + NUMBER.size) / 2)

    middle = np.log(throughput / NUMBER).mean()
    exact = integrate.quad(likelihood, lower, upper, points=[middle])[0] / (upper - lower)
    found = [
        sample(LAWS["linear"], NUMBER, throughput, np.ones(NUMBER.size), np.random.default_rng(seed)).log_evidence
        for seed in range(8)
    ]
    assert np.mean(found) == pytest.approx(np.log(exact), abs=0.05)
    assert np.std(found) < 0.15


@pytest.mark.parametrize("name", ENTRANTS)
def test_particles_cover_what_made_the_data(name):
    """Simulation-based calibration: parameters from the prior, data from them, and the 90 % interval holds them."""
    law, draw = LAWS[name], np.random.default_rng(21)
    lower, upper = np.log(ranges(name, NUMBER, 100 * NUMBER))
    hits, count = 0, 60
    for _ in range(count):
        values = parameters_of(name)(np.exp(draw.uniform(lower, upper))[None])
        scatter = 0.03 / np.sqrt(draw.chisquare(2) / 2)
        mean = law.function(NUMBER, *values.T[:, :, None])[0]
        throughput = mean * np.exp(min(scatter, 0.3) * draw.standard_normal(NUMBER.size))
        found = sample(law, NUMBER, throughput, np.ones(NUMBER.size), draw, particles=500)
        ends = np.quantile(law.function(np.array([20.0]), *found.parameters.T[:, :, None]), [0.05, 0.95])
        hits += ends[0] <= law.function(np.array([20.0]), *values.T[:, :, None])[0, 0] <= ends[1]
    assert 0.80 <= hits / count <= 1.0


def test_the_bands_hold_further_loads():
    """Curves of each law with 3 % of scatter, the upper half foretold from the lower: 90 % bands hold 80 % or more."""
    draw, inside, count = np.random.default_rng(4), 0, 0
    true = {
        "amdahl": [100, 0.03], "usl": [100, 0.02, 0.0008], "roofline": [100, 900], "saturating": [100, 900, 3],
        "finite_source": [1 / 900, 1 / 100 - 1 / 900],
    }  # fmt: skip
    for name, values in true.items():
        for _ in range(6):
            throughput = LAWS[name].function(NUMBER, *values) * np.exp(0.03 * draw.standard_normal(NUMBER.size))
            found = run_tournament(NUMBER[:5], throughput[:5]).predict(NUMBER[5:])
            inside += ((found["prediction_lo"] <= throughput[5:]) & (throughput[5:] <= found["prediction_hi"])).sum()
            count += 3
    assert inside / count >= 0.80  # wider than these laws need: the bands allow for curves that leave their law
