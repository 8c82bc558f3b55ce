"""Laws against each other: whom known data name, and whether the bands hold what they promise."""

import inspect
from itertools import pairwise, product

import numpy as np
import pytest
from published_scaling import NGINX_100KB, RAYTRACER, SYNTHETIC, SYSBENCH, WRK_616
from scipy import integrate

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import ENTRANTS, LAWS, run_tournament
from loadcurve.models.scaling.posterior import WITH_CAPACITY, log_shape, posterior_of, ranges

NUMBER = np.array([1.0, 2, 4, 8, 12, 16, 24, 32])


def first(found):
    return found.table["law"][0]


def of(found, law):
    return found.table.set_index("law").loc[law]


@pytest.mark.slow
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
    assert any("every law is rejected: the bands are of laws that do not fit" in warning for warning in found.warnings)


@pytest.mark.slow
def test_unit_and_order():
    number, throughput = np.array(SYSBENCH[0]), np.array(SYSBENCH[1])
    found = run_tournament(number, throughput)
    again = run_tournament(number[::-1], throughput[::-1])
    assert found.table.equals(again.table)
    larger = run_tournament(number, throughput * 1000)
    assert larger.table["probability"].to_numpy() == pytest.approx(found.table["probability"].to_numpy(), rel=1e-6)
    bands, by_larger = found.predict([3, 5000]), larger.predict([3, 5000])
    assert by_larger["prediction_hi"].to_numpy() == pytest.approx(1000 * bands["prediction_hi"].to_numpy(), rel=1e-6)


def test_one_curve_has_one_winner():
    """Sequential Monte Carlo had three in eight seeds; the laws' evidences are close, and nothing is drawn now."""
    curve = [1, 2, 4, 8, 16, 32], [100, 190, 360, 600, 800, 820]
    found = [run_tournament(*curve) for _ in range(2)]
    assert found[0].table.equals(found[1].table)
    assert found[0].predict([64]).equals(found[1].predict([64]))
    assert "seed" not in inspect.signature(run_tournament).parameters


def test_predictions_start_at_the_last_measured_level():
    number, throughput = np.array(SYSBENCH[0], float), np.array(SYSBENCH[1])
    throughput[-1] *= 1.03  # a run that happened to be fast
    found = run_tournament(number, throughput).predict(number[-1] * np.array([1, 1 + 1e-6]))
    assert found["throughput_rps"].to_numpy() == pytest.approx(throughput[-1], rel=1e-4)


def test_a_misfit_widens_the_band():
    """The scatter about the laws is part of the band, so laws that fit nothing promise nothing."""
    smooth, rough = (
        run_tournament(NUMBER, LAWS["amdahl"].function(NUMBER, 100, 0.05) * np.exp(miss * np.array([1, -1] * 4)))
        for miss in (0.0, 0.3)
    )
    assert not rough.table["accepted"].any()
    widths = [np.log(f.predict([32])["prediction_hi"] / f.predict([32])["prediction_lo"])[0] for f in (smooth, rough)]
    assert widths[1] > 5 * widths[0]


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "amdahl", "roofline"])
def test_the_evidence_is_the_integral(name):
    """SciPy's quadrature of likelihood × prior, over every parameter of the law, gives it too."""
    true = {"linear": [10], "amdahl": [10, 0.05], "roofline": [10, 100]}[name]
    law = LAWS[name]
    throughput = law.function(NUMBER, *true) * np.exp(0.04 * np.random.default_rng(5).standard_normal(NUMBER.size))
    lower, upper = np.log(ranges(name, NUMBER, throughput))

    def likelihood(*logs):
        fitted = law.function(NUMBER, *np.exp(logs))
        return (2 * 0.03**2 + np.sum(np.log(throughput / fitted) ** 2)) ** (-(2 + NUMBER.size) / 2) * 1e-9

    # Narrow in each direction: the integral is taken piece by piece around the true values.
    steps = np.array([-np.inf, -0.5, -0.1, -0.03, 0, 0.03, 0.1, 0.5, np.inf])
    pieces = [np.unique(np.clip(np.log(v) + steps, lo, hi)) for v, lo, hi in zip(true, lower, upper, strict=True)]
    exact = sum(
        integrate.nquad(likelihood, box, opts={"epsrel": 1e-5})[0]
        for box in product(*(list(pairwise(axis)) for axis in pieces))
    )
    found = posterior_of(law, NUMBER, throughput, np.ones(NUMBER.size)).log_evidence
    assert found == pytest.approx(np.log(exact * 1e9 / np.prod(upper - lower)), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRANTS)
def test_posteriors_cover_what_made_the_data(name):
    """Simulation-based calibration: parameters from the prior, data from them, and the 90 % interval holds them."""
    law, draw = LAWS[name], np.random.default_rng(21)
    lower, upper = np.log(ranges(name, NUMBER, 100 * NUMBER))
    hits, count = 0, 60
    for _ in range(count):
        logs = draw.uniform(lower, upper)
        shape = logs[None, 1:] - (logs[0] if name in WITH_CAPACITY else 0.0) * np.eye(1, lower.size - 1)
        scatter = min(0.03 / np.sqrt(draw.chisquare(2) / 2), 0.3)
        curve = logs[0] + log_shape(law, np.append(NUMBER, 20.0), shape)[0]
        throughput = np.exp(curve[:-1] + scatter * draw.standard_normal(NUMBER.size))
        found = posterior_of(law, NUMBER, throughput, np.ones(NUMBER.size))
        some = draw.choice(found.share.size, 500, p=found.share)
        level = found.log_unit[some] + np.sqrt(found.variance[some] / NUMBER.size) * draw.standard_t(
            NUMBER.size + 1, 500
        )
        ends = np.quantile(level + log_shape(law, np.array([20.0]), found.shape[some])[:, 0], [0.05, 0.95])
        hits += ends[0] <= curve[-1] <= ends[1]
    assert 0.80 <= hits / count <= 1.0


@pytest.mark.slow
def test_the_bands_hold_further_loads():
    """Curves of each law with 3 % of scatter, the upper half foretold from the lower: 90 % bands hold 80 % or more."""
    draw, inside, count = np.random.default_rng(4), 0, 0
    true = {
        "amdahl": [100, 0.03], "usl": [100, 0.02, 0.0008], "roofline": [100, 900], "saturating": [100, 900, 3],
        "finite_source": [1 / 900, 1 / 100 - 1 / 900],
    }  # fmt: skip
    for name, values in true.items():
        for _ in range(3):
            throughput = LAWS[name].function(NUMBER, *values) * np.exp(0.03 * draw.standard_normal(NUMBER.size))
            found = run_tournament(NUMBER[:5], throughput[:5]).predict(NUMBER[5:])
            inside += ((found["prediction_lo"] <= throughput[5:]) & (throughput[5:] <= found["prediction_hi"])).sum()
            count += 3
    assert inside / count >= 0.80  # wider than these laws need: the bands allow for curves that leave their law
